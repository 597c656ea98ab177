//! What is known of each variant on each target, as people read it.

use super::super::style;
use super::super::table::{Cell, Heading, NOTHING, Table, variants};
use super::{Checked, Row};
use warpwright::ptxas::Ptxas;
use warpwright_review::report::{conflict_text, range_text};

/// A table for each kernel that has something to show, and what its columns mean.
pub(super) fn of(kernels: &[Checked], ptxas: Option<&Ptxas>) -> String {
    let mut text = String::new();
    for checked in kernels.iter().filter(|checked| !checked.reports.is_empty()) {
        text.push_str(&format!("\n{}\n{}", checked.kernel, table(checked).print()));
    }
    if !text.is_empty() {
        let by = ptxas.map_or_else(|| "measured: no `ptxas` was found".to_owned(), |ptxas| format!("measured: by ptxas {}", ptxas.release));
        let early = match kernels.iter().flat_map(|checked| &checked.reports).any(|row| !row.order.is_empty()) {
            true => {
                " early loads: measured, in machine code and in PTX: loads issued together, or hundredths of an iteration before their use."
            }
            false => "",
        };
        let legend = format!(
            "estimated: all but `measured`, of one full multiprocessor. {by}. sectors: of the worst request to global memory; conflicts: \
             of the worst access to shared memory; in flight: loads of a thread.{early}"
        );
        text.push_str(&format!("\n{}\n", style::wrap(&legend, 0, style::width())));
    }
    text
}

fn table(checked: &Checked) -> Table {
    let words: Vec<&str> = checked.reports.iter().map(|row| row.estimated.variant.as_str()).collect();
    let (names, values) = variants(&words);
    let names = names.into_iter().map(Heading::figures);
    let columns = [
        Heading::words("target").rises(),
        Heading::figures("registers").stays(),
        Heading::figures("measured").rank(1),
        Heading::figures("shared").rank(4),
        Heading::figures("occupancy").rank(1),
        Heading::words("limited by").rank(5).rises(),
        Heading::figures("sectors").rank(3),
        Heading::figures("conflicts").rank(3),
        Heading::figures("in flight").rank(6),
        Heading::figures("early loads").rank(7),
        Heading::words("predicted").rank(2),
    ];
    let mut table = Table::new(names.chain(columns));
    for (row, values) in checked.reports.iter().zip(values) {
        table.row(values.into_iter().map(Cell::new).chain(cells(row)));
    }
    table
}

fn cells(row: &Row) -> [Cell; 11] {
    let report = &row.estimated;
    let registers = &report.registers;
    let none = || NOTHING.to_owned();
    let measured = row.measured.map_or_else(none, |measured| {
        let spills = if measured.spill_stores > 0 { " spills" } else { "" };
        let serialized = if measured.serialized { " serialized" } else { "" };
        format!("{}{spills}{serialized}", measured.registers)
    });
    let (occupancy, limit) = report.occupancy.as_ref().map_or_else(
        || (none(), "the launch".to_owned()),
        |found| {
            let limiters: Vec<String> = found.limiters().map(|resource| resource.to_string()).collect();
            (format!("{} %", found.percent()), limiters.join(", "))
        },
    );
    let in_flight = report.prediction.as_ref().map_or_else(none, |found| found.loads_in_flight.to_string());
    let early: Vec<String> = row.order.iter().map(|order| order.measured.to_string()).collect();
    let early = if early.is_empty() { none() } else { early.join(", ") };
    let predicted = report.prediction.as_ref().map_or_else(
        || Cell::new(none()),
        |found| {
            let (speed, share) = found.speed();
            let (share, word) = (share * 100.0, found.bound.word());
            Cell::new(format!("{speed}, {share:.0} % of {}: {word}", found.device)).brief(Some(format!("{speed}: {word}")))
        },
    );
    [
        Cell::new(report.target.name),
        Cell::new(format!("{} [{}–{}]", registers.estimate, registers.low, registers.high)).brief(Some(registers.estimate.to_string())),
        Cell::new(measured),
        Cell::new(format!("{} B", report.memory.shared)),
        Cell::new(occupancy),
        Cell::new(limit),
        Cell::new(report.sectors_per_request().map_or_else(none, range_text)),
        Cell::new(report.bank_conflicts().map_or_else(none, conflict_text)),
        Cell::new(in_flight),
        Cell::new(early),
        predicted,
    ]
}
