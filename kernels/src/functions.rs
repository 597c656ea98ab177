//! Arithmetic only: sums of one function over some points, to see what its instructions cost.

use warpwright::Float;
use warpwright::prelude::*;

/// The functions, by what `F` of [`sums`] means. Those of two arguments are given a second one that lies near 1.
pub const NAMES: [&str; 22] = [
    "exp", "exp2", "exp_m1", "ln", "ln_1p", "log2", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "cbrt",
    "erf", "erfc", "atan2", "powf", "hypot",
];

/// Function `F` at `x`.
#[device]
pub fn function<T: Float, const F: usize>(x: T) -> T {
    match F {
        0 => x.exp(),
        1 => x.exp2(),
        2 => x.exp_m1(),
        3 => x.ln(),
        4 => x.ln_1p(),
        5 => x.log2(),
        6 => x.log10(),
        7 => x.sin(),
        8 => x.cos(),
        9 => x.tan(),
        10 => x.asin(),
        11 => x.acos(),
        12 => x.atan(),
        13 => x.sinh(),
        14 => x.cosh(),
        15 => x.tanh(),
        16 => x.cbrt(),
        17 => x.erf(),
        18 => x.erfc(),
        19 => x.atan2(x + T::ONE),
        20 => x.powf(x + T::ONE),
        _ => x.hypot(x + T::ONE),
    }
}

/// `sums[i]` ← Σ over k below `POINTS` of function `F` at `x[i] + k · step`.
#[kernel(block = 256, variants(T in [f32], F in [0]))]
pub fn sums<T: Float, const F: usize>(step: T, x: &Global<T>, sums: &mut Global<T>) {
    let i = global_id().x;
    if i < sums.len() {
        let first = x[i];
        let mut sum = T::ZERO;
        #[unroll(4)]
        for k in 0..POINTS {
            sum += function::<T, F>((k as T).mul_add(step, first));
        }
        sums[i] = sum;
    }
}

/// Points of a thread.
pub const POINTS: usize = 64;

/// Reference: the functions of std, summed in double precision.
pub fn reference<const F: usize>(step: f64, first: f64) -> f64 {
    (0..POINTS).map(|k| function::<f64, F>(first + k as f64 * step)).sum()
}
