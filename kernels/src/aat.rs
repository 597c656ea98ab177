//! C = A·Aᵀ for a row-major matrix of n rows and T columns, as in NVIDIA's OpenCL best practices guide 1.0, section 3.2.2.3.

use warpwright::prelude::*;

/// Side of a tile.
pub const T: usize = 16;

/// C = A·Aᵀ with both tiles in shared memory; the second is stored transposed.
#[kernel(block = (T, T))]
pub fn aat(n: usize, a: &Global<f32>, c: &mut Global<f32>) {
    #[shared]
    let mut rows: [[f32; T]; T];
    #[shared]
    let mut columns: [[f32; T]; T];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let (row, column) = (global_id().y, global_id().x);
    rows[ty][tx] = a[row * T + tx];
    columns[tx][ty] = a[(block_idx().x * T + ty) * T + tx];
    sync_threads();
    let mut sum = 0.0;
    for k in 0..T {
        sum += rows[ty][k] * columns[k][tx];
    }
    c[row * n + column] = sum;
}

/// Reference in double precision.
pub fn reference(n: usize, a: &[f32]) -> Vec<f64> {
    let mut c = vec![0.0; n * n];
    for row in 0..n {
        for column in 0..n {
            c[row * n + column] = (0..T).map(|k| f64::from(a[row * T + k]) * f64::from(a[column * T + k])).sum();
        }
    }
    c
}
