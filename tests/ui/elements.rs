//! Several elements per thread where the body cannot have them.

use warpwright::prelude::*;

#[kernel(block = 64, ilp = 4)]
fn meets(y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = 1.0;
    sync_threads();
    y[i] += y[i ^ 1];
}

#[kernel(block = 64, vectorize = V, variants(V in [1, 2, 4]))]
fn sums<const V: usize>(y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = warp_sum(y[i]);
}

#[kernel(block = 64, ilp = 2)]
fn asks(y: &mut Global<f32>) {
    let first = block_idx().x * block_dim().x;
    y[first + thread_idx().x] = 1.0;
}

#[kernel(block = (8, 8), ilp = 2)]
fn repeats(y: &mut Global<f32>) {
    y[global_id().y] = 1.0;
}

#[kernel(block = 64, ilp = 0, vectorize = 3, batch_loads = 4, prefetch, unroll = 2)]
fn values(y: &mut Global<f32>) {
    y[global_id().x] = 1.0;
}

#[kernel(block = 64, ilp(4, assume_aligned), vectorize, batch_loads(asume_disjoint), best_effort = 1)]
fn words(y: &mut Global<f32>) {
    y[global_id().x] = 1.0;
}

#[kernel(block = 64, ilp = B, batch_loads = N, variants(N in [2], B in [true]))]
fn types<const N: usize, const B: bool>(y: &mut Global<f32>) {
    y[global_id().x] = 1.0;
}

fn main() {}
