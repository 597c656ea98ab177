//! ln, ln_1p, log2 and log10 in double precision. Constants: fit_log.py.

/// ln 2 and log10 2 in two parts; the first has 42 bits, so that its product with |k| < 2^11 is exact.
const LOG_LN2_HI: f64 = 0.6931471805598903;
const LOG_LN2_LO: f64 = 5.497923018708371e-14;
const LOG_10_2_HI: f64 = 0.30102999566395283;
const LOG_10_2_LO: f64 = 2.8363394551044964e-14;
/// 1 / ln 2 and 1 / ln 10: nearest doubles and what is left.
const LOG_2E_HI: f64 = 1.4426950408889634;
const LOG_2E_LO: f64 = 2.0355273740931033e-17;
const LOG_10E_HI: f64 = 0.4342944819032518;
const LOG_10E_LO: f64 = 1.098319650216765e-17;

// ln m = 2s + s·z·G(z) with s = (m - 1) / (m + 1), z = s², for m in [√½, √2]; fitted to 2^-59.5 of ln m.
const LOG_G0: f64 = 0.6666666666666734;
const LOG_G1: f64 = 0.39999999999416963;
const LOG_G2: f64 = 0.28571428741934773;
const LOG_G3: f64 = 0.22222198615073396;
const LOG_G4: f64 = 0.18183562346850818;
const LOG_G5: f64 = 0.15314096887329842;
const LOG_G6: f64 = 0.14795523447561862;

// 1/d for d in [1 + √½, 1 + √2], to 2^-9.6.
const LOG_SEED0: f64 = 1.4777049355175775;
const LOG_SEED1: f64 = -0.7223954796551735;
const LOG_SEED2: f64 = 0.11685146106998606;

// 1/(1 + f) for 1 + f in [√½, √2], to 2^-6.6.
const LOG_INV0: f64 = 1.0050147753898442;
const LOG_INV1: f64 = -1.0805385310834392;
const LOG_INV2: f64 = 0.9138767679599328;

/// The bits of √½.
const LOG_SQRT_HALF: u64 = 0x3fe6a09e667f3bcd;

/// x = 2^k·(1 + f) with 1 + f in [√½, √2), for finite x > 0, subnormal ones too. Both results are exact.
pub(super) fn log_split(x: f64) -> (f64, f64) {
    let tiny = x < 2.2250738585072014e-308;
    // 2^54
    let bits = (if tiny { x * 18014398509481984.0 } else { x }).to_bits();
    let above = bits.wrapping_sub(LOG_SQRT_HALF) & 0xfff0000000000000;
    let m = f64::from_bits(bits.wrapping_sub(above));
    let k = ((above >> 32) as u32 as i32 >> 20).wrapping_add(if tiny { -54 } else { 0 });
    // An integer to f64 by its bits: 2^52 + 2^31 + k, less the first two.
    let k = f64::from_bits(0x4330000000000000 | ((k as u32) ^ 0x80000000) as u64) - 4503601774854144.0;
    (k, m - 1.0)
}

/// 1/d for d in [1 + √½, 1 + √2], to about an ulp: a quadratic and two Newton steps, the first with one more term. Less
/// work than a division.
pub(super) fn log_reciprocal(d: f64) -> f64 {
    let y = d.mul_add(d.mul_add(LOG_SEED2, LOG_SEED1), LOG_SEED0);
    let e = (-d).mul_add(y, 1.0);
    let y = y.mul_add(e.mul_add(e, e), y);
    let e = (-d).mul_add(y, 1.0);
    y.mul_add(e, y)
}

/// ln(1 + f) - f + f²/2 for 1 + f in [√½, √2]. With h = f²/2 and s = f / (2 + f), ln(1 + f) = f - h + s·(h + z·G(z)).
fn log_tail(f: f64) -> f64 {
    let s = f * log_reciprocal(2.0 + f);
    let z = s * s;
    let g = z.mul_add(LOG_G6, LOG_G5);
    let g = z.mul_add(g, LOG_G4);
    let g = z.mul_add(g, LOG_G3);
    let g = z.mul_add(g, LOG_G2);
    let g = z.mul_add(g, LOG_G1);
    let g = z.mul_add(g, LOG_G0);
    s * (0.5 * f).mul_add(f, z * g)
}

/// The result where x is not a positive finite number: for the logarithms of x.
fn log_special(x: f64, y: f64) -> f64 {
    let y = if x < f64::INFINITY { y } else { x };
    let y = if x == 0.0 { f64::NEG_INFINITY } else { y };
    if x < 0.0 { f64::NAN } else { y }
}

/// Natural logarithm. x = 2^k·(1 + f); k·ln 2 + f with its rounding error, and a polynomial in (f / (2 + f))² for the rest.
/// Largest error found: 0.846 ulp, at 0.705846, on 200 million points.
pub fn ln(x: f64) -> f64 {
    let (k, f) = log_split(x);
    // f²/2 within an fma, hence exact.
    let tail = (-0.5 * f).mul_add(f, log_tail(f));
    // k = 0 or |k·ln 2| > |f|, so the difference is the exact error of the sum.
    let base = k * LOG_LN2_HI;
    let sum = base + f;
    let low = (f - (sum - base)) + k.mul_add(LOG_LN2_LO, tail);
    log_special(x, sum + low)
}

/// ln(1 + x). As `ln` of 1 + x rounded; its rounding error, divided by 1 + x, is added, or f = x used where k = 0.
/// Largest error found: 0.844 ulp, at -0.295213, on 44 million points.
pub fn ln_1p(x: f64) -> f64 {
    let u = 1.0 + x;
    let back = u - 1.0;
    let rest = (1.0 - (u - back)) + (x - back);
    // u is no subnormal: k and f as in log_split.
    let bits = u.to_bits();
    let above = bits.wrapping_sub(LOG_SQRT_HALF) & 0xfff0000000000000;
    let m = f64::from_bits(bits.wrapping_sub(above));
    let k = (above >> 32) as u32 as i32 >> 20;
    let unit = f64::from_bits((((1023 - k).max(0) << 20) as u32 as u64) << 32);
    let k = f64::from_bits(0x4330000000000000 | ((k as u32) ^ 0x80000000) as u64) - 4503601774854144.0;
    let near = above == 0;
    let f = if near { x } else { m - 1.0 };
    let rest = if near { 0.0 } else { rest * unit };
    let inverse = f.mul_add(f.mul_add(LOG_INV2, LOG_INV1), LOG_INV0);
    let tail = (-0.5 * f).mul_add(f, rest.mul_add(inverse, log_tail(f)));
    let base = k * LOG_LN2_HI;
    let sum = base + f;
    let low = (f - (sum - base)) + k.mul_add(LOG_LN2_LO, tail);
    log_special(u, sum + low).copysign(x)
}

/// Logarithm to base 2. As `ln`, with f / ln 2 in two parts; powers of two give exact results.
/// Largest error found: 0.847 ulp, at 1.40381, on 40 million points.
pub fn log2(x: f64) -> f64 {
    let (k, f) = log_split(x);
    let part = f * LOG_2E_HI;
    let part_low = f.mul_add(LOG_2E_LO, f.mul_add(LOG_2E_HI, -part));
    // f²/2 times the factor is part·f/2 + part_low·f/2.
    let tail = log_tail(f).mul_add(LOG_2E_HI, (-0.5 * f).mul_add(part_low, part_low));
    let tail = (-0.5 * f).mul_add(part, tail);
    let sum = k + part;
    let low = (part - (sum - k)) + tail;
    log_special(x, sum + low)
}

/// Logarithm to base 10. As `ln`, with f / ln 10 in two parts.
/// Largest error found: 0.781 ulp, at 1.32456, on 40 million points.
pub fn log10(x: f64) -> f64 {
    let (k, f) = log_split(x);
    let part = f * LOG_10E_HI;
    let part_low = f.mul_add(LOG_10E_LO, f.mul_add(LOG_10E_HI, -part));
    // f²/2 times the factor is part·f/2 + part_low·f/2.
    let tail = log_tail(f).mul_add(LOG_10E_HI, (-0.5 * f).mul_add(part_low, part_low));
    let tail = (-0.5 * f).mul_add(part, tail);
    let base = k * LOG_10_2_HI;
    let sum = base + part;
    let low = (part - (sum - base)) + k.mul_add(LOG_10_2_LO, tail);
    log_special(x, sum + low)
}
