//! What textures are made of, and their methods.

use super::super::tree::{Expr, ExprKind};
use super::super::types::{Const, Ty};
use super::Checker;
use super::call::arity_text;
use super::edits::method_with;
use super::expression::expr;
use crate::diagnostic::Diagnostic;
use crate::ir::{TextureOp, Type};
use proc_macro2::Span;

/// What a texel may be, for messages.
const TEXELS: &str = "`f32`, or an integer of up to 32 bits, by itself or as an array of 2 or 4";

impl Checker<'_, '_> {
    /// `t.fetch(x, y)`, `t.sample(u, v)`, `t.width()`, `t.height()`.
    pub(super) fn texture_method(&mut self, call: &syn::ExprMethodCall, receiver: Expr, texel: &Ty, span: Span) -> Expr {
        let name = call.method.to_string();
        let Some((op, word)) = TextureOp::ALL.iter().find(|(_, word)| *word == name) else {
            return self.unknown_method(call, &receiver, TextureOp::ALL.iter().map(|(_, word)| *word).collect());
        };
        let arguments: Vec<Expr> = call.args.iter().map(|argument| self.expression(argument)).collect();
        let wanted = if op.reads() { 2 } else { 0 };
        if arguments.len() != wanted {
            let message = format!("`{word}` {}", arity_text(wanted, arguments.len()));
            let arguments = match op {
                TextureOp::Fetch => "x, y",
                TextureOp::Sample => "u, v",
                TextureOp::Width | TextureOp::Height => "",
            };
            self.report(Diagnostic::error(span, message).help(method_with(call, arguments)).by_rustc());
            return self.anything(span);
        }
        for argument in &arguments {
            if let Some(ty) = op.coordinates() {
                self.expect(&argument.ty, &Ty::Scalar(ty), argument.span);
            }
        }
        if *op == TextureOp::Sample && component(texel).is_some_and(|component| !component.is_float()) {
            let message = format!("`sample` filters, and `{}` has whole numbers", self.show(&receiver.ty));
            let help = "read one texel, `t.fetch(x, y)`, or make a texture of `f32`";
            return self.error_about(texel, Diagnostic::error(call.method.span(), message).help(help).and_by_rustc());
        }
        let ty = if op.reads() { texel.clone() } else { Ty::Usize };
        expr(ExprKind::Texture(*op, Box::new(receiver), arguments), ty, span)
    }

    /// Refuses textures of what is no texel, where their type is written.
    pub(super) fn check_texel(&self, texel: &Ty, span: Span) {
        let texel = self.infer.resolve(texel);
        let is_open = matches!(&texel, Ty::Var(_) | Ty::Never | Ty::Array(_, Const::Var(_)));
        if component(&texel).is_none() && !is_open {
            let message = format!("a texture cannot hold `{}`", self.show(&texel));
            self.report(Diagnostic::error(span, message).help(format!("a texel is {TEXELS}")).and_by_rustc());
        }
    }
}

/// The scalar type of a texel's components, if a texture can hold it.
pub(super) fn component(texel: &Ty) -> Option<Type> {
    let scalar = match texel {
        Ty::Array(element, Const::Value(2 | 4)) => &**element,
        other => other,
    };
    match scalar {
        Ty::Scalar(ty @ (Type::F32 | Type::I8 | Type::I16 | Type::I32 | Type::U8 | Type::U16 | Type::U32)) => Some(*ty),
        _ => None,
    }
}
