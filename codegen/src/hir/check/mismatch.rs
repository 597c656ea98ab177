//! Types that do not go together where people mix numbers: said with the cast, which `rustc` does not know.

use super::super::tree::Expr;
use super::super::types::{Const, Kind, Ty};
use super::Checker;
use crate::diagnostic::Diagnostic;
use crate::ir::Type;
use crate::syntax::written;
use syn::spanned::Spanned;

impl Checker<'_, '_> {
    /// Both sides of an operator are of one type.
    pub(super) fn expect_operand(&mut self, binary: &syn::ExprBinary, left: &Expr, right: &Expr) {
        if self.infer.unify(&right.ty, &left.ty) {
            return;
        }
        let (a, b) = (self.infer.resolve(&left.ty), self.infer.resolve(&right.ty));
        let Some(help) = self.common_type(&binary.left, &a, &binary.right, &b) else {
            // Reported as any other mismatch, by rustc.
            return self.expect(&right.ty, &left.ty, right.span);
        };
        let operator = quote::ToTokens::to_token_stream(&binary.op).to_string();
        let message = format!("`{operator}` takes two numbers of one type, and these are `{}` and `{}`", self.show(&a), self.show(&b));
        self.report(Diagnostic::error(binary.op.span(), message).help(help));
    }

    /// The edit that makes both numbers of one type.
    fn common_type(&self, left: &syn::Expr, a: &Ty, right: &syn::Expr, b: &Ty) -> Option<String> {
        let is_number = |ty: &Ty| ty.is_int() || ty.is_float() || matches!(self.infer.kind(ty), Some(Kind::Int | Kind::Float));
        if !is_number(a) || !is_number(b) {
            return None;
        }
        let is_int_literal = |ty: &Ty| self.infer.kind(ty) == Some(Kind::Int);
        Some(match (a, b) {
            (a, b) if is_int_literal(b) && !is_int_literal(a) => as_float(right),
            (a, b) if is_int_literal(a) && !is_int_literal(b) => as_float(left),
            // A kernel of `f32` with one `f64` in it means `f32`.
            (Ty::Scalar(Type::F64), b) if b.is_float() => format!("write `{}`", cast(left, &self.show(b))),
            // A float, or else the index type, is what the other becomes.
            (a, b) if rank(b) > rank(a) => format!("write `{}`", cast(left, &self.show(b))),
            (a, _) => format!("write `{}`", cast(right, &self.show(a))),
        })
    }

    /// An index is a `usize`.
    pub(super) fn expect_index(&mut self, written_index: &syn::Expr, index: &Expr) {
        let ty = self.infer.resolve(&index.ty);
        if ty.is_int() && ty != Ty::Usize {
            let message = format!("an index is a `usize`, and this is `{}`", self.show(&ty));
            let help = format!("write `{}`", cast(written_index, "usize"));
            self.report(Diagnostic::error(index.span, message).help(help));
            return;
        }
        self.expect(&index.ty, &Ty::Usize, index.span);
    }

    /// A condition is a `bool`.
    pub(super) fn expect_condition(&mut self, condition: &syn::Expr, typed: &Expr) {
        let ty = self.infer.resolve(&typed.ty);
        let is_int = ty.is_int() || self.infer.kind(&ty) == Some(Kind::Int);
        if is_int || ty.is_float() {
            let zero = if is_int { "0" } else { "0.0" };
            let message = format!(
                "a condition is a `bool`, and this is {}",
                if ty.is_int() || ty.is_float() { format!("`{}`", self.show(&ty)) } else { "an integer".to_owned() }
            );
            let operand = operand(condition);
            self.report(Diagnostic::error(typed.span, message).help(format!("compare it: `{operand} != {zero}`")));
            return;
        }
        self.expect(&typed.ty, &Ty::BOOL, typed.span);
    }

    /// An array that is declared without a value, and whose elements are used: `rustc` says so, but not that `#[shared]` may be missing.
    pub(super) fn check_unfilled(&self) {
        for (id, unfilled) in &self.unfilled {
            let Some(used) = unfilled.used.filter(|_| !unfilled.is_assigned) else { continue };
            let local = &self.locals[id.0];
            let (name, ty) = (&local.name, self.show(&local.ty));
            let Ty::Array(element, _) = self.infer.resolve(&local.ty) else { continue };
            let fill = match &*element {
                ty if ty.is_float() => format!(", or fill it: `= [0.0; {}]`", ty_length(&self.infer.resolve(&local.ty))),
                ty if ty.is_int() => format!(", or fill it: `= [0; {}]`", ty_length(&self.infer.resolve(&local.ty))),
                _ => String::new(),
            };
            let message = format!("`{name}` is used before it has a value; without `#[shared]` it is an array of one thread");
            let help = format!("write `#[shared] let mut {name}: {ty};` for one array for the whole block{fill}");
            self.report(Diagnostic::error(local.span, message).label(used, "used here").help(help));
        }
    }
}

fn ty_length(ty: &Ty) -> String {
    match ty {
        Ty::Array(_, Const::Value(len)) => len.to_string(),
        _ => "N".to_owned(),
    }
}

/// A literal as a float; another integer is cast.
fn as_float(expr: &syn::Expr) -> String {
    match expr {
        syn::Expr::Lit(_) => format!("write `{}.0`", written(expr)),
        _ => "write its numbers as floats: `2.0` for `2`".to_owned(),
    }
}

fn operand(expr: &syn::Expr) -> String {
    let text = written(expr);
    let is_simple = matches!(
        expr,
        syn::Expr::Path(_)
            | syn::Expr::Lit(_)
            | syn::Expr::Index(_)
            | syn::Expr::Field(_)
            | syn::Expr::Call(_)
            | syn::Expr::MethodCall(_)
            | syn::Expr::Paren(_)
    );
    if is_simple { text } else { format!("({text})") }
}

fn cast(expr: &syn::Expr, ty: &str) -> String {
    format!("{} as {ty}", operand(expr))
}

/// What the other side is cast to: an index type, before that a float.
fn rank(ty: &Ty) -> u32 {
    match ty {
        Ty::Usize => 2,
        ty if ty.is_float() => 3,
        _ => 1,
    }
}
