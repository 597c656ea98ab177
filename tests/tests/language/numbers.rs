//! Mathematics: methods of floats and integers, fast forms, exactness.

use crate::bench::{Bench, Case, floats, patterns, tame, words};
use warpwright::prelude::*;
use warpwright::{Float, Int};

/// The table's rows.
pub(crate) const CASES: &[Case] = &[
    Case { name: "exact_methods", run: exact_methods },
    Case { name: "exact_methods_of_doubles", run: exact_methods_of_doubles },
    Case { name: "exact_methods_of_halves", run: exact_methods_of_halves },
    Case { name: "integer_methods", run: integer_methods },
    Case { name: "wide_integer_methods", run: wide_integer_methods },
    Case { name: "short_integer_methods", run: short_integer_methods },
    Case { name: "signed_methods", run: signed_methods },
    Case { name: "random_bits_of_floats", run: random_bits_of_floats },
    Case { name: "random_bits_of_integers", run: random_bits_of_integers },
    Case { name: "inherent_constants", run: inherent_constants },
    Case { name: "precise", run: precise_functions },
    Case { name: "precise_doubles", run: precise_doubles },
    Case { name: "precise_halves", run: precise_halves },
    Case { name: "fast", run: fast_functions },
    Case { name: "natives", run: natives },
    Case { name: "contraction", run: contraction },
    Case { name: "uncontracted", run: uncontracted },
    Case { name: "division", run: division },
    Case { name: "euclid", run: euclid },
    Case { name: "euclid_of_all_types", run: euclid_of_all_types },
    Case { name: "subnormals", run: subnormals },
    Case { name: "comparisons", run: comparisons },
    Case { name: "associated", run: associated },
];

#[kernel(block = 32, contract = false)]
fn exact(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let n = x.len();
    let (a, b, c) = (x[i], x[(i + 1) % n], x[(i + 7) % n]);
    let all = [
        a.abs(),
        a.min(b) + 0.0,
        a.max(b) + 0.0,
        a.clamp(-2.0, 3.5),
        a.floor(),
        a.ceil(),
        a.round(),
        a.trunc(),
        a.fract(),
        a.abs().sqrt(),
        a.sqrt(),
        a.recip(),
        a.mul_add(b, c),
        a.copysign(b),
        a.signum(),
        a / b,
        a % b,
        -a,
        a.round_ties_even(),
        f32::max(a, c) - f32::min(b, c),
    ];
    for k in 0..20 {
        y[i * 20 + k] = all[k];
    }
}

fn exact_methods(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(exact, &floats(128), 20)?;
    let halves: Vec<f32> = (0..64).map(|k| (k as f32 - 32.0) / 4.0).collect();
    b.map(exact, &halves, 20).map(drop)
}

#[kernel(block = 32, contract = false)]
fn exact_wide(x: &Global<f64>, y: &mut Global<f64>) {
    let i = global_id().x;
    let n = x.len();
    let (a, b, c) = (x[i], x[(i + 1) % n], x[(i + 7) % n]);
    let all = [
        a.abs(),
        a.min(b) + 0.0,
        a.max(b) + 0.0,
        a.clamp(-2.0, 3.5),
        a.floor(),
        a.ceil(),
        a.round(),
        a.trunc(),
        a.fract(),
        a.sqrt(),
        a.recip(),
        a.mul_add(b, c),
        a.copysign(b),
        a.signum(),
        a / b,
        a % b,
    ];
    for k in 0..16 {
        y[i * 16 + k] = all[k];
    }
}

fn exact_methods_of_doubles(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(exact_wide, &floats(128).iter().map(|&f| f as f64 * 1.001).collect::<Vec<_>>(), 16).map(drop)
}

#[kernel(block = 32, contract = false)]
fn exact_short<T: Float>(x: &Global<T>, y: &mut Global<T>) {
    let i = global_id().x;
    let n = x.len();
    let (a, b, c) = (x[i], x[(i + 1) % n], x[(i + 7) % n]);
    let all = [
        a.abs(),
        a.min(b) + T::ZERO,
        a.max(b) + T::ZERO,
        a.clamp(T::ZERO - T::ONE, T::ONE),
        a.floor(),
        a.ceil(),
        a.round(),
        a.trunc(),
        a.fract(),
        a.sqrt(),
        a.recip(),
        a.mul_add(b, c),
        a.copysign(b),
        a.signum(),
        a / b,
        a % b,
        -a,
        a + b,
        a - c,
        a * c,
    ];
    for k in 0..20 {
        y[i * 20 + k] = all[k];
    }
}

fn exact_methods_of_halves(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let f = floats(128);
    b.map(exact_short::<f16>, &f.iter().map(|&f| f16::from_f32(f)).collect::<Vec<_>>(), 20)?;
    b.map(exact_short::<bf16>, &f.iter().map(|&f| bf16::from_f32(f)).collect::<Vec<_>>(), 20)?;
    b.map(exact_short::<f32>, &f, 20).map(drop)
}

#[kernel(block = 32, contract = false)]
fn quotients<T: Float>(x: &Global<T>, y: &mut Global<T>) {
    let i = global_id().x;
    let (a, b) = (x[i], x[(i + 1) % x.len()]);
    let three = T::ONE + T::ONE + T::ONE;
    y[i * 4] = a.div_euclid(b);
    y[i * 4 + 1] = a.rem_euclid(b);
    y[i * 4 + 2] = a.div_euclid(three);
    y[i * 4 + 3] = a.rem_euclid(-three);
}

/// A quotient of halves that is rounded to a whole number is not that number.
fn euclid_of_all_types(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let singles: Vec<f32> = patterns(32, 23).iter().map(|&bits| f32::from_bits(bits as u32)).collect();
    b.map(quotients::<f32>, &singles, 4)?;
    b.map(quotients::<f64>, &patterns(64, 52).into_iter().map(f64::from_bits).collect::<Vec<_>>(), 4)?;
    b.map(quotients::<f16>, &patterns(16, 10).iter().map(|&bits| f16::from_bits(bits as u16)).collect::<Vec<_>>(), 4)?;
    b.map(quotients::<bf16>, &patterns(16, 7).iter().map(|&bits| bf16::from_bits(bits as u16)).collect::<Vec<_>>(), 4).map(drop)
}

#[kernel(block = 32)]
fn integer(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let n = x.len();
    let (a, b) = (x[i], x[(i + 1) % n]);
    let all = [
        a.count_ones(),
        a.leading_zeros(),
        a.trailing_zeros(),
        a.rotate_left(b),
        a.rotate_right(7),
        a.reverse_bits(),
        a.swap_bytes(),
        (a % 16).pow(b % 8),
        a.wrapping_add(b),
        a.wrapping_sub(b),
        a.wrapping_mul(b),
        a.saturating_add(b),
        a.saturating_sub(b),
        a.mul_hi(b),
        a.mul24(b),
        a.sad4(b, a) ^ b.sad4(0x80ff_0001, 7),
        a.min(b) ^ a.max(b).rotate_left(1),
        a.clamp(10, 1000),
        a.wrapping_shl(b) ^ a.wrapping_shr(b),
        a.abs_diff(b),
        a.count_zeros() + a.leading_ones() * 100 + a.trailing_ones() * 10000,
        a.wrapping_neg(),
        a.is_power_of_two() as u32,
        a.wrapping_pow(3),
        a.wrapping_div(b | 1) ^ a.wrapping_rem(b | 1),
        a.saturating_mul(b),
        a.isqrt(),
        a.div_ceil(b | 1),
    ];
    for k in 0..28 {
        y[i * 28 + k] = all[k];
    }
}

fn integer_methods(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(integer, &words(128), 28).map(drop)
}

#[kernel(block = 32)]
fn wide_integer(x: &Global<u64>, y: &mut Global<u64>) {
    let i = global_id().x;
    let n = x.len();
    let (a, b) = (x[i], x[(i + 1) % n]);
    let all = [
        a.count_ones() as u64,
        a.leading_zeros() as u64,
        a.trailing_zeros() as u64,
        a.rotate_left(b as u32),
        a.rotate_right(17),
        a.reverse_bits(),
        a.swap_bytes(),
        (a % 1000).pow(3),
        a.wrapping_add(b),
        a.wrapping_sub(b),
        a.wrapping_mul(b),
        a.saturating_add(b),
        a.saturating_sub(b),
        a.mul_hi(b),
        a.min(b) ^ a.max(b).rotate_left(1),
        a.wrapping_shl(b as u32),
        a.abs_diff(b),
        a / (b | 1) ^ a % (b | 1),
        a / 10 ^ a % 10 << 40,
        a / 7,
    ];
    for k in 0..20 {
        y[i * 20 + k] = all[k];
    }
}

fn wide_integer_methods(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let xs: Vec<u64> =
        words(128).iter().zip(words(200).iter().skip(72)).map(|(&a, &b)| (u64::from(a) << 32 | u64::from(b)) >> (b % 50)).collect();
    b.map(wide_integer, &xs, 20).map(drop)
}

#[kernel(block = 32)]
fn short_integer<T: Int>(x: &Global<u32>, y: &mut Global<u64>) {
    let i = global_id().x;
    let n = x.len();
    let (a, b) = (x[i] as T, x[(i + 1) % n] as T);
    let all = [
        a.count_ones() as T,
        a.leading_zeros() as T,
        a.trailing_zeros() as T,
        a.rotate_left(x[i] % 9),
        a.rotate_right(3),
        a.reverse_bits(),
        a.swap_bytes(),
        a.wrapping_pow(3),
        a.wrapping_add(b),
        a.wrapping_sub(b),
        a.wrapping_mul(b),
        a.saturating_add(b),
        a.saturating_sub(b),
        a.mul_hi(b),
        a.min(b) ^ a.max(b).rotate_left(1),
        a.wrapping_shl(x[i]),
        a.wrapping_shr(x[i]),
        a / (b | T::ONE),
        a % (b | T::ONE),
        a >> (3 as T),
        a.saturating_mul(b),
        a.clamp(3 as T, 100 as T),
    ];
    for k in 0..22 {
        y[i * 22 + k] = all[k] as u64;
    }
}

fn short_integer_methods(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(short_integer::<u8>, &words(128), 22)?;
    b.map(short_integer::<u16>, &words(128), 22)?;
    b.map(short_integer::<i16>, &words(96), 22)?;
    b.map(short_integer::<i64>, &words(96), 22).map(drop)
}

#[kernel(block = 32)]
fn signed(x: &Global<i32>, y: &mut Global<i32>) {
    let i = global_id().x;
    let n = x.len();
    let (a, b) = (x[i], x[(i + 1) % n]);
    let all = [
        a.wrapping_abs(),
        a.signum(),
        a.min(b),
        a.max(b),
        a.clamp(-100, 100),
        a.saturating_add(b),
        a.saturating_sub(b),
        a.mul_hi(b),
        a.mul24(b),
        a.rem_euclid(17),
        a.div_euclid(-5),
        a / 7 ^ a % 7,
        a / -8 ^ a % 8,
        a >> 3 ^ a << 3,
        a.unsigned_abs() as i32,
        a.is_negative() as i32 + a.is_positive() as i32 * 2,
        a.rotate_left(9) ^ a.swap_bytes(),
        a.abs_diff(b) as i32,
        a.leading_zeros() as i32 - a.trailing_zeros() as i32,
        (a % 10).pow(3),
        a.saturating_mul(b),
        (a / 2).abs(),
        (a as i8).saturating_add(b as i8) as i32,
        (a as i16).wrapping_mul(b as i16) as i32,
    ];
    for k in 0..24 {
        y[i * 24 + k] = all[k];
    }
}

fn signed_methods(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(signed, &words(128).iter().map(|&w| w as i32).collect::<Vec<_>>(), 24).map(drop)
}

/// What is exact of floats, of every edge and of random bits.
fn random_bits_of_floats(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let singles: Vec<f32> = patterns(32, 23).iter().map(|&bits| f32::from_bits(bits as u32)).collect();
    b.map(exact, &singles, 20)?;
    b.map(exact_wide, &patterns(64, 52).into_iter().map(f64::from_bits).collect::<Vec<_>>(), 16)?;
    b.map(exact_short::<f16>, &patterns(16, 10).iter().map(|&bits| f16::from_bits(bits as u16)).collect::<Vec<_>>(), 20)?;
    b.map(exact_short::<bf16>, &patterns(16, 7).iter().map(|&bits| bf16::from_bits(bits as u16)).collect::<Vec<_>>(), 20).map(drop)
}

/// The same of integers.
fn random_bits_of_integers(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let words: Vec<u32> = patterns(32, 0).iter().map(|&bits| bits as u32).collect();
    b.map(integer, &words, 28)?;
    b.map(signed, &words.iter().map(|&word| word as i32).collect::<Vec<_>>(), 24)?;
    b.map(wide_integer, &patterns(64, 0), 20)?;
    b.map(short_integer::<u8>, &words, 22)?;
    let short: Vec<u32> = patterns(16, 0).iter().map(|&bits| bits as u32).collect();
    b.map(short_integer::<u16>, &short, 22)?;
    b.map(short_integer::<i16>, &short, 22)?;
    b.map(short_integer::<i64>, &words, 22).map(drop)
}

#[kernel(block = 32)]
fn inherent(y: &mut Global<f64>) {
    let all = [
        f32::MAX as f64,
        f32::MIN as f64,
        f32::MIN_POSITIVE as f64,
        f32::EPSILON as f64,
        f32::INFINITY as f64,
        f32::NEG_INFINITY as f64,
        f64::MAX,
        f64::EPSILON,
        u32::BITS as f64,
        u8::MAX as f64,
        i8::MIN as f64,
        i64::MAX as f64,
        u64::MAX as f64,
        i16::BITS as f64,
        f32::NAN as f64,
        std::f64::consts::E,
        core::f32::consts::TAU as f64,
        f16::MAX as f64,
        bf16::EPSILON as f64,
        f32::DIGITS as f64,
        f32::MANTISSA_DIGITS as f64,
        u16::MIN as f64,
        std::f32::consts::LN_2 as f64,
        f32::MAX_EXP as f64,
    ];
    let i = thread_idx().x;
    if i < 24 {
        y[i] = all[i];
    }
}

fn inherent_constants(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let mut y = b.device.zeros::<f64>(24)?;
    b.go(inherent(&mut y).grid(1))?;
    b.keep(&y).map(drop)
}

macro_rules! transcendental {
    ($name:ident, $t:ty, $($attr:tt)*) => {
        #[kernel(block = 32, $($attr)*)]
        fn $name(x: &Global<$t>, y: &mut Global<$t>) {
            let i = global_id().x;
            let a = x[i];
            let b = x[(i + 1) % x.len()];
            let p = a.abs() + 0.01;
            let u = a / 101.0;
            let (s, c) = a.sin_cos();
            let all = [
                u.exp(),
                u.exp2(),
                p.ln(),
                p.log2(),
                p.log10(),
                p.powf(u),
                u.powi(3),
                u.powi(-2),
                a.sin(),
                a.cos(),
                s * c,
                u.tan(),
                u.asin(),
                u.acos(),
                a.atan(),
                a.atan2(b),
                u.sinh(),
                u.cosh(),
                u.tanh(),
                a.hypot(b),
                a.cbrt(),
                p.rsqrt(),
                u.erf(),
                u.erfc(),
                p.sqrt().exp().ln(),
            ];
            for k in 0..25 {
                y[i * 25 + k] = all[k];
            }
        }
    };
}
transcendental!(precise, f32, math = precise);
transcendental!(precise_wide, f64, contract = true);
transcendental!(fast, f32, math = fast);

fn close<T: crate::bench::Bits>(
    b: &mut Bench<'_>,
    kernel: impl for<'l> FnOnce(&'l Buffer<T>, &'l mut Buffer<T>) -> Launch<'l>,
    xs: &[T],
    results: usize,
    bound: f64,
) -> warpwright::Result<()> {
    let x = b.device.upload(xs)?;
    let mut y = b.device.zeros::<T>(xs.len() * results)?;
    b.go(kernel(&x, &mut y).cover(xs.len()))?;
    b.keep_close(&y, bound).map(drop)
}

fn precise_functions(b: &mut Bench<'_>) -> warpwright::Result<()> {
    close(b, precise, &tame(64), 25, 1e-5)
}

fn precise_doubles(b: &mut Bench<'_>) -> warpwright::Result<()> {
    close(b, precise_wide, &tame(64).iter().map(|&f| f as f64).collect::<Vec<_>>(), 25, 1e-12)
}

#[kernel(block = 32)]
fn short_functions<T: Float>(x: &Global<T>, y: &mut Global<T>) {
    let i = global_id().x;
    let u = x[i] / (101 as T);
    let p = u.abs() + (0.125 as T);
    let (s, c) = u.sin_cos();
    let all =
        [u.exp(), p.ln(), s, c, u.tanh(), p.powf(u), p.rsqrt(), u.powi(2), u.atan2(p), p.hypot(u), u.exp2(), p.log2(), u.erf(), p.cbrt()];
    for k in 0..14 {
        y[i * 14 + k] = all[k];
    }
}

fn precise_halves(b: &mut Bench<'_>) -> warpwright::Result<()> {
    close(b, short_functions::<f16>, &tame(64).iter().map(|&f| f16::from_f32(f)).collect::<Vec<_>>(), 14, 2e-3)?;
    close(b, short_functions::<bf16>, &tame(64).iter().map(|&f| bf16::from_f32(f)).collect::<Vec<_>>(), 14, 2e-2)?;
    close(b, short_functions::<f64>, &tame(64).iter().map(|&f| f64::from(f)).collect::<Vec<_>>(), 14, 1e-12)
}

fn fast_functions(b: &mut Bench<'_>) -> warpwright::Result<()> {
    close(b, fast, &tame(64).iter().map(|f| f / 40.0).collect::<Vec<_>>(), 25, 1e-3)
}

#[kernel(block = 32)]
fn native(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let a = x[i];
    let p = a.abs() + 0.01;
    let all = [
        native_sin(a),
        native_cos(a),
        native_exp2(a),
        native_exp(a),
        native_log2(p),
        native_ln(p),
        native_rsqrt(p),
        native_recip(p),
        native_sqrt(p),
        native_div(a, p),
        native_tanh(a),
    ];
    for k in 0..11 {
        y[i * 11 + k] = all[k];
    }
}

fn natives(b: &mut Bench<'_>) -> warpwright::Result<()> {
    close(b, native, &tame(64).iter().map(|f| f / 40.0).collect::<Vec<_>>(), 11, 1e-3)
}

#[kernel(block = 32)]
fn contracted(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let (a, b) = (x[i], x[(i + 1) % x.len()]);
    y[i] = a * b + a - (b * 0.3 - a * a) * 2.0;
}

fn contraction(b: &mut Bench<'_>) -> warpwright::Result<()> {
    close(b, contracted, &tame(64), 1, 1e-5)
}

#[kernel(block = 32, contract = false)]
fn straight(x: &Global<f32>, y: &mut Global<f32>, z: &mut Global<f64>) {
    let i = global_id().x;
    let (a, b) = (x[i], x[(i + 1) % x.len()]);
    let mut r = a * b + a - (b * 0.3 - a * a) * 2.0;
    for k in 0..5 {
        r = r * 0.7 + b * k as f32 - r / 3.0;
        r += r * r * 1e-4;
    }
    let d = a as f64;
    y[i] = r;
    z[i] = d * d * 1.1 - r as f64 * d + 0.1 * d;
}

fn uncontracted(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let x = b.device.upload(&tame(64))?;
    let (mut y, mut z) = (b.device.zeros::<f32>(64)?, b.device.zeros::<f64>(64)?);
    b.go(straight(&x, &mut y, &mut z).cover(64))?;
    b.keep(&y)?;
    b.keep(&z).map(drop)
}

#[kernel(block = 32, contract = false)]
fn divisions(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let n = x.len();
    let (a, b) = (x[i], x[(i + 1) % n] | 1);
    let s = a as i32;
    let mut r = a / 3 ^ (a / 5) << 1 ^ (a / 7) << 2 ^ (a / 10) << 3 ^ (a / 641) << 4 ^ a / 0x8000_0001 ^ a / 16 ^ a / u32::MAX;
    r = r * 31 + (s / 3) as u32 + (s / -7) as u32 + (s / 10) as u32 + (s / i32::MAX) as u32 + (s / 16) as u32 + (s / -16) as u32;
    r = r * 31 + a % 3 + a % 100 + a % 32 + (s % 3) as u32 + (s % -10) as u32 + (s % 64) as u32 + (s / i32::MIN) as u32;
    r = r * 31 + a / b + a % b;
    r = r * 31 + (a as u8 / 7) as u32 + (a as i8 / 3) as u32 + (a as u16 % 11) as u32 + (a as i16 / -9) as u32 + (a as u16 / 255) as u32;
    let f = a as f32;
    r = r * 31 + (f / 4.0).to_bits() + (f / 3.0).to_bits() + (f / 0.1).to_bits() + (1.0 / (f + 1.0)).to_bits();
    y[i] = r;
}

fn division(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(divisions, &words(256), 1).map(drop)
}

#[kernel(block = 32, contract = false)]
fn euclidean(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let a = x[i];
    let s = a as i32;
    y[i * 4] = s.rem_euclid(7) as f32 + s.div_euclid(3) as f32;
    y[i * 4 + 1] = a.rem_euclid(2.5);
    y[i * 4 + 2] = a.div_euclid(-1.5);
    y[i * 4 + 3] = a.to_degrees() - a.to_radians();
}

fn euclid(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(euclidean, &tame(64), 4).map(drop)
}

#[kernel(block = 32, contract = false)]
fn tiny(x: &Global<u32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let a = f32::from_bits(x[i] & 0x00ff_ffff);
    let b = f32::from_bits(x[(i + 1) % x.len()] & 0x80ff_ffff);
    y[i * 4] = a + b;
    y[i * 4 + 1] = a * 0.5 - b;
    y[i * 4 + 2] = a.mul_add(0.25, b);
    y[i * 4 + 3] = if a > b { a.sqrt() } else { (a as f64 * 1e-3) as f32 };
}

fn subnormals(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(tiny, &words(96), 4).map(drop)
}

#[kernel(block = 32)]
fn compare(x: &Global<f32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let (a, b) = (x[i], x[(i + 1) % x.len()]);
    let mut m = 0u32;
    let all = [
        a < b,
        a <= b,
        a > b,
        a >= b,
        a == b,
        a != b,
        !(a < b),
        !(a >= b),
        a.is_nan(),
        a.is_infinite(),
        a.is_finite(),
        a.is_sign_negative(),
        a < 0.0 || a > 0.0,
    ];
    for k in 0..13 {
        m |= (all[k] as u32) << k;
    }
    let least = if a < b { a } else { b };
    let most = if a > b { a } else { b };
    y[i * 2] = m;
    y[i * 2 + 1] = if least.is_nan() { 1 } else { least.to_bits() } ^ if most.is_nan() { 2 } else { most.to_bits().rotate_left(3) };
}

fn comparisons(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(compare, &floats(128), 2).map(drop)
}

#[kernel(block = 32, contract = false)]
fn by_path(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let a = x[i];
    let n = u32::max(i as u32, 5) + u32::count_ones(i as u32) + i32::abs(-3) as u32 + u64::pow(3, 4) as u32;
    y[i] = f32::sqrt(f32::abs(a))
        + f32::mul_add(a, 2.0, 1.0)
        + f32::from_bits(f32::to_bits(a))
        + n as f32
        + f32::from(3u8)
        + f64::from(a) as f32;
    y[i] += u32::from(true) as f32 + i64::from(-3i32) as f32;
}

fn associated(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(by_path, &tame(64), 1).map(drop)
}
