//! C = A·Aᵀ for a row-major matrix of n rows and T columns, as in NVIDIA's OpenCL best practices guide 1.0, section 3.2.2.3: from global
//! memory, through shared memory, and with the bank conflicts of the transposed tile gone.

use warpwright::prelude::*;

/// Side of a tile.
pub const T: usize = 16;

/// C = A·Aᵀ with no shared memory: the second factor is read in steps of a row, again and again, which is what the others are compared with.
#[kernel(block = (T, T), allow(uncoalesced_access, redundant_global_loads))]
pub fn aat_direct(n: usize, a: &Global<f32>, c: &mut Global<f32>) {
    let (row, column) = (global_id().y, global_id().x);
    let mut sum = 0.0;
    #[unroll]
    for k in 0..T {
        sum += a[row * T + k] * a[column * T + k];
    }
    c[row * n + column] = sum;
}

/// C = A·Aᵀ with both tiles in shared memory; the second is stored transposed. Plain, that store meets 8 elements of each bank it
/// touches; with rows `PAD = 1` word longer, as was right for 16 banks, 2 of one; with 2 words or columns swizzled, one of each. Not padded and
/// swizzled, which the compiler refuses: so swizzling is no declared variant. Conflicts are allowed: they are what the variants differ in.
#[kernel(block = (T, T), allow(bank_conflict), variants(PAD in [0, 1, 2], SWIZZLE in [false]))]
pub fn aat<const PAD: usize, const SWIZZLE: bool>(n: usize, a: &Global<f32>, c: &mut Global<f32>) {
    #[shared]
    let mut rows: [[f32; T]; T];
    #[shared(pad = PAD, swizzle = SWIZZLE)]
    let mut columns: [[f32; T]; T];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let (row, column) = (global_id().y, global_id().x);
    rows[ty][tx] = a[row * T + tx];
    columns[tx][ty] = a[(block_idx().x * T + ty) * T + tx];
    sync_threads();
    let mut sum = 0.0;
    #[unroll]
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
