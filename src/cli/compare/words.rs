//! Differences in words: each variant against the first.

use super::columns::{Better, COLUMNS, Cell, Column};
use super::variant::Variant;

/// Differences smaller than this share are none: figures are shown with two or three digits.
const SMALLEST: f64 = 0.005;

/// `ILP = 4 against ILP = 1: 8 registers more, …`, on one target; empty if nothing differs.
pub(super) fn difference(first: &Variant, other: &Variant, target: usize) -> Option<String> {
    let (Some(a), Some(b)) = (first.compiled(), other.compiled()) else { return None };
    let mut parts: Vec<(bool, String)> = Vec::new();
    for column in COLUMNS.iter().filter(|column| !column.noun.is_empty()) {
        let figures = ((column.value)(Cell { compiled: a, target }), (column.value)(Cell { compiled: b, target }));
        if let (Some(before), Some(after)) = figures
            && (after - before).abs() > SMALLEST * before.abs().max(after.abs())
        {
            parts.push((is_better(column, before, after), phrase(column, before, after)));
        }
    }
    if parts.is_empty() {
        return None;
    }
    // What is gained, then what it costs.
    parts.sort_by_key(|(is_better, _)| !is_better);
    let name = |variant: &Variant| if variant.words.is_empty() { "this".to_owned() } else { variant.words.clone() };
    let list: Vec<String> = parts.into_iter().map(|(_, text)| text).collect();
    Some(format!("{} against {}: {}", name(other), name(first), list.join(", ")))
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
        "predicted" => format!("predicted {:.2}× as fast", after / before),
        "in flight / need" => format!("{} in flight for {}", super::columns::bytes(after), super::columns::bytes(before)),
        "conflicts" if after <= 1.0 => format!("no bank conflicts for {before:.0}-way"),
        "conflicts" if before <= 1.0 => format!("{after:.0}-way bank conflicts for none"),
        "conflicts" => format!("{after:.0}-way bank conflicts for {before:.0}-way"),
        _ if is_count => format!("{:.0} {word} {noun}", (after - before).abs()),
        _ if before == 0.0 => format!("{after:.0} {noun} for none"),
        _ => format!("{:.2}× the {noun}", after / before),
    }
}
