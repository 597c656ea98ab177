//! What a path means in a module, as Rust resolves it, as far as files show it.
//!
//! Items come before `use`, `use` before globs, and a glob brings in what may be seen. An item under a `cfg` that is not known to hold, one that
//! a macro may make or change, and what comes from another crate are [`Meaning::Unknown`], which says why.

use super::Crate;
use super::tree::{ItemId, ModuleId, cfgs};
use warpwright_codegen::hir;
use warpwright_codegen::syntax::{FreePath, FreePathKind, Import, attributes_of, imports, visibility_of};

/// Rust's two namespaces that kernels know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    Types,
    Values,
}

/// What a path means.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Meaning {
    /// An item, and what is named within it (a variant).
    Item(ItemId, Vec<String>),
    Module(ModuleId),
    /// The files do not tell, for this reason: `comes from the crate `shapes``.
    Unknown(String),
    /// Something of the language's or the standard library's: its path.
    Language(Vec<String>),
    /// Nothing has this name.
    Nothing,
}

/// Crates whose names are the language's, or nothing that kernels can use.
const OF_LANGUAGE: [&str; 5] = ["warpwright", "std", "core", "alloc", "half"];

/// What the prelude has that is the host's.
const OF_HOST: [&str; 6] = ["Buffer", "ConstantBuffer", "Device", "Launch", "PinnedBuffer", "Stream"];

/// How many modules are searched for one path. Where the names in globs are themselves brought in by globs, each may lead through all others, in any order.
const MOST_LOOKUPS: u32 = 2_000;

/// Attributes that leave an item what it is.
const HARMLESS: &[&str] = &[
    "allow",
    "automatically_derived",
    "cfg",
    "cfg_attr",
    "cold",
    "deny",
    "deprecated",
    "derive",
    "device",
    "doc",
    "expect",
    "forbid",
    "inline",
    "kernel",
    "module",
    "must_use",
    "non_exhaustive",
    "path",
    "repr",
    "track_caller",
    "warn",
];

impl Crate {
    /// What a path means that device code in a module names.
    pub(super) fn meaning(&mut self, module: ModuleId, free: &FreePath) -> Meaning {
        let mut path: Vec<String> = free.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if free.path.leading_colon.is_some() {
            path.insert(0, String::new());
        }
        let spaces = match free.kind {
            FreePathKind::Type => [Space::Types, Space::Values],
            FreePathKind::Function | FreePathKind::Constant => [Space::Values, Space::Types],
        };
        let mut otherwise = Meaning::Nothing;
        for space in spaces {
            match self.resolve_from_block(module, &free.uses, &path, space) {
                found @ (Meaning::Item(..) | Meaning::Module(_)) => return found,
                found @ Meaning::Unknown(_) if !matches!(otherwise, Meaning::Unknown(_)) => otherwise = found,
                found if otherwise == Meaning::Nothing => otherwise = found,
                _ => {}
            }
        }
        otherwise
    }

    /// The same through the `use` statements of the blocks round it, the innermost last.
    fn resolve_from_block(&mut self, module: ModuleId, uses: &[syn::ItemUse], path: &[String], space: Space) -> Meaning {
        let mut globs = Vec::new();
        for import in uses.iter().rev().flat_map(imports_of) {
            match import {
                Import::Name(name, target) if path.first() == Some(&name) => {
                    return self.resolve(module, &[&target, &path[1..]].concat(), space);
                }
                Import::Name(..) => {}
                Import::Glob(target) => globs.push([&target[..], path].concat()),
            }
        }
        for glob in globs {
            match self.resolve(module, &glob, space) {
                Meaning::Nothing | Meaning::Language(_) => {}
                found => return found,
            }
        }
        self.resolve(module, path, space)
    }

    /// What a path means in a module.
    pub(super) fn resolve(&mut self, module: ModuleId, path: &[String], space: Space) -> Meaning {
        let key = (module, path.join("::"), space);
        if self.open.contains(&key) {
            return Meaning::Nothing;
        }
        if self.open.is_empty() {
            self.lookups = 0;
        }
        self.open.push(key);
        let found = self.resolve_open(module, path, space);
        self.open.pop();
        found
    }

    fn resolve_open(&mut self, module: ModuleId, path: &[String], space: Space) -> Meaning {
        let Some((first, rest)) = path.split_first() else { return Meaning::Nothing };
        let (mut at, mut rest) = match first.as_str() {
            "" => return of_crate(rest),
            "crate" | "self" | "super" => (Meaning::Module(module), path),
            name => {
                let own = if rest.is_empty() { space } else { Space::Types };
                match self.lookup(module, name, own, module) {
                    // Only the first name of a path can be a crate's.
                    Meaning::Nothing if !rest.is_empty() => return of_crate(path),
                    // What may be hidden is no crate of the language, and sooner another crate than what a macro makes.
                    Meaning::Unknown(reason)
                        if !rest.is_empty() && (OF_LANGUAGE.contains(&name) || self.made_by_macro(module).as_ref() == Some(&reason)) =>
                    {
                        return of_crate(path);
                    }
                    found => (found, rest),
                }
            }
        };
        while let Some((name, tail)) = rest.split_first() {
            let Meaning::Module(inner) = at else { break };
            at = match name.as_str() {
                "self" => Meaning::Module(inner),
                "crate" => {
                    let top = self.top(inner);
                    self.modules[top.0].detached.map_or(Meaning::Module(top), |reason| Meaning::Unknown(reason.to_owned()))
                }
                "super" => match (self.modules[inner.0].parent, self.modules[inner.0].detached) {
                    (Some(parent), _) => Meaning::Module(parent),
                    (None, Some(reason)) => Meaning::Unknown(reason.to_owned()),
                    (None, None) => Meaning::Nothing,
                },
                name => self.lookup(inner, name, if tail.is_empty() { space } else { Space::Types }, module),
            };
            rest = tail;
        }
        match at {
            Meaning::Item(item, mut within) => {
                within.extend_from_slice(rest);
                Meaning::Item(item, within)
            }
            Meaning::Language(mut within) => {
                within.extend_from_slice(rest);
                Meaning::Language(within)
            }
            other => other,
        }
    }

    /// What a name means in a module, for someone in the module `asker`.
    fn lookup(&mut self, module: ModuleId, name: &str, space: Space, asker: ModuleId) -> Meaning {
        let outer = std::mem::take(&mut self.searched);
        let found = self.search(module, name, space, asker);
        self.searched = outer;
        found
    }

    /// The same in a module that a glob leads to. Each module is searched once: what it has is found already, and globs may go round in circles.
    fn search(&mut self, module: ModuleId, name: &str, space: Space, asker: ModuleId) -> Meaning {
        if !self.searched.insert(module) {
            return Meaning::Nothing;
        }
        self.lookups += 1;
        if self.lookups > MOST_LOOKUPS {
            return Meaning::Unknown("is behind more `use` statements than are followed".to_owned());
        }
        match self.own_item(module, name, space) {
            Meaning::Nothing => {}
            found => return found,
        }
        let uses = self.uses(module, asker);
        for (import, cfgs) in &uses {
            let Import::Name(known, path) = import else { continue };
            if known != name {
                continue;
            }
            match self.resolve(module, path, space) {
                Meaning::Nothing => {}
                _ if !self.is_given(cfgs) => return Meaning::Unknown(under(cfgs)),
                found => return found,
            }
        }
        let mut found = Vec::new();
        let mut unknown = None;
        for (import, cfgs) in &uses {
            let Import::Glob(path) = import else { continue };
            // The name in `use shapes::*` is not brought in by itself.
            if self.open.contains(&(module, path.join("::"), Space::Types)) {
                continue;
            }
            // A `use` of one name may be a crate's.
            let of = match self.resolve(module, path, Space::Types) {
                Meaning::Nothing if path.len() == 1 => of_crate(path),
                of => of,
            };
            let meaning = match of {
                Meaning::Module(other) if self.may_see(other, name, space, asker) => self.search(other, name, space, asker),
                Meaning::Item(item, within) if within.is_empty() && self.has_variant(item, name) => {
                    Meaning::Item(item, vec![name.to_owned()])
                }
                Meaning::Unknown(reason) => Meaning::Unknown(format!("may be in `{}::*`, which {reason}", path.join("::"))),
                Meaning::Language(path) => in_language(&path, name),
                _ => Meaning::Nothing,
            };
            match meaning {
                Meaning::Nothing => {}
                Meaning::Unknown(reason) => unknown = unknown.or(Some(reason)),
                _ if !self.is_given(cfgs) => return Meaning::Unknown(under(cfgs)),
                meaning if found.contains(&meaning) => {}
                meaning => found.push(meaning),
            }
        }
        if let (Some(_), [_]) = (&unknown, &found[..]) {
            // What a crate's glob may bring in as well would be ambiguous, and `rustc` would say so.
            unknown = None;
        }
        let detached = self.modules[module.0].detached.map(str::to_owned);
        match (found.pop(), unknown) {
            (Some(meaning), None) if found.is_empty() => meaning,
            (Some(_), _) => Meaning::Unknown("is brought in by several globs".to_owned()),
            (None, Some(reason)) => Meaning::Unknown(reason),
            (None, None) => self.made_by_macro(module).or(detached).map_or(Meaning::Nothing, Meaning::Unknown),
        }
    }

    /// What an item of the module itself defines.
    fn own_item(&mut self, module: ModuleId, name: &str, space: Space) -> Meaning {
        let named: Vec<usize> = (0..self.items(module).len()).filter(|index| defines(&self.items(module)[*index], name, space)).collect();
        let mut cfgs_of_all = named.iter().map(|index| cfgs(attributes_of(&self.items(module)[*index])));
        if let Some(cfgs) = cfgs_of_all.find(|cfgs| !self.is_given(cfgs)) {
            return Meaning::Unknown(under(&cfgs));
        }
        let Some(index) = named.first().copied() else { return Meaning::Nothing };
        let item = &self.items(module)[index];
        if let Some(attribute) = attributes_of(item).iter().find_map(changing) {
            return Meaning::Unknown(format!("is changed by `#[{attribute}]`, a macro"));
        }
        match item {
            syn::Item::Mod(_) => match self.child(module, index) {
                Some(child) => Meaning::Module(child),
                None => Meaning::Unknown(format!("is in the module `{name}`, whose file cannot be read")),
            },
            _ => Meaning::Item(ItemId { module, index }, Vec::new()),
        }
    }

    /// What the `use` statements of a module bring in that `asker` may see, each with its `cfg`s.
    fn uses(&self, module: ModuleId, asker: ModuleId) -> Vec<(Import, Vec<String>)> {
        let mut found = Vec::new();
        for item in self.items(module) {
            if let syn::Item::Use(item) = item
                && self.is_visible(&item.vis, module, asker)
            {
                found.extend(imports_of(item).into_iter().map(|import| (import, cfgs(&item.attrs))));
            }
        }
        found
    }

    /// Whether a glob of `asker` brings in what a module itself defines under a name, if it does.
    fn may_see(&self, module: ModuleId, name: &str, space: Space, asker: ModuleId) -> bool {
        let own = self.items(module).iter().find(|item| defines(item, name, space));
        own.and_then(visibility_of).is_none_or(|visibility| self.is_visible(visibility, module, asker))
    }

    fn is_visible(&self, visibility: &syn::Visibility, owner: ModuleId, asker: ModuleId) -> bool {
        !matches!(visibility, syn::Visibility::Inherited) || self.is_within(asker, owner)
    }

    fn has_variant(&self, item: ItemId, name: &str) -> bool {
        matches!(self.item(item), syn::Item::Enum(item) if item.variants.iter().any(|variant| variant.ident == name))
    }

    /// Whether all of these `cfg`s hold where the kernel stands.
    fn is_given(&self, cfgs: &[String]) -> bool {
        cfgs.iter().all(|cfg| self.given.contains(cfg))
    }

    /// Why a name that a module does not show may be there all the same.
    fn made_by_macro(&self, module: ModuleId) -> Option<String> {
        self.items(module).iter().find_map(|item| match item {
            syn::Item::Macro(made) if !made.mac.path.is_ident("macro_rules") => {
                let name = made.mac.path.segments.last().map(|last| last.ident.to_string())?;
                Some(format!("may be made by `{name}!`"))
            }
            _ => None,
        })
    }
}

/// What a `use` brings in; paths that begin with `::` begin with an empty name.
fn imports_of(item: &syn::ItemUse) -> Vec<Import> {
    let mut found = imports(&item.tree);
    if item.leading_colon.is_some() {
        for import in &mut found {
            let (Import::Name(_, path) | Import::Glob(path)) = import;
            path.insert(0, String::new());
        }
    }
    found
}

/// What begins with the name of a crate.
fn of_crate(path: &[String]) -> Meaning {
    match path.iter().find(|name| !name.is_empty()) {
        Some(name) if !OF_LANGUAGE.contains(&name.as_str()) => Meaning::Unknown(format!("comes from the crate `{name}`")),
        Some(_) => Meaning::Language(path.to_vec()),
        None => Meaning::Nothing,
    }
}

/// What a glob of the language's or the standard library's brings in under a name that the language does not know by itself.
fn in_language(path: &[String], name: &str) -> Meaning {
    let whole = [path, &[name.to_owned()]].concat();
    let is = |known: &[&str]| path.iter().map(String::as_str).eq(known.iter().copied());
    let is_there = match path.last().map(String::as_str) {
        Some("prelude") if is(&["warpwright", "prelude"]) => OF_HOST.contains(&name),
        Some("consts") => hir::standard_constant(&whole).is_some(),
        _ => return Meaning::Unknown(format!("may be in `{}::*`", path.join("::"))),
    };
    if is_there { Meaning::Language(whole) } else { Meaning::Nothing }
}

fn under(cfgs: &[String]) -> String {
    format!("is under `#[{}]`", cfgs.join(")], #[").replace("cfg (", "cfg("))
}

/// The name of an attribute that may make something else of an item.
fn changing(attribute: &syn::Attribute) -> Option<String> {
    let path = attribute.path();
    let is_tool = path.segments.len() > 1
        && path.segments.first().is_some_and(|first| ["rustfmt", "clippy", "diagnostic"].iter().any(|tool| first.ident == tool));
    let last = path.segments.last()?.ident.to_string();
    (!is_tool && !HARMLESS.contains(&last.as_str())).then_some(last)
}

/// Whether an item defines a name in a namespace.
fn defines(item: &syn::Item, name: &str, space: Space) -> bool {
    let (ident, spaces): (_, &[Space]) = match item {
        syn::Item::Fn(item) => (&item.sig.ident, &[Space::Values]),
        syn::Item::Const(item) => (&item.ident, &[Space::Values]),
        syn::Item::Static(item) => (&item.ident, &[Space::Values]),
        // A tuple struct's name is that of its constructor, too.
        syn::Item::Struct(item) if !matches!(item.fields, syn::Fields::Named(_)) => (&item.ident, &[Space::Types, Space::Values]),
        syn::Item::Struct(item) => (&item.ident, &[Space::Types]),
        syn::Item::Enum(item) => (&item.ident, &[Space::Types]),
        syn::Item::Type(item) => (&item.ident, &[Space::Types]),
        syn::Item::Trait(item) => (&item.ident, &[Space::Types]),
        syn::Item::Union(item) => (&item.ident, &[Space::Types]),
        syn::Item::Mod(item) => (&item.ident, &[Space::Types]),
        _ => return false,
    };
    ident == name && spaces.contains(&space)
}
