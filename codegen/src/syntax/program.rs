//! What there is to compile: units of source, and what the names they take from outside mean.

use super::marks::mark_called;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::Scalar;
use std::collections::BTreeMap;

/// Names a unit of a [`Program`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UnitId(pub usize);

/// A constant's value.
#[derive(Clone, Debug, PartialEq)]
pub enum ConstValue {
    /// A scalar of this exact type.
    Scalar(Scalar),
    /// A `usize` or `isize`, whose width the kernel decides: the value, and whether it is `isize`.
    Index(i128, bool),
    /// The elements of an array.
    Array(Vec<ConstValue>),
    /// The fields of a tuple or struct, which may all be of one type.
    Tuple(Vec<ConstValue>),
}

/// What a path from outside a unit means.
#[derive(Clone, Debug)]
pub enum Extern {
    /// A constant.
    Constant(ConstValue),
    /// A `#[device]` item: the unit that holds it, and its name there.
    Item(UnitId, String),
}

/// A piece of source that was marked for the device: a kernel, a module, a device function, struct, enum or impl; or a whole file.
#[derive(Clone)]
pub struct Unit {
    /// Name of the file, for locations.
    pub file: String,
    /// Added to a span's line for the line in the file (0 where spans already are the file's).
    pub line_offset: u32,
    /// Added to the column of spans on the first line.
    pub column_offset: u32,
    /// The items, modules among them.
    pub items: Vec<syn::Item>,
    /// Paths that are not defined in the unit, as written without spaces (`crate::N`, `helper`), and what they mean.
    pub externs: BTreeMap<String, Extern>,
    /// Whether its items are the device's without a mark of their own: they stand in a `#[warpwright::module]`.
    pub is_of_module: bool,
    /// Of the unit of a type: the functions of its `impl`s that are the host's, for want of a mark, and where they stand.
    pub host_methods: Vec<(String, String)>,
    /// The `static`s outside it that its items name, which device code cannot.
    pub statics: Vec<syn::ItemStatic>,
}

impl Unit {
    /// A unit of items whose spans are the file's own: inside the macro.
    pub fn from_items(file: impl Into<String>, mut items: Vec<syn::Item>) -> Unit {
        mark_called(&mut items);
        Unit {
            file: file.into(),
            line_offset: 0,
            column_offset: 0,
            items,
            externs: BTreeMap::new(),
            is_of_module: false,
            host_methods: Vec::new(),
            statics: Vec::new(),
        }
    }

    /// Parses source text whose first character stands at `line` and `column` (from 1) of `file`.
    pub fn parse(file: impl Into<String>, line: u32, column: u32, text: &str) -> Result<Unit, Diagnostics> {
        let mut items = super::read::read_items(text)?;
        mark_called(&mut items);
        Ok(Unit {
            file: file.into(),
            line_offset: line.saturating_sub(1),
            column_offset: column.saturating_sub(1),
            items,
            externs: BTreeMap::new(),
            is_of_module: false,
            host_methods: Vec::new(),
            statics: Vec::new(),
        })
    }
}

/// Everything a compilation can see.
#[derive(Clone, Default)]
pub struct Program {
    /// The units, by [`UnitId`].
    pub units: Vec<Unit>,
}

impl Program {
    /// Adds a unit.
    pub fn add(&mut self, unit: Unit) -> UnitId {
        self.units.push(unit);
        UnitId(self.units.len() - 1)
    }
}

/// What a generic parameter stands for in one instance.
#[derive(Clone, Debug, PartialEq)]
pub enum GenericValue {
    /// The value of a const generic.
    Const(ConstValue),
    /// A type, as Rust text that the kernel's unit can resolve: `f32`, `[f16; 4]`, `Particle`.
    Type(String),
}

/// One instance of a kernel: an assignment to its generics, in their order.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Instance {
    /// One for each generic parameter.
    pub generics: Vec<GenericValue>,
}

impl Unit {
    /// The `#[kernel]` functions of the unit, modules included, with their paths (`module::name`), in source order.
    pub fn kernels(&self) -> Vec<(String, &syn::ItemFn)> {
        let mut found = Vec::new();
        collect_kernels(&self.items, "", &mut found);
        found
    }

    /// The kernel of this name (`saxpy`) or path (`module::saxpy`).
    pub fn kernel(&self, name: &str) -> Result<&syn::ItemFn, Diagnostics> {
        let all = self.kernels();
        let last = |path: &str| path.rsplit("::").next().unwrap_or(path).to_owned();
        if let Some((_, item)) = all.iter().find(|(path, _)| path == name || last(path) == name) {
            return Ok(item);
        }
        let names: Vec<_> = all.iter().map(|(path, _)| format!("`{path}`")).collect();
        let message = format!("there is no kernel `{name}` in {}", self.file);
        let help =
            if names.is_empty() { "the file has no `#[kernel]` function".to_owned() } else { format!("it has {}", names.join(", ")) };
        Err(Diagnostic::error(proc_macro2::Span::call_site(), message).help(help).into())
    }
}

fn collect_kernels<'u>(items: &'u [syn::Item], prefix: &str, found: &mut Vec<(String, &'u syn::ItemFn)>) {
    for item in items {
        match item {
            syn::Item::Fn(function) if function.attrs.iter().any(|a| a.path().segments.last().is_some_and(|s| s.ident == "kernel")) => {
                found.push((format!("{prefix}{}", function.sig.ident), function));
            }
            syn::Item::Mod(module) => {
                if let Some((_, items)) = &module.content {
                    collect_kernels(items, &format!("{prefix}{}::", module.ident), found);
                }
            }
            _ => {}
        }
    }
}
