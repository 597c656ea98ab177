//! `#[shared] let mut total: u32;` in the host twin: where the kernel says `total`, the twin means what its handle leads to.
//!
//! An array's handle needs no such thing: Rust finds `tile[i]` and `tile.len()` through it.

use std::collections::HashMap;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use warpwright_codegen::syntax::MatchesArguments;

/// Puts `*` before shared variables that are no arrays.
pub(super) fn dereference(block: &mut syn::Block) {
    Dereferencer { scopes: Vec::new() }.visit_block_mut(block);
}

/// Whether a `let` declares one. An alias of an array's type may be dereferenced too: it is the same array.
fn is_shared_scalar(local: &syn::Local) -> bool {
    let is_shared = local.attrs.iter().any(|attr| attr.path().is_ident("shared"));
    is_shared && matches!(&local.pat, syn::Pat::Type(typed) if !matches!(*typed.ty, syn::Type::Array(_) | syn::Type::Slice(_)))
}

struct Dereferencer {
    /// Names by scope, and whether they are shared variables there.
    scopes: Vec<HashMap<String, bool>>,
}

impl Dereferencer {
    fn scoped(&mut self, visit: impl FnOnce(&mut Dereferencer)) {
        self.scopes.push(HashMap::new());
        visit(self);
        self.scopes.pop();
    }

    fn bind(&mut self, pat: &syn::Pat, shared: bool) {
        struct Binder<'s>(&'s mut HashMap<String, bool>, bool);
        impl Visit<'_> for Binder<'_> {
            fn visit_pat_ident(&mut self, pat: &syn::PatIdent) {
                self.0.insert(pat.ident.to_string(), self.1);
                visit::visit_pat_ident(self, pat);
            }
        }
        if let Some(scope) = self.scopes.last_mut() {
            Binder(scope, shared).visit_pat(pat);
        }
    }

    fn is_shared(&self, expr: &syn::Expr) -> bool {
        let syn::Expr::Path(path) = expr else { return false };
        let name = path.path.get_ident().map(ToString::to_string);
        name.is_some_and(|name| self.scopes.iter().rev().find_map(|scope| scope.get(&name)).copied().unwrap_or(false))
    }
}

impl VisitMut for Dereferencer {
    fn visit_block_mut(&mut self, block: &mut syn::Block) {
        self.scoped(|this| visit_mut::visit_block_mut(this, block));
    }

    fn visit_local_mut(&mut self, local: &mut syn::Local) {
        visit_mut::visit_local_mut(self, local);
        self.bind(&local.pat, is_shared_scalar(local));
    }

    fn visit_expr_let_mut(&mut self, expr: &mut syn::ExprLet) {
        self.visit_expr_mut(&mut expr.expr);
        self.bind(&expr.pat, false);
    }

    fn visit_expr_if_mut(&mut self, expr: &mut syn::ExprIf) {
        self.scoped(|this| {
            this.visit_expr_mut(&mut expr.cond);
            this.visit_block_mut(&mut expr.then_branch);
        });
        if let Some((_, otherwise)) = &mut expr.else_branch {
            self.visit_expr_mut(otherwise);
        }
    }

    fn visit_expr_while_mut(&mut self, expr: &mut syn::ExprWhile) {
        self.scoped(|this| visit_mut::visit_expr_while_mut(this, expr));
    }

    fn visit_expr_for_loop_mut(&mut self, expr: &mut syn::ExprForLoop) {
        self.visit_expr_mut(&mut expr.expr);
        self.scoped(|this| {
            this.bind(&expr.pat, false);
            this.visit_block_mut(&mut expr.body);
        });
    }

    fn visit_arm_mut(&mut self, arm: &mut syn::Arm) {
        self.scoped(|this| {
            this.bind(&arm.pat, false);
            visit_mut::visit_arm_mut(this, arm);
        });
    }

    fn visit_field_value_mut(&mut self, field: &mut syn::FieldValue) {
        if field.colon_token.is_none() && self.is_shared(&field.expr) {
            field.colon_token = Some(Default::default());
        }
        visit_mut::visit_field_value_mut(self, field);
    }

    fn visit_expr_mut(&mut self, expr: &mut syn::Expr) {
        if self.is_shared(expr) {
            let path = expr.clone();
            *expr = syn::parse_quote!((*#path));
        } else {
            visit_mut::visit_expr_mut(self, expr);
        }
    }

    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        if MatchesArguments::of(mac).is_some() {
            return;
        }
        let parser = syn::punctuated::Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated;
        if let Ok(mut arguments) = syn::parse::Parser::parse2(parser, mac.tokens.clone())
            && arguments.iter().any(|argument| self.mentions_shared(argument))
        {
            arguments.iter_mut().for_each(|argument| self.visit_expr_mut(argument));
            mac.tokens = quote::quote!(#arguments);
        }
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

impl Dereferencer {
    /// Whether a macro's argument needs a change at all; others keep their tokens.
    fn mentions_shared(&self, expr: &syn::Expr) -> bool {
        struct Finder<'d>(&'d Dereferencer, bool);
        impl Visit<'_> for Finder<'_> {
            fn visit_expr(&mut self, expr: &syn::Expr) {
                self.1 |= self.0.is_shared(expr);
                visit::visit_expr(self, expr);
            }
        }
        let mut finder = Finder(self, false);
        finder.visit_expr(expr);
        finder.1
    }
}
