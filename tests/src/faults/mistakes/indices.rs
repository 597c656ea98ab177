//! Indices that are off, vectors that begin between multiples of their length, blocks that take each other's place, and memory that nobody writes.

use super::{Edits, Mistake, Probe, callee};
use std::collections::BTreeSet;
use std::ops::Range;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

pub(super) fn find(file: &syn::File, edits: &mut Edits<'_>) {
    let mut shared = SharedArrays::default();
    shared.visit_file(file);
    Finder { edits, shared: shared.names, access: Access::None }.visit_file(file);
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

struct Finder<'f, 't, 'a> {
    edits: &'f mut Edits<'t>,
    shared: BTreeSet<String>,
    access: Access<'a>,
}

/// The access whose indices are looked at.
#[derive(Clone, Copy)]
enum Access<'a> {
    None,
    /// It gives a value; this is the whole of it: `x[i][j].field`.
    Read(&'a syn::Expr),
    Written,
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

impl<'a> Finder<'_, '_, 'a> {
    /// Visits what is looked at as this access.
    fn within(&mut self, access: Access<'a>, expression: &'a syn::Expr, visit: fn(&mut Self, &'a syn::Expr)) {
        let outer = std::mem::replace(&mut self.access, access);
        visit(self, expression);
        self.access = outer;
    }

    /// Of an index: whether the same value is read with another one; where nothing is read, whether a thread comes there.
    fn probe(&self, index: &syn::Expr, shifted: &str) -> Probe {
        let Access::Read(read) = self.access else { return Probe::reached(index) };
        let (whole, part): (Range<usize>, Range<usize>) = (read.span().byte_range(), index.span().byte_range());
        let source = self.edits.source(read);
        let mutant = format!("{}{shifted}{}", &source[..part.start - whole.start], &source[part.end - whole.start..]);
        Probe::same(read, format!("{source} == {mutant}"))
    }

    fn shift(&mut self, index: &syn::Expr) {
        // An element of a matrix outside is zero, and not written: both ways of a pair are no mistake that memory shows.
        let is_constant = matches!(index, syn::Expr::Lit(_));
        if matches!(index, syn::Expr::Tuple(_)) {
            return;
        }
        let source = self.edits.source(index).to_owned();
        let [above, below] = [format!("({source}) + 1"), format!("({source}).wrapping_sub(1)")];
        let [of_above, of_below] = [&above, &below].map(|shifted| self.probe(index, shifted));
        self.edits.replace(Mistake::IndexAbove, index, above, of_above);
        if !is_constant {
            self.edits.replace(Mistake::IndexBelow, index, below, of_below);
        }
    }
}

impl<'a> Visit<'a> for Finder<'_, '_, 'a> {
    fn visit_stmt(&mut self, statement: &'a syn::Stmt) {
        let written = match statement {
            syn::Stmt::Expr(syn::Expr::Assign(assign), _) if matches!(*assign.left, syn::Expr::Index(_)) => root(&assign.left),
            syn::Stmt::Expr(syn::Expr::Call(call), Some(_)) if callee(call).is_some_and(|name| name.starts_with("load_")) => {
                call.args.first().and_then(root)
            }
            _ => None,
        };
        if written.is_some_and(|name| self.shared.contains(&name)) {
            let probe = Probe::reached(statement).of_statement();
            self.edits.replace(Mistake::Uninitialised, statement, String::new(), probe);
        }
        visit::visit_stmt(self, statement);
    }

    fn visit_expr_index(&mut self, index: &'a syn::ExprIndex) {
        self.shift(&index.index);
        self.visit_expr(&index.expr);
        // Within the index something else is read.
        self.within(Access::None, &index.index, Self::visit_expr);
    }

    fn visit_expr(&mut self, expression: &'a syn::Expr) {
        let is_access = matches!(expression, syn::Expr::Index(_) | syn::Expr::Field(_));
        let access = match (is_access, self.access) {
            (false, _) => Access::None,
            (true, Access::None) => Access::Read(expression),
            (true, part) => part,
        };
        self.within(access, expression, visit::visit_expr);
    }

    fn visit_expr_assign(&mut self, assign: &'a syn::ExprAssign) {
        self.within(Access::Written, &assign.left, Self::visit_expr);
        self.visit_expr(&assign.right);
    }

    fn visit_expr_binary(&mut self, binary: &'a syn::ExprBinary) {
        // `x[i] += v` writes; of other operators, what is on the left is read as well.
        let is_assigned =
            self.edits.source(&binary.op).ends_with('=') && !matches!(self.edits.source(&binary.op), "==" | "!=" | "<=" | ">=");
        self.within(if is_assigned { Access::Written } else { Access::None }, &binary.left, Self::visit_expr);
        self.visit_expr(&binary.right);
    }

    fn visit_expr_reference(&mut self, reference: &'a syn::ExprReference) {
        let access = if reference.mutability.is_some() { Access::Written } else { Access::None };
        self.within(access, &reference.expr, Self::visit_expr);
    }

    fn visit_expr_method_call(&mut self, call: &'a syn::ExprMethodCall) {
        let name = call.method.to_string();
        if let Some(first) = call.args.first() {
            if name.starts_with("atomic_") {
                self.shift(first);
            }
            if (name == "load" || name == "store") && call.turbofish.is_some() {
                let source = self.edits.source(first).to_owned();
                self.edits.replace_in(Mistake::Misaligned, first, call, format!("({source}) + 1"), Probe::reached(first));
            }
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_field(&mut self, field: &'a syn::ExprField) {
        if let (syn::Expr::Call(call), syn::Member::Named(axis)) = (&*field.base, &field.member) {
            match callee(call).as_deref() {
                Some("block_idx") => {
                    let probe = Probe::same(field, format!("block_idx().{axis} == 0"));
                    self.edits.replace(Mistake::EveryBlock, field, "0".to_owned(), probe);
                }
                Some("global_id") => {
                    let probe = Probe::same(field, format!("global_id().{axis} == thread_idx().{axis}"));
                    self.edits.replace(Mistake::EveryBlock, field, format!("thread_idx().{axis}"), probe);
                }
                _ => {}
            }
        }
        visit::visit_expr_field(self, field);
    }
}
