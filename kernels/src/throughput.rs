//! How much arithmetic W warps with I independent chains each get done: the experiment behind "Programming Parallel Computers", part 5B,
//! where a multiprocessor of 4 schedulers and additions of L cycles needs W · I ≥ 4 · L to be busy.

use warpwright::prelude::*;

/// Sums `steps` times `x`, in `I` chains of dependent additions, and leaves the sum with the block's other threads' in `out`. Every
/// thread of every block does the same work; W is the block's size in warps. `U` rounds of the chains are unrolled, so that the loop's own
/// instructions do not count.
#[kernel(contract = false, variants(I in [1, 2, 4, 8], U in [4]))]
pub fn additions<const I: usize, const U: usize>(steps: usize, x: f32, out: &mut Global<f32>) {
    let mut sum = 0.0f32;
    #[ilp(I)]
    #[unroll(U)]
    for _ in 0..steps {
        sum += x;
    }
    let i = global_id().x;
    if i < out.len() {
        out[i] = sum;
    }
}

/// Reference: exact where every partial sum is, as for small integers `x`.
pub fn reference(steps: usize, x: f32) -> f32 {
    steps as f32 * x
}
