//! The arguments of `#[kernel(…)]` with constants and generics filled in.

use super::check::{Checker, TypeScope};
use super::tree::Annotations;
use super::types::{Const, Kind, Ty};
use crate::annotations::{Asked, ILP, Modifier, VECTORIZE};
use crate::diagnostic::Diagnostic;
use crate::ir::{IndexWidth, KernelOptions, TensorCores};
use crate::syntax::{KernelAttributes, Quantity, Relation, RequireClause, Sense, is_tf32, tensor_branches};
use crate::target::limits::{BLOCK_EXTENT, BLOCK_THREADS, CLUSTER_BLOCKS, GRID_EXTENT, LIMITS, RESIDENT_BLOCKS, THREAD_REGISTERS, WARP};
use proc_macro2::Span;
use syn::spanned::Spanned;

/// A clause of a contract with its bound filled in.
#[derive(Clone, Copy)]
pub struct Clause {
    /// What it is about.
    pub quantity: &'static Quantity,
    /// How it is compared.
    pub comparison: Relation,
    /// With what.
    pub bound: f64,
    /// The quantity's name in the source: where findings are shown.
    pub span: Span,
}

impl std::fmt::Display for Clause {
    /// `registers <= 64`
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {}", self.quantity.name, self.comparison.symbol(), self.bound)
    }
}

/// Evaluates a kernel's attribute for one instance: its options, and what is asked of the elements of a thread. Findings go to the checker's context.
pub(super) fn evaluate(checker: &mut Checker<'_, '_>, attributes: &KernelAttributes) -> (KernelOptions, Annotations) {
    let index = attributes.index.as_ref().and_then(|expr| index_width(checker, expr)).unwrap_or_default();
    let mut holds = |condition: &syn::Expr| checker_const(checker, condition, &Ty::BOOL).map(|value| value != 0);
    let math = attributes.math.word(&mut holds).unwrap_or_default();
    let bounds = attributes.bounds.word(&mut holds).unwrap_or_default();
    let mut options = KernelOptions { index, math, bounds, ..KernelOptions::default() };
    if let Some((span, extents)) = &attributes.block {
        let mut block = [1u32; 3];
        let mut total = 1i128;
        for (axis, expr) in extents.iter().enumerate().take(3) {
            let Some(extent) = integer(checker, expr) else { continue };
            if extent < 1 || extent > i128::from(BLOCK_EXTENT[axis]) {
                let message = format!("a block has 1 to {} threads along {}, not {extent}", BLOCK_EXTENT[axis], ["x", "y", "z"][axis]);
                checker.context.report(Diagnostic::error(expr.span(), message).help("128 or 256 threads are a good start"));
                continue;
            }
            total *= extent;
            block[axis] = extent as u32;
        }
        if total > i128::from(BLOCK_THREADS) {
            let message = format!("a block of {total} threads; no device takes more than {BLOCK_THREADS}");
            checker.context.report(Diagnostic::error(*span, message).help("make the block smaller and the grid larger"));
        }
        options.block = Some(block);
    }
    options.min_blocks = attributes.min_blocks.as_ref().and_then(|expr| bounded(checker, expr, "min_blocks", 1, RESIDENT_BLOCKS.into()));
    if let (Some(block), Some(blocks), Some(expr)) = (options.block, options.min_blocks, &attributes.min_blocks) {
        let warps = block.iter().product::<u32>().div_ceil(WARP);
        let most = LIMITS.iter().map(|limits| limits.warps).max().unwrap_or(u32::MAX);
        if warps * blocks > most {
            let threads = warps * WARP;
            let message = format!(
                "`min_blocks = {blocks}` blocks of {threads} threads are {}; no multiprocessor holds more than {}",
                blocks * threads,
                most * WARP
            );
            let help = format!("write `min_blocks = {}` at most", (most / warps).max(1));
            checker.context.report(Diagnostic::error(expr.span(), message).help(help));
        }
    }
    options.max_registers =
        attributes.max_registers.as_ref().and_then(|expr| bounded(checker, expr, "max_registers", 16, THREAD_REGISTERS.into()));
    options.persistent = attributes.persistent.as_ref().and_then(|expr| truth(checker, expr, "persistent")).unwrap_or(false);
    options.overlap = attributes.overlap.as_ref().and_then(|expr| truth(checker, expr, "overlap")).unwrap_or(false);
    options.tensor = attributes.tensor.as_ref().map_or(TensorCores::Best, |expr| tensor_cores(checker, expr));
    options.raster = attributes.raster.as_ref().and_then(|expr| rows(checker, expr)).unwrap_or(1);
    options.cluster = attributes.cluster.as_ref().and_then(|(span, extents)| cluster(checker, *span, extents)).unwrap_or([1; 3]);
    check_bands(checker, attributes, &options);
    if let Some(expr) = &attributes.contract {
        options.contract = checker_const(checker, expr, &Ty::BOOL).is_none_or(|value| value != 0);
    }
    let mut written = attributes.annotations.clone();
    if attributes.best_effort {
        written.say(Modifier::BestEffort);
    }
    let elements = checker.evaluated(&written);
    options.ilp = elements.get(&ILP).map_or(1, Asked::count);
    options.vectorize = elements.get(&VECTORIZE).map_or(1, Asked::count);
    (options, elements)
}

/// Evaluates what a kernel's `require(…)` asks for.
pub(super) fn required(checker: &mut Checker<'_, '_>, attributes: &KernelAttributes) -> Vec<Clause> {
    let clause = |clause: &RequireClause| {
        let RequireClause { quantity, span, comparison, bound } = clause;
        let value = checker.const_number(bound)?;
        if quantity.sense == Sense::AtLeast && value > 1.0 {
            let message = format!("`{}` is a share of the maximum, at most 1, not {value}", quantity.name);
            checker.context.report(Diagnostic::error(bound.span(), message).help(format!("write, for example, `{}`", quantity.example)));
            return None;
        }
        Some(Clause { quantity, comparison: *comparison, bound: value, span: *span })
    };
    attributes.required.iter().filter_map(clause).collect()
}

fn checker_const(checker: &mut Checker<'_, '_>, expr: &syn::Expr, ty: &Ty) -> Option<i128> {
    match checker.const_expression(expr, ty) {
        Const::Value(value) => Some(value),
        Const::Var(_) => None,
    }
}

/// An integer of whatever integer type the expression has.
fn integer(checker: &mut Checker<'_, '_>, expr: &syn::Expr) -> Option<i128> {
    let ty = checker.infer.fresh(Kind::Int);
    checker_const(checker, expr, &ty)
}

/// What `tensor = …` says: a `bool`, `tf32`, or one of them by a condition.
fn tensor_cores(checker: &mut Checker<'_, '_>, expr: &syn::Expr) -> TensorCores {
    if let Some((condition, [then, otherwise])) = tensor_branches(expr) {
        let holds = checker_const(checker, condition, &Ty::BOOL).is_none_or(|value| value != 0);
        return tensor_cores(checker, if holds { then } else { otherwise });
    }
    match is_tf32(expr) {
        true => TensorCores::Tf32,
        false if truth(checker, expr, "tensor").unwrap_or(true) => TensorCores::Required,
        false => TensorCores::Off,
    }
}

/// A `bool`, of an argument of this name; a number is none.
fn truth(checker: &mut Checker<'_, '_>, expr: &syn::Expr, name: &str) -> Option<bool> {
    let (value, ty) = checker.constant_of_any_type(expr)?;
    match ty == Ty::BOOL {
        true => Some(value != 0),
        false if checker.infer.kind(&ty) == Some(Kind::Any) => None,
        false => {
            let is_plain = checker.infer.kind(&ty) == Some(Kind::Int);
            let found = if is_plain { "a number".to_owned() } else { format!("a `{}`", checker.show(&ty)) };
            let error = Diagnostic::error(expr.span(), format!("`{name}` takes `true` or `false`, not {found}"));
            checker.context.report(error.help(format!("write `{name}`, or a `bool` const generic or a comparison behind `{name} = `")));
            None
        }
    }
}

/// The rows of a band of `raster`.
fn rows(checker: &mut Checker<'_, '_>, expr: &syn::Expr) -> Option<u32> {
    let (value, ty) = checker.constant_of_any_type(expr)?;
    let most = GRID_EXTENT[1];
    let error = if ty == Ty::BOOL {
        "`rows` is a number, not a `bool`".to_owned()
    } else if value < 1 || value > i128::from(most) {
        format!("`rows` is between 1 and {most}, not {value}")
    } else {
        return u32::try_from(value).ok();
    };
    checker.context.report(Diagnostic::error(expr.span(), error).help("write `raster(rows = 8)`, or 1 for the order without it"));
    None
}

/// `index = 32` or `64`.
fn index_width(checker: &mut Checker<'_, '_>, expr: &syn::Expr) -> Option<IndexWidth> {
    match integer(checker, expr)? {
        32 => Some(IndexWidth::Bits32),
        64 => Some(IndexWidth::Bits64),
        other => {
            let error = Diagnostic::error(expr.span(), format!("`index` is 32 or 64, not {other}"));
            checker.context.report(error.help("write `index = 64` for 64-bit indices"));
            None
        }
    }
}

fn bounded(checker: &mut Checker<'_, '_>, expr: &syn::Expr, name: &str, least: i128, most: i128) -> Option<u32> {
    let value = integer(checker, expr)?;
    if value < least || value > most {
        let error = Diagnostic::error(expr.span(), format!("`{name}` is between {least} and {most}, not {value}"));
        checker.context.report(error.help(format!("write `{name} = {}`", if value < least { least } else { most })));
        return None;
    }
    u32::try_from(value).ok()
}

/// `cluster = (X, Y, Z)`.
fn cluster(checker: &mut Checker<'_, '_>, span: Span, extents: &[syn::Expr]) -> Option<[u32; 3]> {
    let mut all = [1i128; 3];
    for (axis, expr) in extents.iter().enumerate().take(3) {
        let extent = integer(checker, expr)?;
        if extent < 1 {
            let message = format!("a cluster has at least 1 block along {}, not {extent}", ["x", "y", "z"][axis]);
            checker.context.report(Diagnostic::error(expr.span(), message).help(format!("use 1 to {CLUSTER_BLOCKS}")));
            return None;
        }
        all[axis] = extent;
    }
    let blocks = all.iter().fold(1i128, |product, extent| product.saturating_mul(*extent));
    if blocks > i128::from(CLUSTER_BLOCKS) {
        let message = format!("a cluster of {blocks} blocks; devices promise room for {CLUSTER_BLOCKS}");
        checker
            .context
            .report(Diagnostic::error(span, message).help(format!("make it {CLUSTER_BLOCKS} blocks at most, `cluster = (2, 2)`")));
        return None;
    }
    Some(all.map(|extent| extent as u32))
}

/// A band of `raster` is whole rows of clusters.
fn check_bands(checker: &mut Checker<'_, '_>, attributes: &KernelAttributes, options: &KernelOptions) {
    let [_, height, _] = options.cluster;
    if options.raster <= 1 || options.raster.is_multiple_of(height) {
        return;
    }
    let Some(expr) = &attributes.raster else { return };
    let message = format!("bands of {} rows, and clusters are {height} rows high: a band is whole clusters", options.raster);
    let help = format!("write `rows = {}`", options.raster.next_multiple_of(height));
    checker.context.report(Diagnostic::error(expr.span(), message).help(help));
}

/// The scope a kernel's attribute is evaluated in.
pub(super) fn scope(context: &super::check::Context<'_>, function: super::items::FnId, args: &[super::types::Arg]) -> TypeScope {
    context.scope_of(function, args)
}
