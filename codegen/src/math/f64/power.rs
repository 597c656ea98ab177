//! powf, cbrt and hypot in double precision. Constants: fit_power.py. Uses log_split and log_reciprocal of log.rs, exp2_core and
//! exp_scale of exp.rs.

use super::exp::{exp_scale, exp2_core};
use super::log::{log_reciprocal, log_split};

/// 1.5·2^52: added to |p| < 2^51, it rounds p to an integer whose two's complement the low bits then hold.
const POW_MAGIC: f64 = 6755399441055744.0;
// log2 m = s·(C0 + z·(C1 + z·Q(z))), s = (m - 1)/(m + 1), z = s², for m in [√½, √2]; C0 = 2 / ln 2 and C1 = C0 / 3 in two
// parts, Q fitted to 2^-66.3 of the whole.
const POW_C0_HI: f64 = 2.8853900817779268;
const POW_C0_LO: f64 = 4.0710547481862066e-17;
const POW_C1_HI: f64 = 0.9617966939259756;
const POW_C1_LO: f64 = 5.0577616648125907e-17;
const POW_Q0: f64 = 0.5770780163556178;
const POW_Q1: f64 = 0.4121985830919901;
const POW_Q2: f64 = 0.3205989022656415;
const POW_Q3: f64 = 0.2623077017360618;
const POW_Q4: f64 = 0.22198397273105758;
const POW_Q5: f64 = 0.19125568648459415;
const POW_Q6: f64 = 0.19038097270796525;

/// Less a third of the high word of x, the high word of x^(-1/3): |1 - x·r³| ≤ 0.102.
const CBRT_GUESS: u32 = 0x553ee938;
// (1 - e)^(-1/3) = 1 + e/3 + 2e²/9 + 14e³/81 + …
const CBRT_1: f64 = 0.3333333333333333;
const CBRT_2: f64 = 0.2222222222222222;
const CBRT_3: f64 = 0.1728395061728395;

/// log2 x as a sum of two doubles, to about 2^-65, for finite x > 0.
fn pow_log2(x: f64) -> (f64, f64) {
    let (k, f) = log_split(x);
    // s = f / (2 + f) with its remainder.
    let d = 2.0 + f;
    let d_low = f - (d - 2.0);
    let inverse = log_reciprocal(d);
    let s = f * inverse;
    let s_low = inverse * (-s).mul_add(d_low, (-s).mul_add(d, f));
    let z = s * s;
    let z_low = (s + s).mul_add(s_low, s.mul_add(s, -z));
    let q = z.mul_add(POW_Q6, POW_Q5);
    let q = z.mul_add(q, POW_Q4);
    let q = z.mul_add(q, POW_Q3);
    let q = z.mul_add(q, POW_Q2);
    let q = z.mul_add(q, POW_Q1);
    let w = z * z.mul_add(q, POW_Q0);
    let t = POW_C1_HI + w;
    let t_low = (w - (t - POW_C1_HI)) + POW_C1_LO;
    let u = z * t;
    let u_low = z_low.mul_add(t, z.mul_add(t_low, z.mul_add(t, -u)));
    let v = POW_C0_HI + u;
    let v_low = (u - (v - POW_C0_HI)) + (u_low + POW_C0_LO);
    let l = s * v;
    let l_low = s_low.mul_add(v, s.mul_add(v_low, s.mul_add(v, -l)));
    // k = 0 or |k| > |l|, so the difference is the exact error of the sum.
    let sum = k + l;
    (sum, (l - (sum - k)) + l_low)
}

/// x^y = 2^(y·log2 |x|) with the logarithm and the product in two doubles, and the sign of an odd power of a negative x.
/// Largest error found: 1.279 ulp, at (1.41498, -1963.57), on 220 million points.
pub fn powf(x: f64, y: f64) -> f64 {
    let ax = x.abs();
    let (high, low) = pow_log2(ax);
    // The logarithms of 0, infinity and NaN, for which pow_log2 gave something finite.
    let high = if ax < f64::INFINITY { high } else { ax };
    let high = if ax == 0.0 { f64::NEG_INFINITY } else { high };
    let p = y * high;
    let p_low = y.mul_add(low, y.mul_add(high, -p));
    let t = p + POW_MAGIC;
    let r = (p - (t - POW_MAGIC)) + p_low;
    let power = exp_scale(exp2_core(r), t.to_bits() as u32 as i32);
    // Past these limits the above may be garbage. An infinite logarithm or exponent ends here, too.
    let power = if p >= 1025.0 { f64::INFINITY } else { power };
    let power = if p <= -1080.0 { 0.0 } else { power };
    let half = 0.5 * y;
    let whole = y.floor() == y;
    let odd = whole & (half.floor() != half);
    let negative = x.to_bits() >> 63 != 0;
    let power = if negative & odd { -power } else { power };
    let power = if (x < 0.0) & !whole & (ax < f64::INFINITY) { f64::NAN } else { power };
    let one = (y == 0.0) | (x == 1.0) | ((x == -1.0) & (y.abs() == f64::INFINITY));
    if one { 1.0 } else { power }
}

/// Cube root. x^(-1/3) guessed from the bits and improved by series steps in e = 1 - x·r³; then x·r² with one Newton step
/// whose residual is exact: no division.
/// Largest error found: 0.521 ulp, at 7.18324, on 32 million points.
pub fn cbrt(x: f64) -> f64 {
    let ax = x.abs();
    // 2^-900: below, scale by 2^162 and back by its cube root, or the residual would underflow.
    let tiny = ax < 1.1830521861667747e-271;
    let a = if tiny { ax * 5.846006549323612e48 } else { ax };
    let r = f64::from_bits((CBRT_GUESS.wrapping_sub((a.to_bits() >> 32) as u32 / 3) as u64) << 32);
    let e = (-(a * r)).mul_add(r * r, 1.0);
    let r = (r * e).mul_add(e.mul_add(e.mul_add(CBRT_3, CBRT_2), CBRT_1), r);
    let e = (-(a * r)).mul_add(r * r, 1.0);
    let r = (r * e).mul_add(CBRT_1, r);
    let square = r * r;
    let y = a * square;
    let yy = y * y;
    let residual = (-yy).mul_add(y, a) - y.mul_add(y, -yy) * y;
    let y = residual.mul_add(square * CBRT_1, y);
    let y = if tiny { y * 5.551115123125783e-17 } else { y };
    if (ax > 0.0) & (ax < f64::INFINITY) { y.copysign(x) } else { x }
}

/// √(x² + y²), both scaled by a power of two where a square could overflow or underflow.
/// Largest error found: 0.988 ulp, at (0.512346, 0.515098), on 36 million points.
pub fn hypot(x: f64, y: f64) -> f64 {
    let ax = x.abs();
    let ay = y.abs();
    let ordered = ax > ay;
    let a = if ordered { ax } else { ay };
    let b = if ordered { ay } else { ax };
    // 2^500 and 2^-500; the factors are 2^-600 and 2^600.
    let large = a > 3.273390607896142e150;
    let small = a < 3.054936363499605e-151;
    let factor = if large { 2.409919865102884e-181 } else { 1.0 };
    let factor = if small { 4.149515568880993e180 } else { factor };
    let back = if large { 4.149515568880993e180 } else { 1.0 };
    let back = if small { 2.409919865102884e-181 } else { back };
    let a = a * factor;
    let b = b * factor;
    let root = a.mul_add(a, b * b).sqrt() * back;
    if (ax == f64::INFINITY) | (ay == f64::INFINITY) { f64::INFINITY } else { root }
}
