// test errors
//! Who returns waits at the end: not while others of the block wait for it. A whole block may.
use warpwright::prelude::*;

#[kernel(block = 64, cluster = 2, targets = [sm_90])]
pub fn parted(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut own: [f32; 64];
    let t = thread_idx().x;
    own[t] = x[t];
    cluster_sync();
    let theirs = shared_of(&own, 1)[t];
    if cluster_rank() == n {
        return;
    }
    if t >= n {
        return;
    }
    y[t] = block_sum(theirs);
}
