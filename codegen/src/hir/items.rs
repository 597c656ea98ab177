//! What the names of a program mean: modules, functions, structs, enums, constants and impls of every unit, found by path.

use super::types::AdtId;
use crate::syntax::{ConstValue, Extern, Import, Program, UnitId, imports, is_named, literal_int};
use std::collections::HashMap;

/// What globs bring in, as far as one search knows: each name of a module is looked for once, however many globs may lead to it. While it is, it is nothing.
type ByGlob = HashMap<(ModuleId, String, Namespace), Option<Def>>;

/// Names a module (or a unit's root).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ModuleId(pub(crate) usize);

/// Names a function definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct FnId(pub(crate) usize);

/// Names a constant definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ConstId(pub(crate) usize);

pub(crate) struct FnItem<'p> {
    pub(crate) module: ModuleId,
    pub(crate) attrs: &'p [syn::Attribute],
    pub(crate) signature: &'p syn::Signature,
    pub(crate) block: &'p syn::Block,
    /// The impl it stands in: its generics and self type.
    pub(crate) parent: Option<(&'p syn::Generics, &'p syn::Type)>,
}

pub(crate) struct ConstItem<'p> {
    pub(crate) module: ModuleId,
    pub(crate) ty: &'p syn::Type,
    pub(crate) value: &'p syn::Expr,
    pub(crate) parent: Option<(&'p syn::Generics, &'p syn::Type)>,
}

pub(crate) enum AdtKind<'p> {
    Struct(&'p syn::Fields),
    /// Variants with their values, and the integer type that holds them.
    Enum(Vec<(String, i128)>, crate::ir::Type),
}

pub(crate) struct Adt<'p> {
    pub(crate) name: String,
    pub(crate) span: proc_macro2::Span,
    pub(crate) module: ModuleId,
    pub(crate) generics: &'p syn::Generics,
    pub(crate) attrs: &'p [syn::Attribute],
    pub(crate) kind: AdtKind<'p>,
}

/// What a path means.
#[derive(Clone, Debug)]
pub(crate) enum Def {
    Function(FnId),
    Adt(AdtId),
    Const(ConstId),
    Module(ModuleId),
    /// A type alias, by number.
    Alias(usize),
    /// A variant of an enum.
    Variant(AdtId, usize),
    /// A constant handed in from outside.
    Value(ConstValue),
}

struct Module<'p> {
    unit: UnitId,
    /// Whether it is a `#[warpwright::module]`, or in one.
    is_marked: bool,
    parent: Option<ModuleId>,
    /// Types, modules.
    types: HashMap<String, Def>,
    /// Functions, constants.
    values: HashMap<String, Def>,
    /// `use a::b as c`: `c` → `a::b`.
    uses: HashMap<String, Vec<String>>,
    /// `use a::b::*`.
    globs: Vec<Vec<String>>,
    impls: Vec<&'p syn::ItemImpl>,
}

/// Which of Rust's two namespaces a path is looked up in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Namespace {
    Types,
    Values,
}

/// Every definition of a program.
pub(crate) struct Items<'p> {
    program: &'p Program,
    modules: Vec<Module<'p>>,
    roots: Vec<ModuleId>,
    pub(crate) functions: Vec<FnItem<'p>>,
    pub(crate) constants: Vec<ConstItem<'p>>,
    pub(crate) adts: Vec<Adt<'p>>,
    /// The enums among them, as they are written.
    pub(crate) enums: Vec<(AdtId, &'p syn::ItemEnum)>,
    pub(crate) aliases: Vec<(ModuleId, &'p syn::ItemType)>,
    /// What device code cannot name, to say so.
    statics: Vec<(ModuleId, &'p syn::ItemStatic)>,
    methods: HashMap<(AdtId, String), FnId>,
    associated_constants: HashMap<(AdtId, String), ConstId>,
}

impl<'p> Items<'p> {
    /// Collects the definitions of every unit.
    pub(crate) fn collect(program: &'p Program) -> Items<'p> {
        let mut items = Items {
            program,
            modules: Vec::new(),
            roots: Vec::new(),
            functions: Vec::new(),
            constants: Vec::new(),
            adts: Vec::new(),
            enums: Vec::new(),
            aliases: Vec::new(),
            statics: Vec::new(),
            methods: HashMap::new(),
            associated_constants: HashMap::new(),
        };
        for (index, unit) in program.units.iter().enumerate() {
            let root = items.collect_module(UnitId(index), None, unit.is_of_module, &unit.items);
            items.roots.push(root);
        }
        items.collect_impls();
        items
    }

    /// The root module of a unit.
    pub(crate) fn root(&self, unit: UnitId) -> ModuleId {
        self.roots[unit.0]
    }

    /// The unit a module is in.
    pub(crate) fn unit_of(&self, module: ModuleId) -> UnitId {
        self.modules[module.0].unit
    }

    fn collect_module(&mut self, unit: UnitId, parent: Option<ModuleId>, is_marked: bool, items: &'p [syn::Item]) -> ModuleId {
        let id = ModuleId(self.modules.len());
        self.modules.push(Module {
            unit,
            is_marked,
            parent,
            types: HashMap::new(),
            values: HashMap::new(),
            uses: HashMap::new(),
            globs: Vec::new(),
            impls: Vec::new(),
        });
        for item in items {
            self.collect_item(unit, id, item);
        }
        id
    }

    fn collect_item(&mut self, unit: UnitId, id: ModuleId, item: &'p syn::Item) {
        match item {
            syn::Item::Fn(function) => {
                let def = Def::Function(self.add_function(id, &function.attrs, &function.sig, &function.block, None));
                self.modules[id.0].values.insert(function.sig.ident.to_string(), def);
            }
            syn::Item::Const(constant) => {
                self.constants.push(ConstItem { module: id, ty: &constant.ty, value: &constant.expr, parent: None });
                let def = Def::Const(ConstId(self.constants.len() - 1));
                self.modules[id.0].values.insert(constant.ident.to_string(), def);
            }
            syn::Item::Struct(item) => self.add_adt(id, &item.ident, &item.generics, &item.attrs, AdtKind::Struct(&item.fields)),
            syn::Item::Enum(item) => {
                let kind = AdtKind::Enum(enum_variants(item), enum_representation(item));
                self.add_adt(id, &item.ident, &item.generics, &item.attrs, kind);
                self.enums.push((AdtId(self.adts.len() - 1), item));
            }
            syn::Item::Static(item) => self.statics.push((id, item)),
            syn::Item::Type(item) => {
                self.aliases.push((id, item));
                let def = Def::Alias(self.aliases.len() - 1);
                self.modules[id.0].types.insert(item.ident.to_string(), def);
            }
            syn::Item::Impl(item) if item.trait_.is_none() => self.modules[id.0].impls.push(item),
            syn::Item::Mod(module) => {
                if let Some((_, items)) = &module.content {
                    let is_marked = self.modules[id.0].is_marked || module.attrs.iter().any(|attr| is_named(attr, "module"));
                    let child = self.collect_module(unit, Some(id), is_marked, items);
                    self.modules[id.0].types.insert(module.ident.to_string(), Def::Module(child));
                }
            }
            syn::Item::Use(item) => {
                for import in imports(&item.tree) {
                    match import {
                        Import::Name(name, path) => {
                            self.modules[id.0].uses.insert(name, path);
                        }
                        Import::Glob(path) => self.modules[id.0].globs.push(path),
                    }
                }
            }
            _ => {}
        }
    }

    /// The `static` that a path names: one of the module itself, or, by a longer path, of any.
    pub(crate) fn static_of(&self, module: ModuleId, path: &[String]) -> Option<&'p syn::ItemStatic> {
        let name = path.last()?;
        let is_meant = |of: ModuleId| of == module || path.len() > 1;
        let own = self.statics.iter().filter(|(of, _)| is_meant(*of)).map(|(_, item)| *item);
        let program: &'p Program = self.program;
        own.chain(&program.units[self.unit_of(module).0].statics).find(|item| item.ident == name)
    }

    fn add_function(
        &mut self,
        module: ModuleId,
        attrs: &'p [syn::Attribute],
        signature: &'p syn::Signature,
        block: &'p syn::Block,
        parent: Option<(&'p syn::Generics, &'p syn::Type)>,
    ) -> FnId {
        self.functions.push(FnItem { module, attrs, signature, block, parent });
        FnId(self.functions.len() - 1)
    }

    fn add_adt(
        &mut self,
        module: ModuleId,
        ident: &syn::Ident,
        generics: &'p syn::Generics,
        attrs: &'p [syn::Attribute],
        kind: AdtKind<'p>,
    ) {
        self.adts.push(Adt { name: ident.to_string(), span: ident.span(), module, generics, attrs, kind });
        let def = Def::Adt(AdtId(self.adts.len() - 1));
        let module = &mut self.modules[module.0];
        // A tuple struct's constructor is found through its type.
        module.types.insert(ident.to_string(), def);
    }

    fn collect_impls(&mut self) {
        for index in 0..self.modules.len() {
            let module = ModuleId(index);
            for item in self.modules[index].impls.clone() {
                let syn::Type::Path(path) = &*item.self_ty else { continue };
                let segments: Vec<String> = path.path.segments.iter().map(|s| s.ident.to_string()).collect();
                let Some(Def::Adt(adt)) = self.resolve(module, &segments, Namespace::Types) else { continue };
                for member in &item.items {
                    match member {
                        syn::ImplItem::Fn(function) => {
                            let parent = Some((&item.generics, &*item.self_ty));
                            let id = self.add_function(module, &function.attrs, &function.sig, &function.block, parent);
                            self.methods.insert((adt, function.sig.ident.to_string()), id);
                        }
                        syn::ImplItem::Const(constant) => {
                            let value = &constant.expr;
                            let parent = Some((&item.generics, &*item.self_ty));
                            self.constants.push(ConstItem { module, ty: &constant.ty, value, parent });
                            self.associated_constants.insert((adt, constant.ident.to_string()), ConstId(self.constants.len() - 1));
                        }
                        _ => {}
                    }
                }
            }
        }
    }

    /// The method or associated function of a struct or enum.
    pub(crate) fn method(&self, adt: AdtId, name: &str) -> Option<FnId> {
        self.methods.get(&(adt, name.to_owned())).copied()
    }

    /// Names of the methods of a struct or enum.
    pub(crate) fn method_names(&self, adt: AdtId) -> impl Iterator<Item = &str> {
        self.methods.keys().filter(move |(id, _)| *id == adt).map(|(_, name)| name.as_str())
    }

    /// Where a function of an `impl` stands that is the host's, for want of a mark.
    pub(crate) fn host_method(&self, adt: AdtId, name: &str) -> Option<&'p str> {
        let unit = &self.program.units[self.unit_of(self.adts[adt.0].module).0];
        unit.host_methods.iter().find(|(method, _)| method == name).map(|(_, place)| place.as_str())
    }

    /// Whether what stands in a module is the device's without a mark of its own.
    pub(crate) fn is_marked(&self, module: ModuleId) -> bool {
        self.modules[module.0].is_marked
    }

    /// The associated constant of a struct or enum.
    pub(crate) fn associated_constant(&self, adt: AdtId, name: &str) -> Option<ConstId> {
        self.associated_constants.get(&(adt, name.to_owned())).copied()
    }

    /// What `path` means in `module`. `Self` is not handled here.
    pub(crate) fn resolve(&self, module: ModuleId, path: &[String], namespace: Namespace) -> Option<Def> {
        let here = self.resolve_external(module, path).or_else(|| self.resolve_within(module, path, namespace, 0, &mut ByGlob::new()));
        here.or_else(|| self.resolve_external_member(module, path))
    }

    /// `Mode::Fast`, `Point::ORIGIN`, `Point::new` of a type from outside: the type is what is bound there.
    fn resolve_external_member(&self, module: ModuleId, path: &[String]) -> Option<Def> {
        let (name, owner) = path.split_last()?;
        match self.resolve_external(module, owner)? {
            Def::Adt(adt) => self.resolve_member(adt, name),
            _ => None,
        }
    }

    /// Paths the caller bound from outside come first: they were written exactly so.
    fn resolve_external(&self, module: ModuleId, path: &[String]) -> Option<Def> {
        let unit = &self.program.units[self.modules[module.0].unit.0];
        if unit.externs.is_empty() {
            return None;
        }
        match unit.externs.get(&path.join("::"))? {
            Extern::Constant(value) => Some(Def::Value(value.clone())),
            Extern::Item(unit, name) => {
                let path: Vec<String> = name.split("::").map(str::to_owned).collect();
                let root = self.root(*unit);
                let known = &mut ByGlob::new();
                let value = self.resolve_within(root, &path, Namespace::Values, 0, known);
                value.or_else(|| self.resolve_within(root, &path, Namespace::Types, 0, known))
            }
        }
    }

    fn resolve_within(&self, module: ModuleId, path: &[String], namespace: Namespace, depth: u32, known: &mut ByGlob) -> Option<Def> {
        if depth > 16 {
            return None; // `use` cycles
        }
        let (first, rest) = path.split_first()?;
        let start = match first.as_str() {
            "self" => Some(module),
            "super" => Some(self.modules[module.0].parent?),
            "crate" => Some(self.root(self.modules[module.0].unit)),
            _ => None,
        };
        if let Some(start) = start {
            return if rest.is_empty() { Some(Def::Module(start)) } else { self.resolve_within(start, rest, namespace, depth + 1, known) };
        }
        if rest.is_empty() {
            return self.lookup(module, first, namespace, depth, known);
        }
        match self.lookup(module, first, Namespace::Types, depth, known)? {
            Def::Module(child) => self.resolve_within(child, rest, namespace, depth + 1, known),
            Def::Adt(adt) if rest.len() == 1 => self.resolve_member(adt, &rest[0]),
            _ => None,
        }
    }

    fn resolve_member(&self, adt: AdtId, name: &str) -> Option<Def> {
        if let AdtKind::Enum(variants, _) = &self.adts[adt.0].kind
            && let Some(index) = variants.iter().position(|(variant, _)| variant == name)
        {
            return Some(Def::Variant(adt, index));
        }
        let function = self.method(adt, name).map(Def::Function);
        function.or_else(|| self.associated_constant(adt, name).map(Def::Const))
    }

    fn lookup(&self, module: ModuleId, name: &str, namespace: Namespace, depth: u32, known: &mut ByGlob) -> Option<Def> {
        let data = &self.modules[module.0];
        let own = match namespace {
            Namespace::Types => data.types.get(name),
            Namespace::Values => data.values.get(name).or_else(|| data.types.get(name)),
        };
        if let Some(def) = own {
            return Some(def.clone());
        }
        if let Some(path) = data.uses.get(name)
            && (path.len() > 1 || path[0] != name)
        {
            let here = self.resolve_within(module, path, namespace, depth + 1, known);
            return here.or_else(|| self.resolve_within(self.root(data.unit), path, namespace, depth + 1, known));
        }
        let key = (module, name.to_owned(), namespace);
        if let Some(found) = known.get(&key) {
            return found.clone();
        }
        known.insert(key.clone(), None);
        let found = data.globs.iter().find_map(|prefix| {
            let mut path = prefix.clone();
            if matches!(path.first().map(String::as_str), None | Some("std" | "core" | "warpwright")) {
                return None;
            }
            path.push(name.to_owned());
            self.resolve_within(module, &path, namespace, depth + 1, known)
        });
        known.insert(key, found.clone());
        found
    }

    /// The names of the functions in a module that device code can call, for nearest-name hints.
    pub(crate) fn function_names(&self, module: ModuleId) -> impl Iterator<Item = &str> {
        let is_callable =
            |def: &Def| matches!(def, Def::Function(id) if !self.functions[id.0].attrs.iter().any(|attr| is_named(attr, "kernel")));
        self.modules[module.0].values.iter().filter(move |(_, def)| is_callable(def)).map(|(name, _)| name.as_str())
    }

    /// The names of the types in a module, for nearest-name hints.
    pub(crate) fn type_names(&self, module: ModuleId) -> impl Iterator<Item = &str> {
        let types = self.modules[module.0].types.iter();
        types.filter(|(_, def)| matches!(def, Def::Adt(_) | Def::Alias(_))).map(|(name, _)| name.as_str())
    }
}

/// C-like variants: an explicit value, or one more than the last. What is no plain number is evaluated by [`super::definitions`]. Other variants are refused by
/// the subset check.
fn enum_variants(item: &syn::ItemEnum) -> Vec<(String, i128)> {
    let mut next = 0;
    let mut variants = Vec::new();
    for variant in &item.variants {
        if let Some((_, expr)) = &variant.discriminant {
            next = literal_int(expr).unwrap_or(next);
        }
        variants.push((variant.ident.to_string(), next));
        next = next.wrapping_add(1);
    }
    variants
}

/// The integer type behind an enum: its `repr`, else C's `int`.
fn enum_representation(item: &syn::ItemEnum) -> crate::ir::Type {
    let mut found = crate::ir::Type::I32;
    for attr in item.attrs.iter().filter(|a| a.path().is_ident("repr")) {
        // A malformed `repr`, and one of no integer, is rustc's to report.
        let _ = attr.parse_nested_meta(|meta| {
            if let Some(ident) = meta.path.get_ident()
                && let Ok(ty) = ident.to_string().parse::<crate::ir::Type>()
                && ty.is_int()
            {
                found = ty;
            }
            Ok(())
        });
    }
    found
}
