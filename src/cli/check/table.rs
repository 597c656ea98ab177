//! What is known of each variant on each target, as people read it.

use super::super::occupancy::show::{lines, plain_table};
use super::super::style;
use super::{Checked, Row};
use warpwright::ptxas::Ptxas;
use warpwright_codegen::report::range_text;

const HEADER: [&str; 11] =
    ["variant", "target", "registers", "measured", "shared", "occupancy", "limited by", "sectors", "conflicts", "in flight", "predicted"];

/// A table for each kernel that has something to show, and what its columns mean.
pub(super) fn of(kernels: &[Checked], ptxas: Option<&Ptxas>) -> String {
    let mut text = String::new();
    for checked in kernels.iter().filter(|checked| !checked.reports.is_empty()) {
        let mut table = plain_table(HEADER, 2..6);
        if let Some(width) = style::width() {
            table.set_width(width);
        }
        for row in &checked.reports {
            table.add_row(cells(row));
        }
        text.push_str(&format!("\n{}\n{}\n", checked.kernel, lines(&table)));
    }
    if !text.is_empty() {
        let by = ptxas.map_or_else(|| "measured: no `ptxas` was found".to_owned(), |ptxas| format!("measured: by ptxas {}", ptxas.release));
        text.push_str(&format!(
            "\nestimated: all but `measured`, of one full multiprocessor. {by}. sectors: of the worst request to global memory; conflicts: \
             of the worst access to shared memory; in flight: loads of a thread.\n"
        ));
    }
    text
}

fn cells(row: &Row) -> [String; 11] {
    let report = &row.estimated;
    let registers = &report.registers;
    let none = || "–".to_owned();
    let measured = row.measured.map_or_else(none, |measured| {
        let spills = if measured.spill_stores > 0 { " spills" } else { "" };
        format!("{}{spills}", measured.registers)
    });
    let (occupancy, limit) = report.occupancy.as_ref().map_or_else(
        || (none(), "the launch".to_owned()),
        |found| {
            let limiters: Vec<String> = found.limiters().map(|resource| resource.to_string()).collect();
            (format!("{} %", found.percent()), limiters.join(", "))
        },
    );
    let in_flight = report.prediction.as_ref().map_or_else(none, |found| found.loads_in_flight.to_string());
    let predicted = report.prediction.as_ref().map_or_else(none, |found| {
        format!("{:.0} GB/s, {:.0} % of {}: {}", found.bandwidth / 1e9, found.share_of_peak * 100.0, found.device, found.bound.word())
    });
    [
        if report.variant.is_empty() { none() } else { report.variant.clone() },
        report.target.name.to_owned(),
        format!("{} [{}–{}]", registers.estimate, registers.low, registers.high),
        measured,
        format!("{} B", report.memory.shared),
        occupancy,
        limit,
        report.sectors_per_request().map_or_else(none, range_text),
        report.bank_conflicts().map_or_else(none, range_text),
        in_flight,
        predicted,
    ]
}
