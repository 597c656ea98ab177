// test ptx sm_90
//! A persistent kernel admits the next before its first round. It waits in each round, and once more behind the rounds, for blocks that had none.
use warpwright::prelude::*;

#[kernel(block = 64, overlap, persistent)]
pub fn halved(n: usize, x: &mut Global<f32>) {
    let i = global_id().x;
    if i >= n {
        return;
    }
    x[i] *= 0.5;
}
