// test lints
use warpwright::prelude::*;

// NVIDIA OpenCL best practices guide 1.0, section 3.2.2.3: the unpadded tile of C = AAᵀ.
#[kernel(block = (16, 16))]
pub fn aat(n: usize, a: &Global<f32>, c: &mut Global<f32>) {
    #[shared]
    let mut rows: [[f32; 16]; 16];
    #[shared]
    let mut columns: [[f32; 16]; 16];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let (row, column) = (global_id().y, global_id().x);
    rows[ty][tx] = a[row * 16 + tx];
    columns[tx][ty] = a[(block_idx().x * 16 + ty) * 16 + tx];
    sync_threads();
    let mut sum = 0.0;
    #[unroll]
    for k in 0..16 {
        sum += rows[ty][k] * columns[k][tx];
    }
    c[row * n + column] = sum;
}

// What 16 banks needed leaves two passes with 32.
#[kernel(block = (16, 16))]
pub fn aat_padded_for_16_banks(n: usize, a: &Global<f32>, c: &mut Global<f32>) {
    #[shared]
    let mut rows: [[f32; 16]; 16];
    #[shared(pad = 1)]
    let mut columns: [[f32; 16]; 16];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let (row, column) = (global_id().y, global_id().x);
    rows[ty][tx] = a[row * 16 + tx];
    columns[tx][ty] = a[(block_idx().x * 16 + ty) * 16 + tx];
    sync_threads();
    let mut sum = 0.0;
    #[unroll]
    for k in 0..16 {
        sum += rows[ty][k] * columns[k][tx];
    }
    c[row * n + column] = sum;
}

#[kernel(block = (32, 8))]
pub fn transposed(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; 32]; 32];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    #[unroll]
    for row in 0..4 {
        tile[ty + row * 8][tx] = x[(ty + row * 8) * 32 + tx];
    }
    sync_threads();
    #[unroll]
    for row in 0..4 {
        y[(ty + row * 8) * 32 + tx] = tile[tx][ty + row * 8];
    }
}

#[kernel(block = (16, 16))]
pub fn aat_padded(n: usize, a: &Global<f32>, c: &mut Global<f32>) {
    #[shared]
    let mut rows: [[f32; 16]; 16];
    #[shared(pad = 2)]
    let mut columns: [[f32; 16]; 16];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let (row, column) = (global_id().y, global_id().x);
    rows[ty][tx] = a[row * 16 + tx];
    columns[tx][ty] = a[(block_idx().x * 16 + ty) * 16 + tx];
    sync_threads();
    let mut sum = 0.0;
    #[unroll]
    for k in 0..16 {
        sum += rows[ty][k] * columns[k][tx];
    }
    c[row * n + column] = sum;
}

#[kernel(block = (32, 8))]
pub fn transposed_padded(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared(pad = 1)]
    let mut tile: [[f32; 32]; 32];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    #[unroll]
    for row in 0..4 {
        tile[ty + row * 8][tx] = x[(ty + row * 8) * 32 + tx];
    }
    sync_threads();
    #[unroll]
    for row in 0..4 {
        y[(ty + row * 8) * 32 + tx] = tile[tx][ty + row * 8];
    }
}

#[kernel(block = (32, 8))]
pub fn transposed_swizzled(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared(swizzle)]
    let mut tile: [[f32; 32]; 32];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    #[unroll]
    for row in 0..4 {
        tile[ty + row * 8][tx] = x[(ty + row * 8) * 32 + tx];
    }
    sync_threads();
    #[unroll]
    for row in 0..4 {
        y[(ty + row * 8) * 32 + tx] = tile[tx][ty + row * 8];
    }
}

// As many rows as the launch's memory holds: a column of them is in one bank.
#[kernel(block = (32, 8))]
pub fn transposed_dynamic(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared(dynamic)]
    let mut tile: [[f32; 32]];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    #[unroll]
    for row in 0..4 {
        tile[ty + row * 8][tx] = x[(ty + row * 8) * 32 + tx];
    }
    sync_threads();
    #[unroll]
    for row in 0..4 {
        y[(ty + row * 8) * 32 + tx] = tile[tx][ty + row * 8];
    }
}

#[kernel(block = (32, 8))]
pub fn transposed_dynamic_and_padded(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared(dynamic, pad = 1)]
    let mut tile: [[f32; 32]];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    #[unroll]
    for row in 0..4 {
        tile[ty + row * 8][tx] = x[(ty + row * 8) * 32 + tx];
    }
    sync_threads();
    #[unroll]
    for row in 0..4 {
        y[(ty + row * 8) * 32 + tx] = tile[tx][ty + row * 8];
    }
}

#[kernel(block = (32, 8))]
pub fn transposed_dynamic_and_swizzled(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared(dynamic, swizzle)]
    let mut tile: [[f32; 32]];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    #[unroll]
    for row in 0..4 {
        tile[ty + row * 8][tx] = x[(ty + row * 8) * 32 + tx];
    }
    sync_threads();
    #[unroll]
    for row in 0..4 {
        y[(ty + row * 8) * 32 + tx] = tile[tx][ty + row * 8];
    }
}
