// test errors
use warpwright::prelude::*;

#[kernel(block = 64, cluster = 2, targets = [sm_90])]
pub fn refused(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 64];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 3)]
    for k in 0..n {
        tile[t] = x[k * 64 + t];
        sync_threads();
        sum += tile[63 - t];
        cluster_sync();
        sum += shared_of(&tile, 1)[t];
        sync_threads();
    }
    y[t] = sum;
}
