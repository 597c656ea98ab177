//! What `math = fast` puts in the place of methods that have no single approximate instruction: `f32` expansions over the `native_` rows.
//! The source does not call them by name.
//!
//! Polynomials: Abramowitz and Stegun, "Handbook of Mathematical Functions", the formula's number at each.

use super::call_function;
use super::float::{copysign, float_like};
use super::native::{SINGLE, scaled_before};
use crate::ir::intrinsic::OperandType::T;
use crate::ir::intrinsic::{Body, Call, Intrinsic, OperandType};
use crate::ir::{BinaryOp, Builder, CompareOp, UnaryOp, Value};
use std::f64::consts::{FRAC_PI_2, LOG2_E, LOG10_2, PI};

const fn fast(
    name: &'static str,
    args: &'static [OperandType],
    expand: fn(&mut Builder<'_>, &[Value]) -> Vec<Value>,
    accuracy: &'static str,
    doc: &'static str,
) -> Intrinsic {
    Intrinsic::new(name, Call::Function, SINGLE, args, &[T], Body::Expand(expand)).accuracy(accuracy).doc(doc)
}

pub(super) const ROWS: &[Intrinsic] = &[
    fast("fast_tan", &[T], expand_tan, "absolute error of `native_sin` and `native_cos`, divided", "the tangent"),
    fast("fast_asin", &[T], expand_asin, "absolute error 3e-7 (A&S 4.4.46 in f32)", "the arc sine"),
    fast("fast_acos", &[T], expand_acos, "absolute error 5e-7 (A&S 4.4.46 in f32)", "the arc cosine"),
    fast("fast_atan", &[T], expand_atan, "absolute error 3e-7 (A&S 4.4.49 in f32)", "the arc tangent"),
    fast("fast_atan2", &[T, T], expand_atan2, "absolute error 5e-7 (A&S 4.4.49 in f32); NaN of two infinities", "the angle of a point"),
    fast("fast_sinh", &[T], expand_sinh, "relative error 1e-6 plus that of `native_exp`", "the hyperbolic sine"),
    fast("fast_cosh", &[T], expand_cosh, "relative error of `native_exp`", "the hyperbolic cosine"),
    fast("fast_exp_m1", &[T], expand_exp_m1, "relative error 2e-6 plus that of `native_exp`", "`exp(x) - 1`"),
    fast(
        "fast_log10",
        &[T],
        |b, a| vec![scaled_before(b, a[0], LOG10_2, "native_log2")],
        "that of `native_log2`, and a rounding",
        "the logarithm to base 10",
    ),
    fast("fast_ln_1p", &[T], expand_ln_1p, "relative error of `native_ln` away from 0, 2e-6 near it", "`ln(1 + x)`"),
    fast(
        "fast_powf",
        &[T, T],
        expand_powf,
        "that of `native_log2` times the exponent, then of `native_exp2`; NaN for a negative base",
        "a power",
    ),
    fast("fast_cbrt", &[T], expand_cbrt, "relative error 2e-6 for magnitudes in [2^-24, 2^24], 1.2e-5 elsewhere", "the cube root"),
    fast("fast_hypot", &[T, T], expand_hypot, "relative error 1e-6; NaN of an infinity and a NaN", "`(x² + y²).sqrt()` without overflow"),
    fast("fast_erf", &[T], expand_erf, "absolute error 5e-7 (A&S 7.1.26 in f32)", "the error function"),
    fast("fast_erfc", &[T], expand_erfc, "absolute error 8e-7 (A&S 7.1.26 in f32)", "1 less the error function"),
];

fn constant(b: &mut Builder<'_>, value: f64) -> Value {
    b.float(crate::ir::Type::F32, value)
}

fn add(b: &mut Builder<'_>, x: Value, y: Value) -> Value {
    b.binary(BinaryOp::Add, x, y)
}

fn sub(b: &mut Builder<'_>, x: Value, y: Value) -> Value {
    b.binary(BinaryOp::Sub, x, y)
}

fn mul(b: &mut Builder<'_>, x: Value, y: Value) -> Value {
    b.binary(BinaryOp::Mul, x, y)
}

fn abs(b: &mut Builder<'_>, x: Value) -> Value {
    b.unary(UnaryOp::Abs, x)
}

/// c₀ + x (c₁ + x (c₂ + …)), fused.
fn polynomial(b: &mut Builder<'_>, x: Value, coefficients: &[f64]) -> Value {
    let mut sum = constant(b, coefficients[coefficients.len() - 1]);
    for coefficient in coefficients.iter().rev().skip(1) {
        let c = constant(b, *coefficient);
        sum = b.mul_add(sum, x, c);
    }
    sum
}

/// Whether |x| is below `bound`.
fn is_small(b: &mut Builder<'_>, x: Value, bound: f64) -> Value {
    let (magnitude, bound) = (abs(b, x), constant(b, bound));
    b.compare(CompareOp::Lt, magnitude, bound)
}

fn expand_tan(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let (sin, cos) = (call_function(b, "native_sin", a), call_function(b, "native_cos", a));
    vec![call_function(b, "native_div", &[sin, cos])]
}

/// A&S 4.4.46: arccos x = √(1 − x) Σ aₖ xᵏ for x in [0, 1].
fn acos_of_magnitude(b: &mut Builder<'_>, x: Value) -> Value {
    const A: [f64; 8] = [
        1.570_796_305_0,
        -0.214_598_801_6,
        0.088_978_987_4,
        -0.050_174_304_6,
        0.030_891_881_0,
        -0.017_088_125_6,
        0.006_670_090_1,
        -0.001_262_491_1,
    ];
    let magnitude = abs(b, x);
    let one = constant(b, 1.0);
    let rest = sub(b, one, magnitude);
    let root = call_function(b, "native_sqrt", &[rest]);
    let sum = polynomial(b, magnitude, &A);
    mul(b, root, sum)
}

/// Near 0 the series x + x³/6 + 3x⁵/40, elsewhere π/2 − arccos |x| with the sign of x.
fn expand_asin(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let square = mul(b, a[0], a[0]);
    let series = polynomial(b, square, &[1.0, 1.0 / 6.0, 3.0 / 40.0, 15.0 / 336.0]);
    let series = mul(b, a[0], series);
    let acos = acos_of_magnitude(b, a[0]);
    let quarter = constant(b, FRAC_PI_2);
    let asin = sub(b, quarter, acos);
    let asin = copysign(b, asin, a[0]);
    let small = is_small(b, a[0], 0.2);
    vec![b.select(small, series, asin)]
}

/// arccos(−x) = π − arccos x
fn expand_acos(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let acos = acos_of_magnitude(b, a[0]);
    let (zero, pi) = (constant(b, 0.0), constant(b, PI));
    let reflected = sub(b, pi, acos);
    let is_negative = b.compare(CompareOp::Lt, a[0], zero);
    vec![b.select(is_negative, reflected, acos)]
}

/// A&S 4.4.49: arctan x = x Σ aₖ x²ᵏ for |x| ≤ 1.
fn atan_of_unit(b: &mut Builder<'_>, x: Value) -> Value {
    const A: [f64; 9] = [
        1.0,
        -0.333_331_452_8,
        0.199_935_508_5,
        -0.142_088_994_4,
        0.106_562_639_3,
        -0.075_289_640_0,
        0.042_909_613_8,
        -0.016_165_736_7,
        0.002_866_225_7,
    ];
    let square = mul(b, x, x);
    let sum = polynomial(b, square, &A);
    mul(b, x, sum)
}

/// arctan x = π/2 − arctan 1/x for x > 1
fn expand_atan(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let magnitude = abs(b, a[0]);
    let (one, quarter) = (constant(b, 1.0), constant(b, FRAC_PI_2));
    let is_large = b.compare(CompareOp::Gt, magnitude, one);
    let inverse = call_function(b, "native_recip", &[magnitude]);
    let unit = b.select(is_large, inverse, magnitude);
    let angle = atan_of_unit(b, unit);
    let reflected = sub(b, quarter, angle);
    let angle = b.select(is_large, reflected, angle);
    vec![copysign(b, angle, a[0])]
}

/// Whether `y` is the greater of two magnitudes, and the lesser and the greater one. A NaN stays one of them, unlike with `min` and `max`.
fn in_order(b: &mut Builder<'_>, x: Value, y: Value) -> (Value, Value, Value) {
    let is_other = b.compare(CompareOp::Gt, y, x);
    let (low, high) = (b.select(is_other, x, y), b.select(is_other, y, x));
    (is_other, low, high)
}

/// Whether two magnitudes are zero.
fn are_zero(b: &mut Builder<'_>, x: Value, y: Value) -> Value {
    let (sum, zero) = (add(b, x, y), constant(b, 0.0));
    b.compare(CompareOp::Eq, sum, zero)
}

/// θ = arctan(min / max) of the magnitudes; π/2 − θ where |y| > |x|; π − θ where x < 0; the sign of y.
fn expand_atan2(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let (x, y) = (abs(b, a[1]), abs(b, a[0]));
    let (zero, quarter, pi) = (constant(b, 0.0), constant(b, FRAC_PI_2), constant(b, PI));
    let (is_steep, low, high) = in_order(b, x, y);
    let quotient = b.binary(BinaryOp::Div, low, high);
    let is_origin = are_zero(b, x, y);
    let quotient = b.select(is_origin, zero, quotient);
    let angle = atan_of_unit(b, quotient);
    let steep = sub(b, quarter, angle);
    let angle = b.select(is_steep, steep, angle);
    let is_left = super::call_method(b, "is_sign_negative", &[a[1]]);
    let left = sub(b, pi, angle);
    let angle = b.select(is_left, left, angle);
    vec![copysign(b, angle, a[0])]
}

/// Near 0 x + x³/6 + x⁵/120 + x⁷/5040 + x⁹/362880, elsewhere (eˣ − e⁻ˣ) / 2.
fn expand_sinh(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let square = mul(b, a[0], a[0]);
    let series = polynomial(b, square, &[1.0, 1.0 / 6.0, 1.0 / 120.0, 1.0 / 5040.0, 1.0 / 362_880.0]);
    let series = mul(b, a[0], series);
    let (up, down) = exponentials(b, a[0]);
    let difference = sub(b, up, down);
    let small = is_small(b, a[0], 1.0);
    vec![b.select(small, series, difference)]
}

/// (eˣ + e⁻ˣ) / 2
fn expand_cosh(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let (up, down) = exponentials(b, a[0]);
    vec![add(b, up, down)]
}

/// eˣ / 2 and e⁻ˣ / 2, as powers of two one less: halved afterwards, eˣ would be infinite where its half is not yet.
fn exponentials(b: &mut Builder<'_>, x: Value) -> (Value, Value) {
    let (scale, less) = (constant(b, LOG2_E), constant(b, -1.0));
    let negated = b.unary(UnaryOp::Neg, x);
    let (up, down) = (b.mul_add(x, scale, less), b.mul_add(negated, scale, less));
    (call_function(b, "native_exp2", &[up]), call_function(b, "native_exp2", &[down]))
}

/// Near 0 the series of eˣ − 1.
fn expand_exp_m1(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let series = polynomial(b, a[0], &[1.0, 1.0 / 2.0, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 120.0, 1.0 / 720.0]);
    let series = mul(b, a[0], series);
    let one = constant(b, 1.0);
    let power = call_function(b, "native_exp", a);
    let difference = sub(b, power, one);
    let small = is_small(b, a[0], 0.4);
    vec![b.select(small, series, difference)]
}

/// Near 0 the series of ln(1 + x).
fn expand_ln_1p(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let series = polynomial(b, a[0], &[1.0, -1.0 / 2.0, 1.0 / 3.0, -1.0 / 4.0, 1.0 / 5.0, -1.0 / 6.0, 1.0 / 7.0]);
    let series = mul(b, a[0], series);
    let one = constant(b, 1.0);
    let sum = add(b, a[0], one);
    let logarithm = call_function(b, "native_ln", &[sum]);
    let small = is_small(b, a[0], 0.15);
    vec![b.select(small, series, logarithm)]
}

/// xʸ = 2^(y log₂ x)
fn expand_powf(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let logarithm = call_function(b, "native_log2", &a[..1]);
    let exponent = mul(b, a[1], logarithm);
    vec![call_function(b, "native_exp2", &[exponent])]
}

/// 2^(log₂ |x| / 3) with the sign of x
fn expand_cbrt(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let magnitude = abs(b, a[0]);
    let logarithm = call_function(b, "native_log2", &[magnitude]);
    let third = constant(b, 1.0 / 3.0);
    let exponent = mul(b, logarithm, third);
    let root = call_function(b, "native_exp2", &[exponent]);
    vec![copysign(b, root, a[0])]
}

/// m √(1 + (n / m)²), m the greater magnitude
fn expand_hypot(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let (x, y) = (abs(b, a[0]), abs(b, a[1]));
    let (_, low, high) = in_order(b, x, y);
    let one = constant(b, 1.0);
    let quotient = b.binary(BinaryOp::Div, low, high);
    let sum = b.mul_add(quotient, quotient, one);
    let root = call_function(b, "native_sqrt", &[sum]);
    let length = mul(b, high, root);
    // 0 / 0, and ∞ / ∞.
    let infinity = float_like(b, x, f64::INFINITY);
    let is_origin = are_zero(b, x, y);
    let is_infinite = b.compare(CompareOp::Eq, high, infinity);
    let is_limit = b.binary(BinaryOp::Or, is_origin, is_infinite);
    vec![b.select(is_limit, high, length)]
}

/// A&S 7.1.26: erfc x = (a₁t + … + a₅t⁵) e^(−x²), t = 1 / (1 + px), for x ≥ 0.
fn erfc_of_magnitude(b: &mut Builder<'_>, x: Value) -> Value {
    const A: [f64; 6] = [0.0, 0.254_829_592, -0.284_496_736, 1.421_413_741, -1.453_152_027, 1.061_405_429];
    let magnitude = abs(b, x);
    let (p, one) = (constant(b, 0.327_591_1), constant(b, 1.0));
    let denominator = b.mul_add(p, magnitude, one);
    let t = call_function(b, "native_recip", &[denominator]);
    let sum = polynomial(b, t, &A);
    let square = mul(b, magnitude, magnitude);
    let negated = b.unary(UnaryOp::Neg, square);
    let power = call_function(b, "native_exp", &[negated]);
    mul(b, sum, power)
}

/// Near 0 the series 2/√π (x − x³/3 + x⁵/10), elsewhere 1 − erfc |x| with the sign of x.
fn expand_erf(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let scale = std::f64::consts::FRAC_2_SQRT_PI;
    let square = mul(b, a[0], a[0]);
    let series = polynomial(b, square, &[scale, -scale / 3.0, scale / 10.0, -scale / 42.0]);
    let series = mul(b, a[0], series);
    let rest = erfc_of_magnitude(b, a[0]);
    let one = constant(b, 1.0);
    let erf = sub(b, one, rest);
    let erf = copysign(b, erf, a[0]);
    let small = is_small(b, a[0], 0.3);
    vec![b.select(small, series, erf)]
}

/// erfc(−x) = 2 − erfc x
fn expand_erfc(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let rest = erfc_of_magnitude(b, a[0]);
    let (zero, two) = (constant(b, 0.0), constant(b, 2.0));
    let reflected = sub(b, two, rest);
    let is_negative = b.compare(CompareOp::Lt, a[0], zero);
    vec![b.select(is_negative, reflected, rest)]
}
