//! Dot product: each block reduces its part, then adds it to the result with one atomic.

use warpwright::prelude::*;

/// Threads of a block.
pub const BLOCK: usize = 256;

/// Adds Σ x·y to `result[0]`. Every thread walks the vectors in steps of the grid; the block's sum is made by `block_sum`, and
/// the blocks' sums meet in an atomic, so their order, and with it the last bits, is not fixed.
#[kernel(block = 256)]
pub fn dot(x: &Global<f32>, y: &Global<f32>, result: &mut Global<f32>) {
    let stride = grid_dim().x * block_dim().x;
    let mut sum = 0.0f32;
    for i in (global_id().x..x.len()).step_by(stride) {
        sum += x[i] * y[i];
    }
    let total = block_sum(sum);
    if thread_idx().x == 0 {
        result.atomic_add(0, total);
    }
}

/// The same with the reduction written out: a tree in shared memory, contiguous threads stay active.
#[kernel(block = BLOCK)]
pub fn dot_tree(x: &Global<f32>, y: &Global<f32>, result: &mut Global<f32>) {
    #[shared]
    let mut partial: [f32; BLOCK];
    let t = thread_idx().x;
    let stride = grid_dim().x * block_dim().x;
    let mut sum = 0.0f32;
    for i in (global_id().x..x.len()).step_by(stride) {
        sum += x[i] * y[i];
    }
    partial[t] = sum;
    sync_threads();
    let mut active = BLOCK / 2;
    while active > 0 {
        if t < active {
            partial[t] += partial[t + active];
        }
        sync_threads();
        active /= 2;
    }
    if t == 0 {
        result.atomic_add(0, partial[0]);
    }
}

/// Dot product of integers: atomics in any order give the same bits.
#[kernel(block = 128)]
pub fn dot_integer(x: &Global<i32>, y: &Global<i32>, result: &mut Global<i64>) {
    let i = global_id().x;
    if i < x.len() {
        result.atomic_add(0, x[i] as i64 * y[i] as i64);
    }
}

/// Reference in double precision.
pub fn reference(x: &[f32], y: &[f32]) -> f64 {
    x.iter().zip(y).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum()
}
