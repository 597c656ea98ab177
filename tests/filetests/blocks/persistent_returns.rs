// test ptx sm_90
//! Threads that return before a barrier: they come to it all the same, since others would take their next round's for it. No shared array: no barrier behind the round.
use warpwright::prelude::*;

#[kernel(block = 64, persistent)]
pub fn counted(n: usize, x: &Global<f32>, y: &mut Global<u32>) {
    let i = global_id().x;
    if i >= n {
        return;
    }
    y[i] = sync_threads_count(x[i] > 0.0);
}
