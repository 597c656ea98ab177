// test rust
//! Fully, by a factor with a rest, and with an exit.
use warpwright::prelude::*;

#[kernel(block = 32)]
fn unroll(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let first = global_id().x * 8;
    #[unroll]
    for j in (0..6).step_by(2) {
        y[first + j] = x[first + j];
    }
    let mut sum = 0.0;
    #[unroll(3)]
    for k in 0..n {
        if x[k] < 0.0 {
            break;
        }
        sum += x[k];
    }
    y[first + 7] = sum;
}
