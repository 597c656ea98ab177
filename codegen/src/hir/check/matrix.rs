//! What matrices are made of: their methods, and their elements.

use super::super::tree::{Expr, ExprKind};
use super::super::types::Ty;
use super::Checker;
use super::call::arity_text;
use super::edits::method_with;
use super::expression::expr;
use crate::diagnostic::Diagnostic;
use crate::syntax::written;
use proc_macro2::Span;

/// What a matrix has beside its buffer, in order: its second parameter and those after it. A batch has all, a matrix the first.
const METHODS: [&str; 5] = ["rows", "columns", "pitch", "count", "stride"];

/// What this one has; nothing if it is neither a matrix nor a batch of them.
pub(crate) fn methods(ty: &Ty) -> &'static [&'static str] {
    match ty {
        Ty::Matrix(_) => &METHODS[..3],
        Ty::MatrixBatch(_) => &METHODS,
        _ => &[],
    }
}

impl Checker<'_, '_> {
    /// `a.rows()`, `a.columns()`, `a.pitch()`; of a batch `a.count()` and `a.stride()`, too.
    pub(super) fn matrix_method(&mut self, call: &syn::ExprMethodCall, receiver: Expr, ty: &Ty, span: Span) -> Expr {
        let name = call.method.to_string();
        let methods = methods(ty);
        let Some(at) = methods.iter().position(|method| *method == name) else {
            return self.unknown_method(call, &receiver, methods.to_vec());
        };
        if !call.args.is_empty() {
            let message = format!("`{name}` {}", arity_text(0, call.args.len()));
            return self.error_expression(Diagnostic::error(span, message).help(method_with(call, "")).by_rustc());
        }
        expr(ExprKind::Field(Box::new(receiver), at as u32 + 1), Ty::Usize, span)
    }

    /// `a[(row, column)]`.
    pub(super) fn matrix_element(&mut self, index: &syn::ExprIndex, matrix: Expr, element: Ty, span: Span) -> Expr {
        let position = self.expression(&index.index);
        let ty = self.infer.shallow(&position.ty);
        match (&*index.index, &position.kind) {
            (syn::Expr::Tuple(tuple), ExprKind::Aggregate(parts, None)) if tuple.elems.len() == 2 && parts.len() == 2 => {
                for (written, (_, part)) in tuple.elems.iter().zip(parts) {
                    self.expect_index(written, part);
                }
            }
            _ if self.infer.unify(&position.ty, &Ty::Tuple(vec![Ty::Usize; 2])) => {}
            _ => {
                let message = format!("an element of a matrix is named by its row and its column, and this is {}", self.shown(&ty));
                let help = format!("write `{}[(row, column)]`", written(&index.expr));
                return self.error_expression(Diagnostic::error(position.span, message).help(help).and_by_rustc());
            }
        }
        expr(ExprKind::Index(Box::new(matrix), Box::new(position)), element, span)
    }
}
