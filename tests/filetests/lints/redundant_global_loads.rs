// test lints
use warpwright::prelude::*;

// Ryoo et al., PPoPP 2008, section 4: not tiled.
#[kernel(block = (16, 16))]
pub fn product(n: usize, a: &Global<f32>, b: &Global<f32>, c: &mut Global<f32>) {
    let (row, column) = (global_id().y, global_id().x);
    let mut sum = 0.0;
    for k in 0..n {
        sum += a[row * n + k] * b[k * n + column];
    }
    c[row * n + column] = sum;
}

// NVIDIA OpenCL best practices guide 1.0, section 3.2.2.2: one operand's tile only.
#[kernel(block = (16, 16))]
pub fn one_tile(n: usize, a: &Global<f32>, b: &Global<f32>, c: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; 16]; 16];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let (row, column) = (global_id().y, global_id().x);
    tile[ty][tx] = a[row * 16 + tx];
    sync_threads();
    let mut sum = 0.0;
    #[unroll]
    for k in 0..16 {
        sum += tile[ty][k] * b[k * n + column];
    }
    c[row * n + column] = sum;
}

// What the whole block reads alike.
#[kernel(block = 256)]
pub fn broadcast(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let mut sum = 0.0;
    for k in 0..n {
        sum += x[k];
    }
    y[global_id().x] = sum;
}

// What neighbours read, too, but not at once; and what is read once.
#[kernel(block = (32, 8))]
pub fn stencil(n: usize, bias: &Global<f32>, x: &Global<f32>, y: &mut Global<f32>) {
    let (row, column) = (global_id().y, global_id().x);
    let at = row * n + column;
    y[at] = bias[column] + x[at] + x[at + 1] + x[at + 2] + x[at + n];
}

// A warp for a row of a sparse matrix: rows are of different lengths, and each warp has its own.
#[kernel(block = 128)]
pub fn sparse(starts: &Global<u32>, values: &Global<f32>, y: &mut Global<f32>) {
    let row = global_id().x / 32;
    if row < y.len() {
        let mut sum = 0.0f32;
        for k in (starts[row] as usize + lane_id()..starts[row + 1] as usize).step_by(32) {
            sum += values[k];
        }
        let sum = warp_sum(sum);
        if lane_id() == 0 {
            y[row] = sum;
        }
    }
}

// The same elements for all warps, but each reads as many as its row has: there is no place for a barrier.
#[kernel(block = (32, 4))]
pub fn prefixes(lengths: &Global<u32>, x: &Global<f32>, y: &mut Global<f32>) {
    let row = global_id().y;
    if row < y.len() {
        let mut sum = 0.0f32;
        for k in 0..lengths[row] as usize {
            sum += x[k * 32 + thread_idx().x];
        }
        y[row * 32 + thread_idx().x] = sum;
    }
}

// A guard at the boundary of the grid is no hindrance, but must not guard the barriers.
#[kernel(block = (32, 8))]
pub fn guarded(n: usize, a: &Global<f32>, b: &Global<f32>, c: &mut Global<f32>) {
    let (row, column) = (global_id().y, global_id().x);
    if row < n && column < n {
        let mut sum = 0.0;
        for k in 0..n {
            sum += a[row * n + k] * b[k * n + column];
        }
        c[row * n + column] = sum;
    }
}
