// test ptx sm_90
//! A vector load begins 16 sums and a vector store takes them: both sides are copied. Products go there and back.
use warpwright::prelude::*;
#[kernel(block = 32)]
pub fn sums(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let t = thread_idx().x * 16;
    let mut s = [[0.0f32; 4]; 4];
    #[unroll]
    for i in 0..4usize {
        s[i] = y.load::<4>(t + 4 * i);
    }
    for k in 0..n {
        #[unroll]
        for i in 0..4usize {
            #[unroll]
            for j in 0..4usize {
                s[i][j] += x[8 * k + i] * x[8 * k + 4 + j];
            }
        }
    }
    #[unroll]
    for i in 0..4usize {
        y.store::<4>(t + 4 * i, s[i]);
    }
}
