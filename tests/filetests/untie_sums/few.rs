// test ptx sm_90
//! Four sums: their banks do not matter, and nothing is copied.
use warpwright::prelude::*;

#[kernel(block = 32)]
pub fn few(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let t = thread_idx().x * 4;
    let mut s = y.load::<4>(t);
    for k in 0..n {
        #[unroll]
        for j in 0..4usize {
            s[j] += x[k] * x[n + j];
        }
    }
    y.store::<4>(t, s);
}
