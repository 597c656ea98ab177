// test ir built
// test rust
// test ptx sm_90
//! Shared memory of other blocks: the address is one of another block's, and the blocks meet at the end; who returns early goes there.
use warpwright::prelude::*;

#[kernel(block = 64, cluster = (2, 2), targets = [sm_90])]
pub fn sums(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut own: [[f32; 64]; 2];
    #[shared]
    let mut count: [u32; 1];
    let t = thread_idx().x;
    own[1][t] = x[cluster_idx().x * 64 + t];
    count[0] = 0;
    cluster_sync();
    shared_of_mut(&mut count, 0).atomic_add(0, 1);
    if t >= 32 {
        return;
    }
    let mut sum = 0.0;
    for rank in 0..4 {
        sum += shared_of(&own, rank)[1][t];
    }
    shared_of_mut(&mut own, cluster_rank())[0][t] = sum;
    y[t] = sum;
}
