// test errors
use warpwright::prelude::*;

#[kernel(block = 64, raster(rows = 4 > 3), persistent = 4 - 3)]
pub fn refused(y: &mut Global<f32>) {
    y[global_id().x] = 1.0;
}
