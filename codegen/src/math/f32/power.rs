//! powf, cbrt and hypot of f32.

use super::exp::{EXP_LN2_HI, EXP_LN2_REST, EXP_LOG2E, EXP_MAGIC_EVEN, exp_poly};

/// Bits of 0.806: a positive number is 2^k * m with m from here to 1.612.
const POW_SPLIT: u32 = 0x3f4e5604;
const POW_MAGIC: f32 = 12582912.0;
const POW_MAGIC_BITS: u32 = 0x4b400000;
/// ln 2 in 16 bits, so that its multiples are exact, and the rest.
const POW_LN2_HI: f32 = 0.69314575;
const POW_LN2_LO: f32 = 1.4286068e-6;
/// ln(4/3) in 15 bits, a multiple of 2^-16 as POW_LN2_HI is, and the rest.
const POW_LN43_HI: f32 = 0.2876892;
const POW_LN43_LO: f32 = -7.1365325e-6;

/// x^y = e^(y ln |x|), ln |x| in two floats. |x| = 2^k m, m from 0.806 to 1.612; above 1.15 m is multiplied by 3/4, so that f = m - 1
/// stays between -0.194 and 0.209 and only its first two powers need both floats. Then as `exp`; the special cases and the sign at the end.
/// Worst error 3.14 ulp (8.7e8 random pairs, an eighth of them where it is worst; 1.6 for |x| ≤ 100 and |y| ≤ 10; x^1 is one ulp off for 3 % of x).
pub fn powf(x: f32, y: f32) -> f32 {
    let ax = x.abs();
    let tiny = ax < 1.1754944e-38;
    let b = (if tiny { ax * 33554432.0 } else { ax }).to_bits();
    let d = b.wrapping_sub(POW_SPLIT);
    let k = f32::from_bits(POW_MAGIC_BITS.wrapping_add(((d as i32) >> 23) as u32)) - (if tiny { POW_MAGIC + 25.0 } else { POW_MAGIC });
    let m = f32::from_bits(b.wrapping_sub(d & 0xff800000));
    let up = m > 1.15;
    let f = m.mul_add(if up { 0.75 } else { 1.0 }, -1.0);
    let k_hi = k.mul_add(POW_LN2_HI, if up { POW_LN43_HI } else { 0.0 });
    let k_lo = k.mul_add(POW_LN2_LO, if up { POW_LN43_LO } else { 0.0 });
    // ln(1 + f) = f - f²/2 + f³ p(f): near-minimax for the error relative to ln(1 + f) (2^-31.4).
    let p = 0.11225205f32.mul_add(f, -0.1334709);
    let p = p.mul_add(f, 0.14308539);
    let p = p.mul_add(f, -0.1664496);
    let p = p.mul_add(f, 0.19999352);
    let p = p.mul_add(f, -0.25000167);
    let p = p.mul_add(f, 0.33333337);
    let f2 = f * f;
    let f2_lo = f.mul_add(f, -f2);
    let sum = k_hi + f;
    let lo = k_lo + (f - (sum - k_hi));
    let hi = f2.mul_add(-0.5, sum);
    let lo = lo + f2.mul_add(-0.5, sum - hi);
    let c = f * p;
    let lo = f2_lo.mul_add(c - 0.5, lo);
    let lo = f2.mul_add(f.mul_add(p, -c), lo);
    let lo = f2.mul_add(c, lo);
    let l = hi + lo;
    let l_lo = lo - (l - hi);
    let low = if ax == 0.0 { f32::from_bits(0xff800000) } else { l };
    let l = if ax < f32::from_bits(0x7f800000) { low } else { ax };
    // e^(t + t_lo)
    let t = y * l;
    let t_lo = y.mul_add(l_lo, y.mul_add(l, -t));
    let z = t.mul_add(EXP_LOG2E, EXP_MAGIC_EVEN);
    let n = z - EXP_MAGIC_EVEN;
    let r = n.mul_add(-EXP_LN2_HI, t) + n.mul_add(EXP_LN2_REST, t_lo);
    let s = f32::from_bits(z.to_bits() << 23);
    let e = exp_poly(r) * s * s;
    let e = if t > 89.0 { f32::from_bits(0x7f800000) } else { e };
    let e = if t < -104.0 { 0.0 } else { e };
    let e = if ax == 1.0 || y == 0.0 { 1.0 } else { e };
    // Negative x: NaN unless y is an integer, negative for an odd one.
    let half = 0.5 * y;
    let whole = y.floor() == y;
    let odd = whole && half.floor() != half;
    let sign = if odd { x.to_bits() & 0x80000000 } else { 0 };
    let e = f32::from_bits(e.to_bits() ^ sign);
    if x < 0.0 && ax < f32::from_bits(0x7f800000) && !whole { f32::from_bits(0x7fc00000) } else { e }
}

/// The cube root. r ≈ |x|^(-1/3) from the bits, one step of third order, then one Newton step for |x| r² with its residue.
/// Worst error 0.74 ulp (every float from 1 to 16, which is every mantissa of every exponent mod 3, each 61st elsewhere).
pub fn cbrt(x: f32) -> f32 {
    // Below 2^-90 the residue would be subnormal: times 2^48 there.
    let tiny = x.abs() < 8.077936e-28;
    let a = if tiny { x.abs() * 281474976710656.0 } else { x.abs() };
    let r = f32::from_bits(CBRT_GUESS.wrapping_sub(a.to_bits() / 3));
    let e = (a * (r * r)).mul_add(-r, 1.0);
    // ((1 - e)^(-1/3) - 1) / e for |e| ≤ 0.1025 (2^-18.4).
    let p = 0.17471106f32.mul_add(e, 0.22348492);
    let p = p.mul_add(e, 0.33332756);
    let r = (r * e).mul_add(p, r);
    let r2 = r * r;
    let y = a * r2;
    let y = (y * y).mul_add(-y, a).mul_add(r2 * 0.33333334, y);
    let y = if tiny { y * 1.5258789e-5 } else { y };
    // Infinity and NaN are kept.
    if a < f32::from_bits(0x7f800000) { y.copysign(x) } else { x }
}
/// Makes the first guess of `cbrt`: 1 - x r³ is 0.10205 at most over all mantissas (0.10204 with the best constant there is).
const CBRT_GUESS: u32 = 0x54a1f568;

/// sqrt(x² + y²), both scaled by the power of 2 that brings the larger one to [2, 4).
/// Worst error 0.991 ulp (3.75e8 random pairs).
pub fn hypot(x: f32, y: f32) -> f32 {
    let ax = x.abs();
    let ay = y.abs();
    let a = if ax > ay { ax } else { ay };
    let b = if ax > ay { ay } else { ax };
    let e = if a < 1.1754944e-38 { 0x00800000 } else { a.to_bits() & 0x7f800000 };
    let s = f32::from_bits(0x7f800000u32.wrapping_sub(e));
    let c = b * s;
    let d = a * s;
    let r = d.mul_add(d, c * c).sqrt() * 0.5 * f32::from_bits(e);
    let inf = f32::from_bits(0x7f800000);
    if ax == inf || ay == inf { inf } else { r }
}
