//! Arithmetic methods of integers: Rust's, made of core instructions so that every device agrees. What overflows wraps, as `+` and `*` do.

use super::call_method;
use super::float::{squaring_loop, unrolled_power};
use crate::ir::intrinsic::OperandType::{Is, T, UnsignedT};
use crate::ir::intrinsic::{Body, Call, Class, DeviceForm, Eval, Intrinsic, OperandType, PtxForm};
use crate::ir::{BinaryOp, Builder, CompareOp, Scalar, Type, UnaryOp, Value};
use crate::target::Requirement;

/// The widths that devices compute in.
const WIDE: Class = Class::Only(&[Type::I32, Type::U32, Type::I64, Type::U64]);
const NARROW: Class = Class::Only(&[Type::I8, Type::U8, Type::I16, Type::U16]);
const COUNT: OperandType = Is(Type::U32);
const BOOL: &[OperandType] = &[Is(Type::Bool)];
const TWO: &[OperandType] = &[T, T];
const T1: &[OperandType] = &[T];

/// An expansion that is one binary instruction.
macro_rules! binary {
    ($op:ident) => {
        |b, a| vec![b.binary(BinaryOp::$op, a[0], a[1])]
    };
}

const fn form(types: &'static [Type], text: &'static str) -> PtxForm {
    PtxForm { types, text, needs: Requirement::since(20, 20) }
}

pub(super) const ROWS: &[Intrinsic] = &[
    Intrinsic::method("abs", Class::Signed, T1, T1, |b, a| vec![b.unary(UnaryOp::Abs, a[0])])
        .exact(|a| Some(a[0].abs()))
        .doc("the absolute value, wrapping"),
    Intrinsic::method("wrapping_abs", Class::Signed, T1, T1, |b, a| vec![b.unary(UnaryOp::Abs, a[0])]).doc("the absolute value, wrapping"),
    Intrinsic::method("unsigned_abs", Class::Signed, T1, &[UnsignedT], expand_unsigned_abs).doc("the absolute value, unsigned"),
    Intrinsic::method("min", Class::Int, TWO, T1, binary!(Min)).exact(|a| Some(a[0].min(a[1]))).of_ord().doc("the lesser"),
    Intrinsic::method("max", Class::Int, TWO, T1, binary!(Max)).exact(|a| Some(a[0].max(a[1]))).of_ord().doc("the greater"),
    Intrinsic::method("clamp", Class::Int, &[T, T, T], T1, expand_clamp)
        .exact(|a| (a[1] <= a[2]).then(|| a[0].clamp(a[1], a[2])))
        .of_ord()
        .doc("kept within two bounds"),
    Intrinsic::method("signum", Class::Signed, T1, T1, expand_signum).doc("-1, 0 or 1"),
    Intrinsic::method("is_negative", Class::Signed, T1, BOOL, |b, a| vec![against_zero(b, CompareOp::Lt, a[0])])
        .exact(|a| Some(i128::from(a[0] < 0)))
        .doc("whether it is below 0"),
    Intrinsic::method("is_positive", Class::Signed, T1, BOOL, |b, a| vec![against_zero(b, CompareOp::Gt, a[0])])
        .exact(|a| Some(i128::from(a[0] > 0)))
        .doc("whether it is above 0"),
    Intrinsic::method("abs_diff", Class::Int, TWO, &[UnsignedT], expand_abs_diff).exact(|a| Some((a[0] - a[1]).abs())).doc("the distance"),
    Intrinsic::method("pow", Class::Int, &[T, COUNT], T1, expand_pow)
        .exact(|a| Some(a[0].saturating_pow(u32::try_from(a[1]).ok()?)))
        .doc("a power by repeated squaring, wrapping"),
    Intrinsic::method("wrapping_pow", Class::Int, &[T, COUNT], T1, expand_pow).doc("a power by repeated squaring, wrapping"),
    Intrinsic::method("wrapping_add", Class::Int, TWO, T1, binary!(Add)).doc("the sum, wrapping"),
    Intrinsic::method("wrapping_sub", Class::Int, TWO, T1, binary!(Sub)).doc("the difference, wrapping"),
    Intrinsic::method("wrapping_mul", Class::Int, TWO, T1, binary!(Mul)).doc("the product, wrapping"),
    Intrinsic::method("wrapping_div", Class::Int, TWO, T1, binary!(Div)).doc("the quotient, wrapping"),
    Intrinsic::method("wrapping_rem", Class::Int, TWO, T1, binary!(Rem)).doc("the remainder, wrapping"),
    Intrinsic::method("wrapping_neg", Class::Int, T1, T1, |b, a| vec![b.unary(UnaryOp::Neg, a[0])]).doc("the negative, wrapping"),
    Intrinsic::method("wrapping_shl", Class::Int, &[T, COUNT], T1, binary!(Shl)).doc("shifted left, the count modulo the width"),
    Intrinsic::method("wrapping_shr", Class::Int, &[T, COUNT], T1, binary!(Shr)).doc("shifted right, the count modulo the width"),
    Intrinsic::method("saturating_add", Class::Int, TWO, T1, expand_saturating_add).doc("the sum, kept in range"),
    Intrinsic::method("saturating_sub", Class::Int, TWO, T1, expand_saturating_sub).doc("the difference, kept in range"),
    Intrinsic::method("saturating_mul", Class::Int, TWO, T1, expand_saturating_mul).doc("the product, kept in range"),
    Intrinsic::method("rem_euclid", Class::Int, TWO, T1, expand_rem_euclid)
        .exact(|a| a[0].checked_rem_euclid(a[1]))
        .doc("the remainder that is not negative"),
    Intrinsic::method("div_euclid", Class::Int, TWO, T1, expand_div_euclid)
        .exact(|a| a[0].checked_div_euclid(a[1]))
        .doc("the quotient that belongs to `rem_euclid`"),
    Intrinsic::method("div_ceil", Class::Unsigned, TWO, T1, expand_div_ceil)
        .exact(|a| (a[1] > 0).then(|| (a[0] + a[1] - 1) / a[1]))
        .doc("the quotient, rounded up"),
    Intrinsic::method("is_multiple_of", Class::Unsigned, TWO, BOOL, expand_is_multiple_of)
        .exact(|a| Some(i128::from(a[0].checked_rem(a[1]).unwrap_or(a[0]) == 0)))
        .doc("whether it is a multiple of another; of 0, only 0 is"),
    Intrinsic::method("next_multiple_of", Class::Unsigned, TWO, T1, expand_next_multiple_of)
        .exact(|a| (a[1] > 0).then(|| (a[0] + a[1] - 1) / a[1] * a[1]))
        .doc("the least multiple of another that is not below; wrapping"),
    Intrinsic::method("isqrt", Class::Int, T1, T1, expand_isqrt).exact(|a| a[0].checked_isqrt()).doc("the integer part of the square root"),
    Intrinsic::new("mul_hi", Call::Method, WIDE, TWO, T1, Body::Device(MUL_HI)).cost(2).doc("the high half of the product"),
    Intrinsic::method("mul_hi", NARROW, TWO, T1, expand_narrow_mul_hi).doc("the high half of the product"),
    Intrinsic::method("mul24", Class::Only(&[Type::I32, Type::U32]), TWO, T1, expand_mul24)
        .doc("the low 32 bits of the product of the low 24 bits, sign-extended where signed"),
    Intrinsic::new("sad4", Call::Method, Class::Only(&[Type::U32]), &[T, T, T], T1, Body::Device(SAD4))
        .cost(1)
        .doc("the distances of the four bytes of two words from each other, added to a third; wrapping"),
];

const SAD4: DeviceForm = DeviceForm {
    ptx: &[PtxForm { types: &[Type::U32], text: "vabsdiff4.u32.u32.u32.add {d}, {0}, {1}, {2};", needs: Requirement::since(30, 30) }],
    opencl: "warpwright_sad4({0}, {1}, {2})",
    opencl_prelude: "inline uint warpwright_sad4(uint a, uint b, uint sum) {\n\
                     \x20   uchar4 d = abs_diff(as_uchar4(a), as_uchar4(b));\n\
                     \x20   return sum + (uint)d.x + (uint)d.y + (uint)d.z + (uint)d.w;\n\
                     }",
    eval: Eval::Lane(|_, a| {
        let bytes = |word: u64| (word as u32).to_le_bytes();
        let distances = bytes(a[0]).into_iter().zip(bytes(a[1])).map(|(x, y)| u32::from(x.abs_diff(y)));
        u64::from(distances.fold(a[2] as u32, u32::wrapping_add))
    }),
};

const MUL_HI: DeviceForm = DeviceForm {
    ptx: &[
        form(&[Type::I32], "mul.hi.s32 {d}, {0}, {1};"),
        form(&[Type::U32], "mul.hi.u32 {d}, {0}, {1};"),
        form(&[Type::I64], "mul.hi.s64 {d}, {0}, {1};"),
        form(&[Type::U64], "mul.hi.u64 {d}, {0}, {1};"),
    ],
    opencl: "mul_hi({0}, {1})",
    opencl_prelude: "",
    eval: Eval::Lane(|ty, a| {
        let (x, y) = (Scalar::new(ty, a[0]).as_int(), Scalar::new(ty, a[1]).as_int());
        // Of two u64 the product needs all 128 bits.
        let high = if ty == Type::U64 { ((x as u128 * y as u128) >> 64) as i128 } else { (x * y) >> ty.bits() };
        Scalar::int(ty, high).bits
    }),
};

/// An integer constant of the type of `like`.
pub(super) fn int_like(b: &mut Builder<'_>, like: Value, value: i128) -> Value {
    let ty = b.kernel.ty(like);
    b.int(ty, value)
}

/// The least value of an integer type.
fn least(ty: Type) -> i128 {
    if ty.is_signed_int() { -(1 << (ty.bits() - 1)) } else { 0 }
}

/// The greatest value of an integer type.
fn greatest(ty: Type) -> i128 {
    (1 << (ty.bits() - u32::from(ty.is_signed_int()))) - 1
}

fn against_zero(b: &mut Builder<'_>, op: CompareOp, a: Value) -> Value {
    let zero = int_like(b, a, 0);
    b.compare(op, a, zero)
}

fn as_unsigned(b: &mut Builder<'_>, a: Value) -> Value {
    let ty = b.kernel.ty(a).to_unsigned();
    b.bitcast(a, ty)
}

fn expand_unsigned_abs(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let magnitude = b.unary(UnaryOp::Abs, a[0]);
    vec![as_unsigned(b, magnitude)]
}

fn expand_clamp(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let raised = b.binary(BinaryOp::Max, a[0], a[1]);
    vec![b.binary(BinaryOp::Min, raised, a[2])]
}

/// Kept within −1 and 1.
fn expand_signum(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let (low, high) = (int_like(b, a[0], -1), int_like(b, a[0], 1));
    expand_clamp(b, &[a[0], low, high])
}

/// Of x ≥ y the difference x − y, else y − x, unsigned.
fn expand_abs_diff(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let is_less = b.compare(CompareOp::Lt, a[0], a[1]);
    let (x, y) = (as_unsigned(b, a[0]), as_unsigned(b, a[1]));
    let (up, down) = (b.binary(BinaryOp::Sub, y, x), b.binary(BinaryOp::Sub, x, y));
    vec![b.select(is_less, up, down)]
}

fn expand_pow(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let one = int_like(b, a[0], 1);
    vec![match b.kernel.constant(a[1]) {
        Some(exponent) => unrolled_power(b, a[0], exponent.bits as u32, one),
        None => squaring_loop(b, a[0], a[1], one),
    }]
}

/// The bound that a signed value x runs into: MAX if x ≥ 0, else MIN. (x >> (w − 1)) ^ MAX
fn bound_towards(b: &mut Builder<'_>, x: Value) -> Value {
    let ty = b.kernel.ty(x);
    let (count, most) = (b.int(Type::U32, i128::from(ty.bits() - 1)), b.int(ty, greatest(ty)));
    let sign = b.binary(BinaryOp::Shr, x, count);
    b.binary(BinaryOp::Xor, sign, most)
}

/// Unsigned: MAX if the sum is below a term. Signed: overflow if the sum's sign differs from both terms'.
fn expand_saturating_add(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let ty = b.kernel.ty(a[0]);
    let sum = b.binary(BinaryOp::Add, a[0], a[1]);
    if ty.is_unsigned_int() {
        let is_over = b.compare(CompareOp::Lt, sum, a[0]);
        let most = b.int(ty, greatest(ty));
        return vec![b.select(is_over, most, sum)];
    }
    let (left, right) = (b.binary(BinaryOp::Xor, a[0], sum), b.binary(BinaryOp::Xor, a[1], sum));
    let both = b.binary(BinaryOp::And, left, right);
    let is_over = against_zero(b, CompareOp::Lt, both);
    let bound = bound_towards(b, a[0]);
    vec![b.select(is_over, bound, sum)]
}

/// Unsigned: 0 if x < y. Signed: overflow if the terms' signs differ and the difference's from the first's.
fn expand_saturating_sub(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let ty = b.kernel.ty(a[0]);
    let difference = b.binary(BinaryOp::Sub, a[0], a[1]);
    if ty.is_unsigned_int() {
        let is_below = b.compare(CompareOp::Lt, a[0], a[1]);
        let zero = b.int(ty, 0);
        return vec![b.select(is_below, zero, difference)];
    }
    let (left, right) = (b.binary(BinaryOp::Xor, a[0], a[1]), b.binary(BinaryOp::Xor, a[0], difference));
    let both = b.binary(BinaryOp::And, left, right);
    let is_over = against_zero(b, CompareOp::Lt, both);
    let bound = bound_towards(b, a[0]);
    vec![b.select(is_over, bound, difference)]
}

/// Up to 32 bits in a type twice as wide; 64 bits by the high half, which must be the low half's sign (unsigned: 0).
fn expand_saturating_mul(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let ty = b.kernel.ty(a[0]);
    if ty.bits() < 64 {
        let wide = wider(ty);
        let (x, y) = (b.cast(a[0], wide), b.cast(a[1], wide));
        let product = b.binary(BinaryOp::Mul, x, y);
        let (low, high) = (b.int(wide, least(ty)), b.int(wide, greatest(ty)));
        let kept = expand_clamp(b, &[product, low, high])[0];
        return vec![b.cast(kept, ty)];
    }
    let product = b.binary(BinaryOp::Mul, a[0], a[1]);
    let high = call_method(b, "mul_hi", a);
    let (fits, bound) = if ty == Type::U64 {
        (b.int(ty, 0), b.int(ty, greatest(ty)))
    } else {
        let count = b.int(Type::U32, 63);
        let sign = b.binary(BinaryOp::Shr, product, count);
        let signs = b.binary(BinaryOp::Xor, a[0], a[1]);
        (sign, bound_towards(b, signs))
    };
    let is_over = b.compare(CompareOp::Ne, high, fits);
    vec![b.select(is_over, bound, product)]
}

/// The 32- or 64-bit type of the same sign that holds every product of two of `ty`.
fn wider(ty: Type) -> Type {
    match (ty.bits() < 32, ty.is_signed_int()) {
        (true, true) => Type::I32,
        (true, false) => Type::U32,
        (false, true) => Type::I64,
        (false, false) => Type::U64,
    }
}

/// r = x % y; r + |y| if r < 0, else r. Wrapping, as in Rust.
fn expand_rem_euclid(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let rest = b.binary(BinaryOp::Rem, a[0], a[1]);
    if b.kernel.ty(rest).is_unsigned_int() {
        return vec![rest];
    }
    let magnitude = b.unary(UnaryOp::Abs, a[1]);
    let raised = b.binary(BinaryOp::Add, rest, magnitude);
    let is_negative = against_zero(b, CompareOp::Lt, rest);
    vec![b.select(is_negative, raised, rest)]
}

/// q = x / y; where x % y < 0: q − 1 if y > 0, q + 1 if not.
fn expand_div_euclid(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let quotient = b.binary(BinaryOp::Div, a[0], a[1]);
    if b.kernel.ty(quotient).is_unsigned_int() {
        return vec![quotient];
    }
    let rest = b.binary(BinaryOp::Rem, a[0], a[1]);
    let (one, minus_one) = (int_like(b, quotient, 1), int_like(b, quotient, -1));
    let is_above = against_zero(b, CompareOp::Gt, a[1]);
    let step = b.select(is_above, minus_one, one);
    let stepped = b.binary(BinaryOp::Add, quotient, step);
    let is_negative = against_zero(b, CompareOp::Lt, rest);
    vec![b.select(is_negative, stepped, quotient)]
}

fn expand_div_ceil(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let ty = b.kernel.ty(a[0]);
    let (quotient, rest) = (b.binary(BinaryOp::Div, a[0], a[1]), b.binary(BinaryOp::Rem, a[0], a[1]));
    let has_rest = against_zero(b, CompareOp::Ne, rest);
    let more = b.cast(has_rest, ty);
    vec![b.binary(BinaryOp::Add, quotient, more)]
}

/// x where x % y is 0, else x + (y − x % y).
fn expand_next_multiple_of(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let rest = b.binary(BinaryOp::Rem, a[0], a[1]);
    let has_rest = against_zero(b, CompareOp::Ne, rest);
    let missing = b.binary(BinaryOp::Sub, a[1], rest);
    let above = b.binary(BinaryOp::Add, a[0], missing);
    vec![b.select(has_rest, above, a[0])]
}

/// a % b == 0; a == 0 if b is 0, where the remainder is taken by 1.
fn expand_is_multiple_of(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let one = b.int(b.kernel.ty(a[0]), 1);
    let by_zero = against_zero(b, CompareOp::Eq, a[1]);
    let divisor = b.select(by_zero, one, a[1]);
    let rest = b.binary(BinaryOp::Rem, a[0], divisor);
    let rest = b.select(by_zero, a[0], rest);
    vec![against_zero(b, CompareOp::Eq, rest)]
}

/// The float root, at most one off, put right by its square: `f32` for 32 bits, `f64` for 64.
fn expand_isqrt(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let ty = b.kernel.ty(a[0]);
    let (word, float) = if ty.bits() == 64 { (Type::U64, Type::F64) } else { (Type::U32, Type::F32) };
    let x = b.cast(a[0], word);
    let real = b.cast(x, float);
    // The method's exact form also where `math = fast` has another: one off is all that can be put right.
    let real = super::by_name("sqrt", Some(float)).map_or(real, |row| b.intrinsic(row, vec![real], float));
    let (one, most) = (b.int(word, 1), b.int(word, (1 << (word.bits() / 2)) - 1));
    let root = b.cast(real, word);
    let root = b.binary(BinaryOp::Min, root, most);
    let square = b.binary(BinaryOp::Mul, root, root);
    let is_over = b.compare(CompareOp::Gt, square, x);
    let lower = b.binary(BinaryOp::Sub, root, one);
    let root = b.select(is_over, lower, root);
    // (r + 1)² ≤ x, without overflow: x − r² > 2r
    let square = b.binary(BinaryOp::Mul, root, root);
    let rest = b.binary(BinaryOp::Sub, x, square);
    let twice = b.binary(BinaryOp::Add, root, root);
    let is_under = b.compare(CompareOp::Gt, rest, twice);
    let higher = b.binary(BinaryOp::Add, root, one);
    let root = b.select(is_under, higher, root);
    vec![b.cast(root, ty)]
}

fn expand_narrow_mul_hi(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let ty = b.kernel.ty(a[0]);
    let wide = wider(ty);
    let (x, y) = (b.cast(a[0], wide), b.cast(a[1], wide));
    let product = b.binary(BinaryOp::Mul, x, y);
    let count = b.int(Type::U32, i128::from(ty.bits()));
    let high = b.binary(BinaryOp::Shr, product, count);
    vec![b.cast(high, ty)]
}

fn expand_mul24(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let count = b.int(Type::U32, 8);
    let low = |b: &mut Builder<'_>, x: Value| {
        let high = b.binary(BinaryOp::Shl, x, count);
        b.binary(BinaryOp::Shr, high, count)
    };
    let (x, y) = (low(b, a[0]), low(b, a[1]));
    vec![b.binary(BinaryOp::Mul, x, y)]
}
