// test errors
use warpwright::prelude::*;

#[kernel(block = 64, cluster = (1, 2), raster(rows = 5))]
pub fn bands(y: &mut Global<f32>) {
    y[block_idx().y * 64 + thread_idx().x] = 1.0;
}
