//! exp, exp2 and exp_m1 of f32.

/// 1/ln 2, rounded.
pub(super) const EXP_LOG2E: f32 = 1.442695;
/// ln 2, rounded: `x - n * EXP_LN2_HI` is exact for the n nearest to x / ln 2.
pub(super) const EXP_LN2_HI: f32 = 0.6931472;
/// ln 2 - EXP_LN2_HI, the sign turned.
pub(super) const EXP_LN2_REST: f32 = 1.9046542e-9;
/// 1.5 * 2^24 + 254: a float near it is a multiple of 2, so adding it rounds to an even n; the low bits are n / 2 + 127.
pub(super) const EXP_MAGIC_EVEN: f32 = 25166078.0;
/// EXP_MAGIC_EVEN + 192: keeps n at or below 192, where any result is infinite already.
const EXP_MAGIC_TOP: f32 = 25166270.0;

/// e^r for |r| ≤ ln 2: near-minimax for the relative error (2^-25.7), first coefficient fixed at 1.
pub(super) fn exp_poly(r: f32) -> f32 {
    let p = 0.00019801641f32.mul_add(r, 0.0014115672);
    let p = p.mul_add(r, 0.008334729);
    let p = p.mul_add(r, 0.041660473);
    let p = p.mul_add(r, 0.16666637);
    let p = p.mul_add(r, 0.5000005);
    let p = p.mul_add(r, 1.0);
    p.mul_add(r, 1.0)
}

/// e^x. x = n ln 2 + r with an even n and |r| ≤ ln 2; a polynomial of degree 7 for e^r, multiplied twice by 2^(n/2), so that subnormal
/// results are rounded once and no exponent leaves its range. Worst error 1.58 ulp (every float with 1e-8 ≤ |x| ≤ 105, each 61st elsewhere).
pub fn exp(x: f32) -> f32 {
    let z = x.mul_add(EXP_LOG2E, EXP_MAGIC_EVEN).min(EXP_MAGIC_TOP);
    let n = z - EXP_MAGIC_EVEN;
    let r = n.mul_add(EXP_LN2_REST, n.mul_add(-EXP_LN2_HI, x));
    let p = exp_poly(r);
    let s = f32::from_bits(z.to_bits() << 23);
    // Below -104 n may be anything; a NaN goes through r.
    if x < -104.0 { 0.0 } else { p * s * s }
}

/// 2^x. x = n + r with an even n and |r| ≤ 1; a polynomial of degree 7 for 2^r, multiplied twice by 2^(n/2).
/// Exact for integers. Worst error 1.21 ulp (every float with 1e-8 ≤ |x| ≤ 151, each 61st elsewhere).
pub fn exp2(x: f32) -> f32 {
    let z = (x + EXP_MAGIC_EVEN).min(EXP_MAGIC_TOP);
    let r = x - (z - EXP_MAGIC_EVEN);
    // Near-minimax for the relative error on [-1, 1] (2^-25.9), first coefficient fixed at 1.
    let p = 1.4906261e-5f32.mul_add(r, 0.00015654096);
    let p = p.mul_add(r, 0.0013341943);
    let p = p.mul_add(r, 0.009616714);
    let p = p.mul_add(r, 0.055503648);
    let p = p.mul_add(r, 0.24022673);
    let p = p.mul_add(r, 0.69314724);
    let p = p.mul_add(r, 1.0);
    let s = f32::from_bits(z.to_bits() << 23);
    // Below -151 n may be anything; a NaN goes through r.
    if x < -151.0 { 0.0 } else { p * s * s }
}

/// 1.5 * 2^23 + 126: adding it rounds to an integer n; the low bits are the exponent of 2^(n-1).
const EXPM1_MAGIC: f32 = 12583038.0;

/// e^x - 1. x = n ln 2 + r with |r| ≤ ln 2 / 2; 2^n - 1 + 2^n (e^r - 1), summed with the rounding errors of r and of the larger terms,
/// on half the scale so that 2^n does not overflow before the result does. Worst error 0.90 ulp (every float with 1e-9 ≤ |x| ≤ 90, each 61st elsewhere).
pub fn exp_m1(x: f32) -> f32 {
    // Below -17.5 the result is -1 after rounding, above 89 it is infinite; a NaN is caught at the end.
    let c = x.max(-17.5);
    let c = c.min(89.0);
    let z = c.mul_add(EXP_LOG2E, EXPM1_MAGIC);
    let n = z - EXPM1_MAGIC;
    let exact = n.mul_add(-EXP_LN2_HI, c);
    let r = n.mul_add(EXP_LN2_REST, exact);
    let low = n.mul_add(EXP_LN2_REST, exact - r);
    // (e^r - 1 - r) / r²: near-minimax for the error relative to e^r - 1 (2^-30.5).
    let p = 0.0001955477f32.mul_add(r, 0.0013934035);
    let p = p.mul_add(r, 0.008333912);
    let p = p.mul_add(r, 0.041666474);
    let p = p.mul_add(r, 0.16666664);
    let p = p.mul_add(r, 0.5);
    let q = (r * r).mul_add(p, low);
    let s = f32::from_bits(z.to_bits() << 23);
    // t + rest = s - 1/2, sum + rest = (t + rest) + s r.
    let t = s - 0.5;
    let sum = s.mul_add(r, t);
    let rest = s.mul_add(r, t - sum) + ((s - t) - 0.5);
    let y = 2.0 * (sum + s.mul_add(q, rest));
    // x itself where halving might lose bits or the sign of zero.
    if x.abs() > 1e-8 { y } else { x }
}
