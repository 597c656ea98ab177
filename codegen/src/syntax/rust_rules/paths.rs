//! Paths into the modules of the file: names that are not there, and names that are their module's own.

use super::scope::Scope;
use super::{attributes_of, is_conditional};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::syntax::scopes::{Import, imports, item_name};
use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// Looks at the paths of an item: those of a `use`, and if it is the device's, all.
pub(super) fn check(item: &syn::Item, scope: &Scope<'_>, of_device: bool, diagnostics: &mut Diagnostics) {
    let mut walk = Walk { scope, diagnostics };
    match item {
        syn::Item::Use(item) if item.attrs.is_empty() => {
            for import in imports(&item.tree) {
                if let Import::Name(_, path) = import {
                    walk.path(&path, item.tree.span());
                }
            }
        }
        syn::Item::Mod(_) => {}
        item if of_device => walk.visit_item(item),
        _ => {}
    }
}

struct Walk<'w, 's> {
    scope: &'w Scope<'s>,
    diagnostics: &'w mut Diagnostics,
}

impl Walk<'_, '_> {
    fn path(&mut self, path: &[String], span: Span) {
        let mut place = self.scope.place.clone();
        let mut rest = path;
        let mut is_relative = false;
        while let Some((first, tail)) = rest.split_first() {
            match first.as_str() {
                "self" => {}
                // What is round the file is not known here.
                "super" if !place.is_empty() => drop(place.pop()),
                _ => break,
            }
            is_relative = true;
            rest = tail;
        }
        // `use self::m::f`, `m::f`: a name alone is looked up in all that is in scope.
        if rest.len() < 2 && !(is_relative && rest.len() == 1) {
            return;
        }
        while let Some((name, tail)) = rest.split_first() {
            let Some(content) = self.scope.module(&place) else { return };
            let Some(found) = self.member(content, name, &place, span) else { return };
            if tail.is_empty() || !matches!(found, syn::Item::Mod(_)) {
                return;
            }
            place.push(name.clone());
            rest = tail;
        }
    }

    /// An item of a module by its name. `None`: it is not known, or not there, which is said.
    fn member<'i>(&mut self, content: &'i [syn::Item], name: &str, place: &[String], span: Span) -> Option<&'i syn::Item> {
        let is_named = |item: &&syn::Item| item_name(item).is_some_and(|own| own == *name);
        let is_use =
            |item: &syn::Item| matches!(item, syn::Item::Use(_) | syn::Item::Macro(_) | syn::Item::ExternCrate(_) | syn::Item::Verbatim(_));
        let Some(item) = content.iter().find(is_named) else {
            // The names of another crate stand in no module of the file.
            if !content.iter().any(is_use) && !place.is_empty() && !matches!(name, "self" | "super" | "crate") {
                let message = format!("there is no `{name}` in the module `{}`", place.join("::"));
                let all: Vec<String> = content.iter().filter_map(item_name).collect();
                let help = match crate::nearest::nearest(name, all.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("define `{name}` there, or write the path of what is meant"),
                };
                self.diagnostics.push(Diagnostic::error(span, message).help(help));
            }
            return None;
        };
        let is_within = self.scope.place.starts_with(place);
        if attributes_of(item).iter().any(is_conditional) {
            return None;
        }
        if !is_within && matches!(visibility(item), Some(syn::Visibility::Inherited)) {
            let message = format!("`{name}` is private to the module `{}`", place.join("::"));
            self.diagnostics.push(Diagnostic::error(span, message).help(format!("write `pub` before it, `pub {} {name}`", keyword(item))));
            return None;
        }
        Some(item)
    }
}

fn visibility(item: &syn::Item) -> Option<&syn::Visibility> {
    Some(match item {
        syn::Item::Const(item) => &item.vis,
        syn::Item::Enum(item) => &item.vis,
        syn::Item::Fn(item) => &item.vis,
        syn::Item::Mod(item) => &item.vis,
        syn::Item::Static(item) => &item.vis,
        syn::Item::Struct(item) => &item.vis,
        syn::Item::Type(item) => &item.vis,
        _ => return None,
    })
}

fn keyword(item: &syn::Item) -> &'static str {
    match item {
        syn::Item::Const(_) => "const",
        syn::Item::Enum(_) => "enum",
        syn::Item::Fn(_) => "fn",
        syn::Item::Static(_) => "static",
        syn::Item::Struct(_) => "struct",
        syn::Item::Type(_) => "type",
        _ => "mod",
    }
}

impl<'ast> Visit<'ast> for Walk<'_, '_> {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            let segments: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.path(&segments, path.span());
        }
        visit::visit_path(self, path);
    }

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}
}
