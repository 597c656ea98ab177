// test lints
use warpwright::prelude::*;

// NVIDIA OpenCL best practices guide 1.0, section 3.2.1.4: `strideCopy`.
#[kernel(block = 256)]
pub fn stride_copy(stride: usize, out: &mut Global<f32>, inp: &Global<f32>) {
    let i = global_id().x * stride;
    if i < out.len() {
        out[i] = inp[i];
    }
}

// VSCSE 2009, lecture 5: a matrix walked by columns.
#[kernel(block = (32, 8))]
pub fn columns(width: usize, height: usize, inp: &Global<f32>, out: &mut Global<f32>) {
    let (row, column) = (global_id().x, global_id().y);
    if row < height && column < width {
        out[row * width + column] = 2.0 * inp[row * width + column];
    }
}

// Five sectors for four, at worst.
#[kernel(block = 256)]
pub fn offset_copy(offset: usize, out: &mut Global<f32>, inp: &Global<f32>) {
    let i = global_id().x + offset;
    if i < out.len() {
        out[i] = inp[i];
    }
}

// What half a warp reads alike is one sector, and what is left over for vectors runs element by element.
#[kernel(block = (16, 16))]
pub fn broadcast(n: usize, inp: &Global<f32>, out: &mut Global<f32>) {
    let (row, column) = (global_id().y, global_id().x);
    let mut sum = 0.0;
    for k in 0..n {
        sum += inp[row * n + k];
    }
    out[row * n + column] = sum;
}

#[kernel(block = 256, vectorize = 4)]
pub fn vectors(inp: &Global<f32>, out: &mut Global<f32>) {
    let i = global_id().x;
    if i < out.len() {
        out[i] = inp[i];
    }
}
