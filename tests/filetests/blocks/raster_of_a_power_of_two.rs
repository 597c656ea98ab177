// test ptx sm_90
//! A block that asks along x only, and rows that a mask takes apart.
use warpwright::prelude::*;

#[kernel(block = 64, raster(rows = 8))]
pub fn scaled(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 2.0 * x[i];
    }
}
