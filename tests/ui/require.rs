//! Contracts: clauses that are none, that do not hold, and that cannot be checked.
#![deny(deprecated)]

use warpwright::prelude::*;

const MOST: usize = 64;

#[kernel(block = 64, require(register <= 64, occupancy <= 0.5, 64 >= shared, shared))]
fn malformed() {}

#[kernel(block = 64, require(shared <= 1 + N, occupancy >= 50, local_bytes == true))]
fn bounds() {}

#[kernel(block = 64, require(shared <= 1024, local_bytes == 0), variants(N in [8, 16, 32]))]
fn broken<const N: usize>(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; N]; N];
    let i = thread_idx().x % N;
    tile[i][i] = x[i];
    sync_threads();
    y[i] = tile[i][(i + 1) % N];
}

#[kernel(block = 64, require(shared <= N), variants(N in [256, 512]))]
fn by_generic<const N: usize>(y: &mut Global<f32>) {
    #[shared]
    let mut row: [f32; 64];
    row[thread_idx().x] = 1.0;
    sync_threads();
    y[global_id().x] = row[0];
}

#[kernel(require(occupancy >= 0.5))]
fn open_block(y: &mut Global<f32>) {
    y[global_id().x] = 1.0;
}

#[kernel(block = 64, require(shared <= 1024))]
fn dynamic(y: &mut Global<f32>) {
    #[shared(dynamic)]
    let mut row: [f32];
    row[thread_idx().x] = 1.0;
    sync_threads();
    y[global_id().x] = row[0];
}

#[kernel(block = 64, require(shared <= 1024))]
fn open_generic<const N: usize>(y: &mut Global<f32>) {
    y[N] = 1.0;
}

#[kernel(block = 64, require(shared <= MOST))]
fn from_outside(y: &mut Global<f32>) {
    y[0] = 1.0;
}

#[kernel(block = 64, require(shared <= MOST), allow(unchecked))]
fn allowed(y: &mut Global<f32>) {
    y[0] = 1.0;
}

fn main() {}
