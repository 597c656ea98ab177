//! C = A·B for row-major square matrices, as in Ryoo et al., "Optimization Principles and Application Performance Evaluation of a
//! Multithreaded GPU Using CUDA" (PPoPP 2008), section 4: not tiled, tiled, unrolled, prefetched.

use warpwright::prelude::*;

/// Side of the untiled kernel's block.
pub const SIDE: usize = 16;

/// C = A·B with every operand from global memory; one thread per element of C. The side may be anything. Loads are redundant: tiles are compared
/// with this.
#[kernel(block = (SIDE, SIDE), allow(redundant_global_loads), variants(UNROLL in [1, 4]))]
pub fn matmul_direct<const UNROLL: usize>(n: usize, a: &Global<f32>, b: &Global<f32>, c: &mut Global<f32>) {
    let (row, column) = (global_id().y, global_id().x);
    if row < n && column < n {
        let mut sum = 0.0;
        #[unroll(UNROLL)]
        for k in 0..n {
            sum += a[row * n + k] * b[k * n + column];
        }
        c[row * n + column] = sum;
    }
}

/// C = A·B with both operands' tiles in shared memory; one thread per element of C. The side is a multiple of the tile's. The inner
/// product is unrolled by `UNROLL` (`T` is all of it), and the next tiles are fetched while one is worked on if `PREFETCH`.
#[kernel(
    block = (T, T),
    variants(T in [4, 8, 12, 16], UNROLL in [1, 4], PREFETCH in [false, true]),
    // What a rolled loop costs is what the paper measures, and tiles of 4 × 4 and 12 × 12.
    allow(partial_warp, small_block, rolled_loop)
)]
pub fn matmul_tiled<const T: usize, const UNROLL: usize, const PREFETCH: bool>(
    n: usize,
    a: &Global<f32>,
    b: &Global<f32>,
    c: &mut Global<f32>,
) {
    #[shared]
    let mut a_tile: [[f32; T]; T];
    #[shared]
    let mut b_tile: [[f32; T]; T];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let row = block_idx().y * T + ty;
    let column = block_idx().x * T + tx;
    let mut sum = 0.0;
    #[prefetch(PREFETCH)]
    for tile in 0..n / T {
        a_tile[ty][tx] = a[row * n + tile * T + tx];
        b_tile[ty][tx] = b[(tile * T + ty) * n + column];
        sync_threads();
        #[unroll(UNROLL)]
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
