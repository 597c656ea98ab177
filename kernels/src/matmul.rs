//! C = A·B for row-major square matrices whose side is a multiple of the tile.

use warpwright::prelude::*;

/// C = A·B with both operands' tiles in shared memory; one thread per element of C.
#[kernel(block = (T, T), variants(T in [8, 16]))]
pub fn matmul_tiled<const T: usize>(n: usize, a: &Global<f32>, b: &Global<f32>, c: &mut Global<f32>) {
    #[shared]
    let mut a_tile: [[f32; T]; T];
    #[shared]
    let mut b_tile: [[f32; T]; T];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let row = block_idx().y * T + ty;
    let column = block_idx().x * T + tx;
    let mut sum = 0.0;
    for tile in 0..n / T {
        a_tile[ty][tx] = a[row * n + tile * T + tx];
        b_tile[ty][tx] = b[(tile * T + ty) * n + column];
        sync_threads();
        for k in 0..T {
            sum += a_tile[ty][k] * b_tile[k][tx];
        }
        sync_threads();
    }
    c[row * n + column] = sum;
}

/// Reference in double precision.
pub fn reference(n: usize, a: &[f32], b: &[f32]) -> Vec<f64> {
    let mut c = vec![0.0; n * n];
    for row in 0..n {
        for k in 0..n {
            for column in 0..n {
                c[row * n + column] += f64::from(a[row * n + k]) * f64::from(b[k * n + column]);
            }
        }
    }
    c
}
