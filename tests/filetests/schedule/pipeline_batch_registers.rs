//! With `by = registers` copies are loads and stores: `batch_loads` takes their loads, too.
// test rust
use warpwright::prelude::*;

#[kernel(block = 32)]
fn pipeline_batch_registers(n: usize, x: &Global<i32>, w: &Global<i32>, y: &mut Global<i32>) {
    #[shared]
    let mut tile: [i32; 32];
    let t = thread_idx().x;
    let mut s = 0;
    #[pipeline(stages = 3, by = registers)]
    #[batch_loads]
    for k in 0..n {
        tile[t] = x[k * 32 + t];
        sync_threads();
        s += tile[31 - t] * w[k];
        sync_threads();
    }
    y[t] = s;
}
