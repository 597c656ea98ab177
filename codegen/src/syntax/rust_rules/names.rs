//! Names of a module that are defined twice: by two items, or by an item and a `use`.

use super::{defined_twice, second_name};
use crate::diagnostic::Diagnostics;
use crate::syntax::attributes::is_named;
use crate::syntax::attributes_of;
use crate::syntax::scopes::{Import, imports};
use proc_macro2::Span;
use std::collections::HashMap;

/// Rust's namespaces, as far as items are in them.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Space {
    Types,
    Values,
}

/// What an item is called in messages, its name, and the namespaces that the name is taken in.
fn definition(item: &syn::Item) -> Option<(&'static str, &syn::Ident, &'static [Space])> {
    const TYPES: &[Space] = &[Space::Types];
    const VALUES: &[Space] = &[Space::Values];
    const BOTH: &[Space] = &[Space::Types, Space::Values];
    Some(match item {
        syn::Item::Const(item) if item.ident == "_" => return None,
        syn::Item::Const(item) => ("the constant", &item.ident, VALUES),
        syn::Item::Static(item) => ("the static", &item.ident, VALUES),
        syn::Item::Fn(item) if item.attrs.iter().any(|attr| is_named(attr, "kernel")) => ("the kernel", &item.sig.ident, VALUES),
        // The attribute makes a type of the function's name, by which kernels find it.
        syn::Item::Fn(item) if item.attrs.iter().any(|attr| is_named(attr, "device")) => ("the function", &item.sig.ident, BOTH),
        syn::Item::Fn(item) => ("the function", &item.sig.ident, VALUES),
        syn::Item::Struct(item) if matches!(item.fields, syn::Fields::Named(_)) => ("the struct", &item.ident, TYPES),
        // Its constructor is a function, or a constant.
        syn::Item::Struct(item) => ("the struct", &item.ident, BOTH),
        syn::Item::Enum(item) => ("the enum", &item.ident, TYPES),
        syn::Item::Type(item) => ("the type", &item.ident, TYPES),
        syn::Item::Union(item) => ("the union", &item.ident, TYPES),
        syn::Item::Trait(item) => ("the trait", &item.ident, TYPES),
        syn::Item::Mod(item) => ("the module", &item.ident, TYPES),
        _ => return None,
    })
}

/// The word before a name where it is defined.
fn keyword(item: &syn::Item) -> &'static str {
    match item {
        syn::Item::Const(_) => "const",
        syn::Item::Static(_) => "static",
        syn::Item::Fn(_) => "fn",
        syn::Item::Struct(_) => "struct",
        syn::Item::Enum(_) => "enum",
        syn::Item::Type(_) => "type",
        syn::Item::Union(_) => "union",
        syn::Item::Trait(_) => "trait",
        _ => "mod",
    }
}

pub(super) fn check(items: &[&syn::Item], diagnostics: &mut Diagnostics) {
    let mut known: HashMap<(Space, String), Span> = HashMap::new();
    for item in items {
        let Some((what, name, spaces)) = definition(item) else { continue };
        let key = |space: Space| (space, name.to_string());
        if let Some(first) = spaces.iter().find_map(|space| known.get(&key(*space))) {
            let help = format!("rename this one, `{} {}`, or remove it", keyword(item), second_name(name));
            diagnostics.push(defined_twice(what, name, *first, help));
        }
        for space in spaces {
            known.entry(key(*space)).or_insert_with(|| name.span());
        }
    }
    check_imports(items, &known, diagnostics);
}

/// The namespace of an imported name, by Rust's conventions; `None` where they leave it open: a module, a function or a macro.
fn space_of(name: &str) -> Option<Space> {
    let is_type = name.starts_with(char::is_uppercase) && name.chars().any(char::is_lowercase);
    let is_constant = name.len() > 1 && name.starts_with(char::is_uppercase) && !is_type;
    match (is_type, is_constant) {
        (true, _) => Some(Space::Types),
        (_, true) => Some(Space::Values),
        _ => None,
    }
}

/// The namespaces of what a path leads to in a module of these items: `m::f`, `self::m::f`.
fn spaces_within(items: &[&syn::Item], path: &[String]) -> Option<Vec<Space>> {
    let path = path.strip_prefix(&["self".to_owned()]).unwrap_or(path);
    let (first, rest) = path.split_first()?;
    let content = items.iter().find_map(|item| match item {
        syn::Item::Mod(module) if module.ident == first => module.content.as_ref().map(|(_, content)| content),
        _ => None,
    })?;
    let content: Vec<&syn::Item> = content.iter().collect();
    if rest.len() > 1 {
        return spaces_within(&content, rest);
    }
    let last = rest.first()?;
    let all = content.iter().filter_map(|item| definition(item)).filter(|(_, name, _)| *name == last);
    Some(all.flat_map(|(_, _, spaces)| spaces).copied().collect())
}

/// The namespaces that an imported name is surely taken in: those of an item of the file; of the standard library what its name says. Other crates have a trait and a derive
/// of one name, and types in capitals.
fn spaces_of_import(items: &[&syn::Item], name: &str, path: &[String]) -> Vec<Space> {
    let is_of_std = matches!(path.first().map(String::as_str), Some("std" | "core" | "alloc"));
    let by_name = || space_of(path.last().map_or(name, String::as_str)).filter(|_| is_of_std).map(|space| vec![space]);
    spaces_within(items, path).or_else(by_name).unwrap_or_default()
}

fn check_imports(items: &[&syn::Item], defined: &HashMap<(Space, String), Span>, diagnostics: &mut Diagnostics) {
    let mut known: HashMap<String, (Span, Vec<String>)> = HashMap::new();
    for item in items.iter().filter(|item| attributes_of(item).is_empty()) {
        let syn::Item::Use(item) = item else { continue };
        for import in imports(&item.tree) {
            let Import::Name(name, path) = import else { continue };
            // `use std::fmt::Write as _` brings in no name.
            if name == "_" {
                continue;
            }
            let Some(ident) = named(&item.tree, &name) else { continue };
            let help = match path.last() {
                Some(last) => format!("give it another name, `{last} as {}`, or leave it out", second_name(ident)),
                None => "leave it out".to_owned(),
            };
            let spaces = spaces_of_import(items, &name, &path);
            let own = spaces.iter().find_map(|space| defined.get(&(*space, name.clone())));
            // The same path twice is twice the same in every namespace.
            let is_same =
                |other: &[String]| other == path || spaces_of_import(items, &name, other).iter().any(|space| spaces.contains(space));
            let before = known.get(&name).filter(|(_, other)| is_same(other)).map(|(span, _)| span);
            if let Some(first) = own.or(before) {
                diagnostics.push(defined_twice("the name", ident, *first, help));
            }
            known.entry(name).or_insert((ident.span(), path));
        }
    }
}

/// Where a `use` brings a name in.
fn named<'t>(tree: &'t syn::UseTree, name: &str) -> Option<&'t syn::Ident> {
    match tree {
        syn::UseTree::Path(path) => named(&path.tree, name).or_else(|| {
            let is_self = matches!(&*path.tree, syn::UseTree::Name(inner) if inner.ident == "self")
                || matches!(&*path.tree, syn::UseTree::Group(group) if group.items.iter().any(|tree| matches!(tree, syn::UseTree::Name(inner) if inner.ident == "self")));
            (is_self && path.ident == name).then_some(&path.ident)
        }),
        syn::UseTree::Name(own) => (own.ident == name).then_some(&own.ident),
        syn::UseTree::Rename(rename) => (rename.rename == name).then_some(&rename.rename),
        syn::UseTree::Group(group) => group.items.iter().find_map(|tree| named(tree, name)),
        syn::UseTree::Glob(_) => None,
    }
}
