// test rust
// test ptx sm_80
// test opencl
// set C=1
//! A cluster of one block is nothing: its shared memory is the block's own, and the block waits for itself.
use warpwright::prelude::*;

#[kernel(block = 64, cluster = C)]
pub fn sums<const C: usize>(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut own: [f32; 64];
    let t = thread_idx().x;
    own[t] = x[global_id().x];
    cluster_sync();
    y[global_id().x] = shared_of(&own, (cluster_rank() + 1) % C)[63 - t];
}
