//! The table of a target, and what changes from one variant to another.

use super::super::Comparison;
use super::super::columns::{Better, COLUMNS, Cell, Column};
use super::super::pareto::front;
use super::super::table::shown;
use super::super::variant::Variant;
use super::charts;
use serde_json::{Value as Json, json};

/// Columns whose figures are drawn as bars, too.
const BARS: [&str; 3] = ["occupancy", "predicted", "time"];

/// One row per variant: its generics, then its figures.
pub(super) fn table(comparison: &Comparison, target: usize) -> Json {
    let front = front(&comparison.variants, target);
    let shown = shown(comparison, target);
    let axes = axes(&comparison.variants);
    let most: Vec<f64> = shown.iter().map(|(column, _)| most(column, &comparison.variants, target)).collect();
    let rows = comparison.variants.iter().enumerate().map(|(n, variant)| {
        let generics: Vec<&str> = axes.iter().map(|axis| generic(variant, axis)).collect();
        let cells = variant.compiled().map(|compiled| {
            let cell = Cell { compiled, target };
            let figures = shown.iter().zip(&most).map(|((column, best), most)| {
                let value = (column.value)(cell);
                let share = value.filter(|_| BARS.contains(&column.title)).map(|value| format!("{:.1}", value / most * 100.0));
                let shown = (column.show)(cell);
                // The figure itself, and what is said about it.
                let (text, more) = shown.as_deref().map_or((None, ""), |shown| {
                    let end = shown.find(" [").or(shown.find(" (")).unwrap_or(shown.len());
                    (Some(&shown[..end]), &shown[end..])
                });
                json!({ "text": text, "more": more, "value": value, "best": best[n], "share": share })
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
    let columns = shown.iter().map(|(column, _)| {
        let better = match column.better {
            Better::Less => "less",
            Better::More => "more",
            Better::Neither => "",
        };
        json!({ "title": column.title, "kind": column.kind.word(), "better": better })
    });
    let device = comparison.variants.iter().find_map(|variant| Some(variant.compiled()?.known.targets[target].prediction.as_ref()?.device));
    json!({
        "target": comparison.targets[target].name,
        "device": device,
        "axes": axes,
        "columns": columns.collect::<Vec<_>>(),
        "rows": rows.collect::<Vec<_>>(),
        "speed": charts::speed(comparison, target),
        "roofline": charts::roofline(comparison, target),
    })
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
    let compiled = |n: usize| comparison.variants.get(n).and_then(Variant::compiled);
    let (Some(a), Some(b)) = (compiled(a), compiled(b)) else { return Vec::new() };
    let (a, b) = (Cell { compiled: a, target }, Cell { compiled: b, target });
    let differs = |column: &&Column| (column.show)(a) != (column.show)(b);
    let word = |is_better| if is_better { "better" } else { "worse" };
    let delta = |column: &Column| {
        let way = match ((column.value)(a), (column.value)(b), column.better) {
            (Some(before), Some(after), Better::Less) if before != after => word(after < before),
            (Some(before), Some(after), Better::More) if before != after => word(after > before),
            _ => "",
        };
        let text = |cell| (column.show)(cell).unwrap_or_else(|| "?".to_owned());
        json!({ "title": column.title, "kind": column.kind.word(), "a": text(a), "b": text(b), "way": way })
    };
    COLUMNS.iter().filter(differs).map(delta).collect()
}
