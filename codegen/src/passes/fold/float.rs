//! Identities of floats: only those that give the same bits for every operand (NaN payloads aside).

use super::Context;
use super::arithmetic::{Binary, constant_right};
use crate::ir::{BinaryOp, Scalar, UnaryOp, Value};

type MulAdd = fn(&mut Context<'_>, Value, Value, Value) -> Option<Value>;

pub(super) const BINARY: &[Binary] = &[constant_right, neutral, minus_one, negated, negated_product, divide_by_power_of_two, same];
pub(super) const MUL_ADD: &[MulAdd] = &[factor_one, addend_minus_zero];

fn equals(scalar: Scalar, value: f64) -> bool {
    scalar == Scalar::float(scalar.ty, value)
}

/// `x * 1 = x / 1 = x`; `x - (+0) = x + (-0) = x`, for every x, both zeros included. `x + (+0)` is not x where x is −0.
fn neutral(cx: &mut Context<'_>, op: BinaryOp, a: Value, b: Value) -> Option<Value> {
    let c = cx.constant(b)?;
    use BinaryOp::*;
    let is_neutral = match op {
        Mul | Div => equals(c, 1.0),
        Sub => equals(c, 0.0),
        Add => equals(c, -0.0),
        Rem | And | Or | Xor | Shl | Shr | Min | Max => false,
    };
    is_neutral.then_some(a)
}

/// `x * -1 = x / -1 = -x`.
fn minus_one(cx: &mut Context<'_>, op: BinaryOp, a: Value, b: Value) -> Option<Value> {
    let c = cx.constant(b)?;
    (matches!(op, BinaryOp::Mul | BinaryOp::Div) && equals(c, -1.0)).then(|| cx.b.unary(UnaryOp::Neg, a))
}

/// `a + -b = a - b`, `-a + b = b - a`, `a - -b = a + b`.
fn negated(cx: &mut Context<'_>, op: BinaryOp, a: Value, b: Value) -> Option<Value> {
    let is_sum = op.sign()? > 0;
    if let Some(y) = cx.as_unary(UnaryOp::Neg, b) {
        return Some(cx.b.binary(if is_sum { BinaryOp::Sub } else { BinaryOp::Add }, a, y));
    }
    let x = cx.as_unary(UnaryOp::Neg, a).filter(|_| is_sum)?;
    Some(cx.b.binary(BinaryOp::Sub, b, x))
}

/// `-a * -b = a * b`, `-a / -b = a / b`: signs multiply apart from the rounding.
fn negated_product(cx: &mut Context<'_>, op: BinaryOp, a: Value, b: Value) -> Option<Value> {
    let x = matches!(op, BinaryOp::Mul | BinaryOp::Div).then(|| cx.as_unary(UnaryOp::Neg, a))??;
    let y = cx.as_unary(UnaryOp::Neg, b)?;
    Some(cx.b.binary(op, x, y))
}

/// `x / 2ᵏ = x * 2⁻ᵏ` where 2⁻ᵏ is a normal number: both are the correctly rounded value of the same real.
fn divide_by_power_of_two(cx: &mut Context<'_>, op: BinaryOp, a: Value, b: Value) -> Option<Value> {
    let c = cx.constant(b).filter(|_| op == BinaryOp::Div)?;
    let divisor = c.as_f64();
    let is_power = divisor.is_normal() && divisor.to_bits() & ((1 << 52) - 1) == 0;
    let inverse = Scalar::float(c.ty, 1.0 / divisor);
    let exact = inverse.as_f64().is_normal() && inverse.as_f64() * divisor == 1.0;
    (is_power && exact).then(|| {
        let inverse = cx.b.constant(inverse);
        cx.b.binary(BinaryOp::Mul, a, inverse)
    })
}

/// `min(x, x) = max(x, x) = x`.
fn same(_: &mut Context<'_>, op: BinaryOp, a: Value, b: Value) -> Option<Value> {
    (matches!(op, BinaryOp::Min | BinaryOp::Max) && a == b).then_some(a)
}

/// `1 * b + c = b + c`: one rounding on both sides. Integers alike.
fn factor_one(cx: &mut Context<'_>, a: Value, b: Value, c: Value) -> Option<Value> {
    let is_one = |value| cx.constant(value).is_some_and(|s| if s.ty.is_float() { equals(s, 1.0) } else { s.bits == 1 });
    let other = if is_one(a) {
        b
    } else if is_one(b) {
        a
    } else {
        return None;
    };
    Some(cx.b.binary(BinaryOp::Add, other, c))
}

/// `a * b + -0 = a * b` (a zero product keeps its sign); integers: `a * b + 0`.
fn addend_minus_zero(cx: &mut Context<'_>, a: Value, b: Value, c: Value) -> Option<Value> {
    let zero = cx.constant(c)?;
    let vanishes = if zero.ty.is_float() { equals(zero, -0.0) } else { zero.bits == 0 };
    vanishes.then(|| cx.b.binary(BinaryOp::Mul, a, b))
}
