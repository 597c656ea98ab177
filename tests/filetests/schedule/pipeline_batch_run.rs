//! `batch_loads` where `load_run` makes the copies: `cp.async` on `sm_80`, the copy engine on `sm_90`.
// test ptx sm_80
// test ptx sm_90
use warpwright::prelude::*;

#[kernel(block = 32)]
fn pipeline_batch_run(n: usize, x: &Global<i32>, y: &mut Global<i32>) {
    #[shared]
    let mut tile: [i32; 128];
    let t = thread_idx().x;
    let mut s = 0;
    #[pipeline(stages = 2)]
    #[batch_loads]
    for k in 0..n {
        load_run(&mut tile, x, k * 128);
        sync_threads();
        s += tile[127 - t];
        sync_threads();
    }
    y[t] = s;
}
