// test rust
//! An accumulator becomes three, joined in order; what is guarded is predicated.
use warpwright::prelude::*;

#[kernel(block = 32)]
fn ilp(n: usize, m: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let mut sum = 0.0;
    #[ilp(3)]
    for k in 0..n {
        let t = x[k];
        if t > 0.0 {
            sum += t * t;
        }
    }
    #[ilp(2)]
    for j in 0..m {
        let i = j * 32 + thread_idx().x;
        if i < y.len() {
            let a = x[i];
            y[i] = a + sum;
        }
    }
}
