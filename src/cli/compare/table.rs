//! The table for people: one row per variant, one table per target; best figures and the Pareto set marked; differences in words below.

use super::Comparison;
use super::columns::{COLUMNS, Cell, Column, Kind};
use super::pareto::{best, front};
use super::words::difference;
use crate::cli::style;
use comfy_table::{CellAlignment, ContentArrangement, Table, TableComponent, presets};
use std::fmt::Write;

/// More differences than these are left out.
const MOST_DIFFERENCES: usize = 6;

/// A comparison as text.
pub(super) fn text(comparison: &Comparison) -> String {
    let mut text = String::new();
    for (target, name) in comparison.targets.iter().map(|target| target.name).enumerate() {
        let device = comparison.variants.iter().find_map(|variant| variant.compiled()?.known.targets[target].prediction.as_ref());
        let device = device.map_or(String::new(), |prediction| format!(", predicted for {}", prediction.device));
        let _ = writeln!(text, "{}::{} for {name}{device}", comparison.file, comparison.kernel);
        let _ = writeln!(text, "{}", table(comparison, target));
    }
    for variant in &comparison.variants {
        if let Err(reason) = &variant.outcome {
            let name = variant.name(&comparison.kernel);
            let _ = writeln!(text, "{name} does not compile: {reason}");
        }
    }
    let _ = writeln!(
        text,
        "* best of its column   ◆ no other variant is as good at everything (registers, shared, occupancy, predicted, time)"
    );
    for note in &comparison.notes {
        let _ = writeln!(text, "{note}");
    }
    for difference in differences(comparison) {
        let _ = writeln!(text, "{difference}");
    }
    text
}

fn differences(comparison: &Comparison) -> Vec<String> {
    let Some((first, others)) = comparison.variants.split_first() else { return Vec::new() };
    let target = comparison.foremost();
    let mut found: Vec<String> = others.iter().filter_map(|other| difference(first, other, target)).collect();
    if found.len() > MOST_DIFFERENCES {
        let left = found.len() - MOST_DIFFERENCES;
        found.truncate(MOST_DIFFERENCES);
        found.push(format!("… and {left} more variants"));
    }
    if let Some(first) = found.first_mut() {
        first.insert_str(0, &format!("On {}: ", comparison.targets[target].name));
    }
    found
}

/// The columns that something is known for, each with the variants that are best at it.
pub(super) fn shown(comparison: &Comparison, target: usize) -> Vec<(&'static Column, Vec<bool>)> {
    let is_known = |column: &&Column| {
        let mut compiled = comparison.variants.iter().filter_map(|variant| variant.compiled());
        compiled.any(|compiled| (column.show)(Cell { compiled, target }).is_some())
    };
    COLUMNS.iter().filter(is_known).map(|column| (column, best(column, &comparison.variants, target))).collect()
}

fn table(comparison: &Comparison, target: usize) -> Table {
    let shown = shown(comparison, target);
    let front = front(&comparison.variants, target);
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_style(TableComponent::HeaderLines, '─').set_style(TableComponent::MiddleHeaderIntersections, '─');
    if let Some(width) = style::width() {
        table.set_width(width);
    }
    let heading = |(column, _): &(&'static Column, Vec<bool>)| match column.kind {
        Kind::Exact => column.title.to_owned(),
        Kind::Measured | Kind::Timed => format!("{} ({})", column.title, column.kind.word()),
        Kind::Estimated => format!("{} (est.)", column.title),
        Kind::Simulated => format!("{} (sim.)", column.title),
    };
    let headings: Vec<String> = std::iter::once("variant".to_owned()).chain(shown.iter().map(heading)).collect();
    table.set_header(headings);
    for (n, variant) in comparison.variants.iter().enumerate() {
        let name = variant.name(&comparison.kernel);
        let mut row = vec![format!("{} {name}", if front[n] { "◆" } else { " " })];
        for (column, best) in &shown {
            let figure = variant.compiled().map(|compiled| (column.show)(Cell { compiled, target }));
            row.push(match figure {
                None => "–".to_owned(),
                Some(None) => "?".to_owned(),
                Some(Some(figure)) if best[n] => format!("{figure} *"),
                Some(Some(figure)) => figure,
            });
        }
        table.add_row(row);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}
