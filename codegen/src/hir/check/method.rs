//! Method calls: of buffers and arrays, of scalars (the table of intrinsics), of the program's structs.

use super::super::tree::{Expr, ExprKind};
use super::super::types::{Arg, Const, Kind, Ty};
use super::Checker;
use super::atomics;
use super::call::{arity_text, row_type};
use super::edits::method_with;
use super::expression::expr;
use super::familiar;
use crate::diagnostic::Diagnostic;
use crate::intrinsics;
use crate::ir::Type;
use crate::nearest::nearest;
use crate::syntax::written;
use proc_macro2::Span;
use syn::spanned::Spanned;

/// Whether a method is an atomic.
pub(super) fn is_atomic(name: &str) -> bool {
    atomics::named(name).is_some()
}

/// Most scalars of one vector access, and its widest size in bytes.
const MOST_LANES: i128 = 16;
const WIDEST_ACCESS: u64 = 16;

/// How many elements of this size one access may move: `1, 2 or 4`.
fn widths(bytes: u64) -> String {
    let fitting = (0..).map(|shift| 1u64 << shift).take_while(|n| *n <= MOST_LANES as u64 && n * bytes <= WIDEST_ACCESS);
    let all: Vec<String> = fitting.map(|n| n.to_string()).collect();
    match all.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => all.concat(),
    }
}

impl Checker<'_, '_> {
    pub(super) fn method_call(&mut self, call: &syn::ExprMethodCall, span: Span) -> Expr {
        // Said once, of the whole chain: its range and its closures go with it.
        if let Some(error) = crate::syntax::refused_call(call) {
            return self.error_expression(error);
        }
        let receiver = self.expression(&call.receiver);
        let receiver = self.through_constant(receiver);
        let name = call.method.to_string();
        match self.infer.resolve(&receiver.ty) {
            Ty::Global(element) => self.memory_method(call, receiver, *element, true, span),
            Ty::Texture(texel) => self.texture_method(call, receiver, &texel, span),
            ty @ (Ty::Matrix(_) | Ty::MatrixBatch(_)) => self.matrix_method(call, receiver, &ty, span),
            Ty::Accumulator(sum, rows, columns) => self.accumulator_method(call, receiver, (&sum, [rows, columns]), span),
            Ty::Rows(..) => self.rows_method(call, receiver, span),
            Ty::Array(element, _) | Ty::Slice(element) => self.memory_method(call, receiver, *element, false, span),
            Ty::Adt(id, args) => match self.context.items.method(id, &name) {
                Some(method) => {
                    let explicit = self.turbofish(call);
                    let mut values = vec![receiver];
                    values.extend(call.args.iter().map(|arg| self.expression(arg)));
                    self.typed_call(method, &args, &explicit, values, span)
                }
                None if name == "clone" && call.args.is_empty() => receiver,
                None if self.refuse_host_method(id, &name, call.method.span()) => {
                    call.args.iter().for_each(|arg| drop(self.expression(arg)));
                    self.anything(span)
                }
                None => {
                    let known: Vec<&str> = self.context.items.method_names(id).collect();
                    self.unknown_method(call, &receiver, known)
                }
            },
            Ty::Never => receiver,
            ty => self.scalar_method(call, receiver, &ty, span),
        }
    }

    pub(super) fn turbofish(&mut self, call: &syn::ExprMethodCall) -> Vec<Arg> {
        let Some(turbofish) = &call.turbofish else { return Vec::new() };
        let arguments = syn::PathArguments::AngleBracketed(turbofish.clone());
        self.type_arguments(&syn::PathSegment { ident: call.method.clone(), arguments })
    }

    pub(super) fn unknown_method(&mut self, call: &syn::ExprMethodCall, receiver: &Expr, known: Vec<&str>) -> Expr {
        for arg in &call.args {
            self.expression(arg);
        }
        let name = call.method.to_string();
        // Of a closure it is said that there are none, and the method is one with it.
        if call.args.iter().any(|arg| matches!(arg, syn::Expr::Closure(_))) {
            return self.anything(call.method.span());
        }
        let is_scalar = row_type(&self.infer.shallow(&receiver.ty)).is_some();
        if name == "into" && call.args.is_empty() && is_scalar {
            let ty = self.infer.fresh(Kind::Any);
            let operand = crate::syntax::operand(&call.receiver);
            self.conversions.push((receiver.ty.clone(), ty.clone(), operand, call.method.span()));
            return expr(ExprKind::Int(1), ty, call.method.span());
        }
        let message = format!("{} has no method `{name}` in a kernel", self.shown(&receiver.ty));
        let mut diagnostic = Diagnostic::error(call.method.span(), message);
        if let (true, syn::Expr::Index(element)) = (is_atomic(&name), &*call.receiver) {
            // `y[0].atomic_add(v)`.
            let arguments: Vec<String> = std::iter::once(written(&element.index)).chain(call.args.iter().map(written)).collect();
            let help = format!("write `{}.{name}({})`: atomics are methods of the buffer", written(&element.expr), arguments.join(", "));
            diagnostic = diagnostic.help(help);
        } else if let (Ty::MatrixBatch(_), "len") = (self.infer.shallow(&receiver.ty), name.as_str()) {
            diagnostic = diagnostic.help(format!("write `{}.count()`", written(&call.receiver)));
        } else if let Some(edit) = familiar::of_float(call).filter(|_| self.infer.shallow(&receiver.ty).is_float()) {
            diagnostic = diagnostic.help(edit);
        } else if let Some(edit) = self.edit_of_integer(call, &receiver.ty) {
            diagnostic = diagnostic.help(edit);
        } else if let Some(edit) =
            familiar::of_method(call).filter(|_| super::matrix::methods(&self.infer.shallow(&receiver.ty)).is_empty())
        {
            diagnostic = diagnostic.help(edit);
        } else if self.infer.shallow(&receiver.ty).is_float8() {
            diagnostic = diagnostic.help("compute in another float: `x as f32`");
        } else if let Some(nearest) = nearest(&name, known) {
            diagnostic = diagnostic.help(format!("did you mean `{nearest}`?"));
        } else if matches!(self.infer.shallow(&receiver.ty), Ty::Texture(_)) {
            diagnostic = diagnostic.help("a texture has `fetch`, `sample`, `width` and `height`; a kernel writes to a `&mut Global`");
        }
        if matches!(self.infer.shallow(&receiver.ty), Ty::Matrix(_)) && diagnostic.help.is_none() {
            diagnostic = diagnostic.help("a matrix has `rows`, `columns` and `pitch`; its elements are `a[(row, column)]`");
        }
        if matches!(self.infer.shallow(&receiver.ty), Ty::MatrixBatch(_)) && diagnostic.help.is_none() {
            diagnostic =
                diagnostic.help("a batch of matrices has `rows`, `columns`, `pitch`, `count` and `stride`; its matrices are `&a[i]`");
        }
        self.error_about(&receiver.ty, diagnostic.and_by_rustc())
    }

    /// What to write for a method of an integer that none has, or that floats have.
    fn edit_of_integer(&self, call: &syn::ExprMethodCall, receiver: &Ty) -> Option<String> {
        let receiver = self.infer.shallow(receiver);
        let ty = match self.infer.kind(&receiver) {
            Some(Kind::Int) => "i32".to_owned(),
            _ if receiver.is_int() => self.show(&receiver),
            _ => return None,
        };
        let of_float = || {
            let is_one = intrinsics::method(&call.method.to_string(), Type::F32).is_some();
            is_one.then(|| familiar::of_integer_as_float(call, &ty))
        };
        familiar::of_integer(call, &ty).or_else(of_float)
    }

    /// `x.into()`, where it is known what into.
    pub(super) fn refuse_conversions(&mut self) {
        for (from, to, operand, span) in std::mem::take(&mut self.conversions) {
            let to = match self.infer.resolve(&to) {
                Ty::Var(_) => "f32".to_owned(),
                known => self.show(&known),
            };
            let message = format!("{} has no method `into` in a kernel", self.shown(&from));
            self.report(Diagnostic::error(span, message).help(format!("write `{operand} as {to}`")));
        }
    }

    fn scalar_method(&mut self, call: &syn::ExprMethodCall, receiver: Expr, ty: &Ty, span: Span) -> Expr {
        if let Some(turbofish) = &call.turbofish {
            let message = format!("`{}` has no generics", call.method);
            self.report(Diagnostic::error(turbofish.span(), message).help(format!("remove `{}`", written(turbofish))).by_rustc());
        }
        let name = call.method.to_string();
        let mut early: Option<Vec<Expr>> = None;
        // Of `Ord`, so an integer of a type that is not known yet takes that of the arguments.
        if self.infer.kind(ty) == Some(Kind::Int) && intrinsics::is_of_ord(&name) {
            let args: Vec<Expr> = call.args.iter().map(|arg| self.expression(arg)).collect();
            for arg in &args {
                self.infer.unify(&receiver.ty, &arg.ty);
            }
            early = Some(args);
        }
        let ty = &self.infer.shallow(ty);
        // A literal as receiver: rustc wants its type written; its default decides here.
        let ty = match self.infer.kind(ty) {
            Some(Kind::Int) => Ty::Scalar(Type::I32),
            Some(Kind::Float) => Ty::Scalar(Type::F64),
            _ => ty.clone(),
        };
        match (name.as_str(), call.args.len()) {
            ("clone", 0) => return receiver,
            ("to_f32" | "to_f64", 0) if ty.is_float() => {
                let to = if name == "to_f32" { Type::F32 } else { Type::F64 };
                return expr(ExprKind::Cast(Box::new(receiver)), Ty::Scalar(to), span);
            }
            _ => {}
        }
        let Some(scalar) = row_type(&ty) else {
            return self.unknown_method(call, &receiver, Vec::new());
        };
        let Some(row) = intrinsics::method(&name, scalar) else {
            let known = intrinsics::rows().filter(|row| row.over.contains(scalar)).map(|row| row.name).collect();
            return self.unknown_method(call, &receiver, known);
        };
        self.infer.unify(&receiver.ty, &ty);
        let mut args = vec![receiver];
        args.extend(early.unwrap_or_else(|| call.args.iter().map(|arg| self.expression(arg)).collect()));
        self.row_call(row, Some(ty), args, call.method.span())
    }

    /// Methods of buffers, arrays and shared slices.
    fn memory_method(&mut self, call: &syn::ExprMethodCall, receiver: Expr, element: Ty, global: bool, span: Span) -> Expr {
        let name = call.method.to_string();
        // An order and a scope are names, not values.
        let values = call.args.len().saturating_sub(atomics::named(&name).map_or(0, |named| named.words()));
        let mut args: Vec<Expr> = call.args.iter().take(values).map(|arg| self.expression(arg)).collect();
        let arity = |checker: &Self, wanted: usize, arguments: &str| {
            if call.args.len() == wanted {
                return true;
            }
            let message = format!("`{name}` {}", arity_text(wanted, call.args.len()));
            checker.report(Diagnostic::error(span, message).help(method_with(call, arguments)).by_rustc());
            false
        };
        match name.as_str() {
            "len" => {
                arity(self, 0, "");
                expr(ExprKind::Len(Box::new(receiver)), Ty::Usize, span)
            }
            "is_empty" => {
                arity(self, 0, "");
                let len = expr(ExprKind::Len(Box::new(receiver)), Ty::Usize, span);
                let zero = expr(ExprKind::Int(0), Ty::Usize, span);
                expr(ExprKind::Compare(crate::ir::CompareOp::Eq, Box::new(len), Box::new(zero)), Ty::BOOL, span)
            }
            "load" => {
                if !arity(self, 1, "i") {
                    return self.anything(span);
                }
                if !global && !self.is_memory(&receiver) {
                    return self.vector_of_local("load", span);
                }
                let lanes = self.lanes(call, &element);
                let index = args.remove(0);
                self.expect(&index.ty, &Ty::Usize, index.span);
                let ty = Ty::Array(Box::new(element), lanes);
                expr(ExprKind::VectorLoad(Box::new(receiver), Box::new(index), lanes), ty, span)
            }
            "store" => {
                if !arity(self, 2, "i, v") {
                    return self.anything(span);
                }
                if !global && !self.is_memory(&receiver) {
                    return self.vector_of_local("store", span);
                }
                self.check_mutable(&receiver);
                let (value, index) = (args.remove(1), args.remove(0));
                self.expect(&index.ty, &Ty::Usize, index.span);
                let given = match self.infer.resolve(&value.ty) {
                    Ty::Array(_, len) if call.turbofish.is_none() => len,
                    _ => self.lanes(call, &element),
                };
                self.expect(&value.ty, &Ty::Array(Box::new(element.clone()), given), value.span);
                self.check_lanes(given, &element, call.method.span());
                expr(ExprKind::VectorStore(Box::new(receiver), Box::new(index), Box::new(value)), Ty::unit(), span)
            }
            _ => match atomics::named(&name) {
                Some(named) => self.atomic(call, named, receiver, args, element, span),
                None => {
                    let known = ["len", "is_empty", "load", "store"].into_iter().chain(atomics::names());
                    self.unknown_method(call, &receiver, known.collect())
                }
            },
        }
    }

    /// A vector access of an array that is one thread's.
    fn vector_of_local(&mut self, name: &str, span: Span) -> Expr {
        let message = format!("`{name}` works on buffers, constants and shared arrays; this array belongs to one thread");
        self.error_expression(Diagnostic::error(span, message).help("use its elements: those of a thread are registers"))
    }

    fn lanes(&mut self, call: &syn::ExprMethodCall, element: &Ty) -> Const {
        let lanes = match self.turbofish(call).first() {
            Some(Arg::Const(value, _)) => *value,
            Some(Arg::Ty(_)) | None => {
                let message = format!("`{}` needs its number of elements", call.method);
                let help = format!("write `.{}::<4>(…)`", call.method);
                self.report(Diagnostic::error(call.method.span(), message).help(help));
                return Const::Value(1);
            }
        };
        self.check_lanes(lanes, element, call.method.span());
        lanes
    }

    fn check_lanes(&mut self, lanes: Const, element: &Ty, span: Span) {
        let element = self.infer.resolve(element);
        match self.known_const(lanes) {
            Some(n) if !matches!(element, Ty::Var(_)) => self.refuse_lanes(n, &element, span),
            // What is stored may have its length from what comes later: `y.store(i, v); let w: [f32; 3] = v;`.
            _ => self.vector_accesses.push((lanes, element, span)),
        }
    }

    /// Looks at the vector accesses that could not be when they were met. A length that stays open is one of a call, which is refused for it.
    pub(super) fn check_vector_accesses(&mut self) {
        for (lanes, element, span) in std::mem::take(&mut self.vector_accesses) {
            let element = self.infer.resolve(&element);
            if let Some(n) = self.known_const(lanes).filter(|_| !self.is_left_open(&element)) {
                self.refuse_lanes(n, &element, span);
            }
        }
    }

    /// Refuses what no one access moves.
    fn refuse_lanes(&self, n: i128, element: &Ty, span: Span) {
        let Some(bytes) = row_type(element).map(|t| u64::from(t.bytes())) else {
            self.report(Diagnostic::error(span, "a vector access moves scalars").help("load the element with `x[i]`"));
            return;
        };
        if !(1..=MOST_LANES).contains(&n) || !(n as u64).is_power_of_two() || n as u64 * bytes > WIDEST_ACCESS {
            let message = format!("a vector access of {n} × {bytes} bytes; one moves 1, 2, 4, 8 or 16 elements, and 16 bytes at most");
            self.report(Diagnostic::error(span, message).help(format!("use {}", widths(bytes))));
        }
    }
}
