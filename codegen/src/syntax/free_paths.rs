//! The names a unit takes from outside: constants and device functions that the macro must hand in.
//!
//! Names are resolved as Rust does as far as one unit shows it: locals by scope, generic parameters, the items of the unit's modules,
//! what the language itself knows. Whatever is left must come from outside, and Rust resolves it where the macro repeats it. Two
//! things Rust decides by types are decided by its naming conventions here: `a::B::c` takes `B` for a type if it is in `CamelCase`,
//! and a capitalised name in a pattern or in `f::<N>` is a constant if it has no lower-case letter.

use super::annotations::annotation_arguments;
use super::attributes::{KernelAttributes, is_named, path_text};
use super::scopes::{MatchesArguments, Scopes, bindings, imported_names, item_name, macro_arguments};
use super::signature::generic_name;
use crate::diagnostic::Diagnostics;
use crate::intrinsics;
use crate::ir::Type;
use proc_macro2::Span;
use std::collections::HashSet;
use syn::visit::{self, Visit};

/// What a free path is used as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FreePathKind {
    /// As a value: a constant.
    Constant,
    /// Called: a `#[device]` function.
    Function,
    /// As a type: a `#[device]` struct or enum, or the `T` of `T::method(…)`, `T { … }`.
    Type,
}

/// A path that is not defined in the unit nor known to the language.
#[derive(Clone)]
pub struct FreePath {
    /// As written, without generic arguments.
    pub path: syn::Path,
    /// As written without spaces: the key of [`super::Unit::externs`].
    pub key: String,
    /// What it is used as.
    pub kind: FreePathKind,
    /// Where it is first used.
    pub span: Span,
    /// The `use` statements of the function bodies around its first use: it means what it means behind them.
    pub uses: Vec<syn::ItemUse>,
}

/// The free paths of items, each once, in order of first use.
pub fn free_paths(items: &[syn::Item]) -> Vec<FreePath> {
    Finder::find(items).found
}

/// The names of the language that items import by name, each once: `Ordering`, `any`.
pub fn imported_names_of_language(items: &[syn::Item]) -> Vec<FreePath> {
    Finder::find(items).imported
}

/// The names of the language that the prelude brings in and items use, each once: `Global`, `global_id`.
pub(super) fn prelude_names_of_language(items: &[syn::Item]) -> Vec<FreePath> {
    Finder::find(items).of_prelude
}

/// Functions of the language that are not rows of the table of intrinsics.
pub(super) const GEOMETRY: &[&str] =
    &["thread_idx", "block_idx", "block_dim", "grid_dim", "cluster_idx", "cluster_dim", "global_id", "lane_id", "warp_id"];

/// Types and traits of the language that are not Rust's own.
const PRELUDE_TYPES: &[&str] = &[
    "Global",
    "Constant",
    "Texture2d",
    "Matrix",
    "MatrixBatch",
    "Accumulator",
    "Rows",
    "Dim3",
    "e4m3",
    "e5m2",
    "f16",
    "bf16",
    "Float",
    "Num",
    "Int",
    "Element",
    "SumOf",
    "Texel",
    "FloatTexel",
    "Ordering",
    "ThreadScope",
];

/// Types and traits of the language that `warpwright::prelude` does not have, since other crates have such names, too. Of functions their rows say it.
const IMPORTED: &[&str] = &["Float", "Int", "Num", "Ordering"];

/// The module that the source imports a function of the language from, where that is not the prelude.
fn module_of(function: &str) -> Option<&'static str> {
    intrinsics::function(function).map(|row| row.row().module).filter(|module| !module.is_empty())
}

/// How a path stands in the source.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    Value,
    Call,
    Type,
    /// `N` of `f::<N>`, where Rust's grammar does not tell types from constants.
    GenericArgument,
}

struct Finder {
    /// The names of each module around the current place, the unit's root first.
    modules: Vec<HashSet<String>>,
    scopes: Scopes,
    uses: Vec<syn::ItemUse>,
    /// How many `use Shape::*` of the open blocks bring in the variants of an enum, whose names nothing here tells.
    variant_globs: usize,
    /// The variants of the unit's own enums, with the enums' names.
    variants: Vec<(String, String)>,
    found: Vec<FreePath>,
    /// Names of the language that are imported by name.
    imported: Vec<FreePath>,
    /// Names of the language that come with the prelude.
    of_prelude: Vec<FreePath>,
    /// Whether the next generic argument is a type, whatever its name looks like: `RGB` in `Global<RGB>`.
    is_element: bool,
}

/// Types of the language whose first argument is a type.
const OF_ELEMENTS: [&str; 7] = ["Accumulator", "Constant", "Global", "Matrix", "MatrixBatch", "Rows", "Texture2d"];

impl Finder {
    fn find(items: &[syn::Item]) -> Finder {
        let mut finder = Finder {
            modules: Vec::new(),
            scopes: Scopes::default(),
            uses: Vec::new(),
            variant_globs: 0,
            variants: Vec::new(),
            found: Vec::new(),
            is_element: false,
            imported: Vec::new(),
            of_prelude: Vec::new(),
        };
        finder.visit_module(items);
        finder
    }

    /// `use Shape::{Line, Circle as Round};` and `use Shape::*;` in a block: variants, by their convention. What comes from outside is
    /// the enum. And what a block imports from the unit itself is the unit's.
    fn visit_use_tree(&mut self, tree: &syn::UseTree, prefix: &mut Vec<syn::Ident>) {
        let segments: Vec<String> = prefix.iter().map(ToString::to_string).collect();
        let of_type = segments.last().is_some_and(|last| is_capitalised(last));
        let is_own = !segments.is_empty() && (self.is_of_unit(&segments) || self.scopes.contains(&segments[0]));
        match tree {
            syn::UseTree::Path(path) => {
                prefix.push(path.ident.clone());
                self.visit_use_tree(&path.tree, prefix);
                prefix.pop();
                return;
            }
            syn::UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.visit_use_tree(tree, prefix));
                return;
            }
            syn::UseTree::Name(name) if of_type || is_own => self.scopes.bind(name.ident.to_string()),
            syn::UseTree::Rename(rename) if of_type || is_own => self.scopes.bind(rename.rename.to_string()),
            syn::UseTree::Glob(_) if is_own => {
                let of = segments.last();
                let names = self.variants.iter().filter(|(name, _)| Some(name) == of);
                let names: Vec<String> = names.map(|(_, variant)| variant.clone()).collect();
                names.into_iter().for_each(|name| self.scopes.bind(name));
            }
            syn::UseTree::Glob(_) if of_type => self.variant_globs += 1,
            _ => {}
        }
        if of_type && !is_own {
            let segments = prefix.iter().cloned().map(syn::PathSegment::from).collect();
            self.record(&syn::Path { leading_colon: None, segments }, Position::Type);
        }
    }

    fn visit_module(&mut self, items: &[syn::Item]) {
        let mut names: HashSet<String> = items.iter().filter_map(item_name).collect();
        for item in items {
            match item {
                syn::Item::Use(item) => names.extend(imported_names(&item.tree, &names, items)),
                syn::Item::Enum(item) => {
                    let name = item.ident.to_string();
                    self.variants.extend(item.variants.iter().map(|variant| (name.clone(), variant.ident.to_string())));
                }
                _ => {}
            }
        }
        self.modules.push(names);
        for item in items {
            self.visit_item(item);
        }
        self.modules.pop();
    }

    /// Whether the path leads to something inside the unit, `self::` and `super::` followed.
    fn is_of_unit(&self, segments: &[String]) -> bool {
        let mut depth = self.modules.len();
        let mut rest = segments;
        while let Some((first, tail)) = rest.split_first() {
            match first.as_str() {
                "self" => {}
                "super" if depth > 1 => depth -= 1,
                _ => break,
            }
            rest = tail;
        }
        let name = rest.first();
        // The unit's root is not a module of its own: what stands beside the unit's item is outside.
        name.is_some_and(|name| self.modules[..depth].last().is_some_and(|names| names.contains(name)))
    }

    fn record(&mut self, path: &syn::Path, position: Position) {
        let segments: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let Some(first) = segments.first() else { return };
        let is_variant = self.variant_globs > 0 && position == Position::Value && segments.len() == 1 && is_type_name(first);
        let is_bound = self.scopes.contains(first) || first == "Self" || is_variant;
        if is_bound || self.is_of_unit(&segments) {
            return;
        }
        let is_of_language = is_of_language(path, &segments, position);
        let is_of_module = segments.len() == 2 && module_of(&segments[1]).is_some();
        let is_imported =
            path.leading_colon.is_none() && (IMPORTED.contains(&first.as_str()) || module_of(first).is_some() || is_of_module);
        let is_of_prelude = is_of_language && !is_imported;
        let is_function = position == Position::Call && segments.len() == 1 && is_function_of_language(first);
        if is_of_prelude && !is_function && !PRELUDE_TYPES.contains(&first.as_str()) {
            return;
        }
        let (length, kind) = if is_of_language { (1, FreePathKind::Type) } else { kind_of(&segments, position) };
        let mut path = syn::Path { leading_colon: path.leading_colon, segments: path.segments.iter().take(length).cloned().collect() };
        for segment in &mut path.segments {
            segment.arguments = syn::PathArguments::None;
        }
        // `take` leaves no trailing `::`: `collect` puts the separators between.
        let key = path_text(&path);
        let found = match (is_of_prelude, is_of_language) {
            (true, _) => &mut self.of_prelude,
            (false, true) => &mut self.imported,
            (false, false) => &mut self.found,
        };
        if found.iter().all(|found| found.key != key) {
            let span = path.segments.first().map_or_else(Span::call_site, |segment| segment.ident.span());
            found.push(FreePath { path, key, kind, span, uses: self.uses.clone() });
        }
    }

    /// A path as it stands there, with what its generic arguments name.
    fn visit_named(&mut self, qself: Option<&syn::QSelf>, path: &syn::Path, position: Position) {
        match qself {
            Some(qself) => self.visit_qself(qself),
            None => self.record(path, position),
        }
        for segment in &path.segments {
            self.visit_path_arguments(&segment.arguments);
        }
    }

    /// Visits within a scope of its own.
    fn scoped(&mut self, visit: impl FnOnce(&mut Finder)) {
        let (uses, variant_globs) = (self.uses.len(), self.variant_globs);
        self.scopes.push();
        visit(self);
        self.scopes.pop();
        self.uses.truncate(uses);
        self.variant_globs = variant_globs;
    }

    fn bind(&mut self, pat: &syn::Pat) {
        // Types, ranges and paths within the pattern first: they do not see what it binds.
        self.visit_pat(pat);
        for ident in bindings(pat) {
            self.scopes.bind(ident.to_string());
        }
    }

    fn bind_generics(&mut self, generics: &syn::Generics) {
        for name in generics.params.iter().filter_map(generic_name) {
            self.scopes.bind(name.to_string());
        }
    }

    fn visit_function(&mut self, attrs: &[syn::Attribute], sig: &syn::Signature, block: &syn::Block) {
        self.scoped(|finder| {
            finder.bind_generics(&sig.generics);
            if attrs.iter().any(|attr| is_named(attr, "kernel")) {
                finder.visit_kernel_attributes(attrs);
            }
            for input in &sig.inputs {
                match input {
                    syn::FnArg::Receiver(_) => finder.scopes.bind("self".to_owned()),
                    syn::FnArg::Typed(typed) => {
                        finder.visit_type(&typed.ty);
                        finder.bind(&typed.pat);
                    }
                }
            }
            finder.visit_return_type(&sig.output);
            finder.visit_block(block);
        });
    }

    /// The arguments of `#[kernel(…)]` name constants too. What is wrong with them is reported elsewhere.
    fn visit_kernel_attributes(&mut self, attrs: &[syn::Attribute]) {
        let Some(attributes) = KernelAttributes::find(attrs, &mut Diagnostics::new()) else { return };
        let variants = attributes.variants.axes.iter().flat_map(|(_, values)| values);
        for expr in attributes.values().chain(variants) {
            self.visit_expr(expr);
        }
    }

    /// Names in `{…}` of a format string are values too.
    fn visit_format_string(&mut self, literal: &syn::LitStr) {
        for name in super::scopes::format_names(&literal.value()) {
            self.record(&syn::Ident::new(&name, literal.span()).into(), Position::Value);
        }
    }
}

/// Whether the language knows the path by itself.
fn is_of_language(path: &syn::Path, segments: &[String], position: Position) -> bool {
    let (first, last) = (segments[0].as_str(), segments[segments.len() - 1].as_str());
    if first == "warpwright" {
        return true;
    }
    let is_primitive = |name: &str| name.parse::<Type>().is_ok() || matches!(name, "usize" | "isize" | "char" | "str");
    if let [.., ty, "consts", _] = segments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        return is_primitive(ty);
    }
    // A `Matrix` without a type of its elements is somebody's own.
    let is_prelude = |name: &str| PRELUDE_TYPES.contains(&name) && (!name.starts_with("Matrix") || !path.segments[0].arguments.is_none());
    if path.leading_colon.is_none() && (is_primitive(first) || (is_prelude(first) && segments.len() <= 2)) {
        return true;
    }
    // The order of an atomic is part of the instruction.
    if matches!(segments, [.., module, ty, _] if module == "atomic" && ty == "Ordering") {
        return true;
    }
    if segments.len() > 1 && matches!(first, "std" | "core" | "half") {
        // `std::f32::MAX`, `core::primitive::f32`, `half::f16::ONE`: types of the language by a longer name. Functions of the
        // standard library are not device functions: the front end refuses them.
        return position != Position::Value || segments.iter().any(|segment| is_primitive(segment));
    }
    // `any(…)`, and `warp::any(…)` behind `use warpwright::warp;`.
    let is_of_module = || segments.len() == 2 && module_of(last).is_some_and(|module| module.rsplit("::").next() == Some(first));
    position == Position::Call && if segments.len() == 1 { is_function_of_language(last) } else { is_of_module() }
}

/// Whether a kernel that calls a function of this name calls the language's.
pub(super) fn is_function_of_language(name: &str) -> bool {
    GEOMETRY.contains(&name)
        || [intrinsics::SHARED_OF, intrinsics::SHARED_OF_MUT].contains(&name)
        || intrinsics::function(name).or_else(|| intrinsics::collective(name)).is_some()
}

/// What a free path is, and how many of its segments name it.
fn kind_of(segments: &[String], position: Position) -> (usize, FreePathKind) {
    let length = segments.len();
    let last = &segments[length - 1];
    match position {
        Position::Type => (length, FreePathKind::Type),
        Position::GenericArgument if is_constant_name(last) => (length, FreePathKind::Constant),
        Position::GenericArgument => (length, FreePathKind::Type),
        // `Vec3::new(…)`, `Mode::Fast`: the type is what comes from outside.
        _ if length > 1 && is_capitalised(&segments[length - 2]) => (length - 1, FreePathKind::Type),
        // `Pair(a, b)`, `Unit`.
        Position::Call if is_capitalised(last) => (length, FreePathKind::Type),
        Position::Value if is_type_name(last) => (length, FreePathKind::Type),
        Position::Call => (length, FreePathKind::Function),
        Position::Value => (length, FreePathKind::Constant),
    }
}

fn is_capitalised(name: &str) -> bool {
    name.chars().next().is_some_and(char::is_uppercase)
}

/// `CamelCase`.
fn is_type_name(name: &str) -> bool {
    is_capitalised(name) && !is_constant_name(name)
}

fn is_constant_name(name: &str) -> bool {
    is_capitalised(name) && !name.chars().any(char::is_lowercase)
}

impl<'a> Visit<'a> for Finder {
    // What stands in attributes is no code of the kernel, but for what our annotations name. What is wrong with them is reported elsewhere.
    fn visit_attribute(&mut self, attr: &'a syn::Attribute) {
        for argument in annotation_arguments(std::slice::from_ref(attr)) {
            Visit::visit_expr(self, &argument);
        }
    }
    fn visit_visibility(&mut self, _: &'a syn::Visibility) {}
    // Bounds name traits.
    fn visit_generics(&mut self, _: &'a syn::Generics) {}

    fn visit_item_mod(&mut self, item: &'a syn::ItemMod) {
        if let Some((_, items)) = &item.content {
            self.visit_module(items);
        }
    }

    fn visit_item_use(&mut self, _: &'a syn::ItemUse) {}
    fn visit_item_trait(&mut self, _: &'a syn::ItemTrait) {}
    fn visit_item_macro(&mut self, _: &'a syn::ItemMacro) {}
    fn visit_item_static(&mut self, _: &'a syn::ItemStatic) {}

    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        // Other functions are the host's.
        if item.attrs.iter().any(|attr| is_named(attr, "kernel") || is_named(attr, "device")) {
            self.visit_function(&item.attrs, &item.sig, &item.block);
        }
    }

    fn visit_item_struct(&mut self, item: &'a syn::ItemStruct) {
        self.scoped(|finder| {
            finder.bind_generics(&item.generics);
            finder.visit_fields(&item.fields);
        });
    }

    fn visit_item_impl(&mut self, item: &'a syn::ItemImpl) {
        if item.trait_.is_some() {
            return;
        }
        self.scoped(|finder| {
            finder.bind_generics(&item.generics);
            visit::visit_item_impl(finder, item);
        });
    }

    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        self.visit_function(&item.attrs, &item.sig, &item.block);
    }

    fn visit_block(&mut self, block: &'a syn::Block) {
        self.scoped(|finder| {
            for stmt in &block.stmts {
                match stmt {
                    syn::Stmt::Item(syn::Item::Use(item)) => {
                        // `std::f32::consts::*` and the like is the language's.
                        finder.visit_use_tree(&item.tree, &mut Vec::new());
                        finder.uses.push(item.clone());
                    }
                    syn::Stmt::Item(item) => {
                        if let Some(name) = item_name(item) {
                            finder.scopes.bind(name);
                        }
                    }
                    _ => {}
                }
            }
            visit::visit_block(finder, block);
        });
    }

    fn visit_local(&mut self, local: &'a syn::Local) {
        local.attrs.iter().for_each(|attr| self.visit_attribute(attr));
        if let Some(init) = &local.init {
            self.visit_expr(&init.expr);
            if let Some((_, diverge)) = &init.diverge {
                self.visit_expr(diverge);
            }
        }
        self.bind(&local.pat);
    }

    fn visit_expr_let(&mut self, expr: &'a syn::ExprLet) {
        self.visit_expr(&expr.expr);
        self.bind(&expr.pat);
    }

    fn visit_expr_if(&mut self, expr: &'a syn::ExprIf) {
        self.scoped(|finder| {
            finder.visit_expr(&expr.cond);
            finder.visit_block(&expr.then_branch);
        });
        if let Some((_, otherwise)) = &expr.else_branch {
            self.visit_expr(otherwise);
        }
    }

    fn visit_expr_while(&mut self, expr: &'a syn::ExprWhile) {
        expr.attrs.iter().for_each(|attr| self.visit_attribute(attr));
        self.scoped(|finder| {
            finder.visit_expr(&expr.cond);
            finder.visit_block(&expr.body);
        });
    }

    fn visit_expr_for_loop(&mut self, expr: &'a syn::ExprForLoop) {
        expr.attrs.iter().for_each(|attr| self.visit_attribute(attr));
        self.visit_expr(&expr.expr);
        self.scoped(|finder| {
            finder.bind(&expr.pat);
            finder.visit_block(&expr.body);
        });
    }

    fn visit_arm(&mut self, arm: &'a syn::Arm) {
        self.scoped(|finder| {
            match &arm.pat {
                syn::Pat::Guard(guarded) => {
                    finder.bind(&guarded.pat);
                    finder.visit_expr(&guarded.guard);
                }
                pat => finder.bind(pat),
            }
            finder.visit_expr(&arm.body);
        });
    }

    fn visit_expr_closure(&mut self, expr: &'a syn::ExprClosure) {
        self.scoped(|finder| {
            for input in &expr.inputs {
                finder.bind(input);
            }
            finder.visit_expr(&expr.body);
        });
    }

    fn visit_expr_call(&mut self, call: &'a syn::ExprCall) {
        match &*call.func {
            syn::Expr::Path(path) => {
                self.visit_named(path.qself.as_ref(), &path.path, Position::Call);
            }
            other => self.visit_expr(other),
        }
        for arg in &call.args {
            self.visit_expr(arg);
        }
    }

    fn visit_expr_path(&mut self, path: &'a syn::ExprPath) {
        self.visit_named(path.qself.as_ref(), &path.path, Position::Value);
    }

    fn visit_expr_struct(&mut self, expr: &'a syn::ExprStruct) {
        self.visit_named(None, &expr.path, Position::Type);
        for field in &expr.fields {
            self.visit_expr(&field.expr);
        }
        if let Some(rest) = &expr.rest {
            self.visit_expr(rest);
        }
    }

    fn visit_pat_struct(&mut self, pat: &'a syn::PatStruct) {
        self.record(&pat.path, Position::Type);
        visit::visit_pat_struct(self, pat);
    }

    fn visit_pat_tuple_struct(&mut self, pat: &'a syn::PatTupleStruct) {
        self.record(&pat.path, Position::Call);
        visit::visit_pat_tuple_struct(self, pat);
    }

    fn visit_pat_ident(&mut self, pat: &'a syn::PatIdent) {
        if super::scopes::is_constant_pattern(pat) {
            self.record(&pat.ident.clone().into(), Position::Value);
        }
        visit::visit_pat_ident(self, pat);
    }

    fn visit_type_path(&mut self, ty: &'a syn::TypePath) {
        self.is_element = ty.path.segments.last().is_some_and(|last| OF_ELEMENTS.iter().any(|name| last.ident == name));
        self.visit_named(ty.qself.as_ref(), &ty.path, Position::Type);
        self.is_element = false;
    }

    fn visit_generic_argument(&mut self, argument: &'a syn::GenericArgument) {
        let is_element = std::mem::take(&mut self.is_element);
        match argument {
            syn::GenericArgument::Type(syn::Type::Path(ty)) if ty.qself.is_none() && !is_element => {
                self.visit_named(None, &ty.path, Position::GenericArgument);
            }
            other => visit::visit_generic_argument(self, other),
        }
    }

    fn visit_macro(&mut self, mac: &'a syn::Macro) {
        if let Some(matches) = MatchesArguments::of(mac) {
            Finder::visit_expr(self, &matches.value);
            self.scoped(|finder| {
                finder.bind(&matches.pattern);
                matches.guard.iter().for_each(|guard| Finder::visit_expr(finder, guard));
            });
            return;
        }
        for argument in macro_arguments(mac) {
            match &argument {
                syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => self.visit_format_string(text),
                other => Finder::visit_expr(self, other),
            }
        }
    }
}

#[cfg(test)]
mod tests;
