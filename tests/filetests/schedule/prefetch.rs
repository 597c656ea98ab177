// test rust
//! The first tile before the loop, the next one behind the barrier.
use warpwright::prelude::*;

#[kernel(block = (4, 4))]
fn prefetch(n: usize, a: &Global<f32>, c: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; 4]; 4];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let row = global_id().y;
    let mut sum = 0.0;
    #[prefetch]
    for k in 0..n / 4 {
        tile[ty][tx] = if row < n { a[row * n + k * 4 + tx] } else { 1.0 };
        sync_threads();
        #[unroll]
        for e in 0..4 {
            sum += tile[ty][e] * tile[e][tx];
        }
        sync_threads();
    }
    c[row * n + global_id().x] = sum;
}
