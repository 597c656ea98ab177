//! Sums, scans and votes of warps and blocks.

use warpwright::prelude::*;
use warpwright::warp::{ballot, shuffle, shuffle_up};
use warpwright::{Float, Num};

/// Sums of all, each thread several.
#[kernel(block = B, variants(B in [64, 256, 1024], ILP in [1, 4, 8], F in [f32, f64]))]
pub fn sums<const B: usize, const ILP: usize, F: Float>(n: usize, x: &Global<F>, y: &mut Global<F>) {
    let mut sum = F::ZERO;
    #[ilp(ILP)]
    for k in 0..n {
        sum += x[(block_idx().x * n + k) * B + thread_idx().x];
    }
    let sum = block_sum(sum);
    if thread_idx().x == 0 {
        y[block_idx().x] = sum;
    }
}

/// A scan of a block by shuffles.
#[kernel(block = B, variants(B in [128, 512], T in [f32, u32, i64]))]
pub fn scan<const B: usize, T: Num>(x: &Global<T>, y: &mut Global<T>) {
    #[shared]
    let mut last: [T; 32];
    let i = global_id().x;
    let mut v = if i < x.len() { x[i] } else { T::ZERO };
    #[unroll]
    for d in 0..5 {
        let below = shuffle_up(v, 1 << d);
        if lane_id() >= 1 << d {
            v += below;
        }
    }
    if lane_id() == 31 {
        last[warp_id()] = v;
    }
    sync_threads();
    for w in 0..warp_id() {
        v += last[w];
    }
    if i < y.len() {
        y[i] = v;
    }
}

/// The largest and where it is.
#[kernel(block = 256, variants(ILP in [1, 4]))]
pub fn largest<const ILP: usize>(n: usize, x: &Global<f32>, best: &mut Global<f32>, at: &mut Global<u32>) {
    let mut most = f32::MIN;
    #[ilp(ILP)]
    for k in 0..n {
        most = most.max(x[k * 256 + thread_idx().x]);
    }
    let top = warp_max(most);
    let who = ballot(most == top).trailing_zeros();
    if lane_id() == 0 {
        best[warp_id()] = top;
        at[warp_id()] = who;
    }
}

/// Compacts what is positive.
#[kernel(block = 256)]
pub fn compact(x: &Global<f32>, y: &mut Global<f32>, count: &mut Global<u32>) {
    let i = global_id().x;
    let v = if i < x.len() { x[i] } else { 0.0 };
    let votes = ballot(v > 0.0);
    let mut base = 0u32;
    if lane_id() == 0 {
        base = count.atomic_add(0, votes.count_ones());
    }
    base = shuffle(base, 0u32);
    if v > 0.0 {
        let rank = (votes & ((1u32 << lane_id()) - 1)).count_ones();
        y[(base + rank) as usize] = v;
    }
}
