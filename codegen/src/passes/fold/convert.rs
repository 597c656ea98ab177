//! Casts of casts, and of choices.

use super::Context;
use crate::ir::{Compute, Op, Scalar, Type, Value, eval};

type Convert = fn(&mut Context<'_>, Value, Type) -> Option<Value>;

pub(super) const CAST: &[Convert] = &[to_itself, through_wider, choice_of_floats];
pub(super) const BITCAST: &[Convert] = &[to_itself, bits_of_bits];

/// `a as A = a`.
fn to_itself(cx: &mut Context<'_>, a: Value, ty: Type) -> Option<Value> {
    (cx.ty(a) == ty).then_some(a)
}

/// `(x as B) as C = x as C` where going through B loses nothing that C could tell.
fn through_wider(cx: &mut Context<'_>, a: Value, ty: Type) -> Option<Value> {
    let Some(Op::Compute(Compute::Cast(x))) = cx.op(a) else { return None };
    let x = *x;
    let (from, middle) = (cx.ty(x), cx.ty(a));
    let exact = holds_all_of(middle, from) || is_truncation(middle, ty) && (from.is_int() || from == Type::Bool);
    // `bool` converts to integers only, and on the way from a float an integer saturates where from an integer it wraps.
    let legal =
        if from == Type::Bool { ty.is_int() } else { !(from.is_int() && middle.is_float() && ty.is_int()) || holds_all_of(ty, from) };
    (exact && legal).then(|| cx.b.cast(x, ty))
}

/// `(b as int) as float = if b { 1.0 } else { 0.0 }`, and of constants: `(if c { x } else { y }) as float = if c { x as float } else { y as float }`.
///
/// It is an instruction less, and more than that for floats of 16 bits: `ptxas` (12.9, 13.5; sm_90) takes `cvt.rn.f16.u16` of `selp.b16 1, 0` for the integer itself
/// where the condition is from another block, also through `cvt.rn.f32.u16`.
fn choice_of_floats(cx: &mut Context<'_>, a: Value, ty: Type) -> Option<Value> {
    let Some(Op::Compute(compute)) = cx.op(a) else { return None };
    let (c, left, right) = if let Compute::Cast(c) = compute
        && cx.ty(*c) == Type::Bool
    {
        (*c, Scalar::int(cx.ty(a), 1), Scalar::int(cx.ty(a), 0))
    } else if let Compute::Select(c, left, right) = compute {
        (*c, cx.constant(*left)?, cx.constant(*right)?)
    } else {
        return None;
    };
    let is_conversion = left.ty.is_int() && ty.is_float();
    let (left, right) = (eval::cast(left, ty)?, eval::cast(right, ty)?);
    is_conversion.then(|| {
        let [left, right] = [left, right].map(|scalar| cx.b.constant(scalar));
        cx.b.select(c, left, right)
    })
}

/// Whether every value of `from` is a value of `wide`.
fn holds_all_of(wide: Type, from: Type) -> bool {
    match (from, wide) {
        (Type::Bool, _) => wide.is_int(),
        (Type::F16 | Type::BF16, Type::F32 | Type::F64) | (Type::F32, Type::F64) => true,
        _ if from == wide => true,
        _ if from.is_float() || !from.is_int() => false,
        _ if wide.is_float() => from.bits() - u32::from(from.is_signed_int()) <= digits(wide),
        _ if from.is_signed_int() => wide.is_signed_int() && wide.bits() >= from.bits(),
        _ => wide.bits() > from.bits() || (wide.is_unsigned_int() && wide.bits() == from.bits()),
    }
}

/// Whether integers of `middle` cut to `ty` keep just their low bits, which are the low bits of what was cast to `middle`.
fn is_truncation(middle: Type, ty: Type) -> bool {
    middle.is_int() && ty.is_int() && ty.bits() <= middle.bits()
}

/// Binary digits of a float type.
fn digits(ty: Type) -> u32 {
    match ty.bits() {
        16 if ty == Type::BF16 => 8,
        16 => 11,
        32 => 24,
        _ => 53,
    }
}

/// The bits of the bits are the bits.
fn bits_of_bits(cx: &mut Context<'_>, a: Value, ty: Type) -> Option<Value> {
    let Some(Op::Compute(Compute::Bitcast(x))) = cx.op(a) else { return None };
    let x = *x;
    Some(cx.b.bitcast(x, ty))
}
