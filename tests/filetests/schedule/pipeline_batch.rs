//! `batch_loads` on a pipelined loop: the copies stay `cp.async`, loads before stores under their condition, and the work's loads are issued together.
// test rust
// test ptx sm_80
use warpwright::prelude::*;

#[kernel(block = 32)]
fn pipeline_batch(n: usize, x: &Global<i32>, w: &Global<i32>, y: &mut Global<i32>) {
    #[shared]
    let mut tile: [[i32; 32]; 2];
    let t = thread_idx().x;
    let mut s = 0;
    #[pipeline(stages = 3)]
    #[batch_loads]
    for k in 0..n {
        tile[0][t] = x[k * 64 + t];
        tile[1][t] = if t > 2 { x[k * 64 + t + 32] } else { 0 };
        sync_threads();
        s += tile[0][31 - t] * w[k * 2];
        if k > 3 {
            s += tile[1][31 - t] * w[k * 2 + 1];
        }
        sync_threads();
    }
    y[t] = s;
}
