//! erf and erfc in f64. The coefficients are printed by fit_erf.py.

/// Minimax coefficients of erf(x) / x - 1 in x^2 for |x| <= 1, relative error of erf 2^-55.67.
const ERF_P0: f64 = 0.12837916709551256;
const ERF_P1: f64 = -0.37612638903183343;
const ERF_P2: f64 = 0.11283791670936912;
const ERF_P3: f64 = -0.02686617064194547;
const ERF_P4: f64 = 0.005223977596543968;
const ERF_P5: f64 = -0.0008548325469372996;
const ERF_P6: f64 = 0.00012055279770251753;
const ERF_P7: f64 = -1.4924445903039117e-05;
const ERF_P8: f64 = 1.6443830710057486e-06;
const ERF_P9: f64 = -1.6180945377202796e-07;
const ERF_P10: f64 = 1.3600969321346308e-08;
const ERF_P11: f64 = -7.573805910407075e-10;

/// Minimax coefficients of exp(x^2) erfc(x) (x + 4) in t = (x - 4) / (x + 4) for 1 <= x <= 27.3, relative error 2^-54.08.
const ERF_F0: f64 = 1.095995661000491;
const ERF_F1: f64 = -0.9765487290808819;
const ERF_F2: f64 = 0.7732087022652468;
const ERF_F3: f64 = -0.5408538313132576;
const ERF_F4: f64 = 0.33085158787753727;
const ERF_F5: f64 = -0.17401093723881678;
const ERF_F6: f64 = 0.07638151491958098;
const ERF_F7: f64 = -0.026370053365543253;
const ERF_F8: f64 = 0.006112055538972607;
const ERF_F9: f64 = -0.00028095855765399204;
const ERF_F10: f64 = -0.0004550519434477268;
const ERF_F11: f64 = 0.00017681061381629064;
const ERF_F12: f64 = -3.637727086675504e-06;
const ERF_F13: f64 = -1.885135505746034e-05;
const ERF_F14: f64 = 4.698154463224731e-06;
const ERF_F15: f64 = 1.3997346390670487e-06;
const ERF_F16: f64 = -8.434154237111944e-07;
const ERF_F17: f64 = -4.1268482253388607e-08;
const ERF_F18: f64 = 1.0796787793874942e-07;
const ERF_F19: f64 = -1.923528103867183e-08;

/// Minimax coefficients of (exp(r) - 1 - r) / r^2 for |r| <= ln(2) / 2, relative error of exp 2^-57.90.
const ERF_E0: f64 = 0.5000000000000011;
const ERF_E1: f64 = 0.16666666666666452;
const ERF_E2: f64 = 0.041666666666527255;
const ERF_E3: f64 = 0.00833333333347177;
const ERF_E4: f64 = 0.0013888888944233256;
const ERF_E5: f64 = 0.00019841269551835355;
const ERF_E6: f64 = 2.4801492580396795e-05;
const ERF_E7: f64 = 2.7557548507238043e-06;
const ERF_E8: f64 = 2.763040670780626e-07;
const ERF_E9: f64 = 2.5011421696116528e-08;
/// 1 / ln(2), and ln(2) with what its rounding leaves.
const ERF_LOG2E: f64 = 1.4426950408889634;
const ERF_LN2: f64 = 0.6931471805599453;
const ERF_LN2_LOW: f64 = 2.3190468138462996e-17;
/// 1.5 * 2^52: adding it rounds to an integer, which then stands in the low bits.
const ERF_MAGIC: f64 = 6755399441055744.0;

/// erf(x) / x - 1 for |x| <= 1.
fn erf_near(x: f64) -> f64 {
    let z = x * x;
    let p = z.mul_add(z.mul_add(z.mul_add(z.mul_add(ERF_P11, ERF_P10), ERF_P9), ERF_P8), ERF_P7);
    let p = z.mul_add(z.mul_add(z.mul_add(z.mul_add(p, ERF_P6), ERF_P5), ERF_P4), ERF_P3);
    z.mul_add(z.mul_add(z.mul_add(p, ERF_P2), ERF_P1), ERF_P0)
}

/// erfc(a) for a >= 1 as exp(-a^2) F(t) / (a + 4), t = (a - 4) / (a + 4) = 1 - 8 / (a + 4). NaN stays.
/// The square is taken as a sum of two f64 and so is the reduced argument of the exponential, as its absolute error becomes the relative one here.
fn erf_far(a: f64) -> f64 {
    // erfc rounds to 0 from 27.3 on, and the exponents below stay in range.
    let x = if a > 28.0 { 28.0 } else { a };
    let h = x * x;
    let l = x.mul_add(x, -h);
    let rounded = h.mul_add(-ERF_LOG2E, ERF_MAGIC);
    let k = rounded - ERF_MAGIC;
    // r1 is exact: both terms are multiples of 2^-53 and the difference is below 1/2.
    let r1 = (-k).mul_add(ERF_LN2, -h);
    let r2 = (-k).mul_add(ERF_LN2_LOW, -l);
    let r = r1 + r2;
    let rl = (r1 - r) + r2;
    let q = r.mul_add(r.mul_add(r.mul_add(r.mul_add(ERF_E9, ERF_E8), ERF_E7), ERF_E6), ERF_E5);
    let q = r.mul_add(r.mul_add(r.mul_add(r.mul_add(r.mul_add(q, ERF_E4), ERF_E3), ERF_E2), ERF_E1), ERF_E0);
    // d + dl = x + 4 exactly, and y (1 + e) is its reciprocal.
    let d = x + 4.0;
    let dl = x - (d - 4.0);
    let y = 1.0 / d;
    let e = (-dl).mul_add(y, (-d).mul_add(y, 1.0));
    let t = (y * e).mul_add(-8.0, y.mul_add(-8.0, 1.0));
    let f = t.mul_add(t.mul_add(t.mul_add(t.mul_add(ERF_F19, ERF_F18), ERF_F17), ERF_F16), ERF_F15);
    let f = t.mul_add(t.mul_add(t.mul_add(t.mul_add(t.mul_add(f, ERF_F14), ERF_F13), ERF_F12), ERF_F11), ERF_F10);
    let f = t.mul_add(t.mul_add(t.mul_add(t.mul_add(t.mul_add(f, ERF_F9), ERF_F8), ERF_F7), ERF_F6), ERF_F5);
    let f = t.mul_add(t.mul_add(t.mul_add(t.mul_add(t.mul_add(f, ERF_F4), ERF_F3), ERF_F2), ERF_F1), ERF_F0);
    // exp(r + rl) (1 + e) - 1, its large part last.
    let w = r + (r * r).mul_add(q, rl + e.mul_add(r, e));
    let fy = f * y;
    let v = fy.mul_add(w, fy);
    // Times 2^k in two steps, so that only the last rounds in the subnormal range.
    let n = rounded.to_bits() as u32 as i32;
    let n1 = n >> 1;
    let n2 = n.wrapping_sub(n1);
    let s1 = f64::from_bits((n1.wrapping_add(1023) as u64) << 52);
    let s2 = f64::from_bits((n2.wrapping_add(1023) as u64) << 52);
    v * s1 * s2
}

/// Error function: a minimax polynomial in x^2 up to 1, 1 - erfc beyond. At most 1.10 ulp on 200 million points.
pub fn erf(x: f64) -> f64 {
    let a = x.abs();
    let far = (1.0 - erf_far(a)).copysign(x);
    let near = x.mul_add(erf_near(x), x);
    if a > 1.0 { far } else { near }
}

/// Complementary error function: 1 - erf up to 1, beyond it exp(-x^2) times a minimax polynomial in (x - 4) / (x + 4), and 2 - erfc(-x) for
/// negative x. At most 3.23 ulp on 200 million points.
pub fn erfc(x: f64) -> f64 {
    let a = x.abs();
    let v = erf_far(a);
    let far = if x < 0.0 { 2.0 - v } else { v };
    let near = (-x).mul_add(erf_near(x), 1.0 - x);
    if a > 1.0 { far } else { near }
}
