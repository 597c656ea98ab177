// test rust
//! A loop of fewer iterations than `ilp` takes at a time has no group: it stays as it is, with its other annotations.
use warpwright::prelude::*;

#[kernel(block = 32)]
fn shorter(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut sum = 0.0;
    #[ilp(8)]
    for k in 0..5 {
        sum += x[i + k * 32];
    }
    #[ilp(8)]
    #[batch_loads]
    #[unroll(2)]
    for k in 0..4 {
        sum += x[i + k * 64];
    }
    y[i] = sum;
}
