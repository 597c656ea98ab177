//! Calls that a block's threads make together: `load_run(&mut run, x, start)`, `load_tile(&mut tile, a, row, column)`,
//! `store_tile(c, row, column, &tile)`.

use super::super::tree::{Expr, ExprKind};
use super::super::types::{Kind, Ty};
use super::Checker;
use super::call::arity_text;
use super::edits::call_with;
use super::expression::expr;
use crate::diagnostic::Diagnostic;
use crate::intrinsics::{LOAD_TILE, STORE_TILE};
use crate::ir::intrinsic::IntrinsicId;
use crate::syntax::written;
use proc_macro2::Span;
use syn::spanned::Spanned;

/// What a collective's arguments are.
struct Form {
    name: &'static str,
    arguments: usize,
    /// Which of them are the shared array and the buffer or matrix; all others are numbers.
    array: usize,
    memory: usize,
    /// Whether it goes from the buffer into the array.
    is_load: bool,
    /// Whether it is about a matrix and an array of rows.
    is_tile: bool,
}

impl Form {
    fn of(row: IntrinsicId) -> Form {
        let name = row.row().name;
        match name {
            LOAD_TILE => Form { name, arguments: 4, array: 0, memory: 1, is_load: true, is_tile: true },
            STORE_TILE => Form { name, arguments: 4, array: 3, memory: 0, is_load: false, is_tile: true },
            _ => Form { name, arguments: 3, array: 0, memory: 1, is_load: true, is_tile: false },
        }
    }

    /// What the call does, and to which memory: `copies from a buffer`.
    fn sentence(&self) -> &'static str {
        match (self.is_load, self.is_tile) {
            (true, false) => "copies from a buffer",
            (true, true) => "copies from a matrix",
            (false, _) => "copies into a matrix",
        }
    }
}

impl Checker<'_, '_> {
    /// A call of a collective. Its arguments stay in the source's order.
    pub(super) fn collective_call(&mut self, row: IntrinsicId, call: &syn::ExprCall, span: Span) -> Expr {
        let form = Form::of(row);
        let args: Vec<Expr> = call.args.iter().map(|arg| self.expression(arg)).collect();
        if args.len() != form.arguments {
            let message = format!("`{}` {}", form.name, arity_text(form.arguments, args.len()));
            let arguments = match (form.is_load, form.is_tile) {
                (true, true) => "&mut tile, a, row, column",
                (false, _) => "c, row, column, &tile",
                (true, false) => "&mut run, x, from",
            };
            return self.error_expression(Diagnostic::error(call.span(), message).help(call_with(call, arguments)).by_rustc());
        }
        let place = |arg| written(arg).trim_start_matches('&').trim_start().trim_start_matches("mut ").to_owned();
        let written: Vec<String> = call.args.iter().map(place).collect();
        let element = self.infer.fresh(Kind::Any);
        let wanted = Box::new(element.clone());
        let wanted = if form.is_tile { Ty::Matrix(wanted) } else { Ty::Global(wanted) };
        let (memory, array) = (&args[form.memory], &args[form.array]);
        if self.is_open(&memory.ty) || self.infer.unify(&memory.ty, &wanted) {
            if !form.is_load {
                self.check_mutable(memory);
            }
            self.shared_array(&form, (&written[form.array], array), &element, (&written[form.memory], memory));
        } else {
            let message = format!("`{}` {}, and `{}` is a `{}`", form.name, form.sentence(), written[form.memory], self.show(&memory.ty));
            let of_batch = matches!(self.infer.shallow(&memory.ty), Ty::MatrixBatch(_)).then(|| {
                let reference = if form.is_load { "&" } else { "&mut " };
                format!("say which of the matrices: `{reference}{}[i]`", written[form.memory])
            });
            let help = match (form.is_load, form.is_tile) {
                (_, false) => "take a buffer as a parameter of the kernel, `x: &Global<f32>`, and pass it on",
                (true, true) => "take a matrix as a parameter of the kernel, `a: &Matrix<f32>`, and pass it on",
                (false, true) => "take a matrix as a parameter of the kernel, `c: &mut Matrix<f32>`, and pass it on",
            };
            let help = of_batch.filter(|_| form.is_tile).unwrap_or_else(|| help.to_owned());
            self.report(Diagnostic::error(memory.span, message).help(help).and_by_rustc());
        }
        for (_, number) in args.iter().enumerate().filter(|(at, _)| *at != form.memory && *at != form.array) {
            self.expect(&number.ty, &Ty::Usize, number.span);
        }
        expr(ExprKind::Collective(row, args), Ty::unit(), span)
    }

    /// Whether nothing is known of a type, since an error was reported where it would have come from.
    pub(super) fn is_open(&self, ty: &Ty) -> bool {
        matches!(self.infer.shallow(ty), Ty::Var(_) | Ty::Never)
    }

    /// The array of a collective: of fixed lengths, its elements of the buffer's type.
    fn shared_array(&mut self, form: &Form, (array, expr): (&str, &Expr), element: &Ty, (buffer, memory): (&str, &Expr)) {
        let name = form.name;
        let ty = self.infer.shallow(&expr.ty);
        if self.is_open(&ty) {
            return;
        }
        let outer = match &ty {
            Ty::Array(outer, _) => Some(self.infer.shallow(outer)),
            _ => None,
        };
        let found = match (form.is_tile, outer) {
            (false, outer) => outer,
            (true, Some(Ty::Array(inner, _))) => Some(*inner),
            (true, Some(open)) if self.is_open(&open) => return,
            (true, _) => None,
        };
        let Some(found) = found else {
            let verb = if form.is_load { "fills" } else { "takes its elements from" };
            let what = if form.is_tile { "a shared array of rows, both of fixed lengths" } else { "a shared array of a fixed length" };
            let message = format!("`{name}` {verb} {what}, and `{array}` is a `{}`", self.show(&expr.ty));
            let element = self.show(element);
            let help = if form.is_tile {
                format!("declare it with both lengths: `#[shared] let mut {array}: [[{element}; 32]; 32];`")
            } else {
                format!("declare it with its length: `#[shared] let mut {array}: [{element}; 256];`")
            };
            self.report(Diagnostic::error(expr.span, message).help(help).and_by_rustc());
            return;
        };
        if form.is_load {
            self.check_mutable(expr);
        }
        if !self.infer.unify(&found, element) {
            let (found, element) = (self.show(&found), self.show(element));
            let message = format!("`{name}` copies elements as they are, and `{buffer}` has `{element}` where `{array}` has `{found}`");
            let rows = if form.is_tile { " of rows" } else { "" };
            let when = if form.is_load { "read" } else { "written" };
            let help = format!("make `{array}` an array{rows} of `{element}`, and convert where its elements are {when}");
            self.report(
                Diagnostic::error(expr.span, message).label(memory.span, format!("elements of `{element}`")).help(help).and_by_rustc(),
            );
        }
    }
}
