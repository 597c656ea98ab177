//! Calls of device functions: inlined.

use super::environment::{Tree, Var};
use super::{Lowerer, Returns};
use crate::diagnostic::Diagnostic;
use crate::hir::items::FnId;
use crate::hir::tree::{Expr, LocalKind};
use crate::hir::types::{Arg, Const, Ty};
use proc_macro2::Span;

/// Most instructions of a kernel, calls inlined and counted, too: what takes compilers minutes.
const MOST_INSTRUCTIONS: usize = 200_000;

/// As many instructions as a call is counted as, beside what it is inlined to: that may be nothing, and takes its time all the same.
const INSTRUCTIONS_OF_A_CALL: usize = 10;

/// Most expressions round each other, those round the calls of inlined functions counted in: they, and what becomes of them, are gone through by
/// recursion, and a stack has an end. One function alone may have as many as `syntax::nesting` says.
const MOST_DEPTH: u32 = 400;

impl Lowerer<'_, '_> {
    pub(super) fn call(&mut self, function: FnId, args: &[Arg], values: &[Expr], expr: &Expr) -> Tree {
        let ty = self.resolve(&expr.ty);
        let args: Vec<Arg> = args.iter().map(|arg| self.frame().body.infer.resolve_arg(arg)).collect();
        if self.stack.contains(&function) {
            let name = self.context.items.functions[function.0].signature.ident.to_string();
            let chain: Vec<String> =
                self.stack.iter().map(|f| format!("`{}`", self.context.items.functions[f.0].signature.ident)).collect();
            let message = format!("`{name}` calls itself: recursion is not in the kernel language");
            let help = format!("write it as a loop (the chain of calls: {} → `{name}`)", chain.join(" → "));
            self.report(Diagnostic::error(expr.span, message).help(help));
            return self.zero(&ty);
        }
        let name = &self.context.items.functions[function.0].signature.ident;
        self.calls += 1;
        if self.kernel.insts.len() + INSTRUCTIONS_OF_A_CALL * self.calls > MOST_INSTRUCTIONS {
            let message = format!("with `{name}` inlined here the kernel has more than {MOST_INSTRUCTIONS} instructions");
            self.refuse_size(expr.span, message, "call the function in a loop, or fewer functions that call others");
        } else if self.depth > MOST_DEPTH {
            let calls = self.stack.len();
            let message = format!("with `{name}` inlined here, {calls} calls deep, more than {MOST_DEPTH} expressions are nested");
            self.refuse_size(expr.span, message, "let fewer functions call each other: join the shortest of them");
        }
        if self.too_long {
            return self.zero(&ty);
        }
        if args.iter().any(|arg| matches!(arg, Arg::Ty(Ty::Var(_)) | Arg::Const(Const::Var(_), _))) {
            let name = self.context.items.functions[function.0].signature.ident.to_string();
            let error = Diagnostic::error(expr.span, format!("a generic argument of `{name}` is not known here"));
            self.report(error.help(format!("say it: `{name}::<…>(…)`")).by_rustc());
            return self.zero(&ty);
        }
        let Some(body) = self.context.body(function, &args) else { return self.zero(&ty) };
        let mut bindings = Vec::new();
        for (value, local) in values.iter().zip(&body.params) {
            let data = &body.locals[local.0];
            bindings.push(if data.kind == LocalKind::Reference || self.is_buffer(&data.ty, &body.infer) {
                Var::Place(self.place(value))
            } else {
                let ty = self.resolve(&value.ty);
                let value = self.expression(value);
                let value = self.bound(&data.name, &ty, value);
                Var::Value(value)
            });
        }
        self.at(expr.span);
        let module = self.context.items.functions[function.0].module;
        let unit = self.context.items.unit_of(module);
        let early = super::loops::returns_early(&body.root);
        let kept = self.vars.len();
        self.stack.push(function);
        let caller = self.keeps_calls_apart.then_some(self.loc);
        self.enter(body.clone(), unit, caller);
        for (local, binding) in body.params.iter().zip(bindings) {
            if let Var::Value(tree) = &binding {
                self.declare_arrays(tree, body.locals[local.0].span);
            }
            let var = self.var(*local);
            self.vars[var] = binding;
        }
        let result = if early {
            let carried = self.referenced();
            let result_ty = self.resolve(&body.result);
            self.region(carried, &result_ty, |lowerer, exit| {
                lowerer.frame_mut().returns = Returns::Function(exit.clone());
                lowerer.expression(&body.root)
            })
        } else {
            self.expression(&body.root)
        };
        self.frames.pop();
        self.stack.pop();
        // Places into the callee's own variables do not leave it; its variables may go.
        self.vars.truncate(kept);
        self.at(expr.span);
        result
    }

    /// Whether the kernel has not grown beyond measure.
    pub(super) fn has_room(&mut self) -> bool {
        if self.kernel.insts.len() > MOST_INSTRUCTIONS {
            let span = self.spans.get(self.loc.0 as usize).copied().unwrap_or_else(Span::call_site);
            let message = format!("the kernel has more than {MOST_INSTRUCTIONS} instructions up to here");
            self.refuse_size(span, message, "use smaller arrays and structs by value, or write a loop");
        }
        !self.too_long
    }

    /// Says once that the kernel has grown beyond measure.
    fn refuse_size(&mut self, span: Span, message: String, help: &str) {
        if !self.too_long {
            self.report(Diagnostic::error(span, message).help(help));
        }
        self.too_long = true;
    }

    fn is_buffer(&self, ty: &Ty, infer: &crate::hir::types::Infer) -> bool {
        let ty = infer.shallow(ty);
        ty.is_memory() || self.context.is_group(&ty)
    }
}
