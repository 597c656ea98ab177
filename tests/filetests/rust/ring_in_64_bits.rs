//! The slots of a pipelined loop are numbered in 32 bits, also where `index = 64` makes indices wider.
// test rust
use warpwright::prelude::*;

#[kernel(block = 64, index = 64)]
fn ring_in_64_bits(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 64];
    let t = thread_idx().x;
    let mut s = 0.0;
    #[pipeline(stages = 3)]
    for k in 0..n {
        tile[t] = x[k * 64 + t];
        sync_threads();
        s += tile[63 - t];
        sync_threads();
    }
    y[global_id().x] = s;
}
