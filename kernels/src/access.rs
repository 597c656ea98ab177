//! Copies that are not aligned and not dense, as in NVIDIA's OpenCL best practices guide 1.0, sections 3.2.1.3 and 3.2.1.4: what they
//! cost is what a warp's accesses fetch and do not use.

use warpwright::prelude::*;

/// Copies from element `offset` on: `offsetCopy`.
#[kernel(block = 256)]
pub fn offset_copy(offset: usize, out: &mut Global<f32>, inp: &Global<f32>) {
    let i = global_id().x + offset;
    if i < out.len() {
        out[i] = inp[i];
    }
}

/// Copies every `stride`-th element: `strideCopy`. Covers `out.len().div_ceil(stride)` elements. Uncoalesced, to show what that costs.
#[kernel(block = 256, allow(uncoalesced_access))]
pub fn stride_copy(stride: usize, out: &mut Global<f32>, inp: &Global<f32>) {
    let i = global_id().x * stride;
    if i < out.len() {
        out[i] = inp[i];
    }
}

/// Reference of both: the elements from `offset` on, `stride` apart, and the others as they were.
pub fn reference(offset: usize, stride: usize, out: &[f32], inp: &[f32]) -> Vec<f32> {
    let mut result = out.to_vec();
    for i in (offset..out.len()).step_by(stride) {
        result[i] = inp[i];
    }
    result
}
