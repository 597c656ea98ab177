//! What is in scope in a module of a file: the names it imports and defines, and what of other crates may come in unseen.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::syntax::scopes::{Import, imports, item_name};
use std::collections::HashSet;
use syn::spanned::Spanned;

/// The bounds of the kernel language that the prelude does not bring in by name.
const BOUNDS: &[&str] = &["Float", "Int", "Num"];

/// A module and what is known of its file.
pub(super) struct Scope<'f> {
    file: &'f [syn::Item],
    /// Names that are imported or defined.
    names: HashSet<String>,
    /// Whether a glob may bring in any name at all.
    is_open: bool,
}

impl<'f> Scope<'f> {
    /// The root of a file.
    pub(super) fn of_file(items: &'f [syn::Item]) -> Scope<'f> {
        Scope::of(items, items)
    }

    /// A module of the same file.
    pub(super) fn inner(&self, content: &[syn::Item]) -> Scope<'f> {
        Scope::of(self.file, content)
    }

    fn of(file: &'f [syn::Item], items: &[syn::Item]) -> Scope<'f> {
        let mut scope = Scope { file, names: items.iter().filter_map(item_name).collect(), is_open: false };
        for item in items {
            match item {
                syn::Item::Use(item) => {
                    for import in imports(&item.tree) {
                        match import {
                            Import::Name(name, _) => drop(scope.names.insert(name)),
                            Import::Glob(path) => scope.is_open |= !is_known_glob(&path),
                        }
                    }
                }
                // Macros, of whatever crate, and what they make.
                syn::Item::Macro(_) => scope.is_open = true,
                _ => {}
            }
        }
        scope.is_open |= file.iter().any(|item| matches!(item, syn::Item::ExternCrate(item) if !item.attrs.is_empty()));
        scope
    }

    /// Whether a name may mean something here that this file does not show.
    pub(super) fn may_name(&self, name: &str) -> bool {
        self.is_open || self.names.contains(name)
    }

    /// Whether a type of the file has a trait: derived, or by an `impl` anywhere in the file. `None` if the type is not one of the file.
    pub(super) fn has_trait(&self, ty: &str, name: &str) -> Option<bool> {
        let mut is_there = false;
        let mut has = false;
        each_item(self.file, &mut |item| match item {
            syn::Item::Struct(syn::ItemStruct { ident, attrs, .. }) | syn::Item::Enum(syn::ItemEnum { ident, attrs, .. })
                if ident == ty =>
            {
                is_there = true;
                has |= super::derives::derived(attrs).iter().any(|path| path.segments.last().is_some_and(|last| last.ident == name));
                // It may say more than is seen.
                has |= attrs.iter().any(|attr| attr.path().is_ident("cfg_attr"));
            }
            syn::Item::Impl(syn::ItemImpl { trait_: Some((path, ..)), self_ty, .. }) => {
                let of = matches!(&**self_ty, syn::Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == ty));
                has |= of && path.segments.last().is_some_and(|last| last.ident == name);
            }
            // What a macro implements is not seen.
            syn::Item::Macro(_) => has = true,
            _ => {}
        });
        is_there.then_some(has)
    }

    /// Whether the file has an enum of this name.
    fn is_enum(&self, name: &str) -> bool {
        let mut found = false;
        each_item(self.file, &mut |item| found |= matches!(item, syn::Item::Enum(item) if item.ident == name));
        found
    }

    /// `e == Mode::Fast` of an enum without `PartialEq`.
    pub(super) fn check_compared(&self, binary: &syn::ExprBinary, diagnostics: &mut Diagnostics) {
        let name_of = |side: &syn::Expr| match side {
            syn::Expr::Path(path) if path.path.segments.len() == 2 => Some(path.path.segments[0].ident.to_string()),
            _ => None,
        };
        let sides = [&binary.left, &binary.right].into_iter().filter_map(|side| name_of(side));
        let Some(name) = { sides }.find(|name| self.is_enum(name)) else { return };
        if self.has_trait(&name, "PartialEq") == Some(false) {
            let error = Diagnostic::error(binary.op.span(), format!("`{name}` has no `==`: it derives no `PartialEq`"));
            diagnostics.push(error.help(format!("write `#[derive(Clone, Copy, PartialEq)]` on `enum {name}`, below `#[device]`")));
        }
    }

    /// Bounds of generics that are the language's, and that nothing brings in.
    pub(super) fn check_bounds(&self, item: &syn::Item, diagnostics: &mut Diagnostics) {
        let mut all: Vec<&syn::Generics> = Vec::new();
        match item {
            syn::Item::Fn(item) => all.push(&item.sig.generics),
            syn::Item::Struct(item) => all.push(&item.generics),
            syn::Item::Impl(item) => {
                all.push(&item.generics);
                all.extend(item.items.iter().filter_map(|member| match member {
                    syn::ImplItem::Fn(function) => Some(&function.sig.generics),
                    _ => None,
                }));
            }
            _ => {}
        }
        let of_params = all.iter().flat_map(|generics| generics.type_params()).flat_map(|param| &param.bounds);
        let clauses = all.iter().flat_map(|generics| &generics.where_clause).flat_map(|clause| &clause.predicates);
        let of_clauses =
            clauses.filter_map(|clause| if let syn::WherePredicate::Type(ty) = clause { Some(&ty.bounds) } else { None }).flatten();
        let mut said: Vec<String> = Vec::new();
        for bound in of_params.chain(of_clauses) {
            let syn::TypeParamBound::Trait(bound) = bound else { continue };
            let Some(name) = bound.path.get_ident().map(ToString::to_string) else { continue };
            if BOUNDS.contains(&name.as_str()) && !self.may_name(&name) && !said.contains(&name) {
                let error = Diagnostic::error(bound.path.span(), format!("the trait `{name}` is not in scope: the prelude leaves it out"));
                diagnostics.push(error.help(format!("write `use warpwright::{name};` at the top of the module")));
                said.push(name);
            }
        }
    }
}

/// Whether a glob brings in nothing but what is known: the prelude, or names of this file's own modules and of std.
fn is_known_glob(path: &[String]) -> bool {
    let first = path.first().map(String::as_str);
    let is_prelude = first == Some("warpwright") && path.get(1).is_some_and(|second| second == "prelude" || second == "warp");
    is_prelude || matches!(first, Some("std" | "core"))
}

/// Every item of a file, those of its modules, too.
fn each_item<'i>(items: &'i [syn::Item], f: &mut impl FnMut(&'i syn::Item)) {
    for item in items {
        f(item);
        if let syn::Item::Mod(syn::ItemMod { content: Some((_, content)), .. }) = item {
            each_item(content, f);
        }
    }
}
