//! Atomics of buffers and shared arrays: `y.atomic_add(i, v)`, relaxed for the device, and with an order and a scope
//! `y.atomic_add_ordered(i, v, Ordering::AcqRel, ThreadScope::Block)`; loads and stores always have both.
//!
//! An order and a scope are part of the instruction, so they are read as names here: no value, and nothing that is computed.

use super::super::tree::{Expr, ExprKind};
use super::super::types::Ty;
use super::Checker;
use super::call::{arity_text, row_type};
use super::edits::method_with;
use super::expression::expr;
use crate::diagnostic::Diagnostic;
use crate::ir::atomic::{ATOMICS, ORDERED, ORDERS, SCOPES};
use crate::ir::{AtomicOp, Atomicity, MemoryOrder, Scope};
use proc_macro2::Span;

/// An atomic by its name.
#[derive(Clone, Copy)]
pub(super) struct Named {
    op: AtomicOp,
    is_ordered: bool,
}

impl Named {
    /// How many of its arguments are names: an order and a scope, or none.
    pub(super) fn words(self) -> usize {
        if self.is_ordered { 2 } else { 0 }
    }
}

/// The atomic that a method is.
pub(super) fn named(name: &str) -> Option<Named> {
    let find =
        |list: &[(&str, AtomicOp)], is_ordered| list.iter().find(|(known, _)| *known == name).map(|(_, op)| Named { op: *op, is_ordered });
    find(ATOMICS, false).or_else(|| find(ORDERED, true))
}

/// Every name.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    ATOMICS.iter().chain(ORDERED).map(|(name, _)| *name)
}

impl Checker<'_, '_> {
    /// A call of an atomic; `args` are its arguments that are values, the index first.
    pub(super) fn atomic(
        &mut self,
        call: &syn::ExprMethodCall,
        named: Named,
        receiver: Expr,
        mut args: Vec<Expr>,
        element: Ty,
        span: Span,
    ) -> Expr {
        let (op, wanted) = (named.op, named.op.operands() + 1 + named.words());
        if call.args.len() != wanted {
            let message = format!("`{}` {}", call.method, arity_text(wanted, call.args.len()));
            let values = match op.operands() {
                0 => "i",
                1 => "i, v",
                _ => "i, old, new",
            };
            let words = if named.is_ordered { ", Ordering::Relaxed, ThreadScope::Device" } else { "" };
            self.report(Diagnostic::error(span, message).help(method_with(call, &format!("{values}{words}"))).by_rustc());
            return self.anything(span);
        }
        if !self.is_memory(&receiver) {
            return self.atomic_of_local(&receiver, op.word(), span);
        }
        self.check_mutable(&receiver);
        let index = args.remove(0);
        if let Some(written) = call.args.first() {
            self.expect_index(written, &index);
        }
        for arg in &args {
            self.expect(&arg.ty, &element, arg.span);
        }
        self.atomic_element(op, &element, span);
        let atomicity = if named.is_ordered { self.atomicity(call, op) } else { Atomicity::RELAXED };
        let ty = if op == AtomicOp::Store { Ty::unit() } else { element };
        expr(ExprKind::Atomic(op, atomicity, Box::new(receiver), Box::new(index), args), ty, span)
    }

    /// The order and the scope that a call ends in.
    fn atomicity(&mut self, call: &syn::ExprMethodCall, op: AtomicOp) -> Atomicity {
        let mut words = call.args.iter().rev();
        let (scope, order) = (words.next(), words.next());
        let order = order.and_then(|written| self.word(written, "Ordering", ORDERS)).unwrap_or(MemoryOrder::Relaxed);
        let scope = scope.and_then(|written| self.word(written, "ThreadScope", SCOPES)).unwrap_or(Scope::Device);
        if !order.is_for(op) {
            let (what, help) = if op == AtomicOp::Load {
                ("a load writes nothing that it could release", "use `Ordering::Acquire`, or `Ordering::Relaxed`")
            } else {
                ("a store reads nothing that it could acquire", "use `Ordering::Release`, or `Ordering::Relaxed`")
            };
            self.report(Diagnostic::error(call.method.span(), what).help(help));
            return Atomicity { order: MemoryOrder::Relaxed, scope };
        }
        Atomicity { order, scope }
    }

    /// `Ordering::Acquire`, also by a longer path.
    fn word<T: Copy>(&mut self, written: &syn::Expr, of: &str, words: &[(&str, T)]) -> Option<T> {
        let name = |segments: Vec<String>| match segments.as_slice() {
            [.., ty, word] if ty == of => words.iter().find(|(known, _)| known == word).map(|(_, found)| *found),
            _ => None,
        };
        let found = if let syn::Expr::Path(path) = written {
            name(path.path.segments.iter().map(|segment| segment.ident.to_string()).collect())
        } else {
            None
        };
        if found.is_none() {
            let all: Vec<String> = words.iter().map(|(word, _)| format!("`{of}::{word}`")).collect();
            let message = format!("`{of}` is part of the instruction, so it is written out here");
            self.report(Diagnostic::error(syn::spanned::Spanned::span(written), message).help(format!("write {}", all.join(", "))));
        }
        found
    }

    /// An atomic of an array that is one thread's.
    fn atomic_of_local(&mut self, receiver: &Expr, op: &str, span: Span) -> Expr {
        // Where it was declared without a value, `#[shared]` is what is missing, and that is said of the declaration.
        if let ExprKind::Local(id) = receiver.kind
            && let Some(unfilled) = self.unfilled.get_mut(&id)
        {
            unfilled.used.get_or_insert(span);
            unfilled.has_atomics = true;
            return self.anything(span);
        }
        let message = format!("`atomic_{op}` works on buffers and shared memory; this array belongs to one thread");
        self.error_expression(Diagnostic::error(span, message).help("use plain arithmetic, or declare the array `#[shared]`"))
    }

    fn atomic_element(&mut self, op: AtomicOp, element: &Ty, span: Span) {
        let ty = self.infer.resolve(element);
        let fits = match op {
            AtomicOp::Add | AtomicOp::Sub | AtomicOp::Min | AtomicOp::Max => {
                row_type(&ty).is_some_and(|t| (t.is_int() && t.bytes() >= 4) || (t.is_float() && t.bytes() >= 4))
            }
            AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => row_type(&ty).is_some_and(|t| t.is_int() && t.bytes() >= 4),
            AtomicOp::Exchange | AtomicOp::CompareExchange | AtomicOp::Load | AtomicOp::Store => {
                row_type(&ty).is_some_and(|t| t.bytes() >= 4)
            }
        };
        if !fits {
            let message = format!("`atomic_{}` does not work on `{}`", op.word(), self.show(&ty));
            let help = match op {
                AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => "use `i32`, `u32`, `i64` or `u64` elements",
                _ => "use elements of 32 or 64 bits",
            };
            self.report(Diagnostic::error(span, message).help(help));
        }
    }
}
