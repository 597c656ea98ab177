// test ptx sm_90
//! Where integers of both signs are compared for the least or the greatest, a negation is the complement plus 1: `ptxas` 12.9 leaves one of the sign of the comparison out.
use warpwright::prelude::*;

#[kernel(block = 32)]
fn both(x: &Global<i32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let negated = -x[i + 1];
    y[i] = x[i].abs().max(negated) as u32;
    y[i + 32] = (x[i] as u32).min(negated as u32).min(x[i + 2] as u32);
}
