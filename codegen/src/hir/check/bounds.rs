//! What a generic's bounds and a thread's memory leave room for.

use super::super::tree::{Expr, LocalKind};
use super::super::types::{Const, Ty};
use super::{Checker, Context, Demand, TypeScope};
use crate::diagnostic::Diagnostic;
use crate::ir::{BinaryOp, Type};
use crate::target::limits::LOCAL_BYTES;
use proc_macro2::Span;
use syn::spanned::Spanned;

/// What a type parameter's bounds ask of its type. `Element` takes every type.
pub(super) fn demand(param: &syn::TypeParam) -> Option<Demand> {
    param.bounds.iter().find_map(|bound| match bound {
        syn::TypeParamBound::Trait(bound) => match bound.path.segments.last()?.ident.to_string().as_str() {
            "Float" => Some(Demand::Float),
            "Int" => Some(Demand::Integer),
            "Num" => Some(Demand::Number),
            "Texel" => Some(Demand::Texel),
            "FloatTexel" => Some(Demand::FloatTexel),
            _ => None,
        },
        _ => None,
    })
}

impl Context<'_> {
    /// Reports a type that a kernel's generic cannot stand for.
    pub(crate) fn check_bound(&self, param: &syn::TypeParam, ty: &Ty, scope: TypeScope) {
        if self.diagnostics.borrow().has_errors() {
            return;
        }
        if ty.is_memory() || matches!(ty, Ty::Slice(_) | Ty::Never) {
            let shown = self.show(ty);
            let message = format!("`{}` stands for a type of values, not for `{shown}`", param.ident);
            self.report(Diagnostic::error(param.span(), message).help("give it a scalar, a tuple, an array or a struct"));
        } else if let Some(demand) = demand(param) {
            let mut checker = Checker::new(self, scope);
            checker.demand(ty, demand, param.span());
            checker.finish();
        }
    }

    /// Bytes of a value, about.
    fn bytes(&self, ty: &Ty) -> u64 {
        let sum = |types: &mut dyn Iterator<Item = &Ty>| types.map(|ty| self.bytes(ty)).fold(0, u64::saturating_add);
        match ty {
            Ty::Scalar(ty) => u64::from(ty.bytes()),
            Ty::Usize | Ty::Isize => 4,
            Ty::Dim3 => 12,
            Ty::Array(element, Const::Value(len)) => self.bytes(element).saturating_mul(u64::try_from(*len).unwrap_or(u64::MAX)),
            Ty::Tuple(fields) => sum(&mut fields.iter()),
            Ty::Adt(..) => match self.field_types(ty) {
                Some(fields) => sum(&mut fields.iter().map(|(_, ty)| ty)),
                None => 4,
            },
            _ => 0,
        }
    }
}

/// Whether std, or `half` of its types, has `impl From<from> for to`, as far as both are scalars; of others something else is said.
fn has_from(from: &Ty, to: &Ty) -> bool {
    use Type::{BF16, Bool, F16, F32, F64, I8, I16, U8, U16};
    if from == to || *to == Ty::BOOL {
        return true;
    }
    match (from, to) {
        (Ty::Scalar(from), Ty::Scalar(to)) if from.is_float8() || to.is_float8() => true,
        (Ty::Scalar(Bool), Ty::Scalar(to)) => !matches!(to, F16 | BF16),
        (Ty::Scalar(Bool), Ty::Usize | Ty::Isize) => true,
        (Ty::Scalar(from), Ty::Scalar(to)) if from.is_int() && to.is_int() => {
            to.bits() > from.bits() && (from.is_unsigned_int() || to.is_signed_int())
        }
        (Ty::Scalar(from), Ty::Scalar(to)) if from.is_int() => match to {
            F16 | BF16 => from.bits() == 8,
            F32 => from.bits() <= 16,
            _ => from.bits() <= 32,
        },
        (Ty::Scalar(F16 | BF16), Ty::Scalar(to)) => matches!(to, F32 | F64),
        (Ty::Scalar(F32), Ty::Scalar(to)) => *to == F64,
        (Ty::Scalar(from), Ty::Usize) => matches!(from, U8 | U16),
        (Ty::Scalar(from), Ty::Isize) => matches!(from, U8 | I8 | I16),
        (Ty::Scalar(_) | Ty::Usize | Ty::Isize, Ty::Scalar(_) | Ty::Usize | Ty::Isize) => false,
        _ => true,
    }
}

impl Checker<'_, '_> {
    /// Casts that Rust has not. `rustc` does not see them where the host twin's `as` is a generic function.
    pub(super) fn check_casts(&mut self) {
        for (from, to, span) in std::mem::take(&mut self.casts) {
            let (from, to) = (self.infer.resolve(&from), self.infer.resolve(&to));
            let shown = self.show(&to);
            let help = match (&from, &to) {
                (from, to) if *to == Ty::BOOL && from.is_int() => "compare it: `a != 0`".to_owned(),
                (from, to) if *to == Ty::BOOL && from.is_float() => "compare it: `a != 0.0`".to_owned(),
                (Ty::Adt(..), to) if *to == Ty::BOOL => "compare it with a variant, or cast it to an integer first".to_owned(),
                (from, to) if *from == Ty::BOOL && to.is_float() => {
                    format!("write `x as u8 as {shown}`, or `if x {{ 1.0 }} else {{ 0.0 }}`")
                }
                (from, to) if from.is_float8() && *to == Ty::BOOL => "compare it: `x as f32 != 0.0`".to_owned(),
                (from, to) if *from == Ty::BOOL && to.is_float8() => format!("write `x as u8 as f32 as {shown}`"),
                (from, to) if from.is_float8() && to.is_int() || from.is_int() && to.is_float8() => {
                    format!("go by a float that is computed in: `x as f32 as {shown}`")
                }
                (Ty::Adt(..), to) if to.is_float8() => format!("cast it to an integer first: `e as u32 as f32 as {shown}`"),
                (Ty::Adt(..), to) if to.is_float() => format!("cast it to an integer first: `e as u32 as {shown}`"),
                (_, Ty::Adt(..)) => format!("match on the number, each arm a variant: `0 => {shown}::…`"),
                _ => continue,
            };
            let message = format!("{} cannot be cast to `{shown}`", self.shown(&from));
            self.report(Diagnostic::error(span, message).help(help));
        }
    }

    /// Refuses `T::from(v)` where `T` does not hold every number of `v`'s type, as `rustc` does.
    pub(super) fn check_lossless(&mut self) {
        for (from, to, value, span) in std::mem::take(&mut self.lossless) {
            let (from, to) = (self.infer.resolve(&from), self.infer.resolve(&to));
            if !has_from(&from, &to) {
                let message =
                    format!("`{0}::from` takes what `{0}` holds without a loss, and this is `{1}`", self.show(&to), self.show(&from));
                let by = if from == Ty::BOOL { "u8 as " } else { "" };
                let help = format!("write `{}`", crate::syntax::cast(&value, &format!("{by}{}", self.show(&to)), false));
                self.report(Diagnostic::error(span, message).help(help).and_by_rustc());
            }
        }
    }

    /// Keeps what [`Checker::check_literal_operands`] looks at when types are known.
    pub(super) fn note_literal(&mut self, op: BinaryOp, left: &Ty, right: &Expr, span: Span) {
        let Some(value) = right.known_int() else { return };
        match op {
            BinaryOp::Div | BinaryOp::Rem if value == 0 => self.literal_operands.push((left.clone(), None, span)),
            BinaryOp::Shl | BinaryOp::Shr => self.literal_operands.push((left.clone(), Some(value), span)),
            _ => {}
        }
    }

    /// Refuses divisions by a 0, and shifts by a number not below the width, that are known here, as `rustc` does.
    pub(super) fn check_literal_operands(&mut self) {
        // Of a generic function `rustc` leaves them to where it runs.
        let is_generic = !self.scope.generics.is_empty();
        for (ty, count, span) in std::mem::take(&mut self.literal_operands) {
            let ty = self.infer.resolve(&ty);
            let bits = match &ty {
                Ty::Scalar(ty) if ty.is_int() => ty.bits(),
                // Of the host, where `rustc` looks at it.
                Ty::Usize | Ty::Isize => 64,
                _ => continue,
            };
            let error = match count {
                _ if is_generic => continue,
                None => Diagnostic::error(span, "this divides by zero").help("divide by another number"),
                Some(count) if (0..i128::from(bits)).contains(&count) => continue,
                Some(count) => {
                    let message = format!("this shifts a `{}` of {bits} bits by {count}", self.show(&ty));
                    Diagnostic::error(span, message).help(format!("shift by 0 to {}", bits - 1))
                }
            };
            self.report(error.and_by_rustc());
        }
    }

    /// Refuses variables and arrays that no thread has memory for.
    pub(super) fn check_sizes(&mut self) {
        let own = self.locals.iter().filter(|local| local.kind == LocalKind::Variable);
        let mut sizes: Vec<(Ty, Span)> = own.map(|local| (local.ty.clone(), local.span)).collect();
        sizes.append(&mut self.arrays);
        let mut refused: Vec<u64> = Vec::new();
        for (ty, span) in sizes {
            // What is not known yet is reported, and takes none.
            let ty = self.infer.exported(&ty);
            if matches!(ty, Ty::Scalar(_) | Ty::Usize | Ty::Isize) {
                continue;
            }
            let bytes = self.context.bytes(&ty);
            // A variable and the array it is made of are one mistake.
            if bytes > u64::from(LOCAL_BYTES) && !refused.contains(&bytes) {
                refused.push(bytes);
                let message = format!("`{}` takes {bytes} bytes; a thread has at most {LOCAL_BYTES} of local memory", self.show(&ty));
                let help = "put it into a buffer (`&mut Global<T>`), or into `#[shared]` memory if the block can share it";
                self.report(Diagnostic::error(span, message).help(help));
            }
        }
    }
}
