//! Comparisons that are decided, and selects that need not choose.

use super::Context;
use crate::ir::{BinaryOp, CompareOp, Compute, Op, Scalar, Type, UnaryOp, Value, eval};

type Compare = fn(&mut Context<'_>, CompareOp, Value, Value) -> Option<Value>;
type Select = fn(&mut Context<'_>, Value, Value, Value) -> Option<Value>;

pub(super) const COMPARE: &[Compare] = &[constant_right, same_operands, known_bound, below_one, with_bool, widened_bool, of_select];
pub(super) const SELECT: &[Select] = &[decided, same_arms, negated_condition, of_bools];

/// `c < x = x > c`.
fn constant_right(cx: &mut Context<'_>, op: CompareOp, a: Value, b: Value) -> Option<Value> {
    let mirrored = op.swapped();
    (cx.constant(a).is_some() && cx.constant(b).is_none()).then(|| cx.b.compare(mirrored, b, a))
}

/// `x == x`, `x <= x`, `x >= x` hold, the others do not; not for floats, where x may be a NaN.
fn same_operands(cx: &mut Context<'_>, op: CompareOp, a: Value, b: Value) -> Option<Value> {
    let holds = matches!(op, CompareOp::Eq | CompareOp::Le | CompareOp::Ge);
    (a == b && !cx.ty(a).is_float()).then(|| cx.b.bool(holds))
}

/// Unsigned x with 0 ≤ x ≤ u against a constant: decided where c lies outside.
fn known_bound(cx: &mut Context<'_>, op: CompareOp, a: Value, b: Value) -> Option<Value> {
    let c = cx.constant(b).filter(|c| c.ty.is_unsigned_int())?.bits;
    let upper = cx.bounds.upper(cx.b.kernel, a);
    let (always, never) = match op {
        CompareOp::Lt => (upper < c, c == 0),
        CompareOp::Le => (upper <= c, false),
        CompareOp::Gt => (false, upper <= c),
        CompareOp::Ge => (c == 0, upper < c),
        CompareOp::Eq => (false, upper < c),
        CompareOp::Ne => (upper < c, false),
    };
    (always || never).then(|| cx.b.bool(always))
}

/// Unsigned `x < 1 = x == 0`, and `x >= 1 = x != 0`: what asks for zero is one comparison.
fn below_one(cx: &mut Context<'_>, op: CompareOp, a: Value, b: Value) -> Option<Value> {
    let one = cx.constant(b).filter(|c| c.ty.is_unsigned_int() && c.bits == 1)?;
    let op = match op {
        CompareOp::Lt => CompareOp::Eq,
        CompareOp::Ge => CompareOp::Ne,
        CompareOp::Eq | CompareOp::Ne | CompareOp::Le | CompareOp::Gt => return None,
    };
    let zero = cx.b.constant(Scalar::new(one.ty, 0));
    Some(cx.b.compare(op, a, zero))
}

/// `b == true = b`, `b == false = !b`, and `!=` the other way round.
fn with_bool(cx: &mut Context<'_>, op: CompareOp, a: Value, b: Value) -> Option<Value> {
    let c = cx.constant(b).filter(|c| c.ty == Type::Bool)?;
    let is_equal = matches!(op, CompareOp::Eq | CompareOp::Ne).then_some(op == CompareOp::Eq)?;
    Some(if is_equal == c.is_true() { a } else { cx.b.unary(UnaryOp::Not, a) })
}

/// `(b as int) != 0 = b`, `(b as int) == 0 = !b`.
fn widened_bool(cx: &mut Context<'_>, op: CompareOp, a: Value, b: Value) -> Option<Value> {
    let _zero = cx.constant(b).filter(|c| c.bits == 0 && c.ty.is_int())?;
    let Some(Op::Compute(Compute::Cast(inner))) = cx.op(a) else { return None };
    let inner = Some(*inner).filter(|inner| cx.ty(*inner) == Type::Bool)?;
    match op {
        CompareOp::Ne => Some(inner),
        CompareOp::Eq => Some(cx.b.unary(UnaryOp::Not, inner)),
        CompareOp::Lt | CompareOp::Le | CompareOp::Gt | CompareOp::Ge => None,
    }
}

/// `(if c { a } else { b }) op d`, all but c constants: what holds of a and b decides; c, `!c`, or whatever c is.
fn of_select(cx: &mut Context<'_>, op: CompareOp, a: Value, b: Value) -> Option<Value> {
    let d = cx.constant(b)?;
    let Some(Op::Compute(Compute::Select(c, left, right))) = cx.op(a) else { return None };
    let (c, left, right) = (*c, cx.constant(*left)?, cx.constant(*right)?);
    match (eval::compare(op, left, d)?.is_true(), eval::compare(op, right, d)?.is_true()) {
        (true, false) => Some(c),
        (false, true) => Some(cx.b.unary(UnaryOp::Not, c)),
        (same, _) => Some(cx.b.bool(same)),
    }
}

/// A constant condition has chosen.
fn decided(cx: &mut Context<'_>, c: Value, a: Value, b: Value) -> Option<Value> {
    cx.constant(c).map(|c| if c.is_true() { a } else { b })
}

/// `if c { a } else { a } = a`; equal constants count as the same.
fn same_arms(cx: &mut Context<'_>, _: Value, a: Value, b: Value) -> Option<Value> {
    let equal = a == b || (cx.constant(a).is_some() && cx.constant(a) == cx.constant(b));
    equal.then_some(a)
}

/// `if !c { a } else { b } = if c { b } else { a }`.
fn negated_condition(cx: &mut Context<'_>, c: Value, a: Value, b: Value) -> Option<Value> {
    let inner = cx.as_unary(UnaryOp::Not, c)?;
    Some(cx.b.select(inner, b, a))
}

/// On `bool`: `if c { true } else { b } = c | b`, `if c { a } else { false } = c & a`, `if c { false } else { true } = !c`,
/// `if c { a } else { true } = !c | a`, `if c { false } else { b } = !c & b`.
fn of_bools(cx: &mut Context<'_>, c: Value, a: Value, b: Value) -> Option<Value> {
    let known = |value| cx.constant(value).filter(|s| s.ty == Type::Bool).map(Scalar::is_true);
    let (left, right) = (known(a), known(b));
    match (left, right) {
        (Some(true), Some(false)) => Some(c),
        (Some(false), Some(true)) => Some(cx.b.unary(UnaryOp::Not, c)),
        (Some(true), _) => Some(cx.b.binary(BinaryOp::Or, c, b)),
        (_, Some(false)) => Some(cx.b.binary(BinaryOp::And, c, a)),
        (Some(false), _) => {
            let not = cx.b.unary(UnaryOp::Not, c);
            Some(cx.b.binary(BinaryOp::And, not, b))
        }
        (_, Some(true)) => {
            let not = cx.b.unary(UnaryOp::Not, c);
            Some(cx.b.binary(BinaryOp::Or, not, a))
        }
        _ => None,
    }
}
