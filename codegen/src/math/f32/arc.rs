//! asin, acos, atan and atan2 of f32. Constants: fit_arc.py.

// pi/2 = HI + LO, each part the f32 nearest to what is left.
const ARC_PIO2_HI: f32 = 1.5707964;
const ARC_PIO2_LO: f32 = -4.371139e-8;
// pi/2 = 1.375 + REST to 2^-30, for asin: 1.375 less twice the root is below 1, hence exact, wherever the result is below 1.
const ARC_PIO2_MOST: f32 = 1.375;
const ARC_PIO2_REST: f32 = 0.19579633;

// asin s = s + s*z*(S0 + ... + z^4*S4), z = s*s <= 1/4; minimax in relative error, 2^-27.6.
const ARC_S0: f32 = 0.16666752;
const ARC_S1: f32 = 0.074953094;
const ARC_S2: f32 = 0.04546915;
const ARC_S3: f32 = 0.024184778;
const ARC_S4: f32 = 0.042158306;
// atan t = t + t*z*(T0 + ... + z^7*T7), z = t*t <= 1; minimax in relative error, 2^-25.8.
const ARC_T0: f32 = -0.33333153;
const ARC_T1: f32 = 0.19993767;
const ARC_T2: f32 = -0.14211002;
const ARC_T3: f32 = 0.106657706;
const ARC_T4: f32 = -0.07551671;
const ARC_T5: f32 = 0.043204986;
const ARC_T6: f32 = -0.016363451;
const ARC_T7: f32 = 0.002919518;

/// (asin s / s - 1) / z for z = s * s <= 1/4.
fn arc_asin_poly(z: f32) -> f32 {
    ARC_S4.mul_add(z, ARC_S3).mul_add(z, ARC_S2).mul_add(z, ARC_S1).mul_add(z, ARC_S0)
}

/// (atan t / t - 1) / z for z = t * t <= 1.
fn arc_atan_poly(z: f32) -> f32 {
    let p = ARC_T7.mul_add(z, ARC_T6).mul_add(z, ARC_T5).mul_add(z, ARC_T4);
    p.mul_add(z, ARC_T3).mul_add(z, ARC_T2).mul_add(z, ARC_T1).mul_add(z, ARC_T0)
}

/// Arcsine: an odd polynomial of degree 11 to 1/2; beyond, pi/2 less twice that of sqrt((1 - |x|)/2). At most 1.27 ulp, over every f32
/// from 2^-14 to 2 in magnitude and every 61st elsewhere.
pub fn asin(x: f32) -> f32 {
    let a = x.abs();
    let outer = a > 0.5;
    // (1 - a)/2 is exact there; negative, hence a root of NaN, for a > 1.
    let z = if outer { a.mul_add(-0.5, 0.5) } else { a * a };
    let t = if outer { -2.0 * z.sqrt() } else { a };
    let hi = if outer { ARC_PIO2_MOST } else { 0.0 };
    let lo = if outer { ARC_PIO2_REST } else { 0.0 };
    let y = (hi + t) + (t * z).mul_add(arc_asin_poly(z), lo);
    y.copysign(x)
}

/// Arccosine: pi/2 less the arcsine in the middle; beyond 1/2 twice the arcsine of sqrt((1 - |x|)/2), for negative x from pi. At most
/// 1.17 ulp, over every f32 from 2^-14 to 2 in magnitude and every 61st elsewhere.
pub fn acos(x: f32) -> f32 {
    let a = x.abs();
    let outer = a > 0.5;
    let z = if outer { a.mul_add(-0.5, 0.5) } else { a * a };
    let t = if outer { (2.0 * z.sqrt()).copysign(x) } else { -x };
    // How many times pi/2 the result is from t: 1 in the middle, 0 and 2 at the ends.
    let n = if outer { if x < 0.0 { 2.0 } else { 0.0 } } else { 1.0 };
    (ARC_PIO2_HI * n + t) + (t * z).mul_add(arc_asin_poly(z), ARC_PIO2_LO * n)
}

/// Arctangent: an odd polynomial of degree 17 to 1; beyond, pi/2 less that of 1/|x|. At most 1.37 ulp, over every f32
/// from 2^-14 to 2^27 in magnitude and every 61st elsewhere.
pub fn atan(x: f32) -> f32 {
    let a = x.abs();
    let outer = a > 1.0;
    let t = if outer { -1.0 / a } else { a };
    let hi = if outer { ARC_PIO2_HI } else { 0.0 };
    let lo = if outer { ARC_PIO2_LO } else { 0.0 };
    let z = t * t;
    let y = (hi + t) + (t * z).mul_add(arc_atan_poly(z), lo);
    y.copysign(x)
}

/// The angle of the point (x, y), from -pi to pi: the arctangent of the smaller length over the larger, then placed by octant. At most
/// 1.73 ulp, over 1.3e8 random pairs (any bits; both lengths in [1/2, 2); nearly equal ones; ends of the range).
pub fn atan2(y: f32, x: f32) -> f32 {
    let ax = x.abs();
    let ay = y.abs();
    let steep = ay > ax;
    let small = if steep { ax } else { ay };
    let large = if steep { ay } else { ax };
    // Of two zeros the angle from the axis is 0, of two infinities (as of any two equal lengths) pi/4. A NaN of either goes through the quotient.
    let quotient = small / (if large == 0.0 { 1.0 } else { large });
    let ratio = if small == f32::from_bits(0x7f800000) && ax == ay { 1.0 } else { quotient };
    let left = (x.to_bits() >> 31) != 0;
    let t = if steep != left { -ratio } else { ratio };
    let n = if steep {
        1.0
    } else if left {
        2.0
    } else {
        0.0
    };
    let z = t * t;
    let r = (ARC_PIO2_HI * n + t) + (t * z).mul_add(arc_atan_poly(z), ARC_PIO2_LO * n);
    r.copysign(y)
}
