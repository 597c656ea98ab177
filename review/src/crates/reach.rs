//! From a kernel to the program that it needs: each item that it names, and each that those name, is a unit of its own.
//!
//! That is what a launch makes of them, too: what differs is only who finds the items, the files here and `rustc` there.

use super::Crate;
use super::resolve::{Meaning, Space};
use super::tree::{ItemId, KernelPlace, cfgs};
use proc_macro2::{LineColumn, Span};
use quote::ToTokens;
use std::collections::HashMap;
use syn::visit::{self, Visit};
use warpwright_codegen::diagnostic::{Diagnostic, Diagnostics};
use warpwright_codegen::hir;
use warpwright_codegen::syntax::{
    ConstValue, Extern, FreePathKind, KernelAttributes, Program, Setting, Unit, UnitId, attributes_of, free_paths, is_named,
};

/// A kernel with all that it names.
pub struct Reached {
    /// The kernel's unit, and those of the items that it needs.
    pub program: Program,
    /// The kernel's.
    pub unit: UnitId,
    /// What no file explains.
    pub unknown: Vec<Unknown>,
    /// Names that there are not, or that stand for nothing that device code can use: `rustc` reports them.
    pub missing: Vec<String>,
    /// The constants that a caller may give, as written: those that the file that names them does not define.
    pub definable: Vec<String>,
    /// For each unit, the name in the kernel that led to it.
    origins: Vec<Span>,
    /// For each unit, all of it.
    wholes: Vec<Span>,
}

/// A place within a program, which stays what it is when the unit is moved within its file, or to another file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The unit.
    pub unit: UnitId,
    /// Lines below the one that the unit begins in.
    pub line: usize,
    /// Column from 0; in the line that the unit begins in, columns behind its beginning.
    pub column: usize,
}

/// A name that no file explains.
#[derive(Clone, Debug)]
pub struct Unknown {
    /// As written where it stands.
    pub key: String,
    /// The name in the kernel that leads to it: itself, or that of what needs it.
    pub span: Span,
    /// Why: `comes from the crate `shapes``, `is under `#[cfg(…)]``.
    pub reason: String,
    /// What the kernel calls what needs it, if that is not itself.
    pub needed_by: Option<String>,
    /// Whether it is a constant, whose value could be given.
    pub is_constant: bool,
}

/// Most unknown names beside the first that a finding lists.
const MOST_NAMED: usize = 2;

impl Reached {
    /// The kernel's item.
    pub fn item(&self) -> &syn::ItemFn {
        match &self.program.units[self.unit.0].items[..] {
            [syn::Item::Fn(item)] => item,
            _ => unreachable!("a kernel's unit is its function"),
        }
    }

    /// The kernel's name, as its unit knows it.
    pub fn name(&self) -> String {
        self.item().sig.ident.to_string()
    }

    /// The name in the kernel that leads to a unit; `None`: the unit is the kernel's own.
    pub fn origin(&self, unit: UnitId) -> Option<Span> {
        (unit != self.unit).then(|| self.origins[unit.0])
    }

    /// A unit's text as it stands in its file: all that its spans are places in.
    pub fn text(&self, unit: UnitId) -> String {
        self.wholes[unit.0].source_text().unwrap_or_default()
    }

    /// Where a span begins; `None`: in no unit.
    pub fn spot(&self, span: Span) -> Option<Spot> {
        let (file, at) = (span.file(), span.start());
        let is_in = |whole: &Span| whole.file() == file && whole.start() <= at && at <= whole.end();
        let unit = self.wholes.iter().position(is_in)?;
        let start = self.wholes[unit].start();
        let line = at.line - start.line;
        Some(Spot { unit: UnitId(unit), line, column: at.column - if line == 0 { start.column } else { 0 } })
    }

    /// Where a spot stands in the file of its unit: line from 1, column from 0; `None`: there is no such unit.
    pub fn place_of(&self, spot: Spot) -> Option<LineColumn> {
        let start = self.wholes.get(spot.unit.0)?.start();
        Some(LineColumn { line: start.line + spot.line, column: spot.column + if spot.line == 0 { start.column } else { 0 } })
    }

    /// Says that the kernel is not looked at, if something that it names is unknown. `of_crate`: what the crate says of findings.
    pub fn unchecked(&self, of_crate: Option<Setting>) -> Option<Diagnostic> {
        let first = self.unknown.first()?;
        let attributes = KernelAttributes::find(&self.item().attrs, &mut Diagnostics::new()).unwrap_or_default();
        let said = |unknown: &Unknown| match &unknown.needed_by {
            Some(name) => format!("`{name}` needs `{}`, which {}", unknown.key, unknown.reason),
            None => format!("`{}` {}", unknown.key, unknown.reason),
        };
        let help = if self.unknown.iter().all(|unknown| unknown.is_constant) {
            format!("`warpwright check FILE -D {}=VALUE` looks at it with that value", first.key)
        } else {
            "`.report(\"sm_90\")` of a launch, in a test say, knows all that it names".to_owned()
        };
        let mut finding =
            Diagnostic::warning(first.span, format!("this kernel is not checked: {}", said(first))).help(help).of_lint("unchecked");
        let others = &self.unknown[1..];
        for other in others.iter().take(MOST_NAMED) {
            finding = finding.label(other.span, said(other));
        }
        if let Some(next) = others.get(MOST_NAMED) {
            finding = finding.label(next.span, format!("{} more names are not known", others.len() - MOST_NAMED));
        }
        if let Some(clause) = attributes.required.first() {
            finding = finding.label(clause.span, "its requirements are not checked either");
        }
        attributes.levels.within(of_crate).apply(finding)
    }
}

/// What the values of constants are that the caller gives, by key.
pub type Given<'g> = &'g dyn Fn(&str) -> Option<ConstValue>;

impl Crate {
    /// The program that a kernel needs. `given` overrides constants.
    pub fn reach(&mut self, kernel: &KernelPlace, given: Given<'_>) -> Reached {
        let id = kernel.item;
        self.given = [&self.modules[id.module.0].cfgs[..], &cfgs(attributes_of(self.item(id)))].concat();
        let mut walk = Walk {
            kernel: id,
            given,
            program: Program::default(),
            units: Vec::new(),
            known: HashMap::new(),
            unknown: Vec::new(),
            missing: Vec::new(),
            definable: Vec::new(),
        };
        walk.add(self, id, Span::call_site(), "");
        let mut next = 0;
        while next < walk.units.len() {
            walk.bind(self, next);
            next += 1;
        }
        walk.evaluate(self);
        let origins = walk.units.iter().map(|unit| unit.origin).collect();
        let wholes = walk.program.units.iter().map(|unit| whole(&unit.items)).collect();
        let Walk { program, unknown, missing, definable, .. } = walk;
        Reached { program, unit: UnitId(0), unknown, missing, definable, origins, wholes }
    }
}

/// A unit that was added.
struct Added {
    item: ItemId,
    /// The name in the kernel that led to it, and its text.
    origin: Span,
    name: String,
}

struct Walk<'g> {
    kernel: ItemId,
    given: Given<'g>,
    program: Program,
    /// By [`UnitId`].
    units: Vec<Added>,
    known: HashMap<ItemId, UnitId>,
    unknown: Vec<Unknown>,
    missing: Vec<String>,
    definable: Vec<String>,
}

impl Walk<'_> {
    fn add(&mut self, files: &mut Crate, id: ItemId, origin: Span, name: &str) -> UnitId {
        if let Some(known) = self.known.get(&id) {
            return *known;
        }
        let mut unit = Unit::from_items(files.source(id.module).name.as_str(), vec![files.item(id).clone()]);
        unit.is_of_module = files.modules[id.module.0].is_marked;
        let unit = self.program.add(unit);
        self.known.insert(id, unit);
        self.units.push(Added { item: id, origin, name: name.to_owned() });
        if matches!(files.item(id), syn::Item::Struct(_) | syn::Item::Enum(_)) {
            let (marked, hosts): (Vec<_>, Vec<_>) = self.methods(files, id).into_iter().partition(|(_, is_marked)| *is_marked);
            for (methods, _) in marked {
                self.add(files, methods, origin, name);
            }
            for (methods, _) in hosts {
                for name in functions_of(files.item(methods)) {
                    let place = files.place(name.span()).map_or_else(String::new, |place| place.to_string());
                    self.program.units[unit.0].host_methods.push((name.to_string(), place));
                }
            }
        }
        unit
    }

    /// The `impl`s of a type beside it, round it, in modules within its own, and round the kernel, and whether they are the device's.
    fn methods(&self, files: &mut Crate, ty: ItemId) -> Vec<(ItemId, bool)> {
        let mut modules = Vec::new();
        for mut at in [Some(ty.module), Some(self.kernel.module)] {
            while let Some(module) = at {
                if !modules.contains(&module) {
                    modules.push(module);
                }
                at = files.modules[module.0].parent;
            }
        }
        let is_marked = |files: &Crate, item: ItemId| {
            files.modules[item.module.0].is_marked || attributes_of(files.item(item)).iter().any(|attr| is_named(attr, "device"))
        };
        let is_bare = !is_marked(files, ty);
        let mut found = Vec::new();
        for module in modules {
            for index in 0..files.items(module).len() {
                let id = ItemId { module, index };
                let syn::Item::Impl(item) = files.item(id) else { continue };
                let syn::Type::Path(path) = &*item.self_ty else { continue };
                if item.trait_.is_some() {
                    continue;
                }
                let path: Vec<String> = path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
                if files.resolve(module, &path, Space::Types) == Meaning::Item(ty, Vec::new()) {
                    found.push((id, is_bare || is_marked(files, id)));
                }
            }
        }
        found
    }

    /// Gives the names that a unit takes from outside their meaning.
    fn bind(&mut self, files: &mut Crate, unit: usize) {
        let Added { item: ItemId { module, .. }, .. } = self.units[unit];
        for free in free_paths(&self.program.units[unit].items) {
            let (origin, name) = match unit {
                0 => (free.span, free.key.clone()),
                _ => (self.units[unit].origin, self.units[unit].name.clone()),
            };
            let is_constant = free.kind == FreePathKind::Constant;
            let meaning = files.meaning(module, &free);
            let is_beside = matches!(&meaning, Meaning::Item(id, _) if files.modules[id.module.0].file == files.modules[module.0].file);
            if is_constant && !is_beside {
                if let Some(value) = (self.given)(&free.key) {
                    self.program.units[unit].externs.insert(free.key.clone(), Extern::Constant(value));
                    self.definable.push(free.key);
                    continue;
                }
                self.definable.push(free.key.clone());
            }
            match meaning {
                Meaning::Item(id, within) => {
                    if let syn::Item::Static(item) = files.item(id) {
                        self.program.units[unit].statics.push(item.clone());
                    }
                    let Some(own) = device_name(files.item(id)) else {
                        self.missing.push(free.key);
                        continue;
                    };
                    let target = self.add(files, id, origin, &name);
                    let path = [&[own], &within[..]].concat().join("::");
                    self.program.units[unit].externs.insert(free.key, Extern::Item(target, path));
                }
                Meaning::Unknown(reason) => {
                    let needed_by = (unit != 0).then_some(name);
                    self.add_unknown(Unknown { key: free.key, span: origin, reason, needed_by, is_constant });
                }
                Meaning::Language(path) if is_constant => match hir::standard_constant(&path) {
                    Some(value) => {
                        self.program.units[unit].externs.insert(free.key, Extern::Constant(value));
                    }
                    None => {
                        let needed_by = (unit != 0).then_some(name);
                        let reason = "is the standard library's, and known to `rustc` only".to_owned();
                        self.add_unknown(Unknown { key: free.key, span: origin, reason, needed_by, is_constant });
                    }
                },
                Meaning::Module(_) | Meaning::Language(_) | Meaning::Nothing => self.missing.push(free.key),
            }
        }
    }

    fn add_unknown(&mut self, unknown: Unknown) {
        if !self.unknown.iter().any(|known| known.key == unknown.key && known.needed_by == unknown.needed_by) {
            self.unknown.push(unknown);
        }
    }

    /// Finds the constants that only `rustc` can compute, and those that are of no use to a kernel.
    fn evaluate(&mut self, files: &Crate) {
        for unit in 1..self.units.len() {
            let syn::Item::Const(item) = files.item(self.units[unit].item) else { continue };
            let name = item.ident.to_string();
            if hir::is_constant_known(&self.program, UnitId(unit), &name) {
                continue;
            }
            if !is_computed(&item.expr) {
                self.missing.push(name);
            } else {
                let Added { origin, name: ref named, .. } = self.units[unit];
                let needed_by = (named.rsplit("::").next() != Some(name.as_str())).then(|| named.clone());
                let reason = "is computed in a way that only `rustc` knows".to_owned();
                self.add_unknown(Unknown { key: name, span: origin, reason, needed_by, is_constant: true });
            }
        }
    }
}

/// From the first token of an item to its last, without the marks that `syntax` added, which stand nowhere.
fn whole(items: &[syn::Item]) -> Span {
    let tokens = items.iter().flat_map(ToTokens::to_token_stream);
    let mut spans = tokens.map(|token| token.span()).filter(|span| !span.byte_range().is_empty());
    let first = spans.next().unwrap_or_else(Span::call_site);
    spans.last().and_then(|last| first.join(last)).unwrap_or(first)
}

/// The names of the functions of an `impl`.
fn functions_of(item: &syn::Item) -> Vec<syn::Ident> {
    let syn::Item::Impl(item) = item else { return Vec::new() };
    let name = |member: &syn::ImplItem| match member {
        syn::ImplItem::Fn(function) => Some(function.sig.ident.clone()),
        _ => None,
    };
    item.items.iter().filter_map(name).collect()
}

/// The name of an item that device code can use.
fn device_name(item: &syn::Item) -> Option<String> {
    Some(match item {
        syn::Item::Fn(item) => item.sig.ident.to_string(),
        syn::Item::Const(item) => item.ident.to_string(),
        syn::Item::Struct(item) => item.ident.to_string(),
        syn::Item::Enum(item) => item.ident.to_string(),
        syn::Item::Type(item) => item.ident.to_string(),
        _ => return None,
    })
}

/// Whether an expression calls something: what is wrong with others, `rustc` says, too.
fn is_computed(expr: &syn::Expr) -> bool {
    struct Calls(bool);
    impl<'a> Visit<'a> for Calls {
        fn visit_expr(&mut self, expr: &'a syn::Expr) {
            self.0 |= matches!(
                expr,
                syn::Expr::Call(_)
                    | syn::Expr::MethodCall(_)
                    | syn::Expr::Macro(_)
                    | syn::Expr::Block(_)
                    | syn::Expr::Unsafe(_)
                    | syn::Expr::Match(_)
            );
            visit::visit_expr(self, expr);
        }
    }
    let mut calls = Calls(false);
    calls.visit_expr(expr);
    calls.0
}
