//! Expressions, types and items that bodies never have: where, what, and the way out.

use super::super::attributes::is_named;
use super::super::layout::written;
use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::Token;
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;

/// Expressions that are never in the language: where, what, and the way out.
pub(super) fn refused_expression(expr: &syn::Expr) -> Option<(Span, &'static str, &'static str)> {
    Some(match expr {
        syn::Expr::Async(e) => {
            (e.async_token.span(), "`async` is not in the kernel language", "remove it: a kernel's threads wait at barriers only")
        }
        syn::Expr::Await(e) => {
            (e.await_token.span(), "`await` is not in the kernel language", "remove it: a kernel's threads wait at barriers only")
        }
        syn::Expr::Unsafe(e) => {
            (e.unsafe_token.span(), "`unsafe` is not in the kernel language", "remove it: nothing in the language needs it")
        }
        syn::Expr::Try(e) => {
            (e.question_token.span(), "`?` is not in the kernel language", "use a flag and `if`; `return` leaves the kernel")
        }
        syn::Expr::TryBlock(e) => (e.try_token.span(), "`try` is not in the kernel language", "use a flag and `if`"),
        syn::Expr::Yield(e) => (e.yield_token.span(), "`yield` is not in the kernel language", "write results to a buffer"),
        syn::Expr::Const(e) => {
            (e.const_token.span(), "`const` blocks are not in the kernel language", "define a `const` outside, and name it")
        }
        syn::Expr::RawAddr(e) => (e.raw.span(), "raw pointers are not in the kernel language", "index the buffer: `y[i]`"),
        syn::Expr::Range(e) => {
            (e.limits.span(), "a range is not a value in the kernel language", "write it after `for … in`, or in a pattern")
        }
        _ => return None,
    })
}

/// What to write in place of an expression that is not in the language.
pub(crate) fn edit_of_expression(expr: &syn::Expr) -> &'static str {
    match (expr, refused_expression(expr)) {
        (syn::Expr::Closure(_), _) => "write it before the kernel as a `#[device] fn`, and call it",
        (_, Some((_, _, edit))) => edit,
        (_, None) => "compute it with operators, `if` and calls",
    }
}

/// Types that are never in the language.
pub(super) fn refused_type(ty: &syn::Type) -> Option<(&'static str, &'static str)> {
    Some(match ty {
        syn::Type::TraitObject(_) => ("`dyn` is not in the kernel language", "name the type, or make it a generic parameter: `T: Float`"),
        syn::Type::ImplTrait(_) => {
            ("`impl Trait` is not in the kernel language", "name the type, or make it a generic parameter: `T: Float`")
        }
        syn::Type::FnPtr(_) => {
            ("function pointers are not in the kernel language", "call the function by its name, or choose with `match`")
        }
        syn::Type::Ptr(_) => ("raw pointers are not in the kernel language", "use a buffer and an index: `&mut Global<f32>`"),
        syn::Type::Reference(_) => ("references to locals are not in the kernel language", "use the value itself"),
        syn::Type::Slice(_) => ("slices of locals are not in the kernel language", "use an array `[f32; N]`, or `#[shared(dynamic)]`"),
        syn::Type::Macro(_) => ("macros as types are not in the kernel language", "write the type out"),
        _ => return None,
    })
}

/// The word an item begins with, and what its kind is called.
pub(super) fn inner_item(item: &syn::Item) -> (Span, &'static str) {
    match item {
        syn::Item::Fn(item) => (item.sig.fn_token.span(), "functions"),
        syn::Item::Static(item) => (item.static_token.span(), "`static`s"),
        syn::Item::Struct(item) => (item.struct_token.span(), "structs"),
        syn::Item::Enum(item) => (item.enum_token.span(), "enums"),
        syn::Item::Union(item) => (item.union_token.span(), "unions"),
        syn::Item::Impl(item) => (item.impl_token.span(), "`impl`s"),
        syn::Item::Trait(item) => (item.trait_token.span(), "traits"),
        syn::Item::Macro(item) => (item.mac.path.span(), "macros that make items"),
        other => (other.span(), "items"),
    }
}

/// What a `static` of a body is to be: a shared array, if it says so or can be assigned, else a constant. With it, where its word stands, since one
/// without a value is no item to `syn`.
pub(super) fn edit_of_static(item: &syn::Item) -> Option<(Span, String)> {
    if !matches!(item, syn::Item::Static(_) | syn::Item::Verbatim(_)) {
        return None;
    }
    let parts = |input: ParseStream<'_>| -> syn::Result<(Span, String)> {
        let attrs = syn::Attribute::parse_outer(input)?;
        input.parse::<syn::Visibility>()?;
        let word: Token![static] = input.parse()?;
        let is_mutable = input.parse::<Option<Token![mut]>>()?.is_some();
        let name: syn::Ident = input.parse()?;
        input.parse::<Token![:]>()?;
        let ty = written(&input.parse::<syn::Type>()?);
        let value = written(&input.parse::<TokenStream>()?);
        let shared = attrs.iter().find(|attr| is_named(attr, "shared"));
        let edit = match shared {
            Some(shared) => format!("write `{} let mut {name}: {ty};`", written(shared)),
            None if is_mutable => format!("write `#[shared] let mut {name}: {ty};`: an array of the block"),
            None => format!("write `const {name}: {ty} {value}` before the function"),
        };
        Ok((word.span(), edit))
    };
    parts.parse2(item.to_token_stream()).ok()
}
