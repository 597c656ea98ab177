//! sinh, cosh and tanh of f32.

/// 1/ln 2, and ln 2 in one float and the rest with its sign turned.
const HYP_LOG2E: f32 = 1.442695;
const HYP_LN2_HI: f32 = 0.6931472;
const HYP_LN2_REST: f32 = 1.9046542e-9;
/// Twice that.
const HYP_LN2_REST_2: f32 = 3.8093084e-9;
/// 1.5 * 2^23 + 125: the low bits are the exponent of 2^(n-2).
const HYP_MAGIC: f32 = 12583037.0;
/// The bits of 1.5 * 2^23 + 250: less the bits of HYP_MAGIC + n, 125 - n is left, the exponent of 2^(-n-2).
const HYP_MIRROR: i32 = 0x4b4000fa;

/// For x ≥ 0, x = n ln 2 + r, |r| ≤ ln 2 / 2: (2^(n-2), 2^(-n-2), 2 cosh r - 2, 2 sinh r).
fn hyp_parts(ax: f32) -> (f32, f32, f32, f32) {
    // All is infinite from here on; a NaN goes through.
    let a = if ax > 89.6 { 89.6 } else { ax };
    let z = a.mul_add(HYP_LOG2E, HYP_MAGIC);
    let n = z - HYP_MAGIC;
    let exact = n.mul_add(-HYP_LN2_HI, a);
    let r = n.mul_add(HYP_LN2_REST, exact);
    let r2 = r * r;
    // Near-minimax for 2 cosh r - 2 (absolute 2^-32) and for 2 sinh r - 2 r (2^-26.2 of sinh r).
    let p = 0.002787152f32.mul_add(r2, 0.08333291);
    let c = r2 * p.mul_add(r2, 1.0);
    let q = r2 * 0.016733069f32.mul_add(r2, 0.33333087);
    // 2 r without the rounding of r
    let s = exact.mul_add(2.0, q.mul_add(r, n * HYP_LN2_REST_2));
    let up = f32::from_bits(z.to_bits() << 23);
    // 0 from n = 125 on, where it counts no more.
    let e = HYP_MIRROR.wrapping_sub(z.to_bits() as i32);
    let down = f32::from_bits((if e > 0 { e as u32 } else { 0 }) << 23);
    (up, down, c, s)
}

/// The hyperbolic cosine: (2^n + 2^-n) / 2 cosh r + (2^n - 2^-n) / 2 sinh r.
/// Worst error 1.43 ulp (every float with 1e-4 ≤ |x| ≤ 90, each 61st elsewhere).
pub fn cosh(x: f32) -> f32 {
    let (up, down, c, s) = hyp_parts(x.abs());
    let rest = (up + down).mul_add(c, down.mul_add(2.0, (up - down) * s));
    up.mul_add(2.0, rest)
}

/// The hyperbolic sine: (2^n - 2^-n) / 2 cosh r + (2^n + 2^-n) / 2 sinh r.
/// Worst error 1.92 ulp (every float with 1e-4 ≤ |x| ≤ 90, each 61st elsewhere).
pub fn sinh(x: f32) -> f32 {
    let (up, down, c, s) = hyp_parts(x.abs());
    let minus = up - down;
    minus.mul_add(2.0, minus.mul_add(c, (up + down) * s)).copysign(x)
}

/// 1.5 * 2^23 + 126: the low bits are the exponent of 2^(n-1).
const TANH_MAGIC: f32 = 12583038.0;

/// The hyperbolic tangent. |x| = n ln 2 / 2 + r, r up to 0.55 and above 0.2 where n > 0; t = tanh r by a polynomial. For n = 0 the result is t,
/// else 1 - (1 - t) / ((2^n + 1) / 2 + (2^n - 1) / 2 t), which is 1/2 at least, so that the errors of the quotient count half.
/// Worst error 1.31 ulp (every float with 1e-4 ≤ |x| ≤ 10, each 61st elsewhere).
pub fn tanh(x: f32) -> f32 {
    let ax = x.abs();
    // 1 from here on; a NaN goes through.
    let c = if ax > 9.2 { 9.2 } else { ax };
    let z = (c.mul_add(2.88539, -1.087) + TANH_MAGIC).max(TANH_MAGIC);
    let n = z - TANH_MAGIC;
    // n ln 2 / 2 in one float and the rest, which is added after the cubic term.
    let r = n.mul_add(-0.3465736, c);
    let r2 = r * r;
    // (tanh r - r) / r³, near-minimax for the error relative to tanh r on [-0.551, 0.551] (2^-29.7).
    let p = (-0.00625725f32).mul_add(r2, 0.021059243);
    let p = p.mul_add(r2, -0.053849127);
    let p = p.mul_add(r2, 0.13332553);
    let p = p.mul_add(r2, -0.33333316);
    let t = r + (r2 * r).mul_add(p, n * 9.523271e-10);
    let w = f32::from_bits(z.to_bits() << 23);
    let base = if z > TANH_MAGIC { 1.0 } else { 0.0 };
    (base + (t - base) / (w - 0.5).mul_add(t, w + 0.5)).copysign(x)
}
