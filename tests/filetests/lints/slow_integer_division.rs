// test lints
use warpwright::prelude::*;

// VSCSE 2009, lecture 5: the reduction with interleaved addressing, `t % (2 * stride) == 0`.
#[kernel(block = 256)]
pub fn interleaved(x: &Global<f32>, sums: &mut Global<f32>) {
    #[shared]
    let mut partial: [f32; 256];
    let t = thread_idx().x;
    partial[t] = x[global_id().x];
    let mut stride = 1;
    while stride < 256 {
        sync_threads();
        if t % (2 * stride) == 0 {
            partial[t] += partial[t + stride];
        }
        stride *= 2;
    }
    if t == 0 {
        sums[block_idx().x] = partial[0];
    }
}

// Rows and columns of a matrix whose width the launch decides.
#[kernel(block = 256)]
pub fn rows(width: usize, n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut sum = 0.0f32;
    for k in 0..n {
        let at = i + k;
        sum += x[at / width] * x[at % width];
    }
    y[i] = sum;
}

#[kernel(block = 256)]
pub fn long(width: i64, n: usize, x: &Global<i64>, y: &mut Global<i64>) {
    let i = global_id().x;
    let mut sum = 0i64;
    for k in 0..n {
        sum += x[i + k] / width;
    }
    y[i] = sum;
}

// By constants, and outside of loops.
#[kernel(block = 256)]
pub fn by_constants(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut sum = 0.0f32;
    for k in 0..n {
        sum += x[k % 7] + x[k / 16];
    }
    y[i] = sum;
}

#[kernel(block = 256)]
pub fn once(width: usize, n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let (row, column) = (i / width, i % width);
    let mut sum = 0.0f32;
    for k in 0..n {
        sum += x[row + k] / x[column + k];
    }
    y[i] = sum;
}
