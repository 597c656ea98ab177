//! What a generic's bounds and a thread's memory leave room for.

use super::super::tree::LocalKind;
use super::super::types::{Const, Ty};
use super::{Checker, Context, Demand, TypeScope};
use crate::diagnostic::Diagnostic;
use proc_macro2::Span;
use syn::spanned::Spanned;

/// Most local memory of a thread, bytes (CUDA C++ Programming Guide, table of technical specifications).
const MOST_LOCAL: u64 = 512 * 1024;

/// What a type parameter's bounds ask of its type. `Element` takes every type.
pub(super) fn demand(param: &syn::TypeParam) -> Option<Demand> {
    param.bounds.iter().find_map(|bound| match bound {
        syn::TypeParamBound::Trait(bound) => match bound.path.segments.last()?.ident.to_string().as_str() {
            "Float" => Some(Demand::Float),
            "Int" => Some(Demand::Integer),
            "Num" => Some(Demand::Number),
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
        if matches!(ty, Ty::Global(_) | Ty::Constant(_) | Ty::Slice(_) | Ty::Never) {
            let message = format!("`{}` stands for a type of values, not for `{ty}`", param.ident);
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

impl Checker<'_, '_> {
    /// `as` makes no `bool`: Rust's own rule, which the host twin's generic casts hide from rustc.
    pub(super) fn check_casts(&mut self) {
        for (from, to, span) in std::mem::take(&mut self.casts) {
            let (from, to) = (self.infer.resolve(&from), self.infer.resolve(&to));
            if to == Ty::BOOL && (from.is_int() || from.is_float()) {
                let message = format!("`{}` cannot be cast to `bool`", self.show(&from));
                self.report(Diagnostic::error(span, message).help("compare it: `a != 0`"));
            }
        }
    }

    /// Refuses variables and arrays that no thread has memory for.
    pub(super) fn check_sizes(&mut self) {
        let own = self.locals.iter().filter(|local| local.kind == LocalKind::Variable);
        let mut sizes: Vec<(Ty, Span)> = own.map(|local| (local.ty.clone(), local.span)).collect();
        sizes.append(&mut self.arrays);
        let mut refused: Vec<u64> = Vec::new();
        for (ty, span) in sizes {
            let ty = self.infer.resolve(&ty);
            if matches!(ty, Ty::Scalar(_) | Ty::Usize | Ty::Isize) {
                continue;
            }
            let bytes = self.context.bytes(&ty);
            // A variable and the array it is made of are one mistake.
            if bytes > MOST_LOCAL && !refused.contains(&bytes) {
                refused.push(bytes);
                let message = format!("`{}` takes {bytes} bytes; a thread has at most {MOST_LOCAL} of local memory", self.show(&ty));
                let help = "put it into a buffer (`&mut Global<T>`), or into `#[shared]` memory if the block can share it";
                self.report(Diagnostic::error(span, message).help(help));
            }
        }
    }
}
