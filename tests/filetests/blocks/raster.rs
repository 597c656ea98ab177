// test ptx sm_90
// test opencl
// test rust
// set R=6
//! Where the block stands is computed once, of where the device has it.
use warpwright::prelude::*;

#[kernel(block = (32, 4), raster(rows = R))]
pub fn transposed<const R: usize>(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let (column, row) = (global_id().x, block_idx().y * 4 + thread_idx().y);
    if column < n && row < n {
        y[row * n + column] = x[column * n + row] + block_idx().x as f32;
    }
}
