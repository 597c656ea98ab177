//! Literals beyond their types: what `rustc` denies as `overflowing_literals`, in code that never runs, too.

use super::super::tree::{Expr, ExprKind};
use super::super::types::{Infer, Kind, Ty};
use super::Checker;
use super::edits::{nearest_number, wider};
use crate::diagnostic::Diagnostic;
use crate::ir::Type;
use proc_macro2::Span;

/// A literal whose type is looked at when it is known.
pub(super) struct Literal {
    number: Number,
    ty: Ty,
    span: Span,
}

enum Number {
    Int(i128),
    /// As it is written: which type rounds it is not known yet.
    Float(String),
}

impl Literal {
    pub(super) fn int(value: i128, ty: &Ty, span: Span) -> Literal {
        Literal { number: Number::Int(value), ty: ty.clone(), span }
    }

    pub(super) fn float(digits: &str, ty: &Ty, span: Span) -> Literal {
        Literal { number: Number::Float(digits.to_owned()), ty: ty.clone(), span }
    }
}

/// Whether an expression is a literal, one with a sign, or one with its bits turned over.
fn is_literal(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Int(_) | ExprKind::Float(_) => true,
        ExprKind::Unary(_, inner) => is_literal(inner),
        _ => false,
    }
}

/// `300 as u8`: a literal without a suffix is of the type that it is cast to, if that is one of its kind.
pub(super) fn settle_cast(infer: &mut Infer, operand: &Expr, ty: &Ty) {
    if !is_literal(operand) {
        return;
    }
    let is_of_kind = match infer.kind(&infer.shallow(&operand.ty)) {
        Some(Kind::Int) => ty.is_int(),
        Some(Kind::Float) => matches!(ty, Ty::Scalar(Type::F32 | Type::F64)),
        _ => false,
    };
    if is_of_kind {
        infer.unify(&operand.ty, ty);
    }
}

impl Checker<'_, '_> {
    /// `-128i8` is one number, though its digits alone are none of the type.
    pub(super) fn note_sign(&mut self, operand: &Expr, span: Span) {
        if let Some(Literal { number: Number::Int(value), span: of, .. }) = self.literals.last_mut()
            && of.start() == operand.span.start()
        {
            *value = value.wrapping_neg();
            *of = span;
        }
    }

    /// Refuses the literals that their types do not hold.
    pub(super) fn check_literals(&mut self) {
        for literal in std::mem::take(&mut self.literals) {
            let ty = self.infer.resolve(&literal.ty);
            match literal.number {
                Number::Int(value) => self.check_number(value, &ty, literal.span),
                Number::Float(digits) => self.check_float(&digits, &ty, literal.span),
            }
        }
    }

    /// Refuses a number that is none of an integer type.
    pub(super) fn check_number(&mut self, value: i128, ty: &Ty, span: Span) {
        let scalar = match ty {
            Ty::Scalar(ty) if ty.is_int() => *ty,
            // As wide as the host's, which `rustc` looks at; those of the kernel are looked at where it is known.
            Ty::Usize => Type::U64,
            Ty::Isize => Type::I64,
            _ => return,
        };
        let numbers = scalar.numbers();
        // Of a sign that an unsigned type does not have it is said there.
        if numbers.contains(&value) || value < 0 && scalar.is_unsigned_int() {
            return;
        }
        let bits = scalar.to_unsigned();
        let help = match wider(scalar, value).filter(|wide| wide.bits() > scalar.bits() && !matches!(ty, Ty::Usize | Ty::Isize)) {
            // `0xFFFF_FFFF` of an `i32` is meant as its bits.
            _ if scalar.is_signed_int() && bits.numbers().contains(&value) => {
                let hexadecimal = format!("{value:#x}{bits}");
                format!("use {}, or write `{hexadecimal} as {ty}` for these bits", nearest_number(scalar, value))
            }
            Some(wide) => format!("use {}, or the type `{wide}`", nearest_number(scalar, value)),
            None => format!("use {}", nearest_number(scalar, value)),
        };
        let message = format!("`{value}` does not fit `{ty}`, whose numbers are {} to {}", numbers.start(), numbers.end());
        self.report(Diagnostic::error(span, message).help(help).by_rustc());
    }

    fn check_float(&mut self, digits: &str, ty: &Ty, span: Span) {
        if let Ty::Scalar(short @ (Type::F16 | Type::BF16 | Type::E4M3 | Type::E5M2)) = ty {
            let message = format!("`{digits}` is an `f32` or an `f64`, and `{short}` has no literals");
            self.report(Diagnostic::error(span, message).help(format!("write `{short}::from_f32({digits})`")).by_rustc());
            return;
        }
        let (is_beyond, largest, help) = match ty {
            Ty::Scalar(Type::F32) => {
                let fits = digits.parse::<f64>().is_ok_and(f64::is_finite);
                let help = if fits { "use the type `f64`, or write `f32::INFINITY`" } else { "write `f32::INFINITY`, or a smaller number" };
                (digits.parse::<f32>().is_ok_and(f32::is_infinite), "3.4028235e38", help)
            }
            Ty::Scalar(Type::F64) => {
                (digits.parse::<f64>().is_ok_and(f64::is_infinite), "1.7976931348623157e308", "write `f64::INFINITY`, or a smaller number")
            }
            _ => return,
        };
        if is_beyond {
            let message = format!("`{digits}` does not fit `{ty}`, whose largest number is {largest}");
            self.report(Diagnostic::error(span, message).help(help).by_rustc());
        }
    }
}
