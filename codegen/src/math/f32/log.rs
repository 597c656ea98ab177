//! ln, ln_1p, log2 and log10 of f32.

/// Bits of sqrt(1/2): a number is 2^k * m with m from here to twice this.
const LOG_SPLIT: u32 = 0x3f3504f3;
/// 1.5 * 2^23: a float near it has an integer in its low bits.
const LOG_MAGIC: f32 = 12582912.0;
const LOG_MAGIC_BITS: u32 = 0x4b400000;
/// The first 16 bits of ln 2: k * LOG_LN2_HI is exact.
const LOG_LN2_HI: f32 = 0.69314575;
/// ln 2 - LOG_LN2_HI.
const LOG_LN2_LO: f32 = 1.4286068e-6;

/// (ln(1 + f) - f) / f² for sqrt(1/2) - 1 ≤ f ≤ sqrt 2 - 1: near-minimax for the error relative to ln(1 + f) (2^-27.8).
fn log_poly(f: f32) -> f32 {
    let p = (-0.07623699f32).mul_add(f, 0.12908684);
    let p = p.mul_add(f, -0.13244438);
    let p = p.mul_add(f, 0.14181161);
    let p = p.mul_add(f, -0.16608778);
    let p = p.mul_add(f, 0.20002003);
    let p = p.mul_add(f, -0.250016);
    let p = p.mul_add(f, 0.33333325);
    p.mul_add(f, -0.49999988)
}

/// What a logarithm of x is where x is not a positive finite number; else `r`.
fn log_special(x: f32, r: f32) -> f32 {
    let r = if x < f32::from_bits(0x7f800000) { r } else { x };
    let low = if x == 0.0 { f32::from_bits(0xff800000) } else { f32::from_bits(0x7fc00000) };
    if x > 0.0 { r } else { low }
}

/// The natural logarithm. x = 2^k (1 + f); ln(1 + f) = f + f² q(f); k ln 2 + f is kept with its rounding error.
/// Worst error 0.88 ulp (every positive float).
pub fn ln(x: f32) -> f32 {
    let tiny = x < 1.1754944e-38;
    let b = (if tiny { x * 33554432.0 } else { x }).to_bits();
    let d = b.wrapping_sub(LOG_SPLIT);
    let k = f32::from_bits(LOG_MAGIC_BITS.wrapping_add(((d as i32) >> 23) as u32)) - (if tiny { LOG_MAGIC + 25.0 } else { LOG_MAGIC });
    let f = f32::from_bits(b.wrapping_sub(d & 0xff800000)) - 1.0;
    let hi = k.mul_add(LOG_LN2_HI, f);
    let lo = f - k.mul_add(-LOG_LN2_HI, hi);
    let lo = k.mul_add(LOG_LN2_LO, lo);
    log_special(x, hi + (f * f).mul_add(log_poly(f), lo))
}

/// ln(1 + x). u = 1 + x rounded = 2^k m; f = m - 1 + 2^-k (1 + x - u) with its own rounding error, then as `ln`.
/// Worst error 0.88 ulp (every float with 1e-9 ≤ |x| ≤ 1000, each 61st elsewhere).
pub fn ln_1p(x: f32) -> f32 {
    let u = 1.0 + x;
    let b = u.to_bits();
    let d = b.wrapping_sub(LOG_SPLIT);
    let e = d & 0xff800000;
    let k = f32::from_bits(LOG_MAGIC_BITS.wrapping_add(((d as i32) >> 23) as u32)) - LOG_MAGIC;
    // 2^(1-k): what u lacks is below 1/2 from k = 24 on and must only be finite at k = 128.
    let s = f32::from_bits(0x40000000u32.wrapping_sub(e));
    let m = f32::from_bits(b.wrapping_sub(e)) - 1.0;
    let c = (0.5 * (x - (u - 1.0))) * s;
    let f = m + c;
    let rest = c - (f - m);
    let hi = k.mul_add(LOG_LN2_HI, f);
    let lo = f - k.mul_add(-LOG_LN2_HI, hi);
    let lo = k.mul_add(LOG_LN2_LO, lo) + rest.mul_add(-f, rest);
    let y = log_special(u, hi + (f * f).mul_add(log_poly(f), lo));
    // x itself where halving might lose bits or the sign of zero.
    if x.abs() > 1e-8 { y } else { x }
}

/// Bits of 2/3: `log2` is a little more precise with f from -1/3 to 1/3.
const LOG2_SPLIT: u32 = 0x3f2aaaab;
/// 1/ln 2 in two floats.
const LOG_LOG2E_HI: f32 = 1.442695;
const LOG_LOG2E_LO: f32 = 1.925963e-8;

/// The logarithm to base 2, exact for powers of 2. As `ln`; f / ln 2 is kept with its rounding error too.
/// Worst error 0.94 ulp (every positive float).
pub fn log2(x: f32) -> f32 {
    let tiny = x < 1.1754944e-38;
    let b = (if tiny { x * 33554432.0 } else { x }).to_bits();
    let d = b.wrapping_sub(LOG2_SPLIT);
    let k = f32::from_bits(LOG_MAGIC_BITS.wrapping_add(((d as i32) >> 23) as u32)) - (if tiny { LOG_MAGIC + 25.0 } else { LOG_MAGIC });
    let f = f32::from_bits(b.wrapping_sub(d & 0xff800000)) - 1.0;
    // (log2(1 + f) - f / ln 2) / f²: near-minimax for the error relative to log2(1 + f) (2^-27.5).
    let q = (-0.18430674f32).mul_add(f, 0.20207995);
    let q = q.mul_add(f, -0.17621389);
    let q = q.mul_add(f, 0.20198622);
    let q = q.mul_add(f, -0.24061134);
    let q = q.mul_add(f, 0.28869462);
    let q = q.mul_add(f, -0.36067203);
    let q = q.mul_add(f, 0.48089653);
    let q = q.mul_add(f, -0.7213475);
    let p = f * LOG_LOG2E_HI;
    let rest = f.mul_add(LOG_LOG2E_LO, f.mul_add(LOG_LOG2E_HI, -p));
    let hi = k + p;
    let lo = p - (hi - k);
    log_special(x, hi + (f * f).mul_add(q, lo + rest))
}

/// 1/ln 10 in two floats.
const LOG_LOG10E_HI: f32 = 0.4342945;
const LOG_LOG10E_LO: f32 = -1.010305e-8;
/// The first 15 bits of log10(2), so that k * LOG_LOG10_2_HI is exact, and the rest.
const LOG_LOG10_2_HI: f32 = 0.3010254;
const LOG_LOG10_2_LO: f32 = 4.605039e-6;

/// The logarithm to base 10, exact for powers of 10. As `log2`.
/// Worst error 0.86 ulp (every float from 0.001 to 1000, each 61st elsewhere).
pub fn log10(x: f32) -> f32 {
    let tiny = x < 1.1754944e-38;
    let b = (if tiny { x * 33554432.0 } else { x }).to_bits();
    let d = b.wrapping_sub(LOG_SPLIT);
    let k = f32::from_bits(LOG_MAGIC_BITS.wrapping_add(((d as i32) >> 23) as u32)) - (if tiny { LOG_MAGIC + 25.0 } else { LOG_MAGIC });
    let f = f32::from_bits(b.wrapping_sub(d & 0xff800000)) - 1.0;
    // (log10(1 + f) - f / ln 10) / f²: near-minimax for the error relative to log10(1 + f) (2^-27.7).
    let q = (-0.0331913f32).mul_add(f, 0.056139987);
    let q = q.mul_add(f, -0.05752496);
    let q = q.mul_add(f, 0.06157455);
    let q = q.mul_add(f, -0.0721284);
    let q = q.mul_add(f, 0.086868316);
    let q = q.mul_add(f, -0.10858074);
    let q = q.mul_add(f, 0.14476478);
    let q = q.mul_add(f, -0.21714719);
    let p = f * LOG_LOG10E_HI;
    let rest = f.mul_add(LOG_LOG10E_LO, f.mul_add(LOG_LOG10E_HI, -p));
    let hi = k.mul_add(LOG_LOG10_2_HI, p);
    let lo = p - k.mul_add(-LOG_LOG10_2_HI, hi);
    let lo = k.mul_add(LOG_LOG10_2_LO, lo);
    log_special(x, hi + (f * f).mul_add(q, lo + rest))
}
