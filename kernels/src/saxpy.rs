//! y ← a·x + y: the smallest kernel worth timing. Two reads and one write of four bytes per element, nothing to reuse.

use warpwright::prelude::*;

/// y ← a·x + y, one element per thread.
#[kernel(block = 256)]
pub fn saxpy(a: f32, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = a * x[i] + y[i];
    }
}

/// The plain source again, with what a thread does for the memory's sake left to the launch: `ILP` groups of `V` elements, the loads of
/// all of them first if `BATCH`.
#[kernel(
    block = B, ilp = ILP, batch_loads = BATCH, vectorize = V,
    variants(B in [128, 256], ILP in [1, 2, 4], BATCH in [false, true], V in [1, 4]),
    // What the batch costs is what its variants show.
    allow(costly_batch),
)]
pub fn saxpy_grouped<const B: usize, const ILP: usize, const BATCH: bool, const V: usize>(a: f32, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = a * x[i] + y[i];
    }
}

/// The same without contraction to a fused multiply-add: bit for bit what the host computes.
#[kernel(block = 256, contract = false)]
pub fn saxpy_exact(a: f32, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = a * x[i] + y[i];
    }
}

/// Reference, two roundings per element.
pub fn reference(a: f32, x: &[f32], y: &[f32]) -> Vec<f32> {
    x.iter().zip(y).map(|(x, y)| a * x + y).collect()
}
