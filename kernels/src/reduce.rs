//! The two reductions of VSCSE 2009, lecture 5: both sum a block's elements in shared memory, one with every second, fourth, eighth thread
//! at work, so that all warps diverge, one with the first half, quarter, eighth of them, so that whole warps retire.

use warpwright::prelude::*;

/// `sums[b]` ← the sum of block b's `B` elements, interleaved addressing: active threads are further and further apart.
/// That splits all warps, and is allowed: the other reduction is compared with this.
#[kernel(block = B, allow(divergent_branch), variants(B in [64, 256]))]
pub fn reduce_interleaved<const B: usize>(x: &Global<f32>, sums: &mut Global<f32>) {
    #[shared]
    let mut partial: [f32; B];
    let t = thread_idx().x;
    let i = global_id().x;
    partial[t] = if i < x.len() { x[i] } else { 0.0 };
    #[unroll]
    for level in 0..B.ilog2() {
        let stride = 1usize << level;
        sync_threads();
        if t.is_multiple_of(2 * stride) {
            partial[t] += partial[t + stride];
        }
    }
    if t == 0 {
        sums[block_idx().x] = partial[0];
    }
}

/// The same with contiguous addressing: the active threads are the first ones, and diverge only below a warp's width.
#[kernel(block = B, variants(B in [64, 256]))]
pub fn reduce_contiguous<const B: usize>(x: &Global<f32>, sums: &mut Global<f32>) {
    #[shared]
    let mut partial: [f32; B];
    let t = thread_idx().x;
    let i = global_id().x;
    partial[t] = if i < x.len() { x[i] } else { 0.0 };
    #[unroll]
    for level in 0..B.ilog2() {
        let stride = B >> (level + 1);
        sync_threads();
        if t < stride {
            partial[t] += partial[t + stride];
        }
    }
    if t == 0 {
        sums[block_idx().x] = partial[0];
    }
}

/// Reference of both in double precision.
pub fn reference(block: usize, x: &[f32]) -> Vec<f64> {
    x.chunks(block).map(|part| part.iter().map(|x| f64::from(*x)).sum()).collect()
}
