//! What is no Rust: `rustc` says first what it expected.

use warpwright::prelude::*;

#[kernel(block = 256)]
fn shared(x: &Global<f32>, y: &mut Global<f32>) {
    __shared__ float tile[16][17];
}

#[kernel(block = 256)]
fn dynamic(x: &Global<f32>, y: &mut Global<f32>) {
    extern __shared__ int counts[];
}

#[kernel(block = 256)]
fn pragma(x: &Global<f32>, y: &mut Global<f32>) {
    #pragma unroll 4
    for j in 0..4 {
        y[j] = x[j];
    }
}

#[kernel(block = 256)]
fn casts(y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = (float) i;
}

fn main() {}
