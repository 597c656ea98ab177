// test ptx sm_90
// test ptx sm_80
//! A loop with loads: the wait stands in front of it and behind what fills the shared array, which touches no buffer; what admits the next kernel stands behind the loop.
use warpwright::prelude::*;

#[kernel(block = 64, overlap)]
pub fn counted(n: usize, x: &Global<u32>, y: &mut Global<u32>) {
    #[shared]
    let mut counts: [u32; 64];
    let t = thread_idx().x;
    counts[t] = 0;
    sync_threads();
    for i in (t..n).step_by(64) {
        counts.atomic_add(x[i] as usize % 64, 1);
    }
    sync_threads();
    y[global_id().x] = counts[t];
}
