//! Indices that are off, vectors that begin between multiples of their length, blocks that take each other's place, and memory that nobody writes.

use super::{Edits, Mistake, callee};
use std::collections::BTreeSet;
use syn::visit::{self, Visit};

pub(super) fn find(file: &syn::File, edits: &mut Edits<'_>) {
    let mut shared = SharedArrays::default();
    shared.visit_file(file);
    Finder { edits, shared: shared.names }.visit_file(file);
}

/// The names of shared arrays.
#[derive(Default)]
struct SharedArrays {
    names: BTreeSet<String>,
}

impl<'a> Visit<'a> for SharedArrays {
    fn visit_local(&mut self, local: &'a syn::Local) {
        let is_shared = local.attrs.iter().any(|attribute| attribute.path().is_ident("shared"));
        let pattern = match &local.pat {
            syn::Pat::Type(typed) => &*typed.pat,
            other => other,
        };
        if let (true, syn::Pat::Ident(name)) = (is_shared, pattern) {
            self.names.insert(name.ident.to_string());
        }
    }
}

struct Finder<'f, 't> {
    edits: &'f mut Edits<'t>,
    shared: BTreeSet<String>,
}

/// The name at the root of an access.
fn root(expression: &syn::Expr) -> Option<String> {
    match expression {
        syn::Expr::Path(path) => path.path.get_ident().map(ToString::to_string),
        syn::Expr::Index(index) => root(&index.expr),
        syn::Expr::Field(field) => root(&field.base),
        syn::Expr::Reference(reference) => root(&reference.expr),
        _ => None,
    }
}

impl Finder<'_, '_> {
    fn shift(&mut self, index: &syn::Expr) {
        // An element of a matrix outside is zero, and not written: both ways of a pair are no mistake that memory shows.
        let is_constant = matches!(index, syn::Expr::Lit(_));
        if matches!(index, syn::Expr::Tuple(_)) {
            return;
        }
        let source = self.edits.source(index).to_owned();
        self.edits.replace(Mistake::IndexAbove, index, format!("({source}) + 1"));
        if !is_constant {
            self.edits.replace(Mistake::IndexBelow, index, format!("({source}).wrapping_sub(1)"));
        }
    }
}

impl<'a> Visit<'a> for Finder<'_, '_> {
    fn visit_stmt(&mut self, statement: &'a syn::Stmt) {
        let written = match statement {
            syn::Stmt::Expr(syn::Expr::Assign(assign), _) if matches!(*assign.left, syn::Expr::Index(_)) => root(&assign.left),
            syn::Stmt::Expr(syn::Expr::Call(call), Some(_)) if callee(call).is_some_and(|name| name.starts_with("load_")) => {
                call.args.first().and_then(root)
            }
            _ => None,
        };
        if written.is_some_and(|name| self.shared.contains(&name)) {
            self.edits.replace(Mistake::Uninitialised, statement, String::new());
        }
        visit::visit_stmt(self, statement);
    }

    fn visit_expr_index(&mut self, index: &'a syn::ExprIndex) {
        self.shift(&index.index);
        visit::visit_expr_index(self, index);
    }

    fn visit_expr_method_call(&mut self, call: &'a syn::ExprMethodCall) {
        let name = call.method.to_string();
        if let Some(first) = call.args.first() {
            if name.starts_with("atomic_") {
                self.shift(first);
            }
            if (name == "load" || name == "store") && call.turbofish.is_some() {
                let source = self.edits.source(first).to_owned();
                self.edits.replace(Mistake::Misaligned, first, format!("({source}) + 1"));
            }
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_field(&mut self, field: &'a syn::ExprField) {
        if let (syn::Expr::Call(call), syn::Member::Named(axis)) = (&*field.base, &field.member) {
            match callee(call).as_deref() {
                Some("block_idx") => self.edits.replace(Mistake::EveryBlock, field, "0".to_owned()),
                Some("global_id") => self.edits.replace(Mistake::EveryBlock, field, format!("thread_idx().{axis}")),
                _ => {}
            }
        }
        visit::visit_expr_field(self, field);
    }
}
