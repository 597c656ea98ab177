//! What the hardware's approximations and the functions of `math = fast` promise (docs/intrinsics.md), written once: the processor computes the bounds, and so do GPUs that
//! take every number there is.

use warpwright::prelude::*;

/// The rows by number. What has two arguments stands last.
pub(crate) const NAMES: [&str; 26] = [
    "native_sin",
    "native_cos",
    "native_exp2",
    "native_log2",
    "native_sqrt",
    "native_rsqrt",
    "native_recip",
    "native_tanh",
    "native_exp",
    "native_ln",
    "fast_tan",
    "fast_asin",
    "fast_acos",
    "fast_atan",
    "fast_sinh",
    "fast_cosh",
    "fast_exp_m1",
    "fast_log10",
    "fast_ln_1p",
    "fast_cbrt",
    "fast_erf",
    "fast_erfc",
    "native_div",
    "fast_atan2",
    "fast_powf",
    "fast_hypot",
];

/// How many of [`NAMES`] have one argument.
pub(crate) const OF_ONE: usize = 22;

/// Row `F` in a kernel with `math = fast`.
#[device]
pub(crate) fn found<const F: usize>(x: f32, y: f32) -> f32 {
    match F {
        0 => native_sin(x),
        1 => native_cos(x),
        2 => native_exp2(x),
        3 => native_log2(x),
        4 => native_sqrt(x),
        5 => native_rsqrt(x),
        6 => native_recip(x),
        7 => native_tanh(x),
        8 => native_exp(x),
        9 => native_ln(x),
        10 => x.tan(),
        11 => x.asin(),
        12 => x.acos(),
        13 => x.atan(),
        14 => x.sinh(),
        15 => x.cosh(),
        16 => x.exp_m1(),
        17 => x.log10(),
        18 => x.ln_1p(),
        19 => x.cbrt(),
        20 => x.erf(),
        21 => x.erfc(),
        22 => native_div(x, y),
        23 => x.atan2(y),
        24 => x.powf(y),
        _ => x.hypot(y),
    }
}

/// What row `F` approximates.
#[device]
pub(crate) fn exact<const F: usize>(x: f64, y: f64) -> f64 {
    match F {
        0 => x.sin(),
        1 => x.cos(),
        2 => x.exp2(),
        3 => x.log2(),
        4 => x.sqrt(),
        5 => 1.0 / x.sqrt(),
        6 => 1.0 / x,
        7 => x.tanh(),
        8 => x.exp(),
        9 => x.ln(),
        10 => x.tan(),
        11 => x.asin(),
        12 => x.acos(),
        13 => x.atan(),
        14 => x.sinh(),
        15 => x.cosh(),
        16 => x.exp_m1(),
        17 => x.log10(),
        18 => x.ln_1p(),
        19 => x.cbrt(),
        20 => x.erf(),
        21 => x.erfc(),
        22 => x / y,
        23 => x.atan2(y),
        24 => x.powf(y),
        _ => x.hypot(y),
    }
}

/// The unit in the last place of an `f32` of this size.
#[device]
pub(crate) fn ulp(exact: f64) -> f64 {
    let exponent = ((exact.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    f64::from_bits(((exponent.max(-126) - 23 + 1023) as u64) << 52)
}

/// 2^-20.5, which `sin` is within, and 2^-20.4, which `cos` is.
const SINE: f64 = 6.743_495_761_743_046e-7;
const COSINE: f64 = 7.227_499_802_162_168e-7;
/// 2^-21.4, which `ln` is within near 1.
const LOGARITHM: f64 = 3.613_749_901_081_084e-7;
/// 2^-22.5 and 2^-22.9.
const POWER: f64 = 1.685_873_940_435_761_4e-7;
const ROOT: f64 = 1.277_653_530_283_325e-7;
/// 2^-11, 2^-22, 2^-23, 2^-24 and 2^-126.
const TANGENT: f64 = 4.882_812_5e-4;
const BITS_22: f64 = 2.384_185_791_015_625e-7;
const BITS_23: f64 = 1.192_092_895_507_812_5e-7;
const BITS_24: f64 = 5.960_464_477_539_063e-8;
const LEAST: f64 = 1.175_494_350_822_287_5e-38;
/// 2^126.
const GREATEST_DIVISOR: f64 = 8.507_059_173_023_462e37;

/// The relative error of `native_exp`.
#[device]
fn of_exp(x: f64) -> f64 {
    (2.0 + (1.173 * x.abs()).floor()) * BITS_23
}

/// The absolute error of `native_log2`, whose result is `log`.
#[device]
fn of_log2(x: f64, log: f64) -> f64 {
    if x > 0.5 && x < 2.0 { BITS_22 } else { BITS_22 * log.abs() }
}

/// The error that row `F` may have, absolute, where its exact result is `exact`.
#[device]
pub(crate) fn allowed<const F: usize>(x: f64, y: f64, exact: f64) -> f64 {
    let size = exact.abs();
    let unit = ulp(exact);
    match F {
        0 => SINE,
        1 => COSINE,
        // What is too small may be zero.
        2 => {
            if size < LEAST {
                size
            } else {
                POWER * size
            }
        }
        3 => of_log2(x, exact),
        4 => BITS_23 * size,
        5 => ROOT * size,
        6 => unit,
        7 => TANGENT * size,
        8 => {
            if size < LEAST {
                size
            } else {
                (3.0 + (1.173 * x.abs()).floor()) * unit
            }
        }
        9 => {
            if x.clamp(0.5, 2.0) == x {
                LOGARITHM
            } else {
                4.0 * unit
            }
        }
        // The sine's and the cosine's, divided; and `native_div`'s own.
        10 => {
            let cosine = 1.0 / (1.0 + exact * exact).sqrt();
            if cosine > SINE { SINE * (1.0 + size) / (cosine - SINE) + 2.0 * unit } else { f64::INFINITY }
        }
        11 => 3e-7,
        12 => 5e-7,
        13 => 3e-7,
        14 => (1e-6 + of_exp(x)) * size,
        15 => of_exp(x) * size,
        16 => (2e-6 + of_exp(x)) * size,
        17 => of_log2(x, x.log2()) * std::f64::consts::LOG10_2 + unit,
        18 => {
            if x.abs() < 0.15 {
                2e-6 * size
            } else {
                // The sum is rounded, which moves the logarithm by as much at most.
                (if x.clamp(-0.5, 1.0) == x { LOGARITHM } else { 3.0 * unit }) + BITS_24
            }
        }
        19 => {
            if x.abs() >= 5.960_464_477_539_063e-8 && x.abs() <= 16_777_216.0 {
                2e-6 * size
            } else {
                1.2e-5 * size
            }
        }
        20 => 5e-7,
        21 => 8e-7,
        22 => {
            if y.abs() > 8.507_059_173_023_462e37 {
                size.max(2.0 * unit)
            } else {
                2.0 * unit
            }
        }
        23 => 5e-7,
        24 => {
            let log = x.log2();
            let exponent = y * log;
            let off = (y * of_log2(x, log)).abs() + exponent.abs() * BITS_24;
            let relative = off.exp2() - 1.0 + POWER;
            if size < LEAST * (1.0 + relative) { size.max(relative * size) } else { relative * size }
        }
        _ => 1e-6 * size + unit,
    }
}

/// Whether row `F` promises anything for these arguments.
#[device]
pub(crate) fn is_promised<const F: usize>(x: f64, y: f64) -> bool {
    match F {
        0 | 1 | 10 => x.abs() <= std::f64::consts::TAU,
        // An infinity by a divisor that gives 0 of finite numbers is NaN.
        22 => y.abs() >= LEAST && (x.is_finite() || y.abs() <= GREATEST_DIVISOR),
        // Logarithms of what is not positive are NaN or infinite, and so are powers of them.
        24 => x > 0.0 && x.is_finite() && y.is_finite(),
        23 => !(x.is_infinite() && y.is_infinite()),
        // The length is infinite if one side is; here it may be NaN where the other is.
        25 => !(x.is_nan() && y.is_infinite() || x.is_infinite() && y.is_nan()),
        _ => true,
    }
}
