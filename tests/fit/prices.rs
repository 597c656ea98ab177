//! Options: logarithms, exponentials, quotients, roots.

use warpwright::Float;
use warpwright::prelude::*;

#[device]
pub fn normal(x: f32) -> f32 {
    let k = 1.0 / (1.0 + 0.2316419 * x.abs());
    let series = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))));
    let tail = 0.39894228 * native_exp(-0.5 * x * x) * series;
    if x > 0.0 { 1.0 - tail } else { tail }
}

/// Calls and puts.
#[kernel(block = B, ilp = ILP, variants(B in [128, 512], ILP in [1, 2, 4]))]
pub fn options<const B: usize, const ILP: usize>(
    rate: f32,
    volatility: f32,
    price: &Global<f32>,
    strike: &Global<f32>,
    years: &Global<f32>,
    call: &mut Global<f32>,
    put: &mut Global<f32>,
) {
    let i = global_id().x;
    if i < call.len() {
        let (s, x, t) = (price[i], strike[i], years[i]);
        let root = t.sqrt();
        let d1 = (native_ln(s / x) + (rate + 0.5 * volatility * volatility) * t) / (volatility * root);
        let d2 = d1 - volatility * root;
        let discount = native_exp(-rate * t);
        let (n1, n2) = (normal(d1), normal(d2));
        call[i] = s * n1 - x * discount * n2;
        put[i] = x * discount * (1.0 - n2) - s * (1.0 - n1);
    }
}

/// Roots and quotients, each in single and double precision.
#[kernel(block = 256, ilp = ILP, variants(ILP in [1, 2, 4], F in [f32, f64]))]
pub fn quotients<const ILP: usize, F: Float>(x: &Global<F>, z: &Global<F>, y: &mut Global<F>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = x[i] / z[i];
    }
}

/// Lengths of vectors, made 1.
#[kernel(block = 256, variants(F in [f32, f64], N in [2, 3, 4]))]
pub fn normalise<F: Float, const N: usize>(n: usize, x: &mut Global<F>) {
    let i = global_id().x;
    if i < n {
        let mut sum = F::ZERO;
        #[unroll]
        for k in 0..N {
            sum += x[i * N + k] * x[i * N + k];
        }
        let length = sum.sqrt();
        #[unroll]
        for k in 0..N {
            x[i * N + k] = x[i * N + k] / length;
        }
    }
}
