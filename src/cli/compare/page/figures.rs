//! The table of a target, and what changes from one variant to another.

use super::super::Comparison;
use super::super::columns::{Better, Cell, Column, Kind};
use super::super::device::Timed;
use super::super::pareto::front;
use super::super::variant::{Compiled, Variant};
use super::cells::{Figures, columns, is_dense};
use serde_json::{Value as Json, json};

/// Columns whose figures are drawn as bars, too.
const BARS: [&str; 3] = ["occupancy", "predicted", "time"];

/// One row per variant: its generics, then its figures; what all have in common apart.
pub(super) fn table(comparison: &Comparison, target: usize) -> Json {
    let front = front(&comparison.variants, target);
    let all = columns(comparison, target);
    let (same, shown): (Vec<&Figures>, Vec<&Figures>) = all.iter().partition(|figures| figures.same().is_some());
    let axes = axes(&comparison.variants);
    let most: Vec<f64> = shown.iter().map(|figures| most(figures.column, &comparison.variants, target)).collect();
    let rows = comparison.variants.iter().enumerate().map(|(n, variant)| {
        let generics: Vec<&str> = axes.iter().map(|axis| generic(variant, axis)).collect();
        let cells = variant.compiled().map(|compiled| {
            let cell = Cell { compiled, target };
            let figures = shown.iter().zip(&most).map(|(figures, most)| {
                let value = (figures.column.value)(cell);
                let share = value.filter(|_| BARS.contains(&figures.column.title)).map(|value| format!("{:.0}", value / most * 100.0));
                let text = figures.cells[n].clone().unwrap_or_default();
                json!({ "text": text.figure, "more": text.more, "differs": text.differs, "value": value, "best": figures.best[n], "share": share })
            });
            figures.collect::<Vec<_>>()
        });
        json!({
            "n": n,
            "name": variant.name(&comparison.kernel),
            "generics": generics,
            "is_pareto": front[n],
            "cells": cells,
            "reason": variant.outcome.as_ref().err(),
        })
    });
    let headings = shown.iter().map(|figures| {
        let better = match figures.column.better {
            Better::Less => "less",
            Better::More => "more",
            Better::Neither => "",
        };
        let Figures { column, unit, about, .. } = figures;
        json!({
            "title": column.title, "kind": column.kind.word(), "short": short_kind(column.kind), "better": better,
            "unit": unit, "about": about, "width": figures.more_width(), "is_words": figures.is_words(),
        })
    });
    let in_common = same.iter().filter_map(|figures| {
        let first = figures.cells.iter().position(Option::is_some)?;
        Some(json!({ "title": figures.column.title, "kind": figures.column.kind.word(), "text": figures.full(first) }))
    });
    let generics = axes.iter().map(|axis| axis.len().max(4) + 1).sum::<usize>();
    json!({
        "target": comparison.targets[target].name,
        "device": comparison.variants.iter().find_map(|variant| Some(variant.compiled()?.known.targets[target].prediction.as_ref()?.device)),
        "axes": axes,
        "columns": headings.collect::<Vec<_>>(),
        "same": in_common.collect::<Vec<_>>(),
        "is_dense": is_dense(&shown, generics),
        "rows": rows.collect::<Vec<_>>(),
    })
}

/// As short as the terminal says it.
fn short_kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Estimated => "est.",
        Kind::Simulated => "sim.",
        Kind::Exact | Kind::Measured | Kind::Timed => kind.word(),
    }
}

/// The generics that vary, in the order of the kernel.
fn axes(variants: &[Variant]) -> Vec<String> {
    let mut axes: Vec<String> = Vec::new();
    for (name, _) in variants.iter().flat_map(|variant| &variant.values) {
        if !axes.contains(name) {
            axes.push(name.clone());
        }
    }
    axes
}

fn generic<'v>(variant: &'v Variant, axis: &str) -> &'v str {
    variant.values.iter().find(|(name, _)| name == axis).map_or("", |(_, value)| value)
}

fn most(column: &Column, variants: &[Variant], target: usize) -> f64 {
    // Shares are of the whole, not of the most there is.
    if column.title == "occupancy" {
        return 100.0;
    }
    let values = variants.iter().filter_map(|variant| (column.value)(Cell { compiled: variant.compiled()?, target }));
    values.fold(f64::MIN_POSITIVE, f64::max)
}

/// Figures that differ between two variants on a target, and which way.
pub(super) fn deltas(comparison: &Comparison, a: usize, b: usize, target: usize) -> Vec<Json> {
    let all = columns(comparison, target);
    let compiled = |n: usize| comparison.variants.get(n).and_then(Variant::compiled);
    let (Some(before), Some(after)) = (compiled(a), compiled(b)) else { return Vec::new() };
    let (before, after) = (Cell { compiled: before, target }, Cell { compiled: after, target });
    let word = |is_better| if is_better { "better" } else { "worse" };
    let delta = |figures: &Figures| {
        let column = figures.column;
        let way = match (column.compared(before), column.compared(after), column.better) {
            // Within what one and the same variant takes from run to run.
            _ if column.title == "time" && are_alike(before.compiled, after.compiled) => "",
            (Some(before), Some(after), Better::Less) if before != after => word(after < before),
            (Some(before), Some(after), Better::More) if before != after => word(after > before),
            _ => "",
        };
        json!({ "title": column.title, "kind": column.kind.word(), "a": figures.full(a), "b": figures.full(b), "way": way })
    };
    all.iter().filter(|figures| figures.cells[a] != figures.cells[b]).map(delta).collect()
}

/// Whether the median time of one of two variants is among the runs of the other.
fn are_alike(a: &Compiled, b: &Compiled) -> bool {
    let is_among = |a: &Timed, b: &Timed| b.times.first() <= Some(&a.median()) && Some(&a.median()) <= b.times.last();
    a.timed.as_ref().zip(b.timed.as_ref()).is_some_and(|(a, b)| is_among(a, b) || is_among(b, a))
}
