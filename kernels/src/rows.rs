//! Sums along rows, three ways: a thread to a row of bytes, whose sectors last it for many rounds; a warp to a row of a matrix; and the softmax of
//! a row by a block. (Matrix times vector as in "Efficient Sparse Matrix-Vector Multiplication on CUDA", Bell and Garland 2008: scalar and
//! vector kernels.)

use warpwright::prelude::*;

/// `sums[i]` ← Σ row i, a thread to a row of `length` bytes. Neighbouring threads are a row apart: each fetches a sector and uses a byte of it in
/// each of 32 rounds.
#[kernel(block = 256, allow(uncoalesced_access))]
pub fn rows_by_thread(length: usize, x: &Global<i8>, sums: &mut Global<i32>) {
    let row = global_id().x;
    if row < sums.len() {
        let mut sum = 0;
        for k in 0..length {
            sum += x[row * length + k] as i32;
        }
        sums[row] = sum;
    }
}

/// y ← A·x, a warp to a row.
#[kernel(block = 256)]
pub fn rows_by_warp(columns: usize, a: &Global<f32>, x: &Global<f32>, y: &mut Global<f32>) {
    let row = block_idx().x * 8 + warp_id();
    if row < y.len() {
        let mut sum = 0.0;
        for k in (lane_id()..columns).step_by(32) {
            sum += a[row * columns + k] * x[k];
        }
        let sum = warp_sum(sum);
        if lane_id() == 0 {
            y[row] = sum;
        }
    }
}

/// out ← the softmax of each row, a block to a row: its greatest element, the sum of its exponentials, the quotients.
#[kernel(block = 256)]
pub fn softmax(columns: usize, x: &Global<f32>, out: &mut Global<f32>) {
    let row = block_idx().x;
    let t = thread_idx().x;
    let mut most = f32::NEG_INFINITY;
    for k in (t..columns).step_by(256) {
        most = most.max(x[row * columns + k]);
    }
    let most = block_max(most);
    let mut sum = 0.0;
    for k in (t..columns).step_by(256) {
        sum += native_exp(x[row * columns + k] - most);
    }
    let sum = block_sum(sum);
    for k in (t..columns).step_by(256) {
        out[row * columns + k] = native_exp(x[row * columns + k] - most) / sum;
    }
}
