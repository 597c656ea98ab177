//! Differences in words: each variant against the first.

use super::Comparison;
use super::columns::{Better, COLUMNS, Cell, Column};
use super::variant::Variant;
use crate::cli::units::bytes;

/// Differences smaller than this share are none: figures are shown with two or three digits.
const SMALLEST: f64 = 0.005;

/// More differences than these are left out.
const MOST: usize = 6;

/// What each variant gains and loses against the first, on the foremost target; those that differ from it in fewest generics first, since they
/// say what one of them does.
pub(super) fn differences(comparison: &Comparison) -> Vec<String> {
    let Some((first, others)) = comparison.variants.split_first() else { return Vec::new() };
    if comparison.targets.is_empty() {
        return Vec::new();
    }
    let target = comparison.foremost();
    let others = others.iter().map(|other| (differing(first, other), other));
    let mut found: Vec<(usize, String)> = others
        .filter_map(|(generics, other)| Some((generics.len(), format!("  {}: {}", generics.join(", "), difference(first, other, target)?))))
        .collect();
    if found.is_empty() {
        return Vec::new();
    }
    found.sort_by_key(|(generics, _)| *generics);
    let left = found.len().saturating_sub(MOST);
    found.truncate(MOST);
    let name = if first.words.is_empty() { "this".to_owned() } else { format!("the first ({})", first.words) };
    let mut lines = vec![format!("On {}, against {name}:", comparison.targets[target].name)];
    lines.extend(found.into_iter().map(|(_, text)| text));
    if left > 0 {
        lines.push(format!("  … and {left} more variants"));
    }
    lines
}

/// What another variant has that the first has not: `ILP = 4`.
fn differing(first: &Variant, other: &Variant) -> Vec<String> {
    let is_other = |(name, value): &&(String, String)| first.value(name) != Some(value);
    let shown = |(name, value): &(String, String)| if name == "revision" { format!("at {value}") } else { format!("{name} = {value}") };
    other.values.iter().filter(is_other).map(shown).collect()
}

/// `8 registers more, …`, on one target; `None` if nothing differs.
fn difference(first: &Variant, other: &Variant, target: usize) -> Option<String> {
    let (Some(a), Some(b)) = (first.compiled(), other.compiled()) else { return None };
    let (a, b) = (Cell { compiled: a, target }, Cell { compiled: b, target });
    let mut parts: Vec<(bool, String)> = Vec::new();
    for column in COLUMNS.iter().filter(|column| !column.noun.is_empty()) {
        if let (Some(before), Some(after)) = (column.compared(a), column.compared(b))
            && (after - before).abs() > SMALLEST * before.abs().max(after.abs())
        {
            parts.push((is_better(column, before, after), phrase(column, before, after)));
        }
    }
    // What is gained, then what it costs.
    parts.sort_by_key(|(is_better, _)| !is_better);
    let list: Vec<String> = parts.into_iter().map(|(_, text)| text).collect();
    (!list.is_empty()).then(|| list.join(", "))
}

fn is_better(column: &Column, before: f64, after: f64) -> bool {
    match column.better {
        Better::Less => after < before,
        Better::More => after > before,
        Better::Neither => true,
    }
}

/// Small whole numbers by their difference, others by their ratio.
fn phrase(column: &Column, before: f64, after: f64) -> String {
    let noun = column.noun;
    let is_count = before.fract() == 0.0 && after.fract() == 0.0 && before.max(after) <= 1024.0;
    let word = if after > before { "more" } else { "fewer" };
    match column.title {
        "occupancy" => format!("occupancy {after:.0} % for {before:.0} %"),
        "time" => format!("timed {:.2}× as fast", before / after),
        "predicted time" => format!("predicted {:.2}× as fast", before / after),
        "predicted" => format!("predicted {:.2}× as fast", after / before),
        "in flight / need" => format!("{} in flight for {}", bytes(after), bytes(before)),
        "sectors / need" => format!("fetches {after:.2}× the sectors it needs for {before:.2}×"),
        "conflicts" if after <= 1.0 => format!("no bank conflicts for {before:.0}-way"),
        "conflicts" if before <= 1.0 => format!("{after:.0}-way bank conflicts for none"),
        "conflicts" => format!("{after:.0}-way bank conflicts for {before:.0}-way"),
        _ if is_count => format!("{:.0} {word} {noun}", (after - before).abs()),
        _ if before == 0.0 => format!("{after:.0} {noun} for none"),
        _ => format!("{:.2}× the {noun}", after / before),
    }
}
