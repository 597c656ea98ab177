// test lints
use warpwright::prelude::*;

// NVIDIA OpenCL best practices guide 1.0: a constant without `f` makes the arithmetic double.
#[kernel(block = 256)]
pub fn constant(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = (x[i] as f64 * 0.1f64 + 1.0f64) as f32;
}

#[kernel(block = 256, targets = [sm_80])]
pub fn distance(x: &Global<f32>, y: &Global<f32>, z: &mut Global<f32>) {
    let i = global_id().x;
    let a = x[i] as f64;
    let b = y[i] as f64;
    z[i] = (a * a + b * b).sqrt() as f32;
}

// A sum that is carried in `f64` is meant to be.
#[kernel(block = 256)]
pub fn accurate(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut sum = 0.0f64;
    for k in 0..n {
        sum += x[i + k] as f64;
    }
    y[i] = sum as f32;
}

// A kernel of `f64`.
#[kernel(block = 256)]
pub fn double(x: &Global<f32>, y: &mut Global<f64>) {
    let i = global_id().x;
    y[i] = x[i] as f64 * 0.1;
}

// Computed while compiling.
#[kernel(block = 256)]
pub fn folded(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = x[i] * (0.1f64 * 3.0f64) as f32;
}

// A kernel of integers has no `f32` that would do.
#[kernel(block = 256)]
pub fn integers(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    y[i] = (x[i] as f64 * 0.1) as u32;
}
