// test errors
// set P=3
use warpwright::prelude::*;

#[kernel(block = 64, overlap = P)]
pub fn refused<const P: usize>(y: &mut Global<f32>) {
    y[global_id().x] = 1.0;
}
