//! The meaning of the core instructions on constants: exactly Rust's.
//!
//! Two layers. [`lane`] has the operations as generic functions over Rust's own types, which the simulator instantiates per type;
//! the functions here choose the type of a [`Scalar`] at run time, for folding. They give `None` where there is no value:
//! an integer division by zero, or an operation that the type does not have (which [`crate::verify`] refuses anyway).
//!
//! * Integers wrap; shift counts are taken modulo the width; `MIN / -1` is `MIN` and `MIN % -1` is 0.
//! * Floats are IEEE, rounded to nearest even. `rem` is `fmod`, exact. `min` and `max` give the number if one side is NaN, and
//!   order −0 before +0 (as PTX does; Rust leaves it open).
//! * `f16` and `bf16` operations are computed in `f32` and rounded. For `+ - * /` that is the correctly rounded result, since `f32` has
//!   more than 2p + 2 digits. `mul_add` is an `f32` fused multiply-add, then rounded: two roundings in rare cases.
//! * Casts are `as`: saturating float → int with NaN → 0, truncating int → int, and one rounding for everything else, also from
//!   `f64` and 64-bit integers to `f16` and `bf16`.

use super::{BinaryOp, CompareOp, Compute, Scalar, Type, UnaryOp, Value};
use half::{bf16, f16};

pub mod lane;
pub mod round;
#[cfg(test)]
mod tests;

use lane::{Bitwise, Integer, Lane, Number};

/// Runs `$body` with `$T` as the Rust type of `$ty`, one of the listed classes; `None` for other types.
macro_rules! with_type {
    ($ty:expr, $T:ident: [$($class:ident),*] => $body:expr) => {
        with_type!(@arms $ty, $T, $body, [$($class)*], [])
    };
    (@arms $ty:expr, $T:ident, $body:expr, [int $($rest:ident)*], [$($arm:tt)*]) => {
        with_type!(@arms $ty, $T, $body, [$($rest)*],
            [$($arm)* (I8 i8) (I16 i16) (I32 i32) (I64 i64) (U8 u8) (U16 u16) (U32 u32) (U64 u64)])
    };
    (@arms $ty:expr, $T:ident, $body:expr, [float $($rest:ident)*], [$($arm:tt)*]) => {
        with_type!(@arms $ty, $T, $body, [$($rest)*], [$($arm)* (F16 f16) (BF16 bf16) (F32 f32) (F64 f64)])
    };
    (@arms $ty:expr, $T:ident, $body:expr, [bool $($rest:ident)*], [$($arm:tt)*]) => {
        with_type!(@arms $ty, $T, $body, [$($rest)*], [$($arm)* (Bool bool)])
    };
    (@arms $ty:expr, $T:ident, $body:expr, [], [$(($variant:ident $rust:ty))*]) => {
        match $ty {
            $(Type::$variant => {
                type $T = $rust;
                $body
            })*
            _ => None,
        }
    };
}

/// How often a `For` of these bounds and this step runs.
pub fn trips([start, end, step]: [i128; 3]) -> Option<u64> {
    (step > 0).then(|| u64::try_from(((end - start).max(0) + step - 1) / step).ok())?
}

/// What computes a value of type `ty`, where `of` knows the operands; `None` for what the launch decides.
pub fn compute(op: &Compute, ty: Type, mut of: impl FnMut(Value) -> Option<Scalar>) -> Option<Scalar> {
    match op {
        Compute::Const(scalar) => Some(*scalar),
        Compute::Unary(op, a) => unary(*op, of(*a)?),
        Compute::Binary(op, a, b) => binary(*op, of(*a)?, of(*b)?),
        Compute::MulAdd(a, b, c) => mul_add(of(*a)?, of(*b)?, of(*c)?),
        Compute::Compare(op, a, b) => compare(*op, of(*a)?, of(*b)?),
        Compute::Select(c, a, b) => select(of(*c)?, of(*a)?, of(*b)?),
        Compute::Cast(a) => cast(of(*a)?, ty),
        Compute::Bitcast(a) => bitcast(of(*a)?, ty),
        Compute::Special(..) | Compute::Len(_) | Compute::Address(_) | Compute::PeerAddress(..) | Compute::Offset(..) => None,
    }
}

/// `op a`.
pub fn unary(op: UnaryOp, a: Scalar) -> Option<Scalar> {
    match op {
        UnaryOp::Neg => with_type!(a.ty, T: [int, float] => Some(give(Number::neg(take::<T>(a))))),
        UnaryOp::Abs => with_type!(a.ty, T: [int, float] => Some(give(Number::abs(take::<T>(a))))),
        UnaryOp::Not => with_type!(a.ty, T: [int, bool] => Some(give(Bitwise::not(take::<T>(a))))),
    }
}

/// `a op b`. Both of one type, but for the count of a shift, a `u32`.
pub fn binary(op: BinaryOp, a: Scalar, b: Scalar) -> Option<Scalar> {
    use BinaryOp::{Add, And, Div, Max, Min, Mul, Or, Rem, Shl, Shr, Sub, Xor};
    match op {
        Shl | Shr if b.ty == Type::U32 => with_type!(a.ty, T: [int] => Some(give(shift(op, take::<T>(a), b.bits as u32)))),
        Shl | Shr => None,
        _ if a.ty != b.ty => None,
        And | Or | Xor => with_type!(a.ty, T: [int, bool] => Some(give(bitwise(op, take::<T>(a), take(b))))),
        Add | Sub | Mul | Div | Rem | Min | Max => {
            with_type!(a.ty, T: [int, float] => arithmetic(op, take::<T>(a), take(b)).map(give))
        }
    }
}

/// `a * b + c`: fused for floats, wrapping for integers.
pub fn mul_add(a: Scalar, b: Scalar, c: Scalar) -> Option<Scalar> {
    if a.ty != b.ty || a.ty != c.ty {
        return None;
    }
    with_type!(a.ty, T: [int, float] => Some(give(Number::mul_add(take::<T>(a), take(b), take(c)))))
}

/// `a op b`, a `bool`.
pub fn compare(op: CompareOp, a: Scalar, b: Scalar) -> Option<Scalar> {
    if a.ty != b.ty {
        return None;
    }
    with_type!(a.ty, T: [int, float, bool] => Some(Scalar::bool(lane::compare(op, take::<T>(a), take(b)))))
}

/// `if c { a } else { b }`.
pub fn select(c: Scalar, a: Scalar, b: Scalar) -> Option<Scalar> {
    (c.ty == Type::Bool && a.ty == b.ty).then(|| if c.is_true() { a } else { b })
}

/// `a as ty`. `bool` converts to integers only, and nothing to `bool` but itself.
pub fn cast(a: Scalar, ty: Type) -> Option<Scalar> {
    match (a.ty, ty) {
        (Type::Bool, Type::Bool) => Some(a),
        (Type::Bool, _) => ty.is_int().then(|| Scalar::int(ty, a.as_int())),
        _ => with_type!(a.ty, S: [int, float] => with_type!(ty, T: [int, float] => Some(give(Number::cast::<T>(take::<S>(a)))))),
    }
}

/// The same bits as another type of the same width.
pub fn bitcast(a: Scalar, ty: Type) -> Option<Scalar> {
    let is_scalar = |ty: Type| !matches!(ty, Type::Ptr(_));
    (is_scalar(ty) && is_scalar(a.ty) && ty.bits() == a.ty.bits()).then_some(Scalar { ty, bits: a.bits })
}

// The macro's types are concrete, where inherent methods come before a trait's: hence the functions below, and calls by path above.

fn take<T: Lane>(scalar: Scalar) -> T {
    T::from_bits(scalar.bits)
}

fn give<T: Lane>(value: T) -> Scalar {
    Scalar { ty: T::TYPE, bits: value.to_bits() }
}

fn arithmetic<T: Number>(op: BinaryOp, a: T, b: T) -> Option<T> {
    match op {
        BinaryOp::Add => Some(a.add(b)),
        BinaryOp::Sub => Some(a.sub(b)),
        BinaryOp::Mul => Some(a.mul(b)),
        BinaryOp::Div => a.div(b),
        BinaryOp::Rem => a.rem(b),
        BinaryOp::Min => Some(a.min(b)),
        BinaryOp::Max => Some(a.max(b)),
        _ => None,
    }
}

fn bitwise<T: Bitwise>(op: BinaryOp, a: T, b: T) -> T {
    match op {
        BinaryOp::And => a.and(b),
        BinaryOp::Or => a.or(b),
        _ => a.xor(b),
    }
}

fn shift<T: Integer>(op: BinaryOp, a: T, count: u32) -> T {
    if op == BinaryOp::Shl { a.shl(count) } else { a.shr(count) }
}
