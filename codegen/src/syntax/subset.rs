//! What of Rust is not in the language: refused at its place, with a way out, all at once.
//!
//! Only what syntax alone shows: types are the front end's, and what `rustc` says better about the host twin is `rustc`'s.

use super::annotations::{LetAttributes, LoopAttributes, check_elsewhere, refuse_cfg};
use super::attributes::is_named;
use super::body::BodyChecker;
use super::scopes::item_name;
use super::signature::{check_device, check_kernel, is_marked};
use crate::diagnostic::{Diagnostic, Diagnostics};
use proc_macro2::Span;
use std::collections::HashSet;
use syn::spanned::Spanned;
use syn::visit::Visit;

/// Checks the device code among `items` (kernels, device functions, impls).
///
/// At the root and in ordinary modules that is what is marked `#[kernel]` or `#[device]`; in a `#[warpwright::module]` it is
/// everything but functions without a mark.
pub fn check_subset(items: &[syn::Item], diagnostics: &mut Diagnostics) {
    let names = Names::of(items);
    for item in items {
        match item {
            syn::Item::Mod(module) => {
                let Some((_, content)) = &module.content else { continue };
                if is_named_module(&module.attrs) {
                    check_module(content, diagnostics);
                } else {
                    check_subset(content, diagnostics);
                }
            }
            _ if is_marked(attributes_of(item)) => check_item(item, &names, diagnostics),
            _ => {}
        }
    }
}

fn is_named_module(attrs: &[syn::Attribute]) -> bool {
    attrs.iter().any(|attr| is_named(attr, "module"))
}

/// What a module defines.
pub(super) struct Names {
    /// Every item.
    pub(super) defined: HashSet<String>,
    /// Functions without a mark: the host's.
    pub(super) unmarked: HashSet<String>,
}

impl Names {
    fn of(items: &[syn::Item]) -> Names {
        let unmarked = items.iter().filter(|item| matches!(item, syn::Item::Fn(function) if !is_marked(&function.attrs)));
        Names { defined: items.iter().filter_map(item_name).collect(), unmarked: unmarked.filter_map(item_name).collect() }
    }
}

/// The contents of a `#[warpwright::module]`.
fn check_module(items: &[syn::Item], diagnostics: &mut Diagnostics) {
    let names = Names::of(items);
    for item in items {
        let is_test = attributes_of(item).iter().any(is_cfg_test);
        let is_hosts = matches!(item, syn::Item::Fn(function) if !is_marked(&function.attrs));
        if is_test || is_hosts {
            continue;
        }
        for attr in attributes_of(item) {
            if attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr") {
                diagnostics.push(refuse_cfg(attr));
            }
        }
        check_item(item, &names, diagnostics);
    }
}

/// `#[cfg(test)]`.
pub(super) fn is_cfg_test(attr: &syn::Attribute) -> bool {
    attr.path().is_ident("cfg") && attr.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"))
}

fn attributes_of(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Union(item) => &item.attrs,
        syn::Item::Type(item) => &item.attrs,
        _ => &[],
    }
}

fn check_item(item: &syn::Item, names: &Names, diagnostics: &mut Diagnostics) {
    match item {
        syn::Item::Fn(function) if function.attrs.iter().any(|attr| is_named(attr, "kernel")) => {
            check_kernel(function, diagnostics);
            BodyChecker::new(names, diagnostics).check_body(&function.sig, &function.block);
        }
        syn::Item::Fn(function) => check_function(&function.sig, &function.block, names, diagnostics),
        syn::Item::Struct(item) => check_struct(item, names, diagnostics),
        syn::Item::Enum(item) => check_enum(item, diagnostics),
        syn::Item::Impl(item) => check_impl(item, names, diagnostics),
        syn::Item::Const(item) => {
            let mut checker = BodyChecker::new(names, diagnostics);
            checker.visit_type(&item.ty);
            checker.visit_expr(&item.expr);
        }
        syn::Item::Type(item) => BodyChecker::new(names, diagnostics).visit_type(&item.ty),
        syn::Item::Use(_) => {}
        other => refuse_item(other, diagnostics),
    }
}

fn check_function(sig: &syn::Signature, block: &syn::Block, names: &Names, diagnostics: &mut Diagnostics) {
    check_device(sig, diagnostics);
    BodyChecker::new(names, diagnostics).check_signature_and_body(sig, block);
}

/// A struct has one layout on host and device, and plain fields.
fn check_struct(item: &syn::ItemStruct, names: &Names, diagnostics: &mut Diagnostics) {
    let reprs: Vec<String> = repr_arguments(&item.attrs);
    let name = &item.ident;
    if !reprs.iter().any(|repr| repr == "C") {
        let error = Diagnostic::error(name.span(), format!("`{name}` needs the layout that the device gives it"));
        diagnostics.push(error.help("write `#[derive(Clone, Copy)] #[repr(C)]` before it"));
    }
    for repr in reprs.iter().filter(|repr| repr.as_str() != "C") {
        let error = Diagnostic::error(name.span(), format!("`#[repr({repr})]` gives `{name}` a layout that the device has not"));
        diagnostics.push(error.help("leave `#[repr(C)]` alone, and add fields where bytes shall be left free"));
    }
    let mut checker = BodyChecker::new(names, diagnostics);
    for field in &item.fields {
        checker.visit_type(&field.ty);
    }
}

/// The arguments of every `#[repr(…)]`: `C`, `align(16)`.
fn repr_arguments(attrs: &[syn::Attribute]) -> Vec<String> {
    let mut found = Vec::new();
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("repr")) {
        let parser = syn::punctuated::Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated;
        // A malformed `repr` is rustc's to report.
        let arguments = attr.parse_args_with(parser).unwrap_or_default();
        found.extend(arguments.iter().map(|argument| quote::ToTokens::to_token_stream(argument).to_string().replace(' ', "")));
    }
    found
}

/// Enums are C-like.
fn check_enum(item: &syn::ItemEnum, diagnostics: &mut Diagnostics) {
    for variant in item.variants.iter().filter(|variant| !matches!(variant.fields, syn::Fields::Unit)) {
        let message = format!("`{}` has fields; enums of the kernel language have none", variant.ident);
        let error = Diagnostic::error(variant.ident.span(), message);
        diagnostics.push(error.help("put the fields into a struct, beside an enum that says which of them count"));
    }
}

fn check_impl(item: &syn::ItemImpl, names: &Names, diagnostics: &mut Diagnostics) {
    if let Some((path, _)) = item.trait_.as_ref().map(|trait_| (&trait_.1, ())) {
        let error = Diagnostic::error(path.span(), "implementations of traits are not in the kernel language");
        diagnostics.push(error.help("write the methods into an `impl` without a trait, or move this one out of the module"));
        return;
    }
    for member in &item.items {
        match member {
            syn::ImplItem::Fn(function) => check_function(&function.sig, &function.block, names, diagnostics),
            syn::ImplItem::Const(constant) => {
                let mut checker = BodyChecker::new(names, diagnostics);
                checker.visit_type(&constant.ty);
                checker.visit_expr(&constant.expr);
            }
            other => {
                let error = Diagnostic::error(other.span(), "this is not in the kernel language");
                diagnostics.push(error.help("an `impl` for the device holds functions and constants"));
            }
        }
    }
}

/// Items that a module cannot hold.
fn refuse_item(item: &syn::Item, diagnostics: &mut Diagnostics) {
    let (span, what, help) = match item {
        syn::Item::Static(item) => {
            (item.static_token.span(), "`static`s are", "use a `const`, a `&Constant<…>` parameter, or `#[shared]` memory")
        }
        syn::Item::Trait(item) => {
            (item.trait_token.span(), "traits are", "move it out of the module; bounds are `Float`, `Num`, `Int`, `Element`")
        }
        syn::Item::Union(item) => (item.union_token.span(), "unions are", "use a struct, and `to_bits`/`from_bits` to reinterpret"),
        syn::Item::Mod(item) => {
            (item.mod_token.span(), "modules within a module are", "give it a `#[warpwright::module]` of its own beside this one")
        }
        syn::Item::Macro(item) => {
            (item.mac.path.span(), "macros that make items are", "write the items out, or move the macro out of the module")
        }
        syn::Item::ForeignMod(item) => {
            (item.abi.extern_token.span(), "`extern` blocks are", "write the function in Rust, as `#[device] fn`")
        }
        other => (other.span(), "this item is", "move it out of the module"),
    };
    diagnostics.push(Diagnostic::error(span, format!("{what} not in the kernel language")).help(help));
}

/// The findings of a parse that only looks for mistakes.
pub(super) fn check_let_attributes(attrs: &[syn::Attribute], diagnostics: &mut Diagnostics) {
    LetAttributes::parse(attrs, diagnostics);
}

/// The same for a loop.
pub(super) fn check_loop_attributes(attrs: &[syn::Attribute], diagnostics: &mut Diagnostics) {
    LoopAttributes::parse(attrs, diagnostics);
}

/// The same for an attribute that stands on neither.
pub(super) fn check_other_attribute(attr: &syn::Attribute, diagnostics: &mut Diagnostics) {
    check_elsewhere(std::slice::from_ref(attr), "this", diagnostics);
}

/// A refusal at a place.
pub(super) fn refuse(span: Span, message: impl Into<String>, help: impl Into<String>) -> Diagnostic {
    Diagnostic::error(span, message).help(help)
}
