//! Constants that no kernel may ask for: a literal that is none of the type, and a call of a function that is not `const`.

use super::scope::Scope;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::Type;
use crate::syntax::attributes::literal_int;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

pub(super) fn check(item: &syn::Item, scope: &Scope<'_>, diagnostics: &mut Diagnostics) {
    let syn::Item::Const(item) = item else { return };
    Calls { of: &item.ident, scope, diagnostics }.visit_expr(&item.expr);
    let named = match &*item.ty {
        syn::Type::Path(path) => path.path.get_ident().map(ToString::to_string),
        _ => None,
    };
    let Some(ty) = named else { return };
    let error = |message: String, help: String| Diagnostic::error(item.expr.span(), message).help(help);
    let numbers = match ty.as_str() {
        "usize" => Some(Type::U64),
        "isize" => Some(Type::I64),
        other => other.parse::<Type>().ok().filter(|ty| ty.is_int()),
    };
    let Some(value) = literal_int(&item.expr).filter(|_| !allows_overflow(&item.attrs)) else { return };
    match (numbers.map(Type::numbers), ty.parse::<Type>()) {
        (Some(numbers), _) if !numbers.contains(&value) => {
            let (low, high) = (numbers.start(), numbers.end());
            let message = format!("`{}` is {value}, which does not fit `{ty}`, whose numbers are {low} to {high}", item.ident);
            diagnostics.push(error(message, format!("use a number from {low} to {high}, or another type")));
        }
        (None, Ok(float)) if float.is_float() => {
            let message = format!("`{}` is an `{ty}`, and `{value}` is an integer", item.ident);
            diagnostics.push(error(message, format!("write `{value}.0`")));
        }
        _ => {}
    }
}

/// `#[allow(overflowing_literals)]`.
fn allows_overflow(attrs: &[syn::Attribute]) -> bool {
    let parser = syn::punctuated::Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated;
    let lints = attrs.iter().filter(|attr| ["allow", "warn", "expect"].iter().any(|level| attr.path().is_ident(level)));
    lints.flat_map(|attr| attr.parse_args_with(parser).unwrap_or_default()).any(|lint| lint.path().is_ident("overflowing_literals"))
}

/// Calls of functions of the file that are not `const`.
struct Calls<'c, 's> {
    of: &'c syn::Ident,
    scope: &'c Scope<'s>,
    diagnostics: &'c mut Diagnostics,
}

impl<'ast> Visit<'ast> for Calls<'_, '_> {
    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if let syn::Expr::Path(path) = &*call.func
            && let Some(name) = path.path.get_ident()
            && self.scope.is_const(name) == Some(false)
        {
            let message = format!("the constant `{}` calls `{name}`, which is no `const fn`", self.of);
            self.diagnostics
                .push(Diagnostic::error(call.span(), message).help(format!("write its value as a number, or `const fn {name}`")));
        }
        visit::visit_expr_call(self, call);
    }

    // A block may have functions of its own of the same names.
    fn visit_block(&mut self, block: &'ast syn::Block) {
        if !block.stmts.iter().any(|statement| matches!(statement, syn::Stmt::Item(_))) {
            visit::visit_block(self, block);
        }
    }

    // What a closure calls is called when it is, which is no matter of the constant.
    fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}
}
