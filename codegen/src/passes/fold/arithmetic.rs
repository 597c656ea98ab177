//! Identities of unary operations (all types) and of binary ones on integers and `bool`, where all arithmetic is modulo 2ⁿ.

use super::Context;
use crate::analysis::bounds::type_max;
use crate::ir::{BinaryOp, CompareOp, Compute, Op, Scalar, Type, UnaryOp, Value, eval};

pub(super) type Unary = fn(&mut Context<'_>, UnaryOp, Value) -> Option<Value>;
pub(super) type Binary = fn(&mut Context<'_>, BinaryOp, Value, Value) -> Option<Value>;

pub(super) const UNARY: &[Unary] = &[involution, magnitude, negated_difference, negated_comparison];
pub(super) const BINARY: &[Binary] = &[
    constant_right,
    neutral,
    absorbing,
    same_operands,
    shift_count,
    add_chain,
    product_chain,
    cancel,
    subtract_from_zero,
    opposite,
    limits,
    both_below,
    low_bits,
    low_bits_of_sum,
];

/// `x + c < n && x + d < n = x + d < n` for c ≤ d, unsigned, where x + d does not wrap round: one comparison for a group of neighbours.
fn both_below(cx: &mut Context<'_>, op: BinaryOp, a: Value, b: Value) -> Option<Value> {
    let below = |cx: &Context<'_>, value: Value| match cx.op(value) {
        Some(Op::Compute(Compute::Compare(CompareOp::Lt, left, right))) if cx.ty(*left).is_unsigned_int() => {
            let offset = cx.as_binary(BinaryOp::Add, *left).and_then(|(base, constant)| Some((base, cx.constant(constant)?.bits)));
            let (base, offset) = offset.unwrap_or((*left, 0));
            Some((base, offset, *right))
        }
        _ => None,
    };
    let ((x, c, n), (y, d, m)) = (op == BinaryOp::And).then(|| below(cx, a).zip(below(cx, b)))??;
    let greatest = if c < d { d } else { c };
    let fits = cx.bounds.upper(cx.b.kernel, x).checked_add(greatest).is_some_and(|sum| sum <= type_max(cx.ty(x)));
    (x == y && n == m && fits).then_some(if c <= d { b } else { a })
}

/// The bits that `a op b` leaves of `a`, as a mask, if `op` is one that does: `a & b`, and `a % b` for powers of two.
fn mask_of(cx: &Context<'_>, op: BinaryOp, b: Value) -> Option<u64> {
    let c = cx.constant(b)?;
    if op == BinaryOp::And {
        return Some(c.bits);
    }
    (op == BinaryOp::Rem && c.ty.is_unsigned_int() && c.bits.is_power_of_two()).then(|| c.bits - 1)
}

/// `(x + c) & m = x & m` where no bit of c stands at or below m's highest: rows that are whole groups further on lie in the same order in a swizzled tile.
fn low_bits_of_sum(cx: &mut Context<'_>, op: BinaryOp, a: Value, b: Value) -> Option<Value> {
    let mask = mask_of(cx, op, b)?;
    let (x, c) = cx.as_binary(BinaryOp::Add, a)?;
    let further = cx.constant(c)?.bits;
    let is_untouched = mask > 0 && further.trailing_zeros() >= u64::BITS - mask.leading_zeros();
    is_untouched.then(|| cx.b.binary(op, x, b))
}

/// `i % 2 = 1` for the counter of `(1..n).step_by(2)`: bits that are the same in all iterations.
fn low_bits(cx: &mut Context<'_>, op: BinaryOp, a: Value, b: Value) -> Option<Value> {
    let mask = mask_of(cx, op, b)?;
    let low = cx.bounds.low_bits(cx.b.kernel, a, u64::BITS - mask.leading_zeros())?;
    let ty = cx.ty(b);
    Some(cx.b.int(ty, i128::from(low & mask)))
}

/// `--a = a`, `!!a = a`, `||a|| = |a|`.
fn involution(cx: &mut Context<'_>, op: UnaryOp, a: Value) -> Option<Value> {
    let inner = cx.as_unary(op, a)?;
    Some(if op == UnaryOp::Abs { a } else { inner })
}

/// `|-a| = |a|`.
fn magnitude(cx: &mut Context<'_>, op: UnaryOp, a: Value) -> Option<Value> {
    let inner = (op == UnaryOp::Abs).then(|| cx.as_unary(UnaryOp::Neg, a))??;
    Some(cx.b.unary(UnaryOp::Abs, inner))
}

/// `-(a - b) = b - a`, integers.
fn negated_difference(cx: &mut Context<'_>, op: UnaryOp, a: Value) -> Option<Value> {
    let (left, right) = (op == UnaryOp::Neg && cx.ty(a).is_int()).then(|| cx.as_binary(BinaryOp::Sub, a))??;
    Some(cx.b.binary(BinaryOp::Sub, right, left))
}

/// `!(a < b) = a >= b` and so on; floats only `!(a == b) = a != b` and back, for a NaN makes both of the others false.
fn negated_comparison(cx: &mut Context<'_>, op: UnaryOp, a: Value) -> Option<Value> {
    let Some(Op::Compute(Compute::Compare(compare, left, right))) = cx.op(a).filter(|_| op == UnaryOp::Not) else { return None };
    let (compare, left, right) = (*compare, *left, *right);
    let exact = matches!(compare, CompareOp::Eq | CompareOp::Ne) || !cx.ty(left).is_float();
    exact.then(|| cx.b.compare(compare.negated(), left, right))
}

/// Whether `a op b = b op a`.
pub(in crate::passes) fn is_commutative(op: BinaryOp) -> bool {
    use BinaryOp::{Add, And, Max, Min, Mul, Or, Xor};
    matches!(op, Add | Mul | And | Or | Xor | Min | Max)
}

/// `c op x = x op c`: later rules look for constants on the right only.
pub(super) fn constant_right(cx: &mut Context<'_>, op: BinaryOp, a: Value, b: Value) -> Option<Value> {
    let swap = is_commutative(op) && cx.constant(a).is_some() && cx.constant(b).is_none();
    swap.then(|| cx.b.binary(op, b, a))
}

/// All bits set: `true`, `!0`.
fn ones(ty: Type) -> Scalar {
    Scalar::int(ty, -1)
}

/// `x + 0`, `x - 0`, `x | 0`, `x ^ 0`, `x << 0`, `x >> 0`, `x * 1`, `x / 1`, `x & !0` = `x`; `b ^ true = !b`.
fn neutral(cx: &mut Context<'_>, op: BinaryOp, a: Value, b: Value) -> Option<Value> {
    use BinaryOp::*;
    let c = cx.constant(b)?;
    let is_neutral = match op {
        Add | Sub | Or | Xor | Shl | Shr => c.bits == 0,
        Mul | Div => c.bits == 1,
        And => c == ones(c.ty),
        Rem | Min | Max => false,
    };
    if op == Xor && c.is_true() {
        return Some(cx.b.unary(UnaryOp::Not, a));
    }
    is_neutral.then_some(a)
}

/// `x * 0 = x & 0 = 0`, `x | !0 = !0`, `x % 1 = 0`.
fn absorbing(cx: &mut Context<'_>, op: BinaryOp, _: Value, b: Value) -> Option<Value> {
    let c = cx.constant(b)?;
    let result = match (op, c.bits) {
        (BinaryOp::Mul | BinaryOp::And, 0) => c,
        (BinaryOp::Or, _) if c == ones(c.ty) => c,
        (BinaryOp::Rem, 1) => Scalar::int(c.ty, 0),
        _ => return None,
    };
    Some(cx.b.constant(result))
}

/// `x - x = x ^ x = 0`; `x & x`, `x | x`, `min(x, x)`, `max(x, x)` = `x`.
fn same_operands(cx: &mut Context<'_>, op: BinaryOp, a: Value, b: Value) -> Option<Value> {
    use BinaryOp::*;
    match op {
        Add | Mul | Div | Rem | Shl | Shr => None,
        Sub | Xor => (a == b).then(|| cx.b.int(cx.ty(a), 0)),
        And | Or | Min | Max => (a == b).then_some(a),
    }
}

/// `x << c = x << (c mod width)`: devices differ beyond the width.
fn shift_count(cx: &mut Context<'_>, op: BinaryOp, a: Value, b: Value) -> Option<Value> {
    let width = u64::from(cx.ty(a).bits());
    let c = cx.constant(b).filter(|c| matches!(op, BinaryOp::Shl | BinaryOp::Shr) && c.bits >= width)?;
    let count = cx.b.constant(Scalar::new(c.ty, c.bits % width));
    Some(cx.b.binary(op, a, count))
}

/// `(x ± c) ± d = x ± (c ± d)`, with whichever sign makes the constant the smaller one.
fn add_chain(cx: &mut Context<'_>, op: BinaryOp, a: Value, b: Value) -> Option<Value> {
    let outer = op.sign()? * cx.constant(b)?.as_int();
    let Some(Op::Compute(Compute::Binary(inner_op, x, c))) = cx.op(a) else { return None };
    let (x, inner) = (*x, inner_op.sign()? * cx.constant(*c)?.as_int());
    let ty = cx.ty(a);
    let sum = Scalar::int(ty, outer + inner);
    let negated = Scalar::int(ty, -(outer + inner));
    let (op, c) = if negated.bits < sum.bits { (BinaryOp::Sub, negated) } else { (BinaryOp::Add, sum) };
    let c = cx.b.constant(c);
    Some(cx.b.binary(op, x, c))
}

/// `(x op c) op d = x op (c op d)` for `* & | ^`.
fn product_chain(cx: &mut Context<'_>, op: BinaryOp, a: Value, b: Value) -> Option<Value> {
    let associative = matches!(op, BinaryOp::Mul | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor);
    let d = cx.constant(b).filter(|_| associative)?;
    let (x, c) = cx.as_binary(op, a)?;
    let c = eval::binary(op, cx.constant(c)?, d)?;
    let c = cx.b.constant(c);
    Some(cx.b.binary(op, x, c))
}

/// `(x + y) - y = x`, `(x + y) - x = y`, `(x - y) + y = x`.
fn cancel(cx: &mut Context<'_>, op: BinaryOp, a: Value, b: Value) -> Option<Value> {
    if op.sign()? < 0 {
        return match cx.as_binary(BinaryOp::Add, a)? {
            (x, y) if y == b => Some(x),
            (x, y) if x == b => Some(y),
            _ => None,
        };
    }
    let difference = |difference, other| cx.as_binary(BinaryOp::Sub, difference).filter(|(_, y)| *y == other).map(|(x, _)| x);
    difference(a, b).or_else(|| difference(b, a))
}

/// `0 - x = -x`; `x - -y = x + y`; `x + -y = x - y`.
fn subtract_from_zero(cx: &mut Context<'_>, op: BinaryOp, a: Value, b: Value) -> Option<Value> {
    if op == BinaryOp::Sub && cx.constant(a).is_some_and(|c| c.bits == 0) && cx.ty(a).is_signed_int() {
        return Some(cx.b.unary(UnaryOp::Neg, b));
    }
    let opposite = if op.sign()? > 0 { BinaryOp::Sub } else { BinaryOp::Add };
    let y = cx.as_unary(UnaryOp::Neg, b)?;
    Some(cx.b.binary(opposite, a, y))
}

/// `x * -1 = !x + 1 = -x`, integers.
fn opposite(cx: &mut Context<'_>, op: BinaryOp, a: Value, b: Value) -> Option<Value> {
    let c = cx.constant(b).filter(|c| c.ty.is_int())?;
    let x = if op == BinaryOp::Mul && c == ones(c.ty) {
        a
    } else if op == BinaryOp::Add && c.bits == 1 {
        cx.as_unary(UnaryOp::Not, a)?
    } else {
        return None;
    };
    if c.ty.is_signed_int() {
        return Some(cx.b.unary(UnaryOp::Neg, x));
    }
    let zero = cx.b.int(c.ty, 0);
    Some(cx.b.binary(BinaryOp::Sub, zero, x))
}

/// `max(x, MIN) = min(x, MAX) = x`; `max(x, MAX) = MAX`, `min(x, MIN) = MIN`. Unsigned: `x % c = x` and `x & mask = x` where x is known to be small.
fn limits(cx: &mut Context<'_>, op: BinaryOp, a: Value, b: Value) -> Option<Value> {
    let c = cx.constant(b)?;
    let ty = c.ty;
    if !ty.is_int() {
        return None;
    }
    let (least, greatest) = if ty.is_signed_int() {
        (Scalar::new(ty, 1 << (ty.bits() - 1)), Scalar::new(ty, (1 << (ty.bits() - 1)) - 1))
    } else {
        (Scalar::int(ty, 0), ones(ty))
    };
    let small = |limit: u64| ty.is_unsigned_int() && cx.bounds.upper(cx.b.kernel, a) <= limit;
    use BinaryOp::*;
    let (keeps, absorbs) = match op {
        Max => (c == least, c == greatest),
        Min => (c == greatest, c == least),
        Rem => (c.bits > 0 && small(c.bits - 1), false),
        And => ((c.bits & c.bits.wrapping_add(1)) == 0 && small(c.bits), false),
        Add | Sub | Mul | Div | Or | Xor | Shl | Shr => return None,
    };
    keeps.then_some(a).or(absorbs.then_some(b))
}
