// test ptx sm_90
// set P=false
//! `false` is nothing: no wait, and loads that say `nc`.
use warpwright::prelude::*;

#[kernel(block = 64, overlap = P)]
pub fn added<const P: bool>(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] += 2.0 * x[i];
}
