// test errors
//! Who may not have begun, or not be there any more.
use warpwright::prelude::*;

#[kernel(block = 64, cluster = 2, targets = [sm_90])]
pub fn too_early(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut own: [f32; 64];
    let t = thread_idx().x;
    own[t] = x[t];
    if n > 3 {
        cluster_sync();
    }
    y[t] = shared_of(&own, 1)[t];
    for round in 0..n {
        if x[round] < 0.0 {
            return;
        }
        cluster_sync();
        y[t] += shared_of(&own, 0)[t];
    }
}
