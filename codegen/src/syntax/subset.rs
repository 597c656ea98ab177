//! What of Rust is not in the language: refused at its place, with a way out, all at once.
//!
//! Only what syntax alone shows: types are the front end's, and what `rustc` says better about the host twin is `rustc`'s.

use super::annotations::{check_elsewhere, refuse_cfg};
use super::attributes::is_named;
use super::body::BodyChecker;
use super::free_paths::is_function_of_language;
use super::layout::written;
use super::repr::{MOST_ALIGN, align_of_argument, repr_arguments};
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
/// everything but functions without a mark ([`super::mark_called_in`] marks those that device code calls).
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
            // `#[kernel]` on what is no function is refused as such.
            syn::Item::Struct(_) | syn::Item::Enum(_) if is_kernel(attributes_of(item)) => {}
            _ if is_marked(attributes_of(item)) => check_item(item, &names, diagnostics),
            syn::Item::Impl(item) => refuse_kernels(item, diagnostics),
            _ => {}
        }
    }
}

fn is_kernel(attrs: &[syn::Attribute]) -> bool {
    attrs.iter().any(|attr| is_named(attr, "kernel"))
}

pub(super) fn is_named_module(attrs: &[syn::Attribute]) -> bool {
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
        syn::Item::Fn(function) if is_kernel(&function.attrs) => {
            check_kernel(function, diagnostics);
            BodyChecker::new(names, diagnostics).check_body(&function.sig, &function.block);
        }
        syn::Item::Fn(function) => {
            check_name(&function.sig.ident, diagnostics);
            check_function(&function.attrs, &function.sig, &function.block, names, diagnostics);
        }
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

/// Refuses the names of the language's own functions: a call means those, wherever it stands, while to `rustc` it would mean the nearest.
fn check_name(name: &syn::Ident, diagnostics: &mut Diagnostics) {
    if is_function_of_language(&name.to_string()) {
        let error =
            Diagnostic::error(name.span(), format!("`{name}` is a function of the kernel language, and kernels would call that one"));
        diagnostics.push(error.help(format!("rename it: `own_{name}`")));
    }
}

fn check_function(attrs: &[syn::Attribute], sig: &syn::Signature, block: &syn::Block, names: &Names, diagnostics: &mut Diagnostics) {
    check_device(attrs, sig, diagnostics);
    BodyChecker::new(names, diagnostics).check_signature_and_body(sig, block);
}

/// A struct has one layout on host and device, and plain fields.
fn check_struct(item: &syn::ItemStruct, names: &Names, diagnostics: &mut Diagnostics) {
    if item.generics.lifetimes().next().is_some() {
        return check_group(item, names, diagnostics);
    }
    let reprs = repr_arguments(&item.attrs);
    let name = &item.ident;
    if !reprs.iter().any(|repr| repr == "C") {
        let error = Diagnostic::error(name.span(), format!("`{name}` needs the layout that the device gives it"));
        diagnostics.push(error.help("write `#[derive(Clone, Copy)] #[repr(C)]` before it"));
    }
    for repr in reprs.iter().filter(|repr| repr.as_str() != "C" && align_of_argument(repr).is_none_or(|align| align > MOST_ALIGN)) {
        let error = Diagnostic::error(name.span(), format!("`#[repr({repr})]` gives `{name}` a layout that the device does not have"));
        let help = match align_of_argument(repr) {
            Some(_) => format!("write `#[repr(C, align({MOST_ALIGN}))]`, which is what the widest access needs"),
            None => {
                format!("leave it at `#[repr(C)]`, or `#[repr(C, align(N))]` with an N up to {MOST_ALIGN}; more room is a field of its own")
            }
        };
        diagnostics.push(error.help(help));
    }
    let mut checker = BodyChecker::new(names, diagnostics);
    for field in &item.fields {
        checker.visit_type(&field.ty);
    }
}

/// Whether a type is written `Matrix<…>` or `MatrixBatch<…>`.
fn is_matrix(ty: &syn::Type) -> bool {
    matches!(ty, syn::Type::Path(path) if path.path.segments.last().is_some_and(|segment| segment.ident == "Matrix" || segment.ident == "MatrixBatch"))
}

/// A struct with a lifetime is a group of parameters: buffers and values, taken one by one, which lie nowhere together.
fn check_group(item: &syn::ItemStruct, names: &Names, diagnostics: &mut Diagnostics) {
    if let Some(second) = item.generics.lifetimes().nth(1) {
        let error = Diagnostic::error(second.lifetime.span(), format!("`{}` is a group of parameters, and has one lifetime", item.ident));
        diagnostics.push(error.help(format!("remove `{}`, and use the first in every field", second.lifetime)));
    }
    if !matches!(item.fields, syn::Fields::Named(_)) {
        let error = Diagnostic::error(item.ident.span(), format!("the fields of `{}`, a group of parameters, have no names", item.ident));
        diagnostics.push(error.help("name them: `x: &'a Global<f32>`"));
    }
    let mut checker = BodyChecker::new(names, diagnostics);
    for field in &item.fields {
        let memory = super::signature::memory_behind(&field.ty);
        match (&field.ty, memory) {
            (syn::Type::Reference(_), Some(element)) => checker.visit_type(element),
            (syn::Type::Reference(reference), None) if is_matrix(&reference.elem) => {
                let error =
                    refuse(reference.and_token.span(), "a group of parameters holds no matrix", "take both as parameters of the kernel");
                checker.report(error);
            }
            (syn::Type::Reference(reference), None) => {
                let what = written(&field.ty);
                let error = refuse(
                    reference.and_token.span(),
                    format!("a group of parameters holds buffers and values, and `{what}` is neither"),
                    "write `&'a Global<f32>`, `&'a mut Global<f32>`, `&'a Constant<[f32; 8]>`, or the value itself",
                );
                checker.report(error);
            }
            (syn::Type::Path(path), _) if super::signature::is_group_type(path) => {
                let error = refuse(path.span(), "a group of parameters holds no other", "take both as parameters of the kernel");
                checker.report(error);
            }
            (ty, _) => checker.visit_type(ty),
        }
    }
}

/// Enums are C-like.
fn check_enum(item: &syn::ItemEnum, diagnostics: &mut Diagnostics) {
    // The first says it for all.
    if let Some(variant) = item.variants.iter().find(|variant| !matches!(variant.fields, syn::Fields::Unit)) {
        let message = format!("`{}` has fields; enums of the kernel language have none", variant.ident);
        let error = Diagnostic::error(variant.ident.span(), message);
        let names: Vec<String> = item.variants.iter().map(|variant| variant.ident.to_string()).collect();
        let (name, variants, fields) = (&item.ident, names.join(", "), fields_beside(item));
        let own = format!("`#[derive(Clone, Copy)] #[repr(u32)] enum {name} {{ {variants} }}`");
        let beside = format!("`#[device] #[derive(Clone, Copy)] #[repr(C)] struct {name}Value {{ kind: {name}, {fields} }}`");
        diagnostics.push(error.help(format!("write {own}, and hold the fields beside it: {beside}")));
    }
}

/// The fields of all variants as those of one struct, beside the `kind`. A value has one variant: what two of them call the same, and is of one type, is
/// one field.
fn fields_beside(item: &syn::ItemEnum) -> String {
    let mut all = vec![("kind".to_owned(), item.ident.to_string())];
    for variant in &item.variants {
        let of = variant.ident.to_string().to_lowercase();
        for (at, field) in variant.fields.iter().enumerate() {
            let ty = written(&field.ty);
            let own = match &field.ident {
                Some(name) => name.to_string(),
                None if at > 0 => format!("{of}{at}"),
                // `If(f32)`: a variant may be called like a word of Rust.
                None if syn::parse_str::<syn::Ident>(&of).is_err() => format!("{of}_value"),
                None => of.clone(),
            };
            let is_shared = field.ident.is_some() && own != "kind" && all.contains(&(own.clone(), ty.clone()));
            if is_shared {
                continue;
            }
            let mut names = [own.clone(), format!("{of}_{own}")].into_iter().chain((1..).map(|n| format!("{of}_{own}{n}")));
            let free = names.find(|name| all.iter().all(|(taken, _)| taken != name)).unwrap_or(own);
            all.push((free, ty));
        }
    }
    all.iter().skip(1).map(|(name, ty)| format!("{name}: {ty}")).collect::<Vec<_>>().join(", ")
}

/// Kernels are functions of their own: nobody finds one that stands in an `impl`, marked or not.
fn refuse_kernels(item: &syn::ItemImpl, diagnostics: &mut Diagnostics) {
    for member in &item.items {
        if let syn::ImplItem::Fn(function) = member
            && is_kernel(&function.attrs)
        {
            let name = &function.sig.ident;
            let error = Diagnostic::error(name.span(), format!("the kernel `{name}` stands in an `impl`, where nothing can launch it"));
            diagnostics.push(error.help(format!("move `#[kernel] fn {name}` out of the `impl`; what it needs of `self` is a parameter")));
        }
    }
}

fn check_impl(item: &syn::ItemImpl, names: &Names, diagnostics: &mut Diagnostics) {
    if let Some((path, ..)) = &item.trait_ {
        let error = Diagnostic::error(path.span(), "implementations of traits are not in the kernel language");
        diagnostics.push(error.help("write the methods into an `impl` without a trait, or move this one out of the module"));
        return;
    }
    refuse_kernels(item, diagnostics);
    for member in &item.items {
        match member {
            syn::ImplItem::Fn(function) if is_kernel(&function.attrs) => {}
            syn::ImplItem::Fn(function) => check_function(&function.attrs, &function.sig, &function.block, names, diagnostics),
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

/// Checks an attribute that stands neither on a loop nor on a `let`.
pub(super) fn check_other_attribute(attr: &syn::Attribute, diagnostics: &mut Diagnostics) {
    check_elsewhere(std::slice::from_ref(attr), "this", diagnostics);
}

/// A refusal at a place.
pub(super) fn refuse(span: Span, message: impl Into<String>, help: impl Into<String>) -> Diagnostic {
    Diagnostic::error(span, message).help(help)
}

#[cfg(test)]
mod tests;
