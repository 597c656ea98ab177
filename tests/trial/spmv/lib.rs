//! A sparse matrix in rows of different lengths times a vector: a warp for a row, and a half warp, a thread for a row, and
//! rows of one length (ELLPACK).

pub mod shape;

use shape::{LANES, Scale, row_of, scaled};
use warpwright::prelude::*;
use warpwright::warp::shuffle_xor;

/// A warp for a row.
#[kernel(block = 128)]
pub fn csr_by_warp(starts: &Global<u32>, columns: &Global<u32>, values: &Global<f32>, x: &Global<f32>, y: &mut Global<f32>) {
    let row = row_of(global_id().x);
    if row < y.len() {
        let (first, last) = (starts[row] as usize, starts[row + 1] as usize);
        let mut sum = 0.0f32;
        for k in (first + lane_id()..last).step_by(LANES) {
            sum += values[k] * x[columns[k] as usize];
        }
        let sum = warp_sum(sum);
        if lane_id() == 0 {
            y[row] = sum;
        }
    }
}

/// The same with what the warp's place in a block of rows says, two loads of the row's ends, and a scale for each row.
#[kernel(block = (32, 8))]
pub fn csr_scaled(
    scales: &Global<Scale>,
    starts: &Global<u32>,
    columns: &Global<u32>,
    values: &Global<f64>,
    x: &Global<f64>,
    y: &mut Global<f64>,
) {
    let row = global_id().y;
    if row >= y.len() {
        return;
    }
    let scale = scales[row];
    let mut k = starts[row] as usize + thread_idx().x;
    let end = starts[row + 1] as usize;
    let mut sum = 0.0f64;
    while k < end {
        sum += values[k] * x[columns[k] as usize];
        k += LANES;
    }
    let sum = warp_sum(sum);
    if thread_idx().x == 0 {
        y[row] = scaled(sum, scale);
    }
}

/// A thread for a row: neighbouring threads walk rows of their own.
#[kernel(block = 128)]
pub fn csr_by_thread(starts: &Global<u32>, columns: &Global<u32>, values: &Global<f32>, x: &Global<f32>, y: &mut Global<f32>) {
    let row = global_id().x;
    if row < y.len() {
        let mut sum = 0.0f32;
        for k in starts[row] as usize..starts[row + 1] as usize {
            sum += values[k] * x[columns[k] as usize];
        }
        y[row] = sum;
    }
}

/// ELLPACK: rows of one length, stored by columns.
#[kernel(block = 256)]
pub fn ell(width: usize, columns: &Global<u32>, values: &Global<f32>, x: &Global<f32>, y: &mut Global<f32>) {
    let row = global_id().x;
    let rows = y.len();
    if row < rows {
        let mut sum = 0.0f32;
        for k in 0..width {
            let at = k * rows + row;
            sum += values[at] * x[columns[at] as usize];
        }
        y[row] = sum;
    }
}

/// A half warp for a row, by exchanges of its own.
#[kernel(block = 128)]
pub fn csr_by_half(starts: &Global<u32>, columns: &Global<u32>, values: &Global<f32>, x: &Global<f32>, y: &mut Global<f32>) {
    let row = global_id().x / 16;
    let lane = lane_id() % 16;
    let mut sum = 0.0f32;
    if row < y.len() {
        for k in (starts[row] as usize + lane..starts[row + 1] as usize).step_by(16) {
            sum += values[k] * x[columns[k] as usize];
        }
    }
    sum += shuffle_xor(sum, 8u32);
    sum += shuffle_xor(sum, 4u32);
    sum += shuffle_xor(sum, 2u32);
    sum += shuffle_xor(sum, 1u32);
    if row < y.len() && lane == 0 {
        y[row] = sum;
    }
}
