//! Names in scope: what patterns bind, what items define, what `use` brings in.

use std::collections::HashSet;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};

/// A stack of scopes, each with its names.
pub(super) struct Scopes(Vec<HashSet<String>>);

impl Default for Scopes {
    fn default() -> Scopes {
        Scopes(vec![HashSet::new()])
    }
}

impl Scopes {
    pub(super) fn push(&mut self) {
        self.0.push(HashSet::new());
    }

    pub(super) fn pop(&mut self) {
        self.0.pop();
    }

    pub(super) fn bind(&mut self, name: String) {
        if let Some(scope) = self.0.last_mut() {
            scope.insert(name);
        }
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.0.iter().any(|scope| scope.contains(name))
    }
}

/// The names a pattern binds, in source order. A capitalised one without `mut`, `ref` or `@` is a constant, not a binding.
pub fn bindings(pat: &syn::Pat) -> Vec<&syn::Ident> {
    struct Binder<'a>(Vec<&'a syn::Ident>);
    impl<'a> Visit<'a> for Binder<'a> {
        fn visit_pat_ident(&mut self, pat: &'a syn::PatIdent) {
            if !is_constant_pattern(pat) {
                self.0.push(&pat.ident);
            }
            visit::visit_pat_ident(self, pat);
        }
        fn visit_expr(&mut self, _: &'a syn::Expr) {}
    }
    let mut binder = Binder(Vec::new());
    binder.visit_pat(pat);
    binder.0
}

/// Whether a bare identifier in a pattern names a constant: by Rust's naming convention, for want of Rust's name resolution.
pub(super) fn is_constant_pattern(pat: &syn::PatIdent) -> bool {
    let is_plain = pat.by_ref.is_none() && pat.mutability.is_none() && pat.subpat.is_none();
    is_plain && pat.ident.to_string().starts_with(char::is_uppercase)
}

/// The name an item defines.
pub(super) fn item_name(item: &syn::Item) -> Option<String> {
    let ident = match item {
        syn::Item::Fn(item) => &item.sig.ident,
        syn::Item::Const(item) => &item.ident,
        syn::Item::Static(item) => &item.ident,
        syn::Item::Struct(item) => &item.ident,
        syn::Item::Enum(item) => &item.ident,
        syn::Item::Union(item) => &item.ident,
        syn::Item::Type(item) => &item.ident,
        syn::Item::Trait(item) => &item.ident,
        syn::Item::Mod(item) => &item.ident,
        _ => return None,
    };
    Some(ident.to_string())
}

/// What a `use` brings in.
#[derive(Clone, Debug)]
pub enum Import {
    /// A name, and the path that it stands for.
    Name(String, Vec<String>),
    /// Everything in there.
    Glob(Vec<String>),
}

/// What a `use` brings in.
pub fn imports(tree: &syn::UseTree) -> Vec<Import> {
    let mut found = Vec::new();
    collect_imports(tree, &mut Vec::new(), &mut found);
    found
}

fn collect_imports(tree: &syn::UseTree, prefix: &mut Vec<String>, found: &mut Vec<Import>) {
    match tree {
        syn::UseTree::Path(path) => {
            prefix.push(path.ident.to_string());
            collect_imports(&path.tree, prefix, found);
            prefix.pop();
        }
        syn::UseTree::Name(name) => {
            let ident = name.ident.to_string();
            if ident == "self" {
                found.push(Import::Name(prefix.last().cloned().unwrap_or_default(), prefix.clone()));
            } else {
                found.push(Import::Name(ident.clone(), [&prefix[..], &[ident]].concat()));
            }
        }
        syn::UseTree::Rename(rename) => {
            let ident = rename.ident.to_string();
            let path = if ident == "self" { prefix.clone() } else { [&prefix[..], &[ident]].concat() };
            found.push(Import::Name(rename.rename.to_string(), path));
        }
        syn::UseTree::Glob(_) if !prefix.is_empty() => found.push(Import::Glob(prefix.clone())),
        syn::UseTree::Group(group) => group.items.iter().for_each(|tree| collect_imports(tree, prefix, found)),
        _ => {}
    }
}

/// The names that `use` brings into a module from among the module's own items (`use Shape::*`, `use self::m::f`): other imports lead
/// outside and define nothing here. `own` are the names of `items`.
pub(super) fn imported_names(tree: &syn::UseTree, own: &HashSet<String>, items: &[syn::Item]) -> Vec<String> {
    let is_own = |path: &[String]| path.iter().find(|segment| *segment != "self").is_some_and(|first| own.contains(first));
    let brought = |import| match import {
        Import::Name(name, path) => {
            if is_own(&path) {
                vec![name]
            } else {
                Vec::new()
            }
        }
        Import::Glob(path) => variants_of(path.last(), items),
    };
    imports(tree).into_iter().flat_map(brought).collect()
}

/// The variants of the enum of this name.
fn variants_of(name: Option<&String>, items: &[syn::Item]) -> Vec<String> {
    let named = |item: &&syn::ItemEnum| name.is_some_and(|name| item.ident == name);
    let enums = items.iter().filter_map(|item| if let syn::Item::Enum(item) = item { Some(item) } else { None });
    enums.filter(named).flat_map(|item| item.variants.iter().map(|variant| variant.ident.to_string())).collect()
}

/// The arguments of `assert!(…)`, `println!(…)` and the like: expressions between commas. `name = value` gives an assignment.
pub(super) fn macro_arguments(mac: &syn::Macro) -> Vec<syn::Expr> {
    let parser = Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated;
    parser.parse2(mac.tokens.clone()).map(|arguments| arguments.into_iter().collect()).unwrap_or_default()
}

/// The arguments of `matches!(value, pattern if guard)`.
pub struct MatchesArguments {
    /// What is matched.
    pub value: syn::Expr,
    /// Against what.
    pub pattern: syn::Pat,
    /// What must also hold.
    pub guard: Option<syn::Expr>,
}

impl MatchesArguments {
    /// The arguments of a `matches!`.
    ///
    /// # Errors
    /// If they are not a value and a pattern; `rustc` says so too.
    pub fn parse(mac: &syn::Macro) -> syn::Result<MatchesArguments> {
        let parser = |input: syn::parse::ParseStream<'_>| {
            let value: syn::Expr = input.parse()?;
            let _: syn::Token![,] = input.parse()?;
            let pattern = syn::Pat::parse_multi_with_leading_vert(input)?;
            let guard = match input.parse::<Option<syn::Token![if]>>()? {
                Some(_) => Some(input.parse()?),
                None => None,
            };
            let _: Option<syn::Token![,]> = input.parse()?;
            Ok(MatchesArguments { value, pattern, guard })
        };
        parser.parse2(mac.tokens.clone())
    }

    /// The same if `mac` is a `matches!` at all, and well-formed.
    pub fn of(mac: &syn::Macro) -> Option<MatchesArguments> {
        mac.path.is_ident("matches").then(|| MatchesArguments::parse(mac).ok()).flatten()
    }
}

/// The names that a format string captures: `x` of `"{x} {x:?} {{no}} {0}"`.
pub(super) fn format_names(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        rest = &rest[open + 1..];
        if let Some(escaped) = rest.strip_prefix('{') {
            rest = escaped;
            continue;
        }
        let end = rest.find([':', '}']).unwrap_or(rest.len());
        let name = &rest[..end];
        let starts_well = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
        if starts_well && syn::parse_str::<syn::Ident>(name).is_ok() {
            names.push(name.to_owned());
        }
        rest = &rest[end..];
    }
    names
}
