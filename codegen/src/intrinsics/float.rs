//! Methods of floats that are exact or correctly rounded: signs, rounding to integers, classification, bits, minima, square roots,
//! powers by an integer. Everything that core instructions can say is made of them, so that every device agrees bit for bit.

use super::call_method;
use crate::ir::Math;
use crate::ir::intrinsic::OperandType::{Is, T, UnsignedT};
use crate::ir::intrinsic::{Body, Call, Class, DeviceForm, Eval, Intrinsic, OperandType, PtxForm};
use crate::ir::{BinaryOp, Builder, CompareOp, Op, Region, Scalar, Terminator, Type, UnaryOp, Value, eval};
use crate::target::Requirement;

/// The types that devices compute in.
pub(super) const WIDE: Class = Class::Only(&[Type::F32, Type::F64]);
/// The types that are stored short and computed as `f32`.
pub(super) const SHORT: Class = Class::Only(&[Type::F16, Type::BF16]);
const BOOL: &[OperandType] = &[Is(Type::Bool)];

/// `Eval::Lane` of a float function, over `f32` and `f64`: `lane!(|x, y| x.powf(y))`.
macro_rules! lane {
    (|$x:ident $(, $y:ident)?| $f32:expr; $f64:expr) => {
        crate::ir::intrinsic::Eval::Lane(|ty, a| {
            if ty == crate::ir::Type::F64 {
                let $x = f64::from_bits(a[0]);
                $(let $y = f64::from_bits(a[1]);)?
                f64::to_bits($f64)
            } else {
                let $x = f32::from_bits(a[0] as u32);
                $(let $y = f32::from_bits(a[1] as u32);)?
                u64::from(f32::to_bits($f32))
            }
        })
    };
    (|$x:ident $(, $y:ident)?| $both:expr) => {
        lane!(|$x $(, $y)?| $both; $both)
    };
}
pub(super) use lane;

/// An expansion for short floats: the method of `f32` between casts.
macro_rules! through_f32 {
    ($name:literal) => {
        |b, args| crate::intrinsics::float::expand_through_f32(b, crate::ir::intrinsic::Call::Method, $name, args)
    };
    (function $name:literal) => {
        |b, args| crate::intrinsics::float::expand_through_f32(b, crate::ir::intrinsic::Call::Function, $name, args)
    };
}
pub(super) use through_f32;

/// Both forms of an instruction that PTX has for `f32` and `f64` since its beginning.
const fn both(f32: &'static str, f64: &'static str) -> [PtxForm; 2] {
    [
        PtxForm { types: &[Type::F32], text: f32, needs: Requirement::since(10, 10) },
        PtxForm { types: &[Type::F64], text: f64, needs: Requirement::since(13, 10) },
    ]
}

const fn device(name: &'static str, ptx: &'static [PtxForm], opencl: &'static str, eval: Eval) -> Intrinsic {
    let device = DeviceForm { ptx, opencl, opencl_prelude: "", eval };
    Intrinsic::new(name, Call::Method, WIDE, &[T], &[T], Body::Device(device))
}

pub(super) const ROWS: &[Intrinsic] = &[
    Intrinsic::method("abs", Class::Float, &[T], &[T], |b, a| vec![b.unary(UnaryOp::Abs, a[0])])
        .of_constants(|a| eval::unary(UnaryOp::Abs, a[0]))
        .doc("the absolute value: the sign bit cleared"),
    Intrinsic::method("min", Class::Float, &[T, T], &[T], |b, a| vec![b.binary(BinaryOp::Min, a[0], a[1])])
        .of_constants(|a| eval::binary(BinaryOp::Min, a[0], a[1]))
        .doc("the lesser; the number if one is NaN"),
    Intrinsic::method("max", Class::Float, &[T, T], &[T], |b, a| vec![b.binary(BinaryOp::Max, a[0], a[1])])
        .of_constants(|a| eval::binary(BinaryOp::Max, a[0], a[1]))
        .doc("the greater; the number if one is NaN"),
    Intrinsic::method("clamp", Class::Float, &[T, T, T], &[T], expand_clamp).doc("kept within two bounds; NaN stays NaN"),
    Intrinsic::method("mul_add", Class::Float, &[T, T, T], &[T], |b, a| vec![b.mul_add(a[0], a[1], a[2])])
        .doc("`self * a + b`, rounded once"),
    device("floor", &both("cvt.rmi.f32.f32 {d}, {0};", "cvt.rmi.f64.f64 {d}, {0};"), "floor({0})", lane!(|x| x.floor()))
        .cost(2)
        .doc("the greatest integer not above"),
    device("ceil", &both("cvt.rpi.f32.f32 {d}, {0};", "cvt.rpi.f64.f64 {d}, {0};"), "ceil({0})", lane!(|x| x.ceil()))
        .cost(2)
        .doc("the least integer not below"),
    device("trunc", &both("cvt.rzi.f32.f32 {d}, {0};", "cvt.rzi.f64.f64 {d}, {0};"), "trunc({0})", lane!(|x| x.trunc()))
        .cost(2)
        .doc("the integer part"),
    device("round_ties_even", &both("cvt.rni.f32.f32 {d}, {0};", "cvt.rni.f64.f64 {d}, {0};"), "rint({0})", lane!(|x| x.round_ties_even()))
        .cost(2)
        .doc("the nearest integer, halves to even"),
    device("sqrt", &both("sqrt.rn.f32 {d}, {0};", "sqrt.rn.f64 {d}, {0};"), "sqrt({0})", lane!(|x| x.sqrt()))
        .fast("native_sqrt")
        .cost(16)
        .doc("the square root, correctly rounded"),
    Intrinsic::method("floor", SHORT, &[T], &[T], through_f32!("floor")).doc("the greatest integer not above"),
    Intrinsic::method("ceil", SHORT, &[T], &[T], through_f32!("ceil")).doc("the least integer not below"),
    Intrinsic::method("trunc", SHORT, &[T], &[T], through_f32!("trunc")).doc("the integer part"),
    Intrinsic::method("round_ties_even", SHORT, &[T], &[T], through_f32!("round_ties_even")).doc("the nearest integer, halves to even"),
    Intrinsic::method("sqrt", SHORT, &[T], &[T], through_f32!("sqrt")).doc("the square root, correctly rounded"),
    Intrinsic::method("round", Class::Float, &[T], &[T], expand_round).doc("the nearest integer, halves away from zero"),
    Intrinsic::method("fract", Class::Float, &[T], &[T], expand_fract).doc("`self - self.trunc()`"),
    Intrinsic::method("recip", Class::Float, &[T], &[T], expand_recip).fast("native_recip").doc("`1 / self`, correctly rounded"),
    Intrinsic::method("copysign", Class::Float, &[T, T], &[T], |b, a| vec![copysign(b, a[0], a[1])])
        .doc("the magnitude of one with the sign of another"),
    Intrinsic::method("signum", Class::Float, &[T], &[T], expand_signum).doc("1 with the sign of self; NaN of NaN"),
    Intrinsic::method("is_nan", Class::Float, &[T], BOOL, |b, a| vec![b.compare(CompareOp::Ne, a[0], a[0])]).doc("whether it is NaN"),
    Intrinsic::method("is_finite", Class::Float, &[T], BOOL, |b, a| vec![compare_to_infinity(b, CompareOp::Lt, a[0])])
        .doc("whether it is neither infinite nor NaN"),
    Intrinsic::method("is_infinite", Class::Float, &[T], BOOL, |b, a| vec![compare_to_infinity(b, CompareOp::Eq, a[0])])
        .doc("whether it is infinite"),
    Intrinsic::method("is_sign_negative", Class::Float, &[T], BOOL, |b, a| vec![sign_is(b, CompareOp::Ne, a[0])])
        .doc("whether the sign bit is set"),
    Intrinsic::method("is_sign_positive", Class::Float, &[T], BOOL, |b, a| vec![sign_is(b, CompareOp::Eq, a[0])])
        .doc("whether the sign bit is clear"),
    Intrinsic::method("to_bits", Class::Float, &[T], &[UnsignedT], |b, a| vec![to_bits(b, a[0])])
        .of_constants(|a| Some(Scalar::new(a[0].ty.to_unsigned(), a[0].bits)))
        .doc("the bits as an unsigned integer"),
    from_bits(Class::Only(&[Type::F16]), |b, a| vec![b.bitcast(a[0], Type::F16)], |a| Some(Scalar::new(Type::F16, a[0].bits))),
    from_bits(Class::Only(&[Type::BF16]), |b, a| vec![b.bitcast(a[0], Type::BF16)], |a| Some(Scalar::new(Type::BF16, a[0].bits))),
    from_bits(Class::Only(&[Type::F32]), |b, a| vec![b.bitcast(a[0], Type::F32)], |a| Some(Scalar::new(Type::F32, a[0].bits))),
    from_bits(Class::Only(&[Type::F64]), |b, a| vec![b.bitcast(a[0], Type::F64)], |a| Some(Scalar::new(Type::F64, a[0].bits))),
    Intrinsic::method("to_f32", SHORT, &[T], &[Is(Type::F32)], |b, a| vec![b.cast(a[0], Type::F32)]).doc("widened, exactly"),
    Intrinsic::method("to_f64", SHORT, &[T], &[Is(Type::F64)], |b, a| vec![b.cast(a[0], Type::F64)]).doc("widened, exactly"),
    narrow("from_f32", &[Is(Type::F32)], Class::Only(&[Type::F16]), |b, a| vec![b.cast(a[0], Type::F16)]),
    narrow("from_f32", &[Is(Type::F32)], Class::Only(&[Type::BF16]), |b, a| vec![b.cast(a[0], Type::BF16)]),
    narrow("from_f64", &[Is(Type::F64)], Class::Only(&[Type::F16]), |b, a| vec![b.cast(a[0], Type::F16)]),
    narrow("from_f64", &[Is(Type::F64)], Class::Only(&[Type::BF16]), |b, a| vec![b.cast(a[0], Type::BF16)]),
    Intrinsic::method("rem_euclid", Class::Float, &[T, T], &[T], expand_rem_euclid).doc("the remainder that is not negative"),
    Intrinsic::method("div_euclid", Class::Float, &[T, T], &[T], expand_div_euclid).doc("the quotient that belongs to `rem_euclid`"),
    Intrinsic::method("to_radians", Class::Float, &[T], &[T], expand_to_radians).doc("times π / 180"),
    Intrinsic::method("to_degrees", Class::Float, &[T], &[T], expand_to_degrees).doc("times 180 / π"),
    Intrinsic::method("powi", WIDE, &[T, Is(Type::I32)], &[T], expand_powi)
        .accuracy("one rounding per multiplication of repeated squaring (the order of LLVM's `__powisf2`)")
        .doc("an integer power"),
    Intrinsic::method("powi", SHORT, &[T, Is(Type::I32)], &[T], through_f32!("powi"))
        .accuracy("as of `f32`, then rounded")
        .doc("an integer power"),
];

const fn from_bits(over: Class, expand: fn(&mut Builder<'_>, &[Value]) -> Vec<Value>, of: fn(&[Scalar]) -> Option<Scalar>) -> Intrinsic {
    Intrinsic::new("from_bits", Call::Associated, over, &[UnsignedT], &[T], Body::Expand(expand))
        .of_constants(of)
        .doc("the float of these bits")
}

const fn narrow(
    name: &'static str,
    args: &'static [OperandType],
    over: Class,
    expand: fn(&mut Builder<'_>, &[Value]) -> Vec<Value>,
) -> Intrinsic {
    Intrinsic::new(name, Call::Associated, over, args, &[T], Body::Expand(expand)).doc("rounded to nearest even")
}

/// Casts short floats to `f32`, calls, and casts the results back. Other arguments pass as they are.
pub(super) fn expand_through_f32(b: &mut Builder<'_>, call: Call, name: &str, args: &[Value]) -> Vec<Value> {
    let short = b.kernel.ty(args[0]);
    let wide: Vec<_> = args.iter().map(|arg| if b.kernel.ty(*arg) == short { b.cast(*arg, Type::F32) } else { *arg }).collect();
    let result = super::call(b, call, name, &wide);
    vec![b.cast(result, short)]
}

/// A float constant of the type of `like`.
pub(super) fn float_like(b: &mut Builder<'_>, like: Value, value: f64) -> Value {
    let ty = b.kernel.ty(like);
    b.float(ty, value)
}

fn to_bits(b: &mut Builder<'_>, a: Value) -> Value {
    let bits = b.kernel.ty(a).to_unsigned();
    b.bitcast(a, bits)
}

/// The sign bit of the type of `like`, in its unsigned integer type.
fn sign_mask(b: &mut Builder<'_>, like: Value) -> Value {
    let ty = b.kernel.ty(like);
    b.constant(Scalar::new(ty.to_unsigned(), 1 << (ty.bits() - 1)))
}

/// (a & !sign) | (s & sign)
pub(super) fn copysign(b: &mut Builder<'_>, a: Value, s: Value) -> Value {
    let ty = b.kernel.ty(a);
    let magnitude = b.unary(UnaryOp::Abs, a);
    let (magnitude, bits, mask) = (to_bits(b, magnitude), to_bits(b, s), sign_mask(b, s));
    let sign = b.binary(BinaryOp::And, bits, mask);
    let joined = b.binary(BinaryOp::Or, magnitude, sign);
    b.bitcast(joined, ty)
}

fn sign_is(b: &mut Builder<'_>, op: CompareOp, a: Value) -> Value {
    let (bits, mask) = (to_bits(b, a), sign_mask(b, a));
    let sign = b.binary(BinaryOp::And, bits, mask);
    let zero = b.int(b.kernel.ty(sign), 0);
    b.compare(op, sign, zero)
}

fn compare_to_infinity(b: &mut Builder<'_>, op: CompareOp, a: Value) -> Value {
    let magnitude = b.unary(UnaryOp::Abs, a);
    let infinity = float_like(b, a, f64::INFINITY);
    b.compare(op, magnitude, infinity)
}

/// As Rust: `if x < lo { lo } else if x > hi { hi } else { x }`, which keeps NaN.
fn expand_clamp(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let below = b.compare(CompareOp::Lt, a[0], a[1]);
    let raised = b.select(below, a[1], a[0]);
    let above = b.compare(CompareOp::Gt, raised, a[2]);
    vec![b.select(above, a[2], raised)]
}

/// t + copysign(1, x) if |x − t| ≥ ½, else t; t = trunc(x). The difference is exact, and of infinities NaN, which is not ≥ ½.
fn expand_round(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let whole = call_method(b, "trunc", a);
    let rest = b.binary(BinaryOp::Sub, a[0], whole);
    let rest = b.unary(UnaryOp::Abs, rest);
    let (half, one) = (float_like(b, a[0], 0.5), float_like(b, a[0], 1.0));
    let is_half = b.compare(CompareOp::Ge, rest, half);
    let one = copysign(b, one, a[0]);
    let next = b.binary(BinaryOp::Add, whole, one);
    vec![b.select(is_half, next, whole)]
}

fn expand_fract(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let whole = call_method(b, "trunc", a);
    vec![b.binary(BinaryOp::Sub, a[0], whole)]
}

fn expand_recip(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let one = float_like(b, a[0], 1.0);
    vec![b.binary(BinaryOp::Div, one, a[0])]
}

fn expand_signum(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let one = float_like(b, a[0], 1.0);
    let signed = copysign(b, one, a[0]);
    let is_nan = b.compare(CompareOp::Ne, a[0], a[0]);
    vec![b.select(is_nan, a[0], signed)]
}

/// r = x % y; r + |y| if r < 0, else r.
fn expand_rem_euclid(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let rest = b.binary(BinaryOp::Rem, a[0], a[1]);
    let zero = float_like(b, a[0], 0.0);
    let is_negative = b.compare(CompareOp::Lt, rest, zero);
    let magnitude = b.unary(UnaryOp::Abs, a[1]);
    let raised = b.binary(BinaryOp::Add, rest, magnitude);
    vec![b.select(is_negative, raised, rest)]
}

/// q = trunc(x / y); where x % y < 0: q − 1 if y > 0, q + 1 if not. In `f32` for the short types: their quotient may be rounded up to a whole number.
fn expand_div_euclid(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let ty = b.kernel.ty(a[0]);
    let [x, y] = [a[0], a[1]].map(|value| if ty == Type::F64 { value } else { b.cast(value, Type::F32) });
    let quotient = b.binary(BinaryOp::Div, x, y);
    let whole = call_method(b, "trunc", &[quotient]);
    let rest = b.binary(BinaryOp::Rem, x, y);
    let (zero, one, minus_one) = (float_like(b, x, 0.0), float_like(b, x, 1.0), float_like(b, x, -1.0));
    let is_negative = b.compare(CompareOp::Lt, rest, zero);
    let is_above = b.compare(CompareOp::Gt, y, zero);
    let step = b.select(is_above, minus_one, one);
    let stepped = b.binary(BinaryOp::Add, whole, step);
    let quotient = b.select(is_negative, stepped, whole);
    vec![b.cast(quotient, ty)]
}

/// The constants are those of Rust's core library: for `f32`, π / 180 is a quotient of `f32`s, 180 / π a rounded literal.
fn expand_to_radians(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let factor = match b.kernel.ty(a[0]) {
        Type::F64 => std::f64::consts::PI / 180.0,
        _ => f64::from(std::f32::consts::PI / 180.0),
    };
    expand_scaled(b, a[0], factor)
}

fn expand_to_degrees(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    expand_scaled(b, a[0], 180.0 / std::f64::consts::PI)
}

/// x · factor, in `f32` for the short types.
fn expand_scaled(b: &mut Builder<'_>, a: Value, factor: f64) -> Vec<Value> {
    let ty = b.kernel.ty(a);
    let wide = if ty == Type::F64 { a } else { b.cast(a, Type::F32) };
    let factor = float_like(b, wide, factor);
    let product = b.binary(BinaryOp::Mul, wide, factor);
    vec![b.cast(product, ty)]
}

/// Repeated squaring over the exponent's bits from the lowest, as LLVM's `__powisf2` does, then `1 / r` for a negative exponent.
fn expand_powi(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let one = float_like(b, a[0], 1.0);
    let zero = b.int(Type::I32, 0);
    let magnitude = b.unary(UnaryOp::Abs, a[1]);
    let exponent = b.bitcast(magnitude, Type::U32);
    let power = match b.kernel.constant(a[1]) {
        Some(exponent) => unrolled_power(b, a[0], (exponent.as_int() as i32).unsigned_abs(), one),
        None => squaring_loop(b, a[0], exponent, one),
    };
    let inverse = if b.kernel.options.math == Math::Fast && b.kernel.ty(power) == Type::F32 {
        call_method(b, "recip", &[power])
    } else {
        b.binary(BinaryOp::Div, one, power)
    };
    let is_negative = b.compare(CompareOp::Lt, a[1], zero);
    vec![b.select(is_negative, inverse, power)]
}

/// base^exponent by squaring for an exponent known now; the products in the order of [`squaring_loop`].
pub(super) fn unrolled_power(b: &mut Builder<'_>, mut base: Value, mut exponent: u32, one: Value) -> Value {
    let mut power = one;
    while exponent != 0 {
        if exponent & 1 == 1 {
            power = if power == one { base } else { b.binary(BinaryOp::Mul, power, base) };
        }
        exponent >>= 1;
        if exponent != 0 {
            base = b.binary(BinaryOp::Mul, base, base);
        }
    }
    power
}

/// `loop { if e & 1 == 1 { p *= base } e >>= 1; if e == 0 { break p } base *= base }`, p = 1 at first.
pub(super) fn squaring_loop(b: &mut Builder<'_>, base: Value, exponent: Value, one: Value) -> Value {
    let ty = b.kernel.ty(base);
    let body = b.kernel.new_block(&[ty, Type::U32, ty]);
    let owner = b.push(Op::Region(Region::Loop { init: vec![base, exponent, one], body, keep_rolled: false }), &[ty]);
    let params = b.kernel.blocks[body].params.clone();
    let (base, exponent, power) = (params[0], params[1], params[2]);
    let mut inner = Builder::new(b.kernel, body, b.loc);
    let (bit, zero) = (inner.int(Type::U32, 1), inner.int(Type::U32, 0));
    let low = inner.binary(BinaryOp::And, exponent, bit);
    let is_set = inner.compare(CompareOp::Ne, low, zero);
    let product = inner.binary(BinaryOp::Mul, power, base);
    let power = inner.select(is_set, product, power);
    let exponent = inner.binary(BinaryOp::Shr, exponent, bit);
    let is_done = inner.compare(CompareOp::Eq, exponent, zero);
    let (then_block, else_block) = (inner.kernel.new_block(&[]), inner.kernel.new_block(&[]));
    Builder::new(inner.kernel, then_block, inner.loc).push(Op::Terminator(Terminator::Break(owner, vec![power])), &[]);
    Builder::new(inner.kernel, else_block, inner.loc).push(Op::Terminator(Terminator::Yield(Vec::new())), &[]);
    inner.push(Op::Region(Region::If { condition: is_done, then_block, else_block }), &[]);
    let square = inner.binary(BinaryOp::Mul, base, base);
    inner.push(Op::Terminator(Terminator::Yield(vec![square, exponent, power])), &[]);
    b.kernel.insts[owner].results[0]
}
