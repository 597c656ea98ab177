// test ir built locations
// test ir legal
// test ir addressed
// test opencl
// test ptx sm_90
// test rust
use warpwright::prelude::*;

/// y ← a·x + y
#[kernel(block = 256)]
pub fn saxpy(a: f32, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = a * x[i] + y[i];
    }
}
