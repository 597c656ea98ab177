//! Names within an item that are defined twice: fields, variants, generics, methods and constants of a type. And type parameters that nothing uses.

use super::{defined_twice, is_conditional, second_name};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::syntax::layout::written;
use crate::syntax::signature::{generic_name, is_marked};
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::HashMap;

pub(super) fn check(item: &syn::Item, diagnostics: &mut Diagnostics) {
    match item {
        syn::Item::Fn(item) => {
            check_generics(&item.sig.generics, diagnostics);
            check_defaults(&item.sig, diagnostics);
        }
        syn::Item::Struct(item) => {
            check_generics(&item.generics, diagnostics);
            let fields = item.fields.iter().filter(|field| !field.attrs.iter().any(is_conditional));
            let again = |name: &syn::Ident| format!("rename this field, `{}`, or remove it", second_name(name));
            each_once("the field", fields.filter_map(|field| field.ident.as_ref()), again, diagnostics);
            check_used(&item.ident, &item.generics, item.fields.to_token_stream(), diagnostics);
        }
        syn::Item::Enum(item) => {
            check_generics(&item.generics, diagnostics);
            let variants = item.variants.iter().filter(|variant| !variant.attrs.iter().any(is_conditional));
            let again = |name: &syn::Ident| format!("rename this variant, `{}`, or remove it", second_name(name));
            each_once("the variant", variants.map(|variant| &variant.ident), again, diagnostics);
            check_used(&item.ident, &item.generics, item.variants.to_token_stream(), diagnostics);
        }
        syn::Item::Impl(item) => {
            check_generics(&item.generics, diagnostics);
            for member in &item.items {
                if let syn::ImplItem::Fn(function) = member {
                    check_generics(&function.sig.generics, diagnostics);
                    check_defaults(&function.sig, diagnostics);
                }
            }
        }
        _ => {}
    }
}

/// Reports each name that was there before.
fn each_once<'n>(
    what: &str,
    names: impl Iterator<Item = &'n syn::Ident>,
    help: impl Fn(&syn::Ident) -> String,
    diagnostics: &mut Diagnostics,
) {
    let mut known: HashMap<String, Span> = HashMap::new();
    for name in names {
        match known.get(&name.to_string()) {
            Some(first) => diagnostics.push(defined_twice(what, name, *first, help(name))),
            None => drop(known.insert(name.to_string(), name.span())),
        }
    }
}

fn check_generics(generics: &syn::Generics, diagnostics: &mut Diagnostics) {
    let names = generics.params.iter().filter_map(generic_name);
    each_once("the generic", names, |name| format!("rename this one, `{}`", second_name(name)), diagnostics);
}

/// Generics of a function that say what they are where nobody says it.
fn check_defaults(sig: &syn::Signature, diagnostics: &mut Diagnostics) {
    for param in &sig.generics.params {
        let (name, has_default) = match param {
            syn::GenericParam::Type(param) => (&param.ident, param.default.is_some()),
            syn::GenericParam::Const(param) => (&param.ident, param.default.is_some()),
            syn::GenericParam::Lifetime(_) => continue,
        };
        if has_default {
            let error = Diagnostic::error(name.span(), format!("the generic `{name}` of the function `{}` has a default", sig.ident));
            diagnostics.push(error.help("remove `= …`: generics of a function follow from its arguments, or are given, `f::<4>()`"));
        }
    }
}

/// Type parameters of a struct or enum that its fields leave out.
fn check_used(of: &syn::Ident, generics: &syn::Generics, fields: TokenStream, diagnostics: &mut Diagnostics) {
    for param in generics.type_params().filter(|param| !names(fields.clone(), &param.ident)) {
        let name = &param.ident;
        let error = Diagnostic::error(name.span(), format!("no field of `{of}` is of the type `{name}`, which its generics name"));
        diagnostics.push(error.help(format!("remove `{name}`, or give a field that type: `value: {name}`")));
    }
}

/// Whether a name stands among tokens.
pub(super) fn names(tokens: TokenStream, name: &syn::Ident) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == *name,
        TokenTree::Group(group) => names(group.stream(), name),
        _ => false,
    })
}

/// Methods and constants of one type, of all its `impl`s of a module.
pub(super) fn check_impls(items: &[&syn::Item], diagnostics: &mut Diagnostics) {
    let mut known: HashMap<(String, String), Span> = HashMap::new();
    let mut marked: HashMap<String, Span> = HashMap::new();
    for item in items {
        let syn::Item::Impl(item) = item else { continue };
        if item.trait_.is_some() {
            continue;
        }
        let of = written(&item.self_ty);
        if is_marked(&item.attrs) {
            let span = item.impl_token.span;
            if let Some(first) = marked.get(&of) {
                let error = Diagnostic::error(span, format!("`{of}` has two `impl`s for the device; a type has one"));
                diagnostics.push(error.label(*first, "the first is here").help("move these functions into the first one"));
            }
            marked.entry(of.clone()).or_insert(span);
        }
        for member in &item.items {
            let (name, attrs) = match member {
                syn::ImplItem::Fn(function) => (&function.sig.ident, &function.attrs),
                syn::ImplItem::Const(constant) => (&constant.ident, &constant.attrs),
                _ => continue,
            };
            if attrs.iter().any(is_conditional) {
                continue;
            }
            let key = (of.clone(), name.to_string());
            if let Some(first) = known.get(&key) {
                let help = format!("rename this one, `{}`, or remove it", second_name(name));
                diagnostics.push(defined_twice(&format!("in `{of}`,"), name, *first, help));
            }
            known.entry(key).or_insert_with(|| name.span());
        }
    }
}
