//! What `rustc` refuses of items and that no kernel's own types show: names that are defined twice, attributes and derives that there are not, types without
//! `Copy`, bounds that are not in scope.
//!
//! Asked by the command alone, which has no `rustc` beside it: where a crate is compiled, `rustc` says the same. Only what is certain is refused: an item
//! under a `cfg`, or a name that a glob of another crate may bring in, is left alone.

mod attributes;
mod bindings;
mod constants;
mod derives;
mod elements;
mod enums;
mod imports;
mod members;
mod names;
mod paths;
mod scope;
mod shapes;

use super::attributes::is_named;
use super::item::attributes_of;
use super::signature::is_marked;
use super::subset::is_named_module;
use crate::diagnostic::{Diagnostic, Diagnostics};
use proc_macro2::Span;
use scope::Scope;

/// Refuses what `rustc` refuses of the items of a file, modules among them included.
pub fn check_rust_rules(items: &[syn::Item], diagnostics: &mut Diagnostics) {
    let scope = Scope::of_file(items);
    check_module(items, &scope, false, diagnostics);
}

fn check_module(items: &[syn::Item], scope: &Scope<'_>, of_module: bool, diagnostics: &mut Diagnostics) {
    // Which of two items is there may be a `cfg`'s to decide, and tests are no device code.
    let present: Vec<&syn::Item> = items.iter().filter(|item| !attributes_of(item).iter().any(is_conditional)).collect();
    names::check(&present, diagnostics);
    members::check_impls(&present, diagnostics);
    for item in present {
        attributes::check(item, scope, diagnostics);
        members::check(item, diagnostics);
        bindings::check(item, scope, of_module, diagnostics);
        enums::check(item, diagnostics);
        constants::check(item, scope, diagnostics);
        shapes::check(item, scope, of_module || is_marked(attributes_of(item)), diagnostics);
        paths::check(item, scope, of_module || is_marked(attributes_of(item)), diagnostics);
        let is_misplaced = !matches!(item, syn::Item::Fn(_)) && attributes_of(item).iter().any(|attr| is_named(attr, "kernel"));
        if (of_module || is_marked(attributes_of(item))) && !is_misplaced {
            derives::check(item, scope, diagnostics);
            elements::check(item, diagnostics);
            imports::check(item, scope, diagnostics);
        }
        if let syn::Item::Mod(module) = item
            && let Some((_, content)) = &module.content
        {
            let inner = scope.inner(&module.ident, content);
            check_module(content, &inner, of_module || is_named_module(&module.attrs), diagnostics);
        }
    }
}

/// Whether what bears the attribute may not be there.
fn is_conditional(attr: &syn::Attribute) -> bool {
    attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr")
}

/// A name that stands where another of the same name does.
fn defined_twice(what: &str, name: &syn::Ident, first: Span, help: impl Into<String>) -> Diagnostic {
    Diagnostic::error(name.span(), format!("{what} `{name}` is defined twice")).label(first, "first defined here").help(help)
}

/// `a2` for `a`, `A_2` for `A`, `Point2` for `Point`: a name for the second.
fn second_name(name: &syn::Ident) -> String {
    let text = name.to_string();
    let is_constant = text.chars().all(|letter| !letter.is_lowercase()) && text.len() > 1;
    if is_constant { format!("{text}_2") } else { format!("{text}2") }
}
