// test ptx sm_90
// set P=false
//! What is not persistent has no hidden parameters.
use warpwright::prelude::*;

#[kernel(block = 64, persistent = P)]
pub fn halved<const P: bool>(x: &mut Global<f32>) {
    x[global_id().x] *= 0.5;
}
