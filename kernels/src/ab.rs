//! C = A·B for an A of T columns and a B of T rows, row-major, as in NVIDIA's OpenCL best practices guide 1.0, section 3.2.2.2: no
//! operand in shared memory, A there, both there.

use warpwright::prelude::*;

/// Side of a tile, and what A has of columns and B of rows.
pub const T: usize = 16;

/// C = A·B with one thread per element of C, which has `n` columns; `n` and C's rows are multiples of `T`. Each operand is read from its
/// tile in shared memory, or from global memory every time: redundant loads are allowed, being what the variants differ in.
#[kernel(block = (T, T), allow(redundant_global_loads), variants(A_SHARED in [false, true], B_SHARED in [false, true]))]
pub fn ab<const A_SHARED: bool, const B_SHARED: bool>(n: usize, a: &Global<f32>, b: &Global<f32>, c: &mut Global<f32>) {
    #[shared]
    let mut a_tile: [[f32; T]; T];
    #[shared]
    let mut b_tile: [[f32; T]; T];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let (row, column) = (global_id().y, global_id().x);
    if A_SHARED {
        a_tile[ty][tx] = a[row * T + tx];
    }
    if B_SHARED {
        b_tile[ty][tx] = b[ty * n + column];
    }
    if A_SHARED || B_SHARED {
        sync_threads();
    }
    let mut sum = 0.0;
    #[unroll]
    for k in 0..T {
        let left = if A_SHARED { a_tile[ty][k] } else { a[row * T + k] };
        let right = if B_SHARED { b_tile[k][tx] } else { b[k * n + column] };
        sum += left * right;
    }
    c[row * n + column] = sum;
}

/// Reference in double precision: `m` rows, `n` columns.
pub fn reference(m: usize, n: usize, a: &[f32], b: &[f32]) -> Vec<f64> {
    let mut c = vec![0.0; m * n];
    for row in 0..m {
        for column in 0..n {
            c[row * n + column] = (0..T).map(|k| f64::from(a[row * T + k]) * f64::from(b[k * n + column])).sum();
        }
    }
    c
}
