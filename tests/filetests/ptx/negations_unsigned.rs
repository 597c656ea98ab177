// test ptx sm_90
//! Beside comparisons without a sign, integers of 32 bits are negated by an instruction with one: `ptxas` 12.9 leaves `sub.u32` from zero out of the least of three.
use warpwright::prelude::*;

#[kernel(block = 32)]
fn unsigned(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    y[i] = x[i].min(x[i + 1] * u32::MAX).min(x[i + 2]);
    y[i + 32] = x[i].max(0 - x[i + 1]).max(x[i + 2].wrapping_neg());
}
