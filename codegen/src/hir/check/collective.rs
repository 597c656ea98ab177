//! Calls that a block's threads make together: `load_run(&mut run, x, start)` and the like.

use super::super::tree::{Expr, ExprKind};
use super::super::types::{Kind, Ty};
use super::Checker;
use super::call::arity_text;
use super::expression::expr;
use crate::diagnostic::Diagnostic;
use crate::ir::intrinsic::IntrinsicId;
use crate::syntax::written;
use proc_macro2::Span;
use syn::spanned::Spanned;

impl Checker<'_, '_> {
    /// A call of a collective. Its arguments stay in the source's order.
    pub(super) fn collective_call(&mut self, row: IntrinsicId, call: &syn::ExprCall, span: Span) -> Expr {
        let name = row.row().name;
        let args: Vec<Expr> = call.args.iter().map(|arg| self.expression(arg)).collect();
        if args.len() != 3 {
            let message = format!("`{name}` {}", arity_text(3, args.len()));
            return self.error_expression(Diagnostic::error(call.span(), message).by_rustc());
        }
        let place = |arg| written(arg).trim_start_matches('&').trim_start().trim_start_matches("mut ").to_owned();
        let written: Vec<String> = call.args.iter().map(place).collect();
        let element = self.infer.fresh(Kind::Any);
        let buffer = Ty::Global(Box::new(element.clone()));
        if self.is_open(&args[1].ty) || self.infer.unify(&args[1].ty, &buffer) {
            self.shared_array((name, &written[0]), &args[0], &element, (&written[1], &args[1]));
        } else {
            let message = format!("`{name}` copies from a buffer, and `{}` is a `{}`", written[1], self.show(&args[1].ty));
            let help = "take a buffer as a parameter of the kernel, `x: &Global<f32>`, and pass it on";
            self.report(Diagnostic::error(args[1].span, message).help(help).and_by_rustc());
        }
        self.expect(&args[2].ty, &Ty::Usize, args[2].span);
        expr(ExprKind::Collective(row, args), Ty::unit(), span)
    }

    /// Whether nothing is known of a type, since an error was reported where it would have come from.
    fn is_open(&self, ty: &Ty) -> bool {
        matches!(self.infer.shallow(ty), Ty::Var(_) | Ty::Never)
    }

    /// The array that a collective writes: of a fixed length, its elements of the buffer's type.
    fn shared_array(&mut self, (name, array): (&str, &str), to: &Expr, element: &Ty, (buffer, from): (&str, &Expr)) {
        if self.is_open(&to.ty) {
            return;
        }
        let Ty::Array(found, _) = self.infer.shallow(&to.ty) else {
            let message = format!("`{name}` fills a shared array of a fixed length, and `{array}` is a `{}`", self.show(&to.ty));
            let help = format!("declare it with its length: `#[shared] let mut {array}: [{}; 256];`", self.show(element));
            self.report(Diagnostic::error(to.span, message).help(help).and_by_rustc());
            return;
        };
        self.check_mutable(to);
        if !self.infer.unify(&found, element) {
            let (found, element) = (self.show(&found), self.show(element));
            let message = format!("`{name}` copies elements as they are, and `{buffer}` has `{element}` where `{array}` has `{found}`");
            let help = format!("make `{array}` an array of `{element}`, and convert where its elements are read");
            self.report(Diagnostic::error(to.span, message).label(from.span, format!("elements of `{element}`")).help(help).and_by_rustc());
        }
    }
}
