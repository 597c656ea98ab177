//! Arguments that a function takes by reference: written as references, changed only where that is said, and none beside one that is changed.
//!
//! What `rustc` says of the host twin's borrows. On the device two names of one memory would be read and written in an order that nobody wrote.

use super::super::items::FnId;
use super::super::tree::{Expr, ExprKind, LocalKind};
use super::Checker;
use crate::diagnostic::Diagnostic;
use crate::syntax::written;
use syn::spanned::Spanned;

/// The place that an argument leads to, without the index of an element: `s` of `&mut s[i]`, `p.x` of `p.x`.
fn root_of(argument: &syn::Expr) -> Option<&syn::Expr> {
    match argument {
        syn::Expr::Reference(reference) => root_of(&reference.expr),
        syn::Expr::Paren(paren) => root_of(&paren.expr),
        syn::Expr::Index(index) => root_of(&index.expr),
        syn::Expr::Field(field) if root_of(&field.base).is_some_and(|root| std::ptr::eq(root, &*field.base)) => Some(argument),
        syn::Expr::Field(field) => root_of(&field.base),
        syn::Expr::Path(path) if path.path.get_ident().is_some() => Some(argument),
        _ => None,
    }
}

impl Checker<'_, '_> {
    /// Looks at the arguments of a call by its parameters.
    pub(super) fn check_borrows(&mut self, function: FnId, call: &syn::ExprCall, args: &[Expr]) {
        let signature = self.context.items.functions[function.0].signature;
        // Whether each parameter is a reference, and one that may be written through.
        let reference = |input: &syn::FnArg| match input {
            syn::FnArg::Typed(typed) => match &*typed.ty {
                syn::Type::Reference(reference) => Some(reference.mutability.is_some()),
                _ => None,
            },
            syn::FnArg::Receiver(_) => None,
        };
        let parameters: Vec<Option<bool>> = signature.inputs.iter().map(reference).collect();
        for ((argument, typed), parameter) in call.args.iter().zip(args).zip(&parameters) {
            if let Some(is_mutable) = parameter {
                self.check_reference(&signature.ident, argument, typed, *is_mutable);
            }
        }
        for (changed, argument) in call.args.iter().enumerate().filter(|(index, _)| parameters.get(*index) == Some(&Some(true))) {
            let Some(place) = root_of(argument).map(written) else { continue };
            for (index, other) in call.args.iter().enumerate().filter(|(index, _)| *index != changed) {
                let is_reference = parameters.get(index).is_some_and(Option::is_some);
                let is_same = is_reference && root_of(other).is_some_and(|root| written(root) == place);
                // Of two that are changed it is said at the second.
                if !is_same || parameters[index] == Some(true) && index < changed {
                    continue;
                }
                let message = format!("`{}` is given `{place}` to write to, and here once more", signature.ident);
                let help = format!("pass `{place}` once, and let the function read and write its elements by it");
                let error = Diagnostic::error(other.span(), message).label(argument.span(), "given to write to here").help(help);
                self.report(error.by_rustc());
            }
        }
    }

    /// An array of the block or a thread is passed by `&` or `&mut`; parameters that are references are passed on by their names.
    fn check_reference(&mut self, function: &syn::Ident, argument: &syn::Expr, typed: &Expr, is_mutable: bool) {
        let is_written = match argument {
            syn::Expr::Reference(reference) => Some(reference.mutability.is_some()),
            _ => None,
        };
        let is_owned = match &typed.kind {
            ExprKind::Local(id) => self.locals[id.0].kind != LocalKind::Reference,
            ExprKind::Index(..) | ExprKind::Field(..) => true,
            _ => false,
        };
        let is_handle = self.infer.shallow(&typed.ty).is_memory();
        let place = match argument {
            syn::Expr::Reference(reference) => written(&reference.expr),
            other => written(other),
        };
        let message = match is_written {
            Some(false) if is_mutable && !is_handle => format!("`{function}` writes to this argument, and `&{place}` is only read"),
            None if is_owned && !is_handle => format!("`{function}` takes a reference here, and `{place}` is the value itself"),
            _ => return,
        };
        let mark = if is_mutable { "&mut " } else { "&" };
        self.report(Diagnostic::error(argument.span(), message).help(format!("write `{mark}{place}`")).by_rustc());
    }
}
