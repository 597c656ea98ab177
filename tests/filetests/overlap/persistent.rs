// test ptx sm_90
//! A persistent kernel waits once, before its first round, and admits the next behind its last.
use warpwright::prelude::*;

#[kernel(block = 64, overlap, persistent)]
pub fn halved(n: usize, x: &mut Global<f32>) {
    let i = global_id().x;
    if i >= n {
        return;
    }
    x[i] *= 0.5;
}
