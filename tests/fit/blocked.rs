//! Products of matrices with a tile of results in each thread's registers.

use warpwright::Float;
use warpwright::prelude::*;

/// C = A·B, from global memory.
#[kernel(block = (16, 16), variants(M in [1, 2, 4, 8], N in [1, 2, 4], F in [f32, f64]))]
pub fn direct<const M: usize, const N: usize, F: Float>(n: usize, a: &Global<F>, b: &Global<F>, c: &mut Global<F>) {
    let (row, column) = (global_id().y * M, global_id().x * N);
    let mut sum = [[F::ZERO; N]; M];
    for k in 0..n {
        #[unroll]
        for i in 0..M {
            #[unroll]
            for j in 0..N {
                sum[i][j] += a[(row + i) * n + k] * b[k * n + column + j];
            }
        }
    }
    #[unroll]
    for i in 0..M {
        #[unroll]
        for j in 0..N {
            c[(row + i) * n + column + j] = sum[i][j];
        }
    }
}

/// C = A·B through shared memory, 16 steps at a time.
#[kernel(block = (16, 16), variants(M in [2, 4, 8], UNROLL in [1, 4, 16], PREFETCH in [false, true]))]
pub fn tiled<const M: usize, const UNROLL: usize, const PREFETCH: bool>(n: usize, a: &Global<f32>, b: &Global<f32>, c: &mut Global<f32>) {
    #[shared]
    let mut a_tile: [[f32; 16]; 16 * M];
    #[shared]
    let mut b_tile: [[f32; 16 * M]; 16];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let (row, column) = (block_idx().y * 16 * M, block_idx().x * 16 * M);
    let mut sum = [[0.0f32; M]; M];
    #[prefetch(PREFETCH)]
    for tile in 0..n / 16 {
        #[unroll]
        for i in 0..M {
            a_tile[ty + 16 * i][tx] = a[(row + ty + 16 * i) * n + tile * 16 + tx];
            b_tile[ty][tx + 16 * i] = b[(tile * 16 + ty) * n + column + tx + 16 * i];
        }
        sync_threads();
        #[unroll(UNROLL)]
        for k in 0..16 {
            #[unroll]
            for i in 0..M {
                #[unroll]
                for j in 0..M {
                    sum[i][j] += a_tile[ty * M + i][k] * b_tile[k][tx * M + j];
                }
            }
        }
        sync_threads();
    }
    #[unroll]
    for i in 0..M {
        #[unroll]
        for j in 0..M {
            c[(row + ty * M + i) * n + column + tx * M + j] = sum[i][j];
        }
    }
}
