// test ir built
//! The blocks have met on every way to the uses: in both branches, or where the other one leaves; the last barrier is the source's own.
use warpwright::prelude::*;

#[kernel(block = 64, cluster = 2, targets = [sm_90])]
pub fn met(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut own: [f32; 64];
    let t = thread_idx().x;
    own[t] = x[t];
    if n > 3 {
        cluster_sync();
    } else {
        own[t] = 2.0;
        cluster_sync();
    }
    y[t] = shared_of(&own, 1)[t];
    cluster_sync();
    y[t + 64] = own[t];
}
