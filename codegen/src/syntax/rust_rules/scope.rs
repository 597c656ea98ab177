//! What is in scope in a module of a file: the names it imports and defines, and what of other crates may come in unseen.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::syntax::scopes::{Import, imports, item_name};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use syn::spanned::Spanned;

/// Stands for every trait: what a `cfg_attr` adds is not known.
const ANY: &str = "*";

/// The types of a file, those of its modules, too.
#[derive(Default)]
struct Types<'f> {
    defined: HashSet<String>,
    /// The variants of enums: of several of one name all.
    enums: HashMap<String, HashSet<String>>,
    /// The fields of structs: of several of one name all.
    structs: HashMap<String, Vec<&'f syn::Fields>>,
    /// The traits that a type has, derived or by an `impl`.
    traits: HashMap<String, HashSet<String>>,
    /// Whether a macro may implement any trait for any type.
    is_open: bool,
}

impl<'f> Types<'f> {
    fn of(file: &'f [syn::Item]) -> Types<'f> {
        let mut types = Types::default();
        each_item(file, &mut |item| match item {
            syn::Item::Struct(item) => {
                types.structs.entry(item.ident.to_string()).or_default().push(&item.fields);
                types.define(&item.ident, &item.attrs);
            }
            syn::Item::Enum(item) => {
                let variants = item.variants.iter().map(|variant| variant.ident.to_string());
                types.enums.entry(item.ident.to_string()).or_default().extend(variants);
                types.define(&item.ident, &item.attrs);
            }
            syn::Item::Impl(syn::ItemImpl { trait_: Some((of, ..)), self_ty, .. }) => {
                if let (syn::Type::Path(ty), Some(of)) = (&**self_ty, of.segments.last())
                    && let Some(ty) = ty.path.segments.last()
                {
                    types.traits.entry(ty.ident.to_string()).or_default().insert(of.ident.to_string());
                }
            }
            syn::Item::Macro(_) => types.is_open = true,
            _ => {}
        });
        types
    }

    fn define(&mut self, name: &syn::Ident, attrs: &[syn::Attribute]) {
        self.defined.insert(name.to_string());
        let traits = self.traits.entry(name.to_string()).or_default();
        traits.extend(super::derives::derived(attrs).iter().filter_map(|path| path.segments.last()).map(|last| last.ident.to_string()));
        if attrs.iter().any(|attr| attr.path().is_ident("cfg_attr")) {
            traits.insert(ANY.to_owned());
        }
    }
}

/// A module and what is known of its file.
pub(super) struct Scope<'f> {
    file: &'f [syn::Item],
    types: Rc<Types<'f>>,
    /// The module's path in the file.
    pub(super) place: Vec<String>,
    /// Names that are imported or defined.
    names: HashSet<String>,
    /// Modules of which everything is imported, and is known.
    globs: HashSet<String>,
    /// Whether a glob may bring in any name at all.
    is_open: bool,
    /// Whether the file imports anything. A text without a `use` is a piece of a file that has them.
    pub(super) has_imports: bool,
}

impl<'f> Scope<'f> {
    /// The root of a file.
    pub(super) fn of_file(items: &'f [syn::Item]) -> Scope<'f> {
        Scope::of(items, items, Vec::new(), Rc::new(Types::of(items)))
    }

    /// A module of the same file.
    pub(super) fn inner(&self, name: &syn::Ident, content: &[syn::Item]) -> Scope<'f> {
        Scope::of(self.file, content, [&self.place[..], &[name.to_string()]].concat(), self.types.clone())
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
            // Which of two it is may be a `cfg`'s to decide.
            syn::Item::Fn(function) if function.sig.ident == *name && !function.attrs.iter().any(super::is_conditional) => {
                Some(function.sig.constness.is_some())
            }
            _ => None,
        })
    }

    /// The names of the fields of a struct of the file; `None`: there is none, or several, or its fields have no names.
    pub(super) fn fields_of(&self, name: &str) -> Option<Vec<String>> {
        match &self.types.structs.get(name)?[..] {
            // Which fields there are may be a `cfg`'s to decide.
            [fields] if fields.iter().flat_map(|field| &field.attrs).any(super::is_conditional) => None,
            [fields] => fields.iter().map(|field| field.ident.as_ref().map(ToString::to_string)).collect(),
            _ => None,
        }
    }

    fn of(file: &'f [syn::Item], items: &[syn::Item], place: Vec<String>, types: Rc<Types<'f>>) -> Scope<'f> {
        let has_imports = file.iter().any(|item| matches!(item, syn::Item::Use(_)));
        let names = items.iter().filter_map(item_name).collect();
        let mut scope = Scope { file, types, place, names, globs: HashSet::new(), is_open: false, has_imports };
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

    /// Why the prelude's names for kernels are certainly not in scope, though other things are imported; `None`: they may be.
    pub(super) fn lacks_prelude(&self) -> Option<&'static str> {
        let has = |module: &str| self.globs.contains(&format!("warpwright::{module}"));
        if !self.has_imports || self.is_open || FOR_KERNELS.iter().any(|module| has(module)) {
            return None;
        }
        Some(if has(FOR_HOSTS) { "`host_prelude` has nothing for kernels" } else { "this module does not import the prelude" })
    }

    /// Whether a type of the file has a trait: derived, or by an `impl` anywhere in the file. `None` if the type is not one of the file.
    pub(super) fn has_trait(&self, ty: &str, name: &str) -> Option<bool> {
        let traits = self.types.traits.get(ty).filter(|_| self.types.defined.contains(ty))?;
        Some(self.types.is_open || traits.contains(name) || traits.contains(ANY))
    }

    /// `e == Mode::Fast` of an enum without `PartialEq`.
    pub(super) fn check_compared(&self, binary: &syn::ExprBinary, diagnostics: &mut Diagnostics) {
        // A variant: a constant of the enum may be of any type.
        let name_of = |side: &syn::Expr| match side {
            syn::Expr::Path(path) if path.path.segments.len() == 2 => {
                let (of, variant) = (path.path.segments[0].ident.to_string(), path.path.segments[1].ident.to_string());
                self.types.enums.get(&of)?.contains(&variant).then_some(of)
            }
            _ => None,
        };
        let sides = [&binary.left, &binary.right].into_iter();
        let Some(name) = { sides }.find_map(|side| name_of(side)) else { return };
        if self.has_trait(&name, "PartialEq") == Some(false) {
            let error = Diagnostic::error(binary.op.span(), format!("`{name}` has no `==`: it derives no `PartialEq`"));
            diagnostics.push(error.help(format!("write `#[derive(Clone, Copy, PartialEq)]` on `enum {name}`, below `#[device]`")));
        }
    }
}

/// The modules of `warpwright` that have the names of kernels, and the one that has those of host programs alone.
const FOR_KERNELS: [&str; 2] = ["prelude", "kernel_prelude"];
const FOR_HOSTS: &str = "host_prelude";

/// Whether a glob brings in nothing but what is known: the prelude or a half of it, or names of std.
fn is_known_glob(path: &[String]) -> bool {
    let is_own = |module: &String| FOR_KERNELS.contains(&&**module) || module == FOR_HOSTS || module == "warp";
    match path.first().map(String::as_str) {
        Some("warpwright") => path.get(1).is_some_and(is_own),
        first => matches!(first, Some("std" | "core")),
    }
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
