//! Vectors and small matrices: streams of every width.

use warpwright::Float;
use warpwright::prelude::*;

/// a·x + b·y + c, by groups and vectors.
#[kernel(block = B, ilp = ILP, vectorize = V, batch_loads = BATCH, variants(B in [64, 256, 1024], ILP in [1, 2, 4, 8], V in [1, 2, 4], BATCH in [false, true]))]
pub fn combine<const B: usize, const ILP: usize, const V: usize, const BATCH: bool>(
    a: f32,
    b: f32,
    x: &Global<f32>,
    y: &Global<f32>,
    z: &mut Global<f32>,
) {
    let i = global_id().x;
    if i < z.len() {
        z[i] = a * x[i] + b * y[i] + 1.0;
    }
}

/// Products of vectors of `N` by small matrices.
#[kernel(block = 128, variants(N in [2, 3, 4, 6, 8], F in [f32, f64]))]
pub fn small<const N: usize, F: Float>(m: &Global<F>, x: &Global<F>, y: &mut Global<F>) {
    let i = global_id().x;
    let mut v = [F::ZERO; N];
    #[unroll]
    for k in 0..N {
        v[k] = x[i * N + k];
    }
    #[unroll]
    for r in 0..N {
        let mut sum = F::ZERO;
        #[unroll]
        for k in 0..N {
            sum += m[(i * N + r) * N + k] * v[k];
        }
        y[i * N + r] = sum;
    }
}

/// y = A·x, one row a thread, several columns at once.
#[kernel(block = 128, variants(ILP in [1, 4, 8, 16], BATCH in [false, true], F in [f32, f64]))]
pub fn rows<const ILP: usize, const BATCH: bool, F: Float>(n: usize, a: &Global<F>, x: &Global<F>, y: &mut Global<F>) {
    let row = global_id().x;
    if row < y.len() {
        let mut sum = F::ZERO;
        #[ilp(ILP)]
        #[batch_loads(BATCH)]
        for k in 0..n {
            sum += a[k * y.len() + row] * x[k];
        }
        y[row] = sum;
    }
}

/// As many accumulators as asked for, with and without a limit.
#[kernel(block = B, variants(N in [4, 8, 16, 24, 32, 48, 64, 96, 128], B in [128, 256, 512]))]
pub fn accumulators<const N: usize, const B: usize>(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut s = [0.0f32; N];
    for k in 0..n {
        let t = x[k * B + i];
        #[unroll]
        for j in 0..N {
            s[j] = s[j] * t + x[k * N + j];
        }
    }
    #[unroll]
    for j in 0..N {
        y[i * N + j] = s[j];
    }
}

/// The same under a limit.
#[kernel(block = 256, max_registers = M, variants(N in [8, 16, 32], M in [24, 32, 64]))]
pub fn limited<const N: usize, const M: u32>(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut s = [0.0f32; N];
    for k in 0..n {
        #[unroll]
        for j in 0..N {
            s[j] += x[(k * N + j) * 256 + i];
        }
    }
    #[unroll]
    for j in 0..N {
        y[i * N + j] = s[j];
    }
}

/// Blocks asked for.
#[kernel(block = 256, min_blocks = M, variants(N in [8, 32], M in [2, 4, 6]))]
pub fn crowded<const N: usize, const M: u32>(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut s = [0.0f32; N];
    for k in 0..n {
        #[unroll]
        for j in 0..N {
            s[j] += x[(k * N + j) * 256 + i];
        }
    }
    #[unroll]
    for j in 0..N {
        y[i * N + j] = s[j];
    }
}
