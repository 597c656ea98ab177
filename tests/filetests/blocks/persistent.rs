// test ptx sm_90
// test opencl
// test rust
//! A loop over blocks round the body, whose `return` ends a round; with a shared array, a barrier behind.
use warpwright::prelude::*;

#[kernel(block = 64, persistent, raster(rows = 4))]
pub fn reversed(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 64];
    let (t, i) = (thread_idx().x, (block_idx().y * grid_dim().x + block_idx().x) * 64 + thread_idx().x);
    tile[t] = if i < n { x[i] } else { 0.0 };
    sync_threads();
    if i >= n {
        return;
    }
    y[i] = tile[63 - t];
}
