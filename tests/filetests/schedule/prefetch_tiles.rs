// test rust
//! Unrolled by two: each tile's loads are one tile ahead, and the buffer's number is known. The inner loop reads shared memory one step ahead.
use warpwright::prelude::*;

#[kernel(block = (4, 4))]
fn prefetch_tiles(n: usize, a: &Global<f32>, c: &mut Global<f32>) {
    #[shared]
    let mut tile: [[[f32; 4]; 4]; 2];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let row = global_id().y;
    let mut sum = 0.0;
    #[prefetch]
    #[unroll(2)]
    for k in 0..n / 4 {
        tile[k % 2][ty][tx] = a[row * n + k * 4 + tx];
        sync_threads();
        #[unroll]
        #[prefetch]
        for e in 0..4 {
            sum += tile[k % 2][ty][e] * tile[k % 2][e][tx];
        }
    }
    c[row * n + global_id().x] = sum;
}
