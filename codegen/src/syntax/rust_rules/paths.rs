//! Paths into the modules of the file: names that are not there, and names that are their module's own.

use super::is_conditional;
use super::scope::Scope;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::syntax::item::{attributes_of, visibility_of};
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
        // `f32::MAX`, `std::mem`, `Self::new`: the first name need not be one of this module.
        let mut may_be_elsewhere = !is_relative;
        while let Some((name, tail)) = rest.split_first() {
            let Some(content) = self.scope.module(&place) else { return };
            if may_be_elsewhere && !content.iter().any(|item| is_named(item, name)) {
                return;
            }
            may_be_elsewhere = false;
            if !self.leads_into_module(content, name, !tail.is_empty(), &place, span) {
                return;
            }
            place.push(name.clone());
            rest = tail;
        }
    }

    /// Whether the path goes on in a module of this name. If it cannot, that is said: the name is not there, or private.
    fn leads_into_module(&mut self, content: &[syn::Item], name: &str, goes_on: bool, place: &[String], span: Span) -> bool {
        let is_open = |item: &syn::Item| {
            // What these define is not seen here.
            matches!(
                item,
                syn::Item::Use(_) | syn::Item::Macro(_) | syn::Item::ExternCrate(_) | syn::Item::ForeignMod(_) | syn::Item::Verbatim(_)
            )
        };
        let all: Vec<&syn::Item> = content.iter().filter(|item| is_named(item, name)).collect();
        if all.is_empty() {
            // The names of another crate stand in no module of the file.
            if !content.iter().any(is_open) && !place.is_empty() && !matches!(name, "self" | "super" | "crate") {
                let message = format!("there is no `{name}` in the module `{}`", place.join("::"));
                let all: Vec<String> = content.iter().filter_map(item_name).collect();
                let help = match crate::nearest::nearest(name, all.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("define `{name}` there, or write the path of what is meant"),
                };
                self.diagnostics.push(Diagnostic::error(span, message).help(help));
            }
            return false;
        }
        // A function and a module may have one name: a path that goes on is the module's, and one that ends is of whichever is public.
        let meant: Vec<&syn::Item> = all.iter().copied().filter(|item| !goes_on || !is_value(item)).collect();
        let is_private = |item: &&syn::Item| matches!(visibility_of(item), Some(syn::Visibility::Inherited));
        if meant.iter().any(|item| attributes_of(item).iter().any(is_conditional)) {
            return false;
        }
        let is_within = self.scope.place.starts_with(place);
        // An import brings in public names of it as well.
        let is_imported =
            content.iter().any(|item| matches!(item, syn::Item::Use(item) if !matches!(item.vis, syn::Visibility::Inherited)));
        if let Some(first) = meant.first()
            && !is_within
            && !is_imported
            && meant.iter().all(is_private)
        {
            let message = format!("`{name}` is private to the module `{}`", place.join("::"));
            self.diagnostics.push(Diagnostic::error(span, message).help(format!("write `pub` before it, `pub {} {name}`", keyword(first))));
            return false;
        }
        goes_on && meant.iter().any(|item| matches!(item, syn::Item::Mod(_)))
    }
}

fn is_named(item: &syn::Item, name: &str) -> bool {
    item_name(item).is_some_and(|own| own == name)
}

/// Whether an item is a value, behind which no path goes on.
fn is_value(item: &syn::Item) -> bool {
    matches!(item, syn::Item::Fn(_) | syn::Item::Const(_) | syn::Item::Static(_))
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
