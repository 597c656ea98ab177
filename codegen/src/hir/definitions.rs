//! Types that cannot be: a struct that holds itself, one with more scalars than a thread can hold as a value, one with a const generic
//! that is a struct, an enum whose variants do not fit the integer behind it, or of which two have one value.
//!
//! Looked at before anything asks for the fields of a field, so that nothing behind this walks in circles.

use super::check::edits::{nearest_number, wider};
use super::check::{Checker, Context, TypeScope};
use super::items::{AdtKind, Def, ModuleId, Namespace};
use super::types::{AdtId, Const, Ty};
use crate::collections::HashMap;
use crate::diagnostic::Diagnostic;
use crate::ir::Scalar;
use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// Most scalars of a struct as one value. Here arrays count once, since elements may be read where they are.
pub(super) const MOST_SCALARS: u64 = 4096;

/// Most aliases that stand for one another.
const MOST_ALIASES: u32 = 16;

/// Reports every type of the program's items that cannot be.
pub(super) fn check_definitions(context: &Context<'_>) {
    check_written_out(context);
    for adt in &context.items.adts {
        let AdtKind::Enum(variants, repr) = &adt.kind else { continue };
        for (variant, value) in variants.iter().filter(|(_, value)| Scalar::int(*repr, *value).as_int() != *value) {
            let message = format!("`{}::{variant}` is {value}, which does not fit the `{repr}` of `{}`", adt.name, adt.name);
            let fit = nearest_number(*repr, *value);
            let help = match wider(*repr, *value) {
                Some(wider) => format!("give `{variant}` {fit}, or write `#[repr({wider})]`"),
                None => format!("give `{variant}` {fit}"),
            };
            context.report(Diagnostic::error(adt.span, message).help(help).by_rustc());
        }
    }
    context.items.enums.iter().for_each(|(id, item)| check_values(context, *id, item));
    for (index, adt) in context.items.adts.iter().enumerate() {
        for param in adt.generics.const_params() {
            let mut named = Named::of(context, AdtId(index));
            named.visit_type(&param.ty);
            if let Some(id) = named.found.first() {
                let (name, of) = (&param.ident, &context.items.adts[id.0].name);
                let message =
                    format!("the const generic `{name}` of `{}` is of the type `{of}`; it can be an integer or a `bool`", adt.name);
                context.report(Diagnostic::error(param.ty.span(), message).help("give it the type `usize`").by_rustc());
            }
        }
    }
    check_structs(context);
}

/// Reports variants of an enum that have the value of one before them.
fn check_values(context: &Context<'_>, id: AdtId, item: &syn::ItemEnum) {
    let adt = &context.items.adts[id.0];
    let AdtKind::Enum(variants, _) = &adt.kind else { return };
    let mut known: HashMap<i128, &syn::Ident> = HashMap::default();
    for ((_, value), variant) in variants.iter().zip(&item.variants) {
        let Some(first) = known.get(value) else {
            known.insert(*value, &variant.ident);
            continue;
        };
        let (of, name) = (&adt.name, &variant.ident);
        let error = Diagnostic::error(name.span(), format!("`{of}::{name}` is {value}, and so is `{of}::{first}`"));
        let error = error.label(first.span(), format!("{value} here")).help(format!("give it a value of its own: `{name} = …`"));
        context.report(error.by_rustc());
    }
}

/// Evaluates the values of variants that are written as more than a number: `A = 1 << 4`, `B = FIRST + 1`.
pub(super) fn settle_variants(context: &mut Context<'_>) {
    for index in 0..context.items.enums.len() {
        let (id, item) = context.items.enums[index];
        if item.variants.iter().all(|variant| variant.discriminant.as_ref().is_none_or(|(_, value)| is_plain(value))) {
            continue;
        }
        let adt = &context.items.adts[id.0];
        let AdtKind::Enum(_, repr) = adt.kind else { continue };
        let is_open = adt.attrs.iter().all(|attr| !attr.path().is_ident("repr"));
        let ty = if is_open { Ty::Isize } else { Ty::Scalar(repr) };
        let mut next = 0;
        let mut variants = Vec::new();
        for variant in &item.variants {
            let scope = TypeScope { module: adt.module, generics: Default::default(), self_ty: None };
            let value = variant.discriminant.as_ref().map(|(_, value)| Checker::new(context, scope).const_expression(value, &ty));
            // What has no value is said, and counted on.
            let value = if let Some(Const::Value(value)) = value { value } else { next };
            variants.push((variant.ident.to_string(), value));
            next = value.wrapping_add(1);
        }
        context.items.adts[id.0].kind = AdtKind::Enum(variants, repr);
    }
}

/// Whether a value is a number without a suffix, which is of whatever type is asked for.
fn is_plain(value: &syn::Expr) -> bool {
    let number = if let syn::Expr::Unary(syn::ExprUnary { op: syn::UnOp::Neg(_), expr, .. }) = value { expr } else { value };
    matches!(number, syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(int), .. }) if int.suffix().is_empty())
}

/// Reports `_` in the types of items, which are inferred within bodies alone.
fn check_written_out(context: &Context<'_>) {
    let mut open = LeftOpen(Vec::new());
    context.items.functions.iter().for_each(|function| open.visit_signature(function.signature));
    context.items.constants.iter().for_each(|constant| open.visit_type(constant.ty));
    context.items.aliases.iter().for_each(|(_, alias)| open.visit_type(&alias.ty));
    for adt in &context.items.adts {
        if let AdtKind::Struct(fields) = &adt.kind {
            fields.iter().for_each(|field| open.visit_type(&field.ty));
        }
    }
    for span in open.0 {
        let message = "`_` is no type of a parameter, a result, a field or a constant";
        context.report(Diagnostic::error(span, message).help("write the type: only those of locals are inferred").by_rustc());
    }
}

/// Where `_` stands for a type.
struct LeftOpen(Vec<Span>);

impl<'ast> Visit<'ast> for LeftOpen {
    fn visit_type_infer(&mut self, infer: &'ast syn::TypeInfer) {
        self.0.push(infer.span());
    }

    // A pattern of a parameter is no type, nor is an array's length.
    fn visit_pat(&mut self, _: &'ast syn::Pat) {}
    fn visit_expr(&mut self, _: &'ast syn::Expr) {}

    fn visit_pat_type(&mut self, typed: &'ast syn::PatType) {
        self.visit_type(&typed.ty);
    }
}

fn check_structs(context: &Context<'_>) {
    let count = context.items.adts.len();
    let edges: Vec<Vec<AdtId>> = (0..count).map(|index| fields_of(context, AdtId(index))).collect();
    let mut walk = Walk { edges: &edges, state: vec![State::New; count], rings: Vec::new() };
    for index in 0..count {
        walk.scalars(index);
    }
    let rings = std::mem::take(&mut walk.rings);
    for index in rings.iter().copied() {
        let adt = &context.items.adts[index];
        let message = format!("the struct `{}` holds itself, and would have no end", adt.name);
        context.report(Diagnostic::error(adt.span, message).help("hold an index into a buffer instead").by_rustc());
    }
    for (index, state) in walk.state.iter().enumerate() {
        if let State::Known(scalars) = state
            && *scalars > MOST_SCALARS
            && rings.is_empty()
        {
            let adt = &context.items.adts[index];
            let message = format!("the struct `{}` has {scalars} scalars; a thread holds at most {MOST_SCALARS} as one value", adt.name);
            context.report(Diagnostic::error(adt.span, message).help("hold arrays, or split the struct"));
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Open,
    Known(u64),
}

struct Walk<'e> {
    edges: &'e [Vec<AdtId>],
    state: Vec<State>,
    /// Structs that hold themselves.
    rings: Vec<usize>,
}

impl Walk<'_> {
    /// Scalars of a struct; 1 for what is no struct of the program.
    fn scalars(&mut self, index: usize) -> u64 {
        match self.state[index] {
            State::Known(scalars) => return scalars,
            State::Open => {
                if !self.rings.contains(&index) {
                    self.rings.push(index);
                }
                return 1;
            }
            State::New => {}
        }
        self.state[index] = State::Open;
        let inner = self.edges[index].clone();
        let total = inner.into_iter().map(|field| self.scalars(field.0)).fold(1, u64::saturating_add);
        self.state[index] = State::Known(total);
        total
    }
}

/// The structs that a struct's fields hold, as often as they are named.
fn fields_of(context: &Context<'_>, id: AdtId) -> Vec<AdtId> {
    let adt = &context.items.adts[id.0];
    let AdtKind::Struct(fields) = &adt.kind else { return Vec::new() };
    let mut named = Named::of(context, id);
    fields.iter().for_each(|field| named.visit_type(&field.ty));
    named.found
}

/// The structs that a written type names.
struct Named<'c, 'p> {
    context: &'c Context<'p>,
    /// What `Self` stands for.
    itself: AdtId,
    module: ModuleId,
    /// How many aliases stand round what is looked at.
    depth: u32,
    /// What aliases name, by their index; nothing of those that are being looked at.
    aliases: HashMap<usize, Vec<AdtId>>,
    found: Vec<AdtId>,
}

impl<'c, 'p> Named<'c, 'p> {
    /// Nothing as yet, to look at types written in a struct.
    fn of(context: &'c Context<'p>, itself: AdtId) -> Named<'c, 'p> {
        Named { context, itself, module: context.items.adts[itself.0].module, depth: 0, aliases: HashMap::default(), found: Vec::new() }
    }

    /// What an alias names: looked at once, however often it is named.
    fn named_by_alias(&mut self, index: usize) -> Vec<AdtId> {
        if let Some(known) = self.aliases.get(&index) {
            return known.clone();
        }
        self.aliases.insert(index, Vec::new());
        let (module, item) = self.context.items.aliases[index];
        let (outer, before) = (std::mem::replace(&mut self.module, module), std::mem::take(&mut self.found));
        self.depth += 1;
        self.visit_type(&item.ty);
        self.depth -= 1;
        self.module = outer;
        let own = std::mem::replace(&mut self.found, before);
        self.aliases.insert(index, own.clone());
        own
    }
}

impl<'ast> Visit<'ast> for Named<'_, '_> {
    fn visit_type_path(&mut self, path: &'ast syn::TypePath) {
        visit::visit_type_path(self, path);
        // Whatever generics are written behind it.
        let is_self = path.path.segments.len() == 1 && path.path.segments[0].ident == "Self";
        if is_self && self.depth == 0 {
            self.found.push(self.itself);
            return;
        }
        let segments: Vec<String> = path.path.segments.iter().map(|s| s.ident.to_string()).collect();
        match self.context.items.resolve(self.module, &segments, Namespace::Types) {
            Some(Def::Adt(id)) => self.found.push(id),
            Some(Def::Alias(index)) if self.depth < MOST_ALIASES => {
                let own = self.named_by_alias(index);
                // One more than there may be says enough.
                let room = (MOST_SCALARS as usize + 1).saturating_sub(self.found.len());
                self.found.extend(own.into_iter().take(room));
            }
            _ => {}
        }
    }

    // An array's length names constants, no structs.
    fn visit_expr(&mut self, _: &'ast syn::Expr) {}
}
