//! Shared memory of other blocks of the cluster: `shared_of(&tile, rank)`, `shared_of_mut(&mut tile, rank)`.
//!
//! The call is a place, as the array itself is: it is indexed, assigned to, and has atomics and vector accesses.

use super::super::tree::{Expr, ExprKind};
use super::super::types::Ty;
use super::Checker;
use super::call::arity_text;
use super::edits::call_with;
use super::expression::expr;
use crate::diagnostic::Diagnostic;
use crate::intrinsics::{SHARED_OF, SHARED_OF_MUT};
use crate::syntax::written;
use proc_macro2::Span;
use syn::spanned::Spanned;

impl Checker<'_, '_> {
    /// The call, if `name` is one of the two.
    pub(super) fn shared_of(&mut self, name: &str, call: &syn::ExprCall, span: Span) -> Option<Expr> {
        if name != SHARED_OF && name != SHARED_OF_MUT {
            return None;
        }
        let mut args: Vec<Expr> = call.args.iter().map(|arg| self.expression(arg)).collect();
        if args.len() != 2 {
            let message = format!("`{name}` {}", arity_text(2, args.len()));
            let array = if name == SHARED_OF_MUT { "&mut tile" } else { "&tile" };
            let array = call.args.first().map_or_else(|| array.to_owned(), written);
            let help = call_with(call, &format!("{array}, rank"));
            return Some(self.error_expression(Diagnostic::error(call.span(), message).help(help).by_rustc()));
        }
        let rank = args.remove(1);
        let array = args.remove(0);
        self.expect(&rank.ty, &Ty::Usize, rank.span);
        let ty = self.infer.shallow(&array.ty);
        if matches!(ty, Ty::Var(_) | Ty::Never) {
            return Some(self.anything(span));
        }
        if !matches!(ty, Ty::Array(..)) || !self.is_memory(&array) {
            let shown = written(&call.args[0]).trim_start_matches('&').trim_start().trim_start_matches("mut ").to_owned();
            let message = format!("`{name}` reaches a shared array of a fixed length in another block, and `{shown}` is none");
            let error = Diagnostic::error(array.span, message)
                .help("declare the array shared, with its length: `#[shared] let mut tile: [f32; 256];`");
            return Some(self.error_expression(error));
        }
        let is_mutable = name == SHARED_OF_MUT;
        if is_mutable {
            self.check_mutable(&array);
        }
        Some(expr(ExprKind::SharedOf(Box::new(array), Box::new(rank), is_mutable), ty, span))
    }

    /// Refuses to change another block's array that was taken to be read.
    pub(super) fn check_shared_of_mut(&mut self, place: &Expr, is_mutable: bool) {
        if !is_mutable {
            let error = Diagnostic::error(place.span, format!("`{SHARED_OF}` gives an array that is only read"));
            self.report(error.help(format!("write `{SHARED_OF_MUT}(&mut …, rank)`")).and_by_rustc());
        }
    }
}
