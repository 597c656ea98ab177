//! Types that do not go together where people mix numbers: said with the cast, which `rustc` does not know.

use super::super::tree::Expr;
use super::super::types::{Const, Kind, Ty};
use super::Checker;
use crate::diagnostic::Diagnostic;
use crate::ir::Type;
use crate::syntax::{cast, operand, unparenthesized, written};
use proc_macro2::Span;
use syn::spanned::Spanned;

/// Most characters of an expression that an edit repeats.
const LONGEST: usize = 80;

impl Checker<'_, '_> {
    /// Both sides of an operator are of one type: it, or an open one where they are not.
    pub(super) fn expect_operand(&mut self, binary: &syn::ExprBinary, left: &Expr, right: &Expr) -> Ty {
        if self.infer.unify(&right.ty, &left.ty) {
            return if self.infer.shallow(&left.ty) == Ty::Never { right.ty.clone() } else { left.ty.clone() };
        }
        self.refuse_operands(binary, left, right);
        self.infer.fresh(Kind::Any)
    }

    fn refuse_operands(&mut self, binary: &syn::ExprBinary, left: &Expr, right: &Expr) {
        let (a, b) = (self.infer.resolve(&left.ty), self.infer.resolve(&right.ty));
        if !self.is_number(&a) || !self.is_number(&b) {
            // Reported as any other mismatch, by rustc; of all three axes beside a number it is these that are wrong.
            return match a {
                Ty::Dim3 => self.expect(&left.ty, &right.ty, left.span),
                _ => self.expect(&right.ty, &left.ty, right.span),
            };
        }
        // What is assigned to stays what it is; else a float, or the index type, is what the other becomes.
        let is_left = !is_assignment(&binary.op)
            && (self.is_int_literal(&a) && !self.is_int_literal(&b)
                || !self.is_int_literal(&b) && (rank(&b) > rank(&a) || a == Ty::Scalar(Type::F64) && b.is_float()));
        let is_compared = is_left && matches!(binary.op, syn::BinOp::Lt(_) | syn::BinOp::Shl(_));
        let (operand, ty, span) = if is_left { (&*binary.left, &b, left.span) } else { (&*binary.right, &a, right.span) };
        let help = self.number_as(operand, if is_left { &a } else { &b }, ty, is_compared);
        let operator = quote::ToTokens::to_token_stream(&binary.op).to_string();
        let message = format!("`{operator}` takes two numbers of one type, and these are {} and {}", self.shown(&a), self.shown(&b));
        self.report(Diagnostic::error(span, message).help(help).and_by_rustc());
    }

    pub(super) fn is_number(&self, ty: &Ty) -> bool {
        ty.is_int() || ty.is_float() || matches!(self.infer.kind(ty), Some(Kind::Int | Kind::Float))
    }

    fn is_int_literal(&self, ty: &Ty) -> bool {
        self.infer.kind(ty) == Some(Kind::Int)
    }

    /// A type in a message: in backticks if it has a name.
    pub(super) fn shown(&self, ty: &Ty) -> String {
        match self.infer.resolve(ty) {
            Ty::Var(index) if self.infer.kind(&Ty::Var(index)).is_some_and(|kind| kind != Kind::Any) => self.show(ty),
            _ => format!("`{}`", self.show(ty)),
        }
    }

    /// The edit that makes a number one of another type.
    fn number_as(&self, expr: &syn::Expr, from: &Ty, to: &Ty, is_compared: bool) -> String {
        let is_literal = self.infer.kind(from).is_some();
        match as_float(expr).filter(|_| is_literal && (to.is_float() || self.infer.kind(to) == Some(Kind::Float))) {
            Some(float) => format!("write `{float}`"),
            None => {
                let ty = if matches!(to, Ty::Var(_)) { "f32".to_owned() } else { self.show(to) };
                format!("write `{}`", cast(expr, &ty, is_compared))
            }
        }
    }

    /// A number, or all axes of a place, where a number of another type is wanted: the edit. `None`: they are others, or the source does not show where.
    pub(super) fn cast_edit(&self, found: &Ty, expected: &Ty, span: Span) -> Option<String> {
        let (found, expected) = (self.infer.resolve(found), self.infer.resolve(expected));
        let is_int = |ty: &Ty| ty.is_int() || self.infer.kind(ty) == Some(Kind::Int);
        if found == Ty::Dim3 && is_int(&expected) {
            let text = span.source_text().filter(|text| text.len() <= LONGEST && !text.contains('\n'));
            let axis = format!("{}.x", text.as_deref().unwrap_or("at"));
            return Some(match expected {
                Ty::Usize | Ty::Var(_) => format!("write `{axis}`, or another axis"),
                _ => format!("write `{axis} as {}`, or another axis", self.show(&expected)),
            });
        }
        let is_number = |ty: &Ty| self.is_number(ty) || ty.is_float8();
        if !is_number(&found) || !is_number(&expected) || matches!(expected, Ty::Var(_)) {
            return None;
        }
        let text = span.source_text().filter(|text| text.len() <= LONGEST && !text.contains('\n'))?;
        let expr = syn::parse_str(&text).ok()?;
        if found.is_float8() && is_int(&expected) || is_int(&found) && expected.is_float8() {
            return Some(format!("write `{}`", cast(&expr, &format!("f32 as {}", self.show(&expected)), false)));
        }
        Some(self.number_as(&expr, &found, &expected, false))
    }

    /// The edit where a whole stands for its part, a `bool` for a number, or a value is missing or too many. Of other types all is said that is known.
    pub(super) fn with_shape_edit(&self, error: Diagnostic, found: &Ty, expected: &Ty) -> Diagnostic {
        let (found, expected) = (self.infer.resolve(found), self.infer.resolve(expected));
        match (&found, &expected) {
            (Ty::Global(element) | Ty::Slice(element) | Ty::Array(element, _), wanted) if **element == *wanted => {
                error.help("take an element: `x[i]`")
            }
            (Ty::Scalar(Type::Bool), wanted) if wanted.is_int() => error.help(format!("cast it: `x as {}`", self.show(wanted))),
            (Ty::Scalar(Type::Bool), wanted) if self.is_number(wanted) => error.help("choose by it: `if x { 1.0 } else { 0.0 }`"),
            (number, Ty::Scalar(Type::Bool)) if self.is_number(number) => error.help("compare it: `x != 0`"),
            (Ty::Tuple(none), _) if none.is_empty() => error.help("end with the value, and no `;` behind it"),
            (_, Ty::Tuple(none)) if none.is_empty() => error.help("write `;` behind it"),
            _ => error,
        }
    }

    /// An index is a `usize`.
    pub(super) fn expect_index(&mut self, written_index: &syn::Expr, index: &Expr) {
        let ty = self.infer.resolve(&index.ty);
        if ty.is_int() && ty != Ty::Usize {
            let message = format!("an index is a `usize`, and this is `{}`", self.show(&ty));
            let help = format!("write `{}`", cast(written_index, "usize", false));
            self.report(Diagnostic::error(index.span, message).help(help).and_by_rustc());
            return;
        }
        self.expect(&index.ty, &Ty::Usize, index.span);
    }

    /// `x[-1]`, `x[-1 + i]`: in other languages the last, in Rust no index.
    pub(super) fn refuse_negative(&mut self, array: &syn::Expr, index: &syn::Expr) -> Option<Expr> {
        let number = |expr: &syn::Expr| crate::syntax::literal_int(expr).filter(|number| *number < 0);
        let (found, help) = match index {
            syn::Expr::Binary(syn::ExprBinary { left, op: syn::BinOp::Add(_), right, .. }) => {
                let found = number(left)?;
                (found, format!("write `{}[{} - {}]`", operand(array), operand(right), found.unsigned_abs()))
            }
            other => {
                let found = number(other)?;
                let array = operand(array);
                (found, format!("count from the end: `{array}[{array}.len() - {}]`", found.unsigned_abs()))
            }
        };
        let message = format!("an index is a `usize`, which begins at 0, and this has {found}");
        Some(self.error_expression(Diagnostic::error(index.span(), message).help(help).and_by_rustc()))
    }

    /// A condition, in which `=` is likely `==`.
    pub(super) fn condition(&mut self, condition: &syn::Expr) -> Expr {
        let syn::Expr::Assign(assign) = unparenthesized(condition) else {
            let typed = self.expression(condition);
            self.expect_condition(condition, &typed);
            return typed;
        };
        // `a && b = c` assigns to `a && b`, which says nothing of their types.
        if !matches!(*assign.left, syn::Expr::Binary(_)) {
            self.expression(&assign.left);
            self.expression(&assign.right);
        }
        let help = format!("write `{} == {}`", written(&assign.left), written(&assign.right));
        let error = Diagnostic::error(condition.span(), "a condition is a `bool`, and this is an assignment");
        self.error_expression(error.help(help).by_rustc())
    }

    /// A condition is a `bool`.
    fn expect_condition(&mut self, condition: &syn::Expr, typed: &Expr) {
        let ty = self.infer.resolve(&typed.ty);
        let is_int = ty.is_int() || self.infer.kind(&ty) == Some(Kind::Int);
        if is_int || ty.is_float() {
            let zero = if is_int { "0" } else { "0.0" };
            let message = format!("a condition is a `bool`, and this is {}", self.shown(&ty));
            let operand = operand(condition);
            self.report(Diagnostic::error(typed.span, message).help(format!("compare it: `{operand} != {zero}`")).and_by_rustc());
            return;
        }
        self.expect(&typed.ty, &Ty::BOOL, typed.span);
    }

    /// An array that is declared without a value, and whose elements are used: `rustc` says so, but not that `#[shared]` may be missing.
    pub(super) fn check_unfilled(&self) {
        for (id, unfilled) in &self.unfilled {
            let Some(used) = unfilled.used.filter(|_| !unfilled.is_assigned || unfilled.has_atomics) else { continue };
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
            self.report(Diagnostic::error(local.span, message).label(used, "used here").help(help).and_by_rustc());
        }
    }
}

fn ty_length(ty: &Ty) -> String {
    match ty {
        Ty::Array(_, Const::Value(len)) => len.to_string(),
        _ => "N".to_owned(),
    }
}

/// A literal as a float.
fn as_float(expr: &syn::Expr) -> Option<String> {
    match expr {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(int), .. }) if int.suffix().is_empty() => Some(format!("{}.0", written(expr))),
        syn::Expr::Unary(syn::ExprUnary { op: syn::UnOp::Neg(_), expr, .. }) => as_float(expr).map(|text| format!("-{text}")),
        _ => None,
    }
}

/// `a += b` and the like.
pub(super) fn is_assignment(op: &syn::BinOp) -> bool {
    quote::ToTokens::to_token_stream(op).to_string().ends_with('=') && !is_comparison(op)
}

fn is_comparison(op: &syn::BinOp) -> bool {
    use syn::BinOp::{Eq, Ge, Gt, Le, Lt, Ne};
    matches!(op, Eq(_) | Ne(_) | Lt(_) | Le(_) | Gt(_) | Ge(_))
}

/// What the other side is cast to: an index type, before that a float.
fn rank(ty: &Ty) -> u32 {
    match ty {
        Ty::Usize => 2,
        ty if ty.is_float() => 3,
        _ => 1,
    }
}
