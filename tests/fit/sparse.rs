//! Sparse matrices and other indirect reading.

use warpwright::Float;
use warpwright::prelude::*;

/// y = A·x, one row a thread.
#[kernel(block = B, variants(B in [128, 256], ILP in [1, 2, 4, 8], BATCH in [false, true], F in [f32, f64]))]
pub fn rows<const B: usize, const ILP: usize, const BATCH: bool, F: Float>(
    starts: &Global<u32>,
    columns: &Global<u32>,
    values: &Global<F>,
    x: &Global<F>,
    y: &mut Global<F>,
) {
    let row = global_id().x;
    if row < y.len() {
        let mut sum = F::ZERO;
        #[ilp(ILP)]
        #[batch_loads(BATCH)]
        for k in starts[row] as usize..starts[row + 1] as usize {
            sum += values[k] * x[columns[k] as usize];
        }
        y[row] = sum;
    }
}

/// y = A·x, one row a warp.
#[kernel(block = 256, variants(F in [f32, f64]))]
pub fn warps<F: Float>(starts: &Global<u32>, columns: &Global<u32>, values: &Global<F>, x: &Global<F>, y: &mut Global<F>) {
    let row = global_id().x / 32;
    let mut sum = F::ZERO;
    if row < y.len() {
        for k in (starts[row] as usize + lane_id()..starts[row + 1] as usize).step_by(32) {
            sum += values[k] * x[columns[k] as usize];
        }
    }
    let sum = warp_sum(sum);
    if lane_id() == 0 && row < y.len() {
        y[row] = sum;
    }
}

/// Gathers, several a thread.
#[kernel(block = 256, ilp = ILP, batch_loads = BATCH, variants(ILP in [1, 2, 4, 8, 16], BATCH in [false, true]))]
pub fn gather<const ILP: usize, const BATCH: bool>(at: &Global<u32>, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = x[at[i] as usize];
    }
}

/// Follows a list.
#[kernel(block = 32)]
pub fn chase(steps: u32, next: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let mut at = i as u32;
    for _ in 0..steps {
        at = next[at as usize];
    }
    y[i] = at;
}
