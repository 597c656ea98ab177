//! Which lines of a text touch which array or buffer, and which call something that threads meet at: where a fault may be expected.

use std::collections::{BTreeMap, BTreeSet};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// The lines of a text, from 1, by what they do.
#[derive(Default)]
pub struct TouchedLines {
    /// By the name of an array, a buffer or a matrix: lines with an access to it, or that hand it on.
    touches: BTreeMap<String, BTreeSet<u32>>,
    /// The same: lines that write to it, or hand it on to be written to.
    writes: BTreeMap<String, BTreeSet<u32>>,
    /// Lines with a call of a function.
    calls: BTreeSet<u32>,
    /// What is handed to functions.
    handed_on: BTreeSet<String>,
    /// How many lines there are.
    count: u32,
}

impl TouchedLines {
    /// Those of an item's text.
    pub fn of(text: &str) -> TouchedLines {
        let mut lines = TouchedLines { count: text.lines().count() as u32, ..TouchedLines::default() };
        if let Ok(file) = syn::parse_file(text) {
            lines.visit_file(&file);
        }
        lines
    }

    /// Whether a line touches what a fault names: `tile[_]`, `a.data`, `y`. A line elsewhere is one of a function that is called, if the object is handed to one.
    pub fn touches(&self, object: &str, line: u32) -> bool {
        let name = name_of(object);
        let is_outside = !(1..=self.count).contains(&line);
        is_outside && self.handed_on.contains(name) || self.touches.get(name).is_some_and(|lines| lines.contains(&line))
    }

    /// Whether one of some lines, from the first to the last, writes to what a fault names.
    pub fn writes(&self, object: &str, (first, last): (u32, u32)) -> bool {
        self.writes.get(name_of(object)).is_some_and(|lines| lines.range(first..=last).next().is_some())
    }

    /// Whether a function is called on a line, or the line is one of a function that is called.
    pub fn calls(&self, line: u32) -> bool {
        !(1..=self.count).contains(&line) || self.calls.contains(&line)
    }

    fn note_write(&mut self, expression: &syn::Expr, whole: &impl Spanned) {
        let Some(name) = root(expression) else { return };
        let span = whole.span();
        self.writes.entry(name).or_default().extend(span.start().line as u32..=span.end().line as u32);
    }

    fn note(&mut self, expression: &syn::Expr, whole: &impl Spanned) {
        let name = match expression {
            syn::Expr::Path(path) => path.path.get_ident().map(ToString::to_string),
            syn::Expr::Index(index) => return self.note(&index.expr, whole),
            syn::Expr::Field(field) => return self.note(&field.base, whole),
            syn::Expr::Reference(reference) => return self.note(&reference.expr, whole),
            syn::Expr::Paren(paren) => return self.note(&paren.expr, whole),
            syn::Expr::Call(call) => return call.args.iter().for_each(|argument| self.note(argument, whole)),
            _ => None,
        };
        let Some(name) = name else { return };
        let span = whole.span();
        self.touches.entry(name).or_default().extend(span.start().line as u32..=span.end().line as u32);
    }
}

/// The name in what a fault names: `tile[_]`, `a.data`.
fn name_of(object: &str) -> &str {
    object.split(['[', '.', ' ']).next().unwrap_or(object)
}

/// The name of the array that an expression is an element of, or the whole of.
fn root(expression: &syn::Expr) -> Option<String> {
    match expression {
        syn::Expr::Path(path) => path.path.get_ident().map(ToString::to_string),
        syn::Expr::Index(index) => root(&index.expr),
        syn::Expr::Paren(paren) => root(&paren.expr),
        _ => None,
    }
}

impl<'a> Visit<'a> for TouchedLines {
    fn visit_expr_assign(&mut self, assign: &'a syn::ExprAssign) {
        self.note_write(&assign.left, assign);
        visit::visit_expr_assign(self, assign);
    }

    fn visit_expr_reference(&mut self, reference: &'a syn::ExprReference) {
        if reference.mutability.is_some() {
            self.note_write(&reference.expr, reference);
        }
        visit::visit_expr_reference(self, reference);
    }

    fn visit_expr_index(&mut self, index: &'a syn::ExprIndex) {
        self.note(&index.expr, index);
        visit::visit_expr_index(self, index);
    }

    fn visit_expr_method_call(&mut self, call: &'a syn::ExprMethodCall) {
        self.note(&call.receiver, call);
        if call.method == "store" {
            self.note_write(&call.receiver, call);
        }
        call.args.iter().for_each(|argument| self.note(argument, call));
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_call(&mut self, call: &'a syn::ExprCall) {
        call.args.iter().for_each(|argument| self.note(argument, call));
        for argument in &call.args {
            let inner = if let syn::Expr::Reference(reference) = argument { &*reference.expr } else { argument };
            if let syn::Expr::Path(path) = inner {
                self.handed_on.extend(path.path.get_ident().map(ToString::to_string));
            }
        }
        let span = call.span();
        self.calls.extend(span.start().line as u32..=span.end().line as u32);
        visit::visit_expr_call(self, call);
    }
}
