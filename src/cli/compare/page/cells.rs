//! How figures read in a table that fits a laptop: units and what a second figure is stand in the heading, once; what is the same for all
//! variants stands above the table, once.

use super::super::Comparison;
use super::super::columns::{Cell, Column};
use super::super::table::shown;
use super::scale::{digits, unit_of_time};
use crate::cli::launch::Agreement;
use crate::cli::units::bytes;
use warpwright_review::estimate::time::Prediction;
use warpwright_review::machine::Pipe;

/// A column of a table.
pub(super) struct Figures {
    pub(super) column: &'static Column,
    /// By variant: whether it is best at it.
    pub(super) best: Vec<bool>,
    /// What the figures are counted in; empty for plain numbers.
    pub(super) unit: &'static str,
    /// What the smaller figure beside each is.
    pub(super) about: &'static str,
    /// By variant; `None` for one that does not compile.
    pub(super) cells: Vec<Option<Text>>,
}

/// A figure, and what is said beside it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) figure: String,
    pub(super) more: String,
    /// Whether a run had other results than the first variant's.
    pub(super) differs: bool,
}

impl Text {
    fn new(figure: impl ToString, more: impl ToString) -> Text {
        Text { figure: figure.to_string(), more: more.to_string(), differs: false }
    }
}

impl Figures {
    /// Characters that the smaller figures take, at most.
    pub(super) fn more_width(&self) -> usize {
        self.cells.iter().flatten().map(|text| text.more.chars().count()).max().unwrap_or(0)
    }

    /// Whether they are words, which are set smaller.
    pub(super) fn is_words(&self) -> bool {
        self.column.title == "bound by"
    }

    /// Characters that the figures take, at most, or their heading.
    fn width(&self) -> usize {
        let most = self.cells.iter().flatten().map(|text| text.figure.chars().count()).max().unwrap_or(0);
        let figure = if self.is_words() { most * 3 / 4 } else { most };
        let heading = self.column.title.split([' ', '/']).map(str::len).max().unwrap_or(0);
        (figure + 1).max(heading)
    }

    /// A variant's figure with its unit and what is said beside it; the page's script says it the same way.
    pub(super) fn full(&self, variant: usize) -> String {
        let Some(text) = self.cells.get(variant).and_then(Option::as_ref).filter(|text| !text.figure.is_empty()) else {
            return "?".to_owned();
        };
        let unit = if self.unit.is_empty() { String::new() } else { format!(" {}", self.unit) };
        let more = if text.more.is_empty() { String::new() } else { format!(" ({})", text.more) };
        let differs = if text.differs { ", other results" } else { "" };
        format!("{}{unit}{more}{differs}", text.figure)
    }

    /// What all variants have, if they have the same and it is known.
    pub(super) fn same(&self) -> Option<&Text> {
        let mut known = self.cells.iter().flatten();
        let first = known.next().filter(|first| !first.figure.is_empty())?;
        let mut others = known.peekable();
        (others.peek().is_some() && others.all(|other| other == first)).then_some(first)
    }
}

/// The columns of a target of which something is known.
pub(super) fn columns(comparison: &Comparison, target: usize) -> Vec<Figures> {
    shown(comparison, target).into_iter().map(|(column, best)| figures(comparison, target, column, best)).collect()
}

/// Characters of a row: more than a laptop shows in one line and the second figures go below the first.
pub(super) fn is_dense(columns: &[&Figures], of_generics: usize) -> bool {
    const MOST: usize = 178;
    columns.iter().map(|figures| figures.width() + figures.more_width() + 2).sum::<usize>() + of_generics > MOST
}

fn figures(comparison: &Comparison, target: usize, column: &'static Column, best: Vec<bool>) -> Figures {
    let known: Vec<Option<Cell<'_>>> =
        comparison.variants.iter().map(|variant| Some(Cell { compiled: variant.compiled()?, target })).collect();
    let most = known.iter().flatten().filter_map(|cell| (column.value)(*cell)).fold(0.0, f64::max);
    let scaled = unit_of_time(most);
    let computes = known.iter().flatten().filter_map(|cell| prediction(*cell)).any(|prediction| prediction.operations >= 1e9);
    let (unit, about) = match column.title {
        "registers" => ("", "plausible"),
        "shared" => ("bytes", ""),
        "occupancy" => ("%", "limited by"),
        "in flight / need" => ("KiB", ""),
        "instructions" => ("", "memory"),
        "predicted" if computes => ("GFLOP/s", "of memory's peak"),
        "predicted" => ("GB/s", "of peak"),
        "time" => (scaled.0, "least–most"),
        _ => ("", ""),
    };
    let text = |cell: Cell<'_>| brief(column, cell, computes, scaled.1).unwrap_or_else(|| plain(column, cell));
    Figures { column, best, unit, about, cells: known.iter().map(|cell| cell.map(text)).collect() }
}

fn prediction(cell: Cell<'_>) -> Option<&Prediction> {
    cell.compiled.known.targets[cell.target].prediction.as_ref()
}

/// A figure without its unit; `None` for what reads as it does in the terminal.
fn brief(column: &Column, cell: Cell<'_>, computes: bool, second: f64) -> Option<Text> {
    let value = (column.value)(cell);
    let estimate = &cell.compiled.known.targets[cell.target];
    Some(match column.title {
        "registers" => Text::new(estimate.registers.estimate, format!("{}–{}", estimate.registers.low, estimate.registers.high)),
        "ptxas" => {
            let measured = cell.compiled.measured[cell.target].as_ref()?;
            let spilled = measured.spill_stores + measured.spill_loads;
            let spilled = (spilled > 0).then(|| format!("+{} spilled", bytes(f64::from(spilled))));
            let serialized = measured.serialized.then(|| "serialized".to_owned());
            Text::new(measured.registers, spilled.into_iter().chain(serialized).collect::<Vec<_>>().join(", "))
        }
        "shared" | "warp instr" | "sectors" | "replays" => Text::new(grouped(value? as u64), ""),
        "occupancy" => {
            let limits: Vec<&str> = estimate.occupancy.as_ref()?.limiters().map(|resource| resource.key()).collect();
            Text::new(format!("{:.0}", value?), limits.join(", "))
        }
        "in flight / need" => {
            let prediction = prediction(cell).filter(|prediction| prediction.bytes_in_flight > 0.0)?;
            Text::new(format!("{:.1} / {:.1}", prediction.bytes_in_flight / 1024.0, prediction.bytes_needed / 1024.0), "")
        }
        "instructions" => {
            let mix = &cell.compiled.known.threads_on(estimate.target).mix;
            Text::new(grouped(mix.instructions().round() as u64), grouped(mix.of(Pipe::Memory).round() as u64))
        }
        "predicted" => {
            let prediction = prediction(cell)?;
            let figure = if computes { prediction.operations } else { prediction.bandwidth };
            Text::new(grouped((figure / 1e9).round() as u64), format!("{:.0} %", prediction.share_of_peak * 100.0))
        }
        "time" => {
            let timed = cell.compiled.timed.as_ref().filter(|_| value.is_some())?;
            let short = |time: &std::time::Duration| digits(time.as_secs_f64() / second, 4);
            let spread = format!("{}–{}", short(timed.times.first()?), short(timed.times.last()?));
            Text { differs: timed.agreement == Agreement::Differs, ..Text::new(digits(value? / second, 4), spread) }
        }
        _ => return None,
    })
}

/// As in the terminal; what is in brackets is said beside it.
fn plain(column: &Column, cell: Cell<'_>) -> Text {
    let shown = column.text(cell).unwrap_or_default();
    let end = shown.find(" [").or(shown.find(" (")).unwrap_or(shown.len());
    Text::new(&shown[..end], shown[end..].trim())
}

/// `65,536`.
pub(super) fn grouped(figure: u64) -> String {
    let digits = figure.to_string();
    let mut text = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn digits_stand_in_threes() {
        assert_eq!([7, 999, 1000, 65_536, 1_048_576].map(super::grouped), ["7", "999", "1,000", "65,536", "1,048,576"]);
    }
}
