//! Instructions, NVIDIA's OpenCL best practices guide 1.0, chapter 5 and appendix A: variants of one kernel each that differ in one instruction.
//!
//! | kernel | the guide's advice | today |
//! |---|---|---|
//! | [`waves`] | native functions where their error is small enough | holds: a few instructions for some dozens |
//! | [`indices`] | `mul24` for products of indices, as `*` took four instructions | turned round: a product of 32 bits is one instruction, `mul24` is it and masks |
//! | [`halves`] | shifts and masks in place of `/` and `%` by powers of two | the compiler writes them if it knows the divisor; else the advice holds |
//! | [`scaled`] | no constants of `f64` in `f32` arithmetic | holds: a multiplication and two conversions, at the rate of `f64` |

use warpwright::prelude::*;

/// y ← Σ over k below `steps` of sin(x + k/8) · exp(-x - k/8), by the library's functions or by the hardware's approximations.
#[kernel(block = 256, math = if FAST { fast } else { precise }, variants(FAST in [false, true]))]
pub fn waves<const FAST: bool>(steps: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        let first = x[i];
        let mut sum = 0.0;
        for k in 0..steps {
            let at = first + k as f32 * 0.125;
            sum += at.sin() * (-at).exp();
        }
        y[i] = sum;
    }
}

/// Reference of [`waves`].
pub fn waves_reference(steps: usize, x: &[f32]) -> Vec<f64> {
    let wave = |x: f64| x.sin() * (-x).exp();
    x.iter().map(|x| (0..steps).map(|k| wave(f64::from(*x) + k as f64 / 8.0)).sum()).collect()
}

/// `y[i]` ← the sum of `steps` indices of places in a table of `width` columns, which are products of numbers below 2²⁴: by `*` or by `mul24`.
#[kernel(block = 256, variants(MUL24 in [false, true]))]
pub fn indices<const MUL24: bool>(steps: usize, width: u32, y: &mut Global<u32>) {
    let i = global_id().x;
    if i < y.len() {
        let mut sum = i as u32;
        for _ in 0..steps {
            let row = sum & 0xff_ffff;
            let start = if MUL24 { row.mul24(width) } else { row.wrapping_mul(width) };
            sum = start.wrapping_add(i as u32) >> 3;
        }
        y[i] = sum;
    }
}

/// Reference of [`indices`].
pub fn indices_reference(steps: usize, width: u32, n: usize) -> Vec<u32> {
    let one = |i: u64| (0..steps).fold(i, |sum, _| (((sum & 0xff_ffff) * u64::from(width) + i) & 0xffff_ffff) >> 3) as u32;
    (0..n as u64).map(one).collect()
}

/// How [`halves`] divides.
pub mod dividing {
    /// By a number that the launch brings.
    pub const UNKNOWN: u32 = 0;
    /// By a shift and a mask that the launch brings.
    pub const SHIFTS: u32 = 1;
    /// By a number that is known while compiling: 2¹⁰.
    pub const KNOWN: u32 = 2;
}

/// `y[i]` ← `steps` rounds of quotient and rest by 2^`power`, each round's quotient five times plus the rest the next one's start. What the lint says of the division by a number that
/// nobody knows is what is shown.
#[kernel(block = 256, allow(slow_integer_division), variants(HOW in [0, 1, 2]))]
pub fn halves<const HOW: u32>(steps: usize, power: u32, y: &mut Global<u32>) {
    let i = global_id().x;
    if i < y.len() {
        let divisor = 1u32 << power;
        let mask = divisor - 1;
        let mut v = (i as u32).wrapping_mul(0x9e37_79b9);
        for k in 0..steps {
            let (quotient, rest) = match HOW {
                dividing::UNKNOWN => (v / divisor, v % divisor),
                dividing::SHIFTS => (v >> power, v & mask),
                _ => (v / 1_024, v % 1_024),
            };
            v = quotient.wrapping_mul(5).wrapping_add(rest ^ k as u32).wrapping_mul(0x85eb_ca6b);
        }
        y[i] = v;
    }
}

/// Reference of [`halves`].
pub fn halves_reference(steps: usize, power: u32, n: usize) -> Vec<u32> {
    let one = |i: usize| {
        (0..steps as u32).fold((i as u32).wrapping_mul(0x9e37_79b9), |v, k| {
            let (quotient, rest) = (v.div_euclid(1 << power), v.rem_euclid(1 << power));
            quotient.wrapping_mul(5).wrapping_add(rest ^ k).wrapping_mul(0x85eb_ca6b)
        })
    };
    (0..n).map(one).collect()
}

/// y ← x after `steps` rounds of x·0.5 + 0.25, where the constants are of the data's type or, `STRAY`, of `f64`: exact in both for small integers and few
/// rounds, so that nothing but time differs.
#[kernel(block = 256, allow(double_in_single), variants(STRAY in [false, true]))]
pub fn scaled<const STRAY: bool>(steps: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        let mut v = x[i];
        for _ in 0..steps {
            v = if STRAY { (v as f64 * 0.5f64 + 0.25f64) as f32 } else { v * 0.5 + 0.25 };
        }
        y[i] = v;
    }
}

/// Reference of [`scaled`].
pub fn scaled_reference(steps: usize, x: &[f32]) -> Vec<f32> {
    x.iter().map(|x| (0..steps).fold(f64::from(*x), |v, _| v * 0.5 + 0.25) as f32).collect()
}
