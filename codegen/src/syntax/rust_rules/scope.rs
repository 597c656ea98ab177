//! What is in scope in a module of a file: the names it imports and defines, and what of other crates may come in unseen.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::syntax::scopes::{Import, imports, item_name};
use std::collections::HashSet;
use syn::spanned::Spanned;

/// A module and what is known of its file.
pub(super) struct Scope<'f> {
    file: &'f [syn::Item],
    /// The module's path in the file.
    pub(super) place: Vec<String>,
    /// Names that are imported or defined.
    names: HashSet<String>,
    /// Modules of which everything is imported, and is known.
    globs: HashSet<String>,
    /// Whether a glob may bring in any name at all.
    is_open: bool,
    /// Whether the file imports anything. A text without a `use` is a piece of a file that has them.
    has_imports: bool,
}

impl<'f> Scope<'f> {
    /// The root of a file.
    pub(super) fn of_file(items: &'f [syn::Item]) -> Scope<'f> {
        Scope::of(items, items, Vec::new())
    }

    /// A module of the same file.
    pub(super) fn inner(&self, name: &syn::Ident, content: &[syn::Item]) -> Scope<'f> {
        Scope::of(self.file, content, [&self.place[..], &[name.to_string()]].concat())
    }

    /// The items of a module of the file; `None`: there is none of this path, or it lies elsewhere.
    pub(super) fn module(&self, place: &[String]) -> Option<&'f [syn::Item]> {
        place.iter().try_fold(self.file, |items, name| {
            items.iter().find_map(|item| match item {
                syn::Item::Mod(module) if module.ident == name => module.content.as_ref().map(|(_, content)| &content[..]),
                _ => None,
            })
        })
    }

    /// Whether a function of this module is `const`; `None`: it has none of this name.
    pub(super) fn is_const(&self, name: &syn::Ident) -> Option<bool> {
        self.module(&self.place)?.iter().find_map(|item| match item {
            syn::Item::Fn(function) if function.sig.ident == *name => Some(function.sig.constness.is_some()),
            _ => None,
        })
    }

    /// The names of the fields of a struct of the file; `None`: there is none, or several, or its fields have no names.
    pub(super) fn fields_of(&self, name: &str) -> Option<Vec<String>> {
        let mut found = Vec::new();
        each_item(self.file, &mut |item| {
            if let syn::Item::Struct(item) = item
                && item.ident == name
            {
                found.push(item.fields.iter().map(|field| field.ident.as_ref().map(ToString::to_string)).collect::<Option<Vec<_>>>());
            }
        });
        if found.len() == 1 { found.pop().flatten() } else { None }
    }

    fn of(file: &'f [syn::Item], items: &[syn::Item], place: Vec<String>) -> Scope<'f> {
        let has_imports = file.iter().any(|item| matches!(item, syn::Item::Use(_)));
        let names = items.iter().filter_map(item_name).collect();
        let mut scope = Scope { file, place, names, globs: HashSet::new(), is_open: false, has_imports };
        for item in items {
            match item {
                syn::Item::Use(item) => {
                    for import in imports(&item.tree) {
                        match import {
                            Import::Name(name, _) => drop(scope.names.insert(name)),
                            Import::Glob(path) if is_known_glob(&path) => drop(scope.globs.insert(path.join("::"))),
                            Import::Glob(_) => scope.is_open = true,
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

    /// Whether everything of a module is imported.
    pub(super) fn has_glob(&self, module: &str) -> bool {
        self.globs.contains(module)
    }

    /// Whether it is certain that the prelude is not imported, though other things are.
    pub(super) fn lacks_prelude(&self) -> bool {
        self.has_imports && !self.is_open && !self.globs.contains("warpwright::prelude")
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
