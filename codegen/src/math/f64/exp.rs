//! exp, exp2 and exp_m1 in double precision. Constants: fit_exp.py.

/// 1.5·2^52: added to |x| < 2^51, it rounds x to an integer whose two's complement the low bits then hold.
const EXP_MAGIC: f64 = 6755399441055744.0;
const EXP_LOG2E: f64 = 1.4426950408889634;
/// ln 2 in two parts; the first has 42 bits, so that its product with |n| < 2^11 is exact.
const EXP_LN2_HI: f64 = 0.6931471805598903;
const EXP_LN2_LO: f64 = 5.497923018708371e-14;

// e^r = 1 + r + r²·Q(r) on |r| ≤ ln 2 / 2, fitted to 2^-57.9 of e^r.
const EXP_Q0: f64 = 0.5000000000000011;
const EXP_Q1: f64 = 0.1666666666666643;
const EXP_Q2: f64 = 0.041666666666527026;
const EXP_Q3: f64 = 0.008333333333483248;
const EXP_Q4: f64 = 0.0013888888944309113;
const EXP_Q5: f64 = 0.0001984126953071892;
const EXP_Q6: f64 = 2.480149249958927e-05;
const EXP_Q7: f64 = 2.7557565212782017e-06;
const EXP_Q8: f64 = 2.7630434534811693e-07;
const EXP_Q9: f64 = 2.500658999764726e-08;

// The same one degree higher (its Q0 came out as 1/2), fitted to 2^-61.5 of e^r - 1.
const EXPM1_Q1: f64 = 0.16666666666666677;
const EXPM1_Q2: f64 = 0.041666666666666616;
const EXPM1_Q3: f64 = 0.00833333333332147;
const EXPM1_Q4: f64 = 0.0013888888888919672;
const EXPM1_Q5: f64 = 0.00019841269886455037;
const EXPM1_Q6: f64 = 2.480158724592459e-05;
const EXPM1_Q7: f64 = 2.755724393319472e-06;
const EXPM1_Q8: f64 = 2.7557345824572137e-07;
const EXPM1_Q9: f64 = 2.5109119183864067e-08;
const EXPM1_Q10: f64 = 2.089161586591134e-09;

// 2^r = 1 + r·P(r) on |r| ≤ 1/2, fitted to 2^-57.4 of 2^r.
const EXP2_P0: f64 = 0.6931471805599453;
const EXP2_P1: f64 = 0.2402265069591013;
const EXP2_P2: f64 = 0.05550410866482231;
const EXP2_P3: f64 = 0.009618129107594386;
const EXP2_P4: f64 = 0.0013333558146366414;
const EXP2_P5: f64 = 0.00015403530456815378;
const EXP2_P6: f64 = 1.5252733819782263e-05;
const EXP2_P7: f64 = 1.321543541649772e-06;
const EXP2_P8: f64 = 1.0178080833489334e-07;
const EXP2_P9: f64 = 7.07376203498728e-09;
const EXP2_P10: f64 = 4.4508358546986e-10;

/// y·2^n for |n| < 2000 by two factors, so that both are normal numbers and only the last product rounds.
pub(super) fn exp_scale(y: f64, n: i32) -> f64 {
    let half = n >> 1;
    let first = f64::from_bits(((half << 20).wrapping_add(0x3ff00000) as u32 as u64) << 32);
    let second = f64::from_bits(((n.wrapping_sub(half) << 20).wrapping_add(0x3ff00000) as u32 as u64) << 32);
    y * first * second
}

/// 2^r for |r| ≤ 1/2 (a hair more does no harm).
pub(super) fn exp2_core(r: f64) -> f64 {
    let p = r.mul_add(EXP2_P10, EXP2_P9);
    let p = r.mul_add(p, EXP2_P8);
    let p = r.mul_add(p, EXP2_P7);
    let p = r.mul_add(p, EXP2_P6);
    let p = r.mul_add(p, EXP2_P5);
    let p = r.mul_add(p, EXP2_P4);
    let p = r.mul_add(p, EXP2_P3);
    let p = r.mul_add(p, EXP2_P2);
    let p = r.mul_add(p, EXP2_P1);
    let p = r.mul_add(p, EXP2_P0);
    r.mul_add(p, 1.0)
}

/// e^x. x = n·ln 2 + r with |r| ≤ ln 2 / 2, a polynomial of degree 11 for e^r, times 2^n in two steps.
/// Largest error found: 0.896 ulp, at -708.796, on 160 million points.
pub fn exp(x: f64) -> f64 {
    let t = x.mul_add(EXP_LOG2E, EXP_MAGIC);
    let n = t - EXP_MAGIC;
    let r = n.mul_add(-EXP_LN2_LO, n.mul_add(-EXP_LN2_HI, x));
    let p = r.mul_add(EXP_Q9, EXP_Q8);
    let p = r.mul_add(p, EXP_Q7);
    let p = r.mul_add(p, EXP_Q6);
    let p = r.mul_add(p, EXP_Q5);
    let p = r.mul_add(p, EXP_Q4);
    let p = r.mul_add(p, EXP_Q3);
    let p = r.mul_add(p, EXP_Q2);
    let p = r.mul_add(p, EXP_Q1);
    let p = r.mul_add(p, EXP_Q0);
    let p = r.mul_add(p, 1.0);
    let y = exp_scale(r.mul_add(p, 1.0), t.to_bits() as u32 as i32);
    // Past these limits n may be garbage; a NaN passes both comparisons and comes through the arithmetic.
    let y = if x > 710.0 { f64::INFINITY } else { y };
    if x < -746.0 { 0.0 } else { y }
}

/// 2^x. x = n + r with |r| ≤ 1/2 (exact), a polynomial of degree 11 for 2^r, times 2^n in two steps.
/// Largest error found: 0.872 ulp, at -1022.47, on 140 million points.
pub fn exp2(x: f64) -> f64 {
    let t = x + EXP_MAGIC;
    let y = exp_scale(exp2_core(x - (t - EXP_MAGIC)), t.to_bits() as u32 as i32);
    let y = if x >= 1024.0 { f64::INFINITY } else { y };
    if x < -1080.0 { 0.0 } else { y }
}

/// e^x - 1. x = n·ln 2 + r as in `exp`, with the rounding error of r kept; then 2^n·((1 - 2^-n) + (e^r - 1)), the leading
/// sum with its rounding error.
/// Largest error found: 0.727 ulp, at 0.35101, on 40 million points.
pub fn exp_m1(x: f64) -> f64 {
    let t = x.mul_add(EXP_LOG2E, EXP_MAGIC);
    let n = t - EXP_MAGIC;
    let hi = n.mul_add(-EXP_LN2_HI, x);
    let r = n.mul_add(-EXP_LN2_LO, hi);
    let r_low = n.mul_add(-EXP_LN2_LO, hi - r);
    let p = r.mul_add(EXPM1_Q10, EXPM1_Q9);
    let p = r.mul_add(p, EXPM1_Q8);
    let p = r.mul_add(p, EXPM1_Q7);
    let p = r.mul_add(p, EXPM1_Q6);
    let p = r.mul_add(p, EXPM1_Q5);
    let p = r.mul_add(p, EXPM1_Q4);
    let p = r.mul_add(p, EXPM1_Q3);
    let p = r.mul_add(p, EXPM1_Q2);
    let p = r.mul_add(p, EXPM1_Q1);
    // r²/2 is within an fma, hence exact: it is what cancels most. The rest of r counts e^r times, about 1 + r.
    let tail = (0.5 * r).mul_add(r, (r * r * r).mul_add(p, r_low.mul_add(r, r_low)));
    let i = t.to_bits() as u32 as i32;
    // 2^-n, which becomes 0 where it no longer matters and its exponent would leave the range.
    let unit = f64::from_bits(((1023i32.wrapping_sub(i).max(0) << 20) as u32 as u64) << 32);
    let base = 1.0 - unit;
    // |base| > |r| or base = 0, so the difference is the exact error of the sum.
    let sum = base + r;
    let low = (r - (sum - base)) + (((1.0 - base) - unit) + tail);
    let y = exp_scale(sum + low, i);
    let y = if x > 710.0 { f64::INFINITY } else { y };
    let y = if x < -40.0 { -1.0 } else { y };
    y.copysign(x)
}
