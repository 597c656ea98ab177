//! Constants that Rust's primitive types bring with them: `f32::MAX`, `u32::BITS`, `std::f32::consts::PI`.

use super::super::tree::{Expr, ExprKind};
use super::super::types::Ty;
use crate::intrinsics;
use crate::ir::{BinaryOp, Scalar, Type, UnaryOp};
use crate::syntax::ConstValue;
use half::{bf16, f16};
use proc_macro2::Span;

/// `std::f32::consts::NAME`, `f64::consts::NAME`: the constants of the module `consts`, rounded from these (Rust's own values).
const MATH: &[(&str, f64)] = {
    use std::f64::consts as c;
    &[
        ("PI", c::PI),
        ("TAU", c::TAU),
        ("E", c::E),
        ("SQRT_2", c::SQRT_2),
        ("LN_2", c::LN_2),
        ("LN_10", c::LN_10),
        ("LOG2_E", c::LOG2_E),
        ("LOG10_E", c::LOG10_E),
        ("LOG2_10", c::LOG2_10),
        ("LOG10_2", c::LOG10_2),
        ("FRAC_PI_2", c::FRAC_PI_2),
        ("FRAC_PI_3", c::FRAC_PI_3),
        ("FRAC_PI_4", c::FRAC_PI_4),
        ("FRAC_PI_6", c::FRAC_PI_6),
        ("FRAC_PI_8", c::FRAC_PI_8),
        ("FRAC_1_PI", c::FRAC_1_PI),
        ("FRAC_2_PI", c::FRAC_2_PI),
        ("FRAC_2_SQRT_PI", c::FRAC_2_SQRT_PI),
        ("FRAC_1_SQRT_2", c::FRAC_1_SQRT_2),
    ]
};

/// The constant a path like `std::f32::consts::PI` means.
pub(super) fn math_constant(segments: &[String]) -> Option<(Type, Scalar)> {
    let [.., ty, module, name] = segments else { return None };
    let ty = ty.parse::<Type>().ok().filter(|ty| ty.is_float())?;
    if module != "consts" {
        return None;
    }
    let (_, value) = MATH.iter().find(|(known, _)| known == name)?;
    Some((ty, Scalar::float(ty, *value)))
}

/// The constant of the standard library that a `use` brought in: `std::f32::consts::PI`, `std::f32::INFINITY`.
pub fn standard_constant(path: &[String]) -> Option<ConstValue> {
    if let Some((_, value)) = math_constant(path) {
        return Some(ConstValue::Scalar(value));
    }
    let [.., ty, name] = path else { return None };
    constant(ty.parse().ok()?, name).map(ConstValue::Scalar)
}

/// `usize::MAX` and the like, whose value the kernel's index width decides: made from what every width agrees on.
pub(super) fn index_constant(ty: &Ty, name: &str) -> Option<ExprKind> {
    let of = |kind: ExprKind, ty: Ty| Box::new(Expr { kind, ty, span: Span::call_site() });
    let ones = || ExprKind::Unary(UnaryOp::Not, of(ExprKind::Int(0), Ty::Usize));
    // isize::MAX: all bits but the first.
    let greatest = || ExprKind::Cast(of(ExprKind::Binary(BinaryOp::Shr, of(ones(), Ty::Usize), of(ExprKind::Int(1), Ty::U32)), Ty::Usize));
    match (ty, name) {
        (Ty::Usize, "MIN" | "ZERO") | (Ty::Isize, "ZERO") => Some(ExprKind::Int(0)),
        (Ty::Usize | Ty::Isize, "ONE") => Some(ExprKind::Int(1)),
        (Ty::Usize, "MAX") => Some(ones()),
        (Ty::Isize, "MAX") => Some(greatest()),
        (Ty::Isize, "MIN") => Some(ExprKind::Unary(UnaryOp::Not, of(greatest(), Ty::Isize))),
        (Ty::Usize | Ty::Isize, "BITS") => {
            let row = intrinsics::method(intrinsics::called::COUNT_ONES, Type::U32)?;
            Some(ExprKind::Intrinsic(row, Ty::Usize, vec![*of(ones(), Ty::Usize)]))
        }
        _ => None,
    }
}

/// `T::NAME` for a scalar type.
pub(super) fn constant(ty: Type, name: &str) -> Option<Scalar> {
    match name {
        "ZERO" if ty.is_float() => return Some(Scalar::float(ty, 0.0)),
        "ONE" if ty.is_float() => return Some(Scalar::float(ty, 1.0)),
        "ZERO" if ty.is_int() => return Some(Scalar::int(ty, 0)),
        "ONE" if ty.is_int() => return Some(Scalar::int(ty, 1)),
        _ => {}
    }
    if ty.is_int() {
        let bits = ty.bits();
        return match name {
            "BITS" => Some(Scalar::u32(bits)),
            "MAX" if ty.is_signed_int() => Some(Scalar::int(ty, (1 << (bits - 1)) - 1)),
            "MIN" if ty.is_signed_int() => Some(Scalar::int(ty, -(1 << (bits - 1)))),
            "MAX" => Some(Scalar::int(ty, (1 << bits) - 1)),
            "MIN" => Some(Scalar::int(ty, 0)),
            _ => None,
        };
    }
    if let Some(value) = float_shape(ty, name) {
        return Some(value);
    }
    macro_rules! float {
        ($t:ident, $bits:ident) => {
            Some(match name {
                "RADIX" => return Some(Scalar::u32($t::RADIX)),
                "DIGITS" => return Some(Scalar::u32($t::DIGITS)),
                "MANTISSA_DIGITS" => return Some(Scalar::u32($t::MANTISSA_DIGITS)),
                "MIN_EXP" => return Some(Scalar::int(Type::I32, i128::from($t::MIN_EXP))),
                "MAX_EXP" => return Some(Scalar::int(Type::I32, i128::from($t::MAX_EXP))),
                "MIN_10_EXP" => return Some(Scalar::int(Type::I32, i128::from($t::MIN_10_EXP))),
                "MAX_10_EXP" => return Some(Scalar::int(Type::I32, i128::from($t::MAX_10_EXP))),
                "MAX" => $t::MAX,
                "MIN" => $t::MIN,
                "MIN_POSITIVE" => $t::MIN_POSITIVE,
                "EPSILON" => $t::EPSILON,
                "INFINITY" => $t::INFINITY,
                "NEG_INFINITY" => $t::NEG_INFINITY,
                "NAN" => $t::NAN,
                _ => return None,
            })
            .map(|value| Scalar::new(ty, u64::from(value.to_bits())))
        };
    }
    match ty {
        Type::F16 => float!(f16, u16),
        Type::BF16 => float!(bf16, u16),
        Type::F32 => float!(f32, u32),
        Type::F64 => float!(f64, u64),
        _ => None,
    }
}

/// The integer constants of float types: `f32::MANTISSA_DIGITS` … (`u32` or `i32`, as in Rust).
fn float_shape(ty: Type, name: &str) -> Option<Scalar> {
    // Digits, mantissa digits; least and greatest exponents of two and ten.
    let (digits, mantissa, exponents): (u32, u32, [i32; 4]) = match ty {
        Type::F16 => (f16::DIGITS, f16::MANTISSA_DIGITS, [f16::MIN_EXP, f16::MAX_EXP, f16::MIN_10_EXP, f16::MAX_10_EXP]),
        Type::BF16 => (bf16::DIGITS, bf16::MANTISSA_DIGITS, [bf16::MIN_EXP, bf16::MAX_EXP, bf16::MIN_10_EXP, bf16::MAX_10_EXP]),
        Type::F32 => (f32::DIGITS, f32::MANTISSA_DIGITS, [f32::MIN_EXP, f32::MAX_EXP, f32::MIN_10_EXP, f32::MAX_10_EXP]),
        Type::F64 => (f64::DIGITS, f64::MANTISSA_DIGITS, [f64::MIN_EXP, f64::MAX_EXP, f64::MIN_10_EXP, f64::MAX_10_EXP]),
        _ => return None,
    };
    let exponent = |index: usize| Some(Scalar::int(Type::I32, i128::from(exponents[index])));
    match name {
        "DIGITS" => Some(Scalar::u32(digits)),
        "MANTISSA_DIGITS" => Some(Scalar::u32(mantissa)),
        "RADIX" => Some(Scalar::u32(2)),
        "MIN_EXP" => exponent(0),
        "MAX_EXP" => exponent(1),
        "MIN_10_EXP" => exponent(2),
        "MAX_10_EXP" => exponent(3),
        _ => None,
    }
}
