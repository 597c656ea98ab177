// test rust
//! Slots for the tiles, the first copies before the loop, one barrier in it.
use warpwright::prelude::*;

#[kernel(block = (16, 4))]
fn pipeline(n: usize, a: &Global<f32>, c: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; 16]; 16];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let row = block_idx().y * 16;
    let mut sum = 0.0;
    #[pipeline(stages = 3)]
    for k in 0..n.div_ceil(16) {
        for r in 0..4 {
            let (i, j) = (row + ty + 4 * r, k * 16 + tx);
            tile[ty + 4 * r][tx] = if i < n && j < n { a[i * n + j] } else { 0.0 };
        }
        sync_threads();
        for e in 0..16 {
            sum += tile[e][tx] * tile[ty][e];
        }
        sync_threads();
    }
    c[(row + ty) * n + tx] = sum;
}
