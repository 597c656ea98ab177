//! Polynomials and recurrences: arithmetic on what each thread loads once.

use warpwright::Float;
use warpwright::prelude::*;

/// A polynomial of degree `D` with its coefficients in constant memory.
#[kernel(block = 256, ilp = ILP, batch_loads = BATCH, variants(D in [4, 16], ILP in [1, 2, 4, 8], BATCH in [false, true], F in [f32, f64]))]
pub fn horner<const D: usize, const ILP: usize, const BATCH: bool, F: Float>(c: &Constant<[f32; 17]>, x: &Global<F>, y: &mut Global<F>) {
    let i = global_id().x;
    if i < y.len() {
        let t = x[i];
        let mut sum = F::ZERO;
        #[unroll]
        for k in 0..D + 1 {
            sum = sum * t + c[k] as F;
        }
        y[i] = sum;
    }
}

/// Sums of powers, all at once.
#[kernel(block = 128, variants(D in [4, 8, 16, 32], F in [f32, f64]))]
pub fn moments<const D: usize, F: Float>(n: usize, x: &Global<F>, y: &mut Global<F>) {
    let i = global_id().x;
    let mut sums = [F::ZERO; D];
    for k in 0..n {
        let t = x[k * 128 + i];
        let mut power = F::ONE;
        #[unroll]
        for d in 0..D {
            power *= t;
            sums[d] += power;
        }
    }
    #[unroll]
    for d in 0..D {
        y[i * D + d] = sums[d];
    }
}

/// The logistic map, a fixed and an open number of times.
#[kernel(block = 256, ilp = ILP, variants(ILP in [1, 4, 8]))]
pub fn logistic<const ILP: usize>(r: f32, n: u32, x: &mut Global<f32>) {
    let i = global_id().x;
    if i < x.len() {
        let mut t = x[i];
        for _ in 0..20 {
            t = r * t * (1.0 - t);
        }
        for _ in 0..n {
            t = r * t * (1.0 - t);
        }
        x[i] = t;
    }
}
