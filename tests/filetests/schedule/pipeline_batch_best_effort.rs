//! A batch that an inner loop's load keeps back is left out with a warning; the loop is pipelined all the same.
// test warnings
// test rust
use warpwright::prelude::*;

#[kernel(block = 32)]
fn pipeline_batch_best_effort(n: usize, x: &Global<i32>, y: &mut Global<i32>) {
    #[shared]
    let mut tile: [i32; 32];
    let t = thread_idx().x;
    let mut s = 0;
    #[pipeline(stages = 3)]
    #[batch_loads(best_effort)]
    for k in 0..n {
        tile[t] = x[k * 32 + t];
        sync_threads();
        for r in 0..n {
            s += tile[31 - t] * x[r];
        }
        sync_threads();
    }
    y[t] = s;
}
