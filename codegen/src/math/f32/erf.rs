//! erf and erfc of f32. Constants: fit_erf.py.

// ln 2 = -(HI + LO), each part the f32 nearest to what is left; negated for use with an fma. -log2(e).
const ERF_LN2_HI: f32 = -0.6931472;
const ERF_LN2_LO: f32 = 1.9046542e-9;
const ERF_LOG2E: f32 = -1.442695;
// 1.5 * 2^23: added to a number below 2^22, it rounds that number to an integer, which its lowest bits then hold.
const ERF_MAGIC: f32 = 12582912.0;

// erf a = a + a*(S0 + ... + z^6*S6), z = a*a, for a <= 1.125; minimax in relative error, 2^-27.2.
const ERF_S0: f32 = 0.12837917;
const ERF_S1: f32 = -0.37612602;
const ERF_S2: f32 = 0.11283256;
const ERF_S3: f32 = -0.026839223;
const ERF_S4: f32 = 0.005160259;
const ERF_S5: f32 = -0.0007765797;
const ERF_S6: f32 = 7.063507e-5;
// erfc a = (B0 + ... + a^7*B7)^4 for 1.125 <= a <= 4; minimax in absolute error, 2^-26.7.
const ERF_B0: f32 = 1.0054985;
const ERF_B1: f32 = -0.30878583;
const ERF_B2: f32 = -0.06342583;
const ERF_B3: f32 = -0.050479498;
const ERF_B4: f32 = 0.06612196;
const ERF_B5: f32 = -0.022213444;
const ERF_B6: f32 = 0.0032342074;
const ERF_B7: f32 = -0.00017949737;
// exp(a*a)*erfc a = t*(G0 + ... + t^7*G7), t = 1/(a + 3/2), for 1 <= a <= 10.1; minimax in relative error, 2^-26.1.
const ERF_G0: f32 = 0.5642169;
const ERF_G1: f32 = 0.84502757;
const ERF_G2: f32 = 1.0116575;
const ERF_G3: f32 = 0.37643468;
const ERF_G4: f32 = 1.1061078;
const ERF_G5: f32 = -8.256084;
const ERF_G6: f32 = 10.974718;
const ERF_G7: f32 = -4.853821;
// exp r = 1 + r + r*r*(E0 + ... + r^4*E4) for |r| <= ln(2)/2 + 0.001; minimax in relative error, 2^-28.2.
const ERF_E0: f32 = 0.49999994;
const ERF_E1: f32 = 0.16666521;
const ERF_E2: f32 = 0.041668292;
const ERF_E3: f32 = 0.00836872;
const ERF_E4: f32 = 0.0013818732;

/// erf a / a - 1 for z = a * a <= 1.125^2.
fn erf_small_poly(z: f32) -> f32 {
    let p = ERF_S6.mul_add(z, ERF_S5).mul_add(z, ERF_S4).mul_add(z, ERF_S3);
    p.mul_add(z, ERF_S2).mul_add(z, ERF_S1).mul_add(z, ERF_S0)
}

/// (g + d) * exp(-a*a) for 1 <= a <= 10.1 and a d below an ulp or two of g, subnormal results included. The square is taken as the sum of
/// two f32.
fn erf_times_exp_of_minus_square(g: f32, d: f32, a: f32) -> f32 {
    let s = a * a;
    let rest = a.mul_add(a, -s);
    let q = s.mul_add(ERF_LOG2E, ERF_MAGIC);
    let k = q - ERF_MAGIC;
    // The first fma is exact.
    let r = k.mul_add(ERF_LN2_HI, -s) + k.mul_add(ERF_LN2_LO, -rest);
    let p = ERF_E4.mul_add(r, ERF_E3).mul_add(r, ERF_E2).mul_add(r, ERF_E1).mul_add(r, ERF_E0);
    let y = g + g.mul_add((r * r).mul_add(p, r), d);
    // By 2^(k+64), then by 2^-64: only the second may leave the normal range. The lowest 9 bits of the magic number are 0.
    let scale = f32::from_bits((q.to_bits() << 23).wrapping_add(191 << 23));
    y * scale * f32::from_bits((127 - 64) << 23)
}

/// Error function: an odd polynomial of degree 13 to 1.125; beyond, 1 less the fourth power of a polynomial of degree 7. At most
/// 1.33 ulp, over every f32 from 2^-14 to 8 in magnitude and every 61st elsewhere.
pub fn erf(x: f32) -> f32 {
    let a = x.abs();
    let inner = a.mul_add(erf_small_poly(a * a), a);
    // From 3.92 on the result is 1. A NaN stays.
    let b = if a > 4.0 { 4.0 } else { a };
    let p = ERF_B7.mul_add(b, ERF_B6).mul_add(b, ERF_B5).mul_add(b, ERF_B4);
    let p = p.mul_add(b, ERF_B3).mul_add(b, ERF_B2).mul_add(b, ERF_B1).mul_add(b, ERF_B0);
    let p = p * p;
    let outer = p.mul_add(-p, 1.0);
    let y = if a > 1.125 { outer } else { inner };
    y.copysign(x)
}

/// Complementary error function: 1 less erf to 1; beyond, exp(-x*x) by a polynomial of degree 8 in 1/(|x| + 3/2), and 2 less that for
/// negative x. At most 3.07 ulp, over every f32 from 2^-14 to 16 in magnitude and every 61st elsewhere.
pub fn erfc(x: f32) -> f32 {
    let a = x.abs();
    let inner = (-x).mul_add(erf_small_poly(a * a), 1.0 - x);
    // From 10.06 on the result is 0. A NaN stays.
    let b = if a > 10.1 { 10.1 } else { a };
    let c = b + 1.5;
    let t = 1.0 / c;
    // 1/(b + 3/2) = t*(1 + e): e makes good the roundings of the sum and of the quotient. The result changes by 1.6 to 1.1 times as much.
    let e = (-t).mul_add(b - (c - 1.5), (-t).mul_add(c, 1.0));
    let p = ERF_G7.mul_add(t, ERF_G6).mul_add(t, ERF_G5).mul_add(t, ERF_G4);
    let p = p.mul_add(t, ERF_G3).mul_add(t, ERF_G2).mul_add(t, ERF_G1).mul_add(t, ERF_G0);
    let g = t * p;
    let d = g.mul_add(1.4 * e, t.mul_add(p, -g));
    let tail = erf_times_exp_of_minus_square(g, d, b);
    let outer = if x < 0.0 { 2.0 - tail } else { tail };
    if a > 1.0 { outer } else { inner }
}
