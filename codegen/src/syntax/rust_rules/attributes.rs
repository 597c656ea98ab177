//! Attributes on items, fields and variants that nothing knows.

use super::scope::Scope;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::nearest::nearest;
use crate::syntax::annotations::check_elsewhere;
use crate::syntax::attributes::is_named;
use syn::spanned::Spanned;

/// The attributes of the language, and those of Rust (The Rust Reference, "Built-in attributes index").
const OWN: &[&str] = &["kernel", "device", "module"];
const OF_RUST: &[&str] = &[
    "allow",
    "automatically_derived",
    "bench",
    "cfg",
    "cfg_attr",
    "cold",
    "crate_name",
    "crate_type",
    "debugger_visualizer",
    "default",
    "deny",
    "deprecated",
    "derive",
    "doc",
    "expect",
    "export_name",
    "feature",
    "forbid",
    "global_allocator",
    "ignore",
    "inline",
    "instruction_set",
    "link",
    "link_name",
    "link_ordinal",
    "link_section",
    "macro_export",
    "macro_use",
    "must_use",
    "naked",
    "no_builtins",
    "no_implicit_prelude",
    "no_link",
    "no_main",
    "no_mangle",
    "no_std",
    "non_exhaustive",
    "panic_handler",
    "path",
    "proc_macro",
    "proc_macro_attribute",
    "proc_macro_derive",
    "recursion_limit",
    "repr",
    "should_panic",
    "target_feature",
    "test",
    "track_caller",
    "type_length_limit",
    "unsafe",
    "used",
    "warn",
    "windows_subsystem",
];

pub(super) fn check(item: &syn::Item, scope: &Scope<'_>, diagnostics: &mut Diagnostics) {
    let attrs = crate::syntax::attributes_of(item);
    // Of `#[shared]` and its kin on a function the subset's check has said it.
    let is_function = matches!(item, syn::Item::Fn(_));
    for attr in attrs.iter().filter(|attr| !is_function || !is_annotation(attr)) {
        check_member(attr, "an item", scope, diagnostics);
    }
    for name in OWN {
        let mut same = attrs.iter().filter(|attr| is_named(attr, name));
        if let (Some(first), Some(second)) = (same.next(), same.next()) {
            let what = format!("`#[{name}]`");
            diagnostics.push(crate::syntax::attributes::given_twice(second.path().span(), &what, first.path().span()));
        }
    }
    let is_kernel = |attr: &&syn::Attribute| is_named(attr, "kernel");
    if let Some(attr) = attrs.iter().find(is_kernel).filter(|_| !is_function) {
        let error = Diagnostic::error(attr.path().span(), "`#[kernel]` belongs on a function, and this is none");
        diagnostics.push(error.help("write `#[device]` on types and `impl`s, and `#[kernel(block = 256)]` on the `fn` that is launched"));
    }
    if let syn::Item::Trait(item) = item {
        for member in &item.items {
            if let syn::TraitItem::Fn(function) = member
                && let Some(attr) = function.attrs.iter().find(is_kernel)
            {
                let message = format!("the kernel `{}` stands in a trait, where nothing can launch it", function.sig.ident);
                let help = format!("move `fn {}` out of `trait {}`, and give it a body", function.sig.ident, item.ident);
                diagnostics.push(Diagnostic::error(attr.path().span(), message).help(help));
            }
        }
    }
    // A derive of another crate may have attributes of its own.
    let derives = super::derives::derived(attrs);
    let is_foreign = |path: &syn::Path| path.get_ident().is_none_or(|name| scope.may_name(&name.to_string()));
    if derives.iter().any(is_foreign) {
        return;
    }
    match item {
        syn::Item::Struct(item) => {
            let attrs = item.fields.iter().flat_map(|field| &field.attrs);
            attrs.for_each(|attr| check_member(attr, "a field", scope, diagnostics));
        }
        syn::Item::Enum(item) => {
            let is_default = derives.iter().any(|path| path.is_ident("Default"));
            for attr in
                item.variants.iter().flat_map(|variant| &variant.attrs).filter(|attr| !is_default || !attr.path().is_ident("default"))
            {
                check_member(attr, "a variant", scope, diagnostics);
            }
        }
        syn::Item::Impl(item) => {
            for member in &item.items {
                let attrs = match member {
                    syn::ImplItem::Fn(function) => &function.attrs,
                    syn::ImplItem::Const(constant) => &constant.attrs,
                    _ => continue,
                };
                attrs.iter().filter(|attr| !is_annotation(attr)).for_each(|attr| check_one(attr, scope, &[], diagnostics));
            }
        }
        _ => {}
    }
    let generics = match item {
        syn::Item::Fn(item) => &item.sig.generics,
        syn::Item::Struct(item) => &item.generics,
        syn::Item::Impl(item) => &item.generics,
        _ => return,
    };
    for param in &generics.params {
        let attrs = match param {
            syn::GenericParam::Lifetime(param) => &param.attrs,
            syn::GenericParam::Type(param) => &param.attrs,
            syn::GenericParam::Const(param) => &param.attrs,
        };
        attrs.iter().for_each(|attr| check_one(attr, scope, &[], diagnostics));
    }
}

fn is_annotation(attr: &syn::Attribute) -> bool {
    let name = attr.path().get_ident().map(ToString::to_string).unwrap_or_default();
    name == "shared" || crate::annotations::Annotation::named(&name).is_some()
}

fn check_member(attr: &syn::Attribute, place: &str, scope: &Scope<'_>, diagnostics: &mut Diagnostics) {
    if is_annotation(attr) {
        check_elsewhere(std::slice::from_ref(attr), place, diagnostics);
    } else {
        check_one(attr, scope, if place == "an item" { &[] } else { &["default"] }, diagnostics);
    }
}

/// Refuses an attribute that is none of Rust's or the language's, and that no `use` of the file may bring in. `misplaced` are Rust's that belong elsewhere.
fn check_one(attr: &syn::Attribute, scope: &Scope<'_>, misplaced: &[&str], diagnostics: &mut Diagnostics) {
    let Some(name) = attr.path().get_ident().map(ToString::to_string) else { return };
    let is_known = |known: &&str| *known == name && !misplaced.contains(known);
    let lacks = scope.lacks_prelude().filter(|_| OWN.contains(&name.as_str()) && !scope.may_name(&name));
    if let Some(why) = lacks {
        let error = Diagnostic::error(attr.path().span(), format!("`#[{name}]` is not in scope: {why}"));
        diagnostics.push(error.help("write `use warpwright::prelude::*;` at the top of the module"));
        return;
    }
    if OWN.iter().any(is_known) || OF_RUST.iter().any(is_known) || scope.may_name(&name) {
        return;
    }
    let error = Diagnostic::error(attr.path().span(), format!("there is no attribute `#[{name}]` in scope"));
    let near = nearest(&name, OWN.iter().chain(OF_RUST).copied().filter(|known| *known != name));
    diagnostics.push(error.help(match near {
        Some(near) => format!("write `#[{near}]`"),
        None => format!("remove it, or import it: `use …::{name};`"),
    }));
}
