//! asin, acos, atan and atan2 in f64. The coefficients and constants are printed by fit_arc.py.

/// Minimax coefficients of (atan(t) / t - 1) / t^2 in t^2 for |t| <= tan(pi/8), relative error of atan 2^-57.8.
const ARC_T0: f64 = -0.333333333333332;
const ARC_T1: f64 = 0.19999999999953683;
const ARC_T2: f64 = -0.14285714280201062;
const ARC_T3: f64 = 0.11111110783583322;
const ARC_T4: f64 = -0.09090897698586403;
const ARC_T5: f64 = 0.07692056991535642;
const ARC_T6: f64 = -0.06663034439096908;
const ARC_T7: f64 = 0.05847109199618379;
const ARC_T8: f64 = -0.05034494816286519;
const ARC_T9: f64 = 0.037909418204692354;
const ARC_T10: f64 = -0.017702258262262502;

/// Minimax coefficients of (asin(s) / s - 1) / s^2 in s^2 for |s| <= 1/2, relative error of asin 2^-55.8.
const ARC_S0: f64 = 0.16666666666665408;
const ARC_S1: f64 = 0.07500000000337187;
const ARC_S2: f64 = 0.04464285682814526;
const ARC_S3: f64 = 0.030381959145773855;
const ARC_S4: f64 = 0.02237175780961105;
const ARC_S5: f64 = 0.01735970898791336;
const ARC_S6: f64 = 0.013885185226956333;
const ARC_S7: f64 = 0.012169618158136549;
const ARC_S8: f64 = 0.006525797369107663;
const ARC_S9: f64 = 0.0195355862500697;
const ARC_S10: f64 = -0.01623814852792789;
const ARC_S11: f64 = 0.03192358883885358;

/// pi/4, pi/2 and pi, each with what the rounding leaves.
const ARC_PI4: f64 = 0.7853981633974483;
const ARC_PI4_LOW: f64 = 3.061616997868383e-17;
const ARC_PI2: f64 = 1.5707963267948966;
const ARC_PI2_LOW: f64 = 6.123233995736766e-17;
const ARC_PI: f64 = 3.141592653589793;
const ARC_PI_LOW: f64 = 1.2246467991473532e-16;

/// tan(pi/8), where the reduction by pi/4 begins.
const ARC_TAN_PI8: f64 = 0.41421356237309503;
/// 2^100, 2^900, 2^-60, 2^-500, 2^500 and the largest f64.
const ARC_ENOUGH: f64 = 1.2676506002282294e30;
const ARC_BIG: f64 = 8.452712498170644e270;
const ARC_DOWN: f64 = 8.673617379884035e-19;
const ARC_SMALL: f64 = 3.054936363499605e-151;
const ARC_UP: f64 = 3.273390607896142e150;
const ARC_MAX: f64 = 1.7976931348623157e308;

/// base * pi/4 + atan(a / b), or minus it for `minus`, for 0 <= a <= b.
/// Above tan(pi/8) the quotient is reduced to atan(a / b) = pi/4 + atan((a - b) / (a + b)); the quotient is kept as a sum of two f64.
fn arc_angle(a: f64, b: f64, base: f64, minus: bool) -> f64 {
    let upper = a > b * ARC_TAN_PI8;
    let diff = b - a;
    let sum = b + a;
    let n = if upper { -diff } else { a };
    let nl = if upper { a - (b - diff) } else { 0.0 };
    let d = if upper { sum } else { b };
    let dl = if upper { (b - sum) + a } else { 0.0 };
    let y = 1.0 / d;
    let q = n * y;
    let ql = (-q).mul_add(dl, (-q).mul_add(d, n) + nl) * y;
    let t = if minus { -q } else { q };
    let tl = if minus { -ql } else { ql };
    let one = if minus { -1.0 } else { 1.0 };
    let k = if upper { base + one } else { base };
    let kh = k * ARC_PI4;
    let kl = k.mul_add(ARC_PI4_LOW, k.mul_add(ARC_PI4, -kh));
    let z = t * t;
    let p = z.mul_add(z.mul_add(z.mul_add(z.mul_add(ARC_T10, ARC_T9), ARC_T8), ARC_T7), ARC_T6);
    let p = z.mul_add(z.mul_add(z.mul_add(z.mul_add(p, ARC_T5), ARC_T4), ARC_T3), ARC_T2);
    let p = z.mul_add(z.mul_add(p, ARC_T1), ARC_T0);
    // kh is 0 or larger than |t|, so that the sum of both is exact in two parts.
    let sh = kh + t;
    let sl = (kh - sh) + t;
    sh + (sl + ((t * z).mul_add(p, tl) + kl))
}

/// Arctangent: reduced to |t| <= tan(pi/8) by 1/x and by pi/4 with one division, then a minimax polynomial in t^2. At most 0.92 ulp on 180 million
/// points.
pub fn atan(x: f64) -> f64 {
    let ax = x.abs();
    // From 2^100 on the result is pi/2 all the same, and the infinity is out of the way.
    let a = if ax > ARC_ENOUGH { ARC_ENOUGH } else { ax };
    let swap = a > 1.0;
    let v = arc_angle(if swap { 1.0 } else { a }, if swap { a } else { 1.0 }, if swap { 2.0 } else { 0.0 }, swap);
    v.copysign(x)
}

/// The angle of the point (x, y) in (-pi, pi]: the arctangent of the smaller over the larger of |y| and |x|, reduced as in `atan` and carried to
/// its octant by a multiple of pi/4. Arguments near overflow and in the subnormal range are scaled first. At most 1.22 ulp on 200 million points.
pub fn atan2(y: f64, x: f64) -> f64 {
    let ay = y.abs();
    let ax = x.abs();
    let swap = ay > ax;
    let left = (x.to_bits() >> 63) != 0;
    let small = if swap { ax } else { ay };
    let large = if swap { ay } else { ax };
    let infinite = large > ARC_MAX;
    let scale = if large > ARC_BIG { ARC_DOWN } else { 1.0 };
    let scale = if large < ARC_SMALL { ARC_UP } else { scale };
    // Finite over infinite is 0 (and NaN stays), infinite over infinite and 0 over 0 count as 1/1 and 0/1.
    let scale = if infinite { 0.0 } else { scale };
    let a = if small > ARC_MAX { 1.0 } else { small * scale };
    let b = if infinite || large == 0.0 { 1.0 } else { large * scale };
    let side = if left { 4.0 } else { 0.0 };
    arc_angle(a, b, if swap { 2.0 } else { side }, swap != left).copysign(y)
}

/// asin(v) / v - 1 for v = sqrt(z) <= 1/2, divided by z.
fn arc_sine(z: f64) -> f64 {
    let p = z.mul_add(z.mul_add(z.mul_add(z.mul_add(ARC_S11, ARC_S10), ARC_S9), ARC_S8), ARC_S7);
    let p = z.mul_add(z.mul_add(z.mul_add(z.mul_add(p, ARC_S6), ARC_S5), ARC_S4), ARC_S3);
    z.mul_add(z.mul_add(z.mul_add(p, ARC_S2), ARC_S1), ARC_S0)
}

/// Arcsine: a minimax polynomial in x^2 up to 1/2, beyond it pi/2 - 2 asin(sqrt((1 - |x|) / 2)); NaN outside [-1, 1]. At most 1.25 ulp on 120
/// million points.
pub fn asin(x: f64) -> f64 {
    let a = x.abs();
    let big = a > 0.5;
    let h = a.mul_add(-0.5, 0.5);
    let z = if big { h } else { a * a };
    let v = if big { 2.0 * h.sqrt() } else { a };
    let c = if big { ARC_PI2 } else { 0.0 };
    let cl = if big { ARC_PI2_LOW } else { 0.0 };
    // c - v in two parts (v alone where c is 0), then the small terms. The sign is that of x at the end.
    let d = c - v;
    let dl = (c - d) - v;
    (d + (dl - (v * z).mul_add(arc_sine(z), -cl))).copysign(x)
}

/// Arccosine: pi/2 - asin(x) up to 1/2, 2 asin(sqrt((1 - x) / 2)) above and pi minus that of -x below; NaN outside [-1, 1]. At most 1.21 ulp on 120
/// million points.
pub fn acos(x: f64) -> f64 {
    let a = x.abs();
    let big = a > 0.5;
    let h = a.mul_add(-0.5, 0.5);
    let z = if big { h } else { a * a };
    let v = if big { 2.0 * h.sqrt() } else { x };
    let far = if x < 0.0 { ARC_PI } else { 0.0 };
    let far_low = if x < 0.0 { ARC_PI_LOW } else { 0.0 };
    let c = if big { far } else { ARC_PI2 };
    let cl = if big { far_low } else { ARC_PI2_LOW };
    // The sign falls the wrong way only for x > 1/2, where c is 0.
    (c - (v + (v * z).mul_add(arc_sine(z), -cl))).abs()
}
