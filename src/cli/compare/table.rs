//! The table for people: one row per variant, one table per target; best figures and the Pareto set marked; differences in words below.

use super::Comparison;
use super::columns::{COLUMNS, Cell, Column, brief};
use super::pareto::{best, front};
use super::variant::Variant;
use super::words;
use crate::cli::style::{self, Stream};
use crate::cli::table::{self, Heading, Table};
use std::fmt::Write;

/// A comparison as text.
pub(super) fn text(comparison: &Comparison) -> String {
    let (width, colour) = (style::width(), style::colour(Stream::Out));
    let mut text = String::new();
    for (target, name) in comparison.targets.iter().map(|target| target.name).enumerate() {
        let device = comparison.variants.iter().find_map(|variant| variant.compiled()?.known.targets[target].prediction.as_ref());
        let device = device.map_or(String::new(), |prediction| format!(", predicted for {}", prediction.device));
        let title = format!("{}::{} for {name}{device}", comparison.file, comparison.kernel);
        let _ = writeln!(text, "{}\n{}", style::paint(colour, style::HEADING, &title), rows(comparison, target).text(width, colour));
    }
    if comparison.variants.len() > 1 {
        let legend = "* best of its column   ◆ no other variant is as good at everything (registers, shared, occupancy, predicted, time)";
        let _ = writeln!(text, "{}", style::wrap(legend, 2, width));
    }
    for note in &comparison.notes {
        let _ = writeln!(text, "{}", style::wrap(note, 2, width));
    }
    for difference in words::differences(comparison) {
        let _ = writeln!(text, "{}", style::wrap(&difference, 4, width));
    }
    text
}

/// The columns that something is known for, each with the variants that are best at it.
pub(super) fn shown(comparison: &Comparison, target: usize) -> Vec<(&'static Column, Vec<bool>)> {
    let is_known = |column: &&Column| {
        let mut compiled = comparison.variants.iter().filter_map(|variant| variant.compiled());
        compiled.any(|compiled| (column.show)(Cell { compiled, target }).is_some())
    };
    COLUMNS.iter().filter(is_known).map(|column| (column, best(column, &comparison.variants, target))).collect()
}

fn rows(comparison: &Comparison, target: usize) -> Table {
    let shown = shown(comparison, target);
    let front = front(&comparison.variants, target);
    let generics = generics(&comparison.variants);
    let names = generics.iter().map(|name| Heading::figures(*name).stays());
    let names = if generics.is_empty() { vec![Heading::words("kernel")] } else { names.collect() };
    let figures = shown.iter().map(|(column, _)| {
        // What has no noun is words.
        let heading = if column.noun.is_empty() { Heading::words(column.title).rises() } else { Heading::figures(column.title) };
        heading.kind(column.kind.word()).rank(column.rank)
    });
    let mut table = Table::new(std::iter::once(Heading::words("")).chain(names).chain(figures));
    for (n, variant) in comparison.variants.iter().enumerate() {
        let mut row = vec![table::Cell::new(if front[n] && comparison.variants.len() > 1 { "◆" } else { "" }).style(style::PARETO)];
        row.extend(generics.iter().map(|name| table::Cell::new(variant.value(name).unwrap_or("this"))));
        if generics.is_empty() {
            row.push(table::Cell::new(comparison.kernel.as_str()));
        }
        let compiled = match &variant.outcome {
            Ok(compiled) => compiled,
            Err(reason) => {
                table.row_instead(row, table::Cell::new(format!("does not compile: {reason}")).style(style::WRONG));
                continue;
            }
        };
        for (column, best) in &shown {
            let figure = column.text(Cell { compiled, target }).unwrap_or_else(|| "?".to_owned());
            row.push(table::Cell::new(figure.as_str()).brief(Some(brief(&figure))).best(best[n]));
        }
        table.row(row);
    }
    table
}

/// The generics that vary, in the order of the kernel.
fn generics(variants: &[Variant]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in variants.iter().flat_map(|variant| &variant.values) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names
}
