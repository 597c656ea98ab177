//! Items that are not whole, and `impl`s of what there is not.

use super::scope::Scope;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::Type;
use crate::syntax::attributes::is_named;
use crate::syntax::signature::generic_name;
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned;

pub(super) fn check(item: &syn::Item, scope: &Scope<'_>, of_device: bool, diagnostics: &mut Diagnostics) {
    match item {
        syn::Item::Verbatim(tokens) => check_whole(tokens, diagnostics),
        syn::Item::Impl(item) if of_device && item.trait_.is_none() => check_impl(item, scope, diagnostics),
        syn::Item::Fn(_) | syn::Item::Struct(_) | syn::Item::Enum(_) | syn::Item::Union(_) | syn::Item::Impl(_) => {}
        other => {
            if let Some(attr) = crate::syntax::attributes_of(other).iter().find(|attr| is_named(attr, "device")) {
                let error = Diagnostic::error(attr.path().span(), "`#[device]` belongs on a function, a struct, an enum or an `impl`");
                diagnostics.push(error.help("remove `#[device]`: constants and types need no mark"));
            }
        }
    }
}

/// `fn f();`, `const A: u32;`: what `syn` reads and Rust refuses.
fn check_whole(tokens: &TokenStream, diagnostics: &mut Diagnostics) {
    let all: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let is_word = |token: &TokenTree, word: &str| matches!(token, TokenTree::Ident(ident) if ident == word);
    let ends = matches!(all.last(), Some(TokenTree::Punct(punct)) if punct.as_char() == ';');
    let has_value = all.iter().any(|token| matches!(token, TokenTree::Punct(punct) if punct.as_char() == '='));
    let function = all.iter().find(|token| is_word(token, "fn"));
    let constant = all.iter().find(|token| is_word(token, "const") || is_word(token, "static"));
    let (at, message, help) = match (function, constant) {
        (Some(at), _) if ends => (at, "this function has no body", "write it in place of the `;`: `{ … }`"),
        (None, Some(at)) if ends && !has_value => (at, "this constant has no value", "write it before the `;`: `= …`"),
        _ => return,
    };
    diagnostics.push(Diagnostic::error(at.span(), message).help(help));
}

fn check_impl(item: &syn::ItemImpl, scope: &Scope<'_>, diagnostics: &mut Diagnostics) {
    let syn::Type::Path(path) = &*item.self_ty else { return };
    let Some(last) = path.path.segments.last() else { return };
    let name = last.ident.to_string();
    if path.path.segments.len() == 1 && name.parse::<Type>().is_ok() {
        let error = Diagnostic::error(last.ident.span(), format!("`{name}` is Rust's own type, and has no further methods"));
        diagnostics.push(error.help(format!("write functions that take it: `#[device] fn f(x: {name}) …`")));
    } else if path.path.segments.len() == 1 && scope.has_imports && !scope.may_name(&name) {
        let error = Diagnostic::error(last.ident.span(), format!("there is no type `{name}` in scope"));
        diagnostics.push(error.help(format!("define it: `#[device] #[derive(Clone, Copy)] #[repr(C)] struct {name} {{ … }}`")));
    }
    for param in item.generics.params.iter().filter_map(generic_name).filter(|param| !super::members::names(path.to_token_stream(), param))
    {
        let error = Diagnostic::error(param.span(), format!("`{name}` says nothing of the generic `{param}` of this `impl`"));
        diagnostics.push(error.help(format!("write it behind the type, `impl<…> {name}<{param}>`, or make it a generic of the functions")));
    }
}
