//! Names of the language that nothing brings into scope, and names of a module of the file that are not there or its own alone.

use super::scope::Scope;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::intrinsics;
use crate::syntax::free_paths::{imported_names_of_language, prelude_names_of_language};
use crate::syntax::scopes::{Import, imports};
use syn::spanned::Spanned;
use syn::visit::Visit;

/// Where a name of the language is imported from that the prelude leaves out.
fn origin(name: &str) -> String {
    match name {
        "Float" | "Int" | "Num" => format!("warpwright::{name}"),
        "Ordering" => "std::sync::atomic::Ordering".to_owned(),
        "warp" => "warpwright::warp".to_owned(),
        _ => match intrinsics::function(name).map(|row| row.row().module).filter(|module| !module.is_empty()) {
            Some(module) => format!("{module}::{name}"),
            None => format!("warpwright::{name}"),
        },
    }
}

/// Whether the `use`s of a body bring a name in, or may.
fn brings(uses: &[syn::ItemUse], name: &str) -> bool {
    uses.iter().flat_map(|item| imports(&item.tree)).any(|import| match import {
        Import::Name(own, _) => own == name,
        Import::Glob(_) => true,
    })
}

/// Refuses names of the language in an item of the device that are not in scope there.
pub(super) fn check(item: &syn::Item, scope: &Scope<'_>, diagnostics: &mut Diagnostics) {
    if !scope.has_imports {
        return;
    }
    let item = std::slice::from_ref(item);
    for found in imported_names_of_language(item) {
        let Some(name) = found.path.segments.first().map(|first| first.ident.to_string()) else { continue };
        let origin = origin(&name);
        let module = origin.rsplit_once("::").map_or("", |(module, _)| module);
        if scope.may_name(&name) || scope.has_glob(module) || brings(&found.uses, &name) {
            continue;
        }
        let error = Diagnostic::error(found.span, format!("`{name}` is not in scope: the prelude leaves it out"));
        diagnostics.push(error.help(format!("write `use {origin};` at the top of the module")));
    }
    check_bounds(&item[0], scope, diagnostics);
    // Of the attribute it is said where it stands.
    let is_unknown = |attr: &syn::Attribute| attr.path().get_ident().is_some_and(|name| !scope.may_name(&name.to_string()));
    let is_said =
        item.iter().flat_map(crate::syntax::attributes_of).any(|attr| is_unknown(attr) && super::is_marked(std::slice::from_ref(attr)));
    let Some(why) = scope.lacks_prelude().filter(|_| !is_said) else { return };
    // The first says it for all.
    let missing = prelude_names_of_language(item).into_iter().find(|found| {
        let name = found.path.segments.first().map(|first| first.ident.to_string()).unwrap_or_default();
        !scope.may_name(&name) && !brings(&found.uses, &name)
    });
    if let Some(found) = missing {
        let error = Diagnostic::error(found.span, format!("`{}` is not in scope: {why}", found.key));
        diagnostics.push(error.help("write `use warpwright::prelude::*;` at the top of the module"));
    }
}

/// Traits that every program has in scope, or that the prelude brings in.
const KNOWN: &[&str] = &[
    "Clone",
    "Copy",
    "Debug",
    "Default",
    "Element",
    "Eq",
    "FloatTexel",
    "From",
    "Into",
    "Iterator",
    "Ord",
    "PartialEq",
    "PartialOrd",
    "Send",
    "Sized",
    "SumOf",
    "Sync",
    "Texel",
    "Fn",
    "FnMut",
    "FnOnce",
    "Drop",
    "ToString",
    "AsRef",
    "AsMut",
    "Extend",
    "IntoIterator",
    "TryFrom",
    "TryInto",
    "Unpin",
    "AsyncFn",
    "AsyncFnMut",
    "AsyncFnOnce",
    "DoubleEndedIterator",
    "ExactSizeIterator",
    "FromIterator",
    "Future",
    "IntoFuture",
    "ToOwned",
];

/// Refuses bounds of generics that nothing brings into scope.
fn check_bounds(item: &syn::Item, scope: &Scope<'_>, diagnostics: &mut Diagnostics) {
    struct Bounds<'b>(Vec<&'b syn::Path>);
    impl<'ast> Visit<'ast> for Bounds<'ast> {
        fn visit_trait_bound(&mut self, bound: &'ast syn::TraitBound) {
            self.0.push(&bound.path);
        }
        fn visit_block(&mut self, _: &'ast syn::Block) {}
    }
    let mut bounds = Bounds(Vec::new());
    bounds.visit_item(item);
    let mut said: Vec<String> = Vec::new();
    for path in bounds.0 {
        let Some(name) = path.get_ident().map(ToString::to_string) else { continue };
        if KNOWN.contains(&name.as_str()) || scope.may_name(&name) || said.contains(&name) {
            continue;
        }
        let is_own = matches!(name.as_str(), "Float" | "Int" | "Num");
        let error = match is_own {
            true => Diagnostic::error(path.span(), format!("`{name}` is not in scope: the prelude leaves it out")),
            false => Diagnostic::error(path.span(), format!("there is no trait `{name}` in scope")),
        };
        diagnostics.push(error.help(match is_own {
            true => format!("write `use warpwright::{name};` at the top of the module"),
            false => "bounds of device code are `Float`, `Num`, `Int` or `Element`".to_owned(),
        }));
        said.push(name);
    }
}
