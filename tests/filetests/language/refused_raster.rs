// test errors
// set R=0
use warpwright::prelude::*;

#[kernel(block = 64, raster(rows = R))]
pub fn refused<const R: usize>(y: &mut Global<f32>) {
    y[global_id().x] = 1.0;
}
