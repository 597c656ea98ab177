//! Several inspections side by side.

use super::Inspection;
use crate::report::{conflict_text, range_text};
use std::fmt;
use std::ops::Deref;

/// Instances of a kernel, or kernels that do the same, on one target: what `warpwright::compare!` gives.
///
/// Its `Display` is a table, a row for each.
#[derive(Clone, Debug)]
pub struct Comparison(pub Vec<Inspection>);

impl Deref for Comparison {
    type Target = [Inspection];
    fn deref(&self) -> &[Inspection] {
        &self.0
    }
}

impl IntoIterator for Comparison {
    type Item = Inspection;
    type IntoIter = std::vec::IntoIter<Inspection>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// A column: its heading, and how a figure reads; empty where it is not known.
type Column = (&'static str, fn(&Inspection) -> String);

const COLUMNS: &[Column] = &[
    ("registers (est.)", |one| one.registers().to_string()),
    ("ptxas", |one| one.report.measured.as_ref().map_or(String::new(), |(_, measured)| measured.registers.to_string())),
    ("shared", |one| match one.report.estimated.memory.shared {
        0 => String::new(),
        bytes => format!("{bytes} B"),
    }),
    ("occupancy (est.)", |one| one.occupancy().map_or(String::new(), |occupancy| format!("{:.0} %", occupancy.percent()))),
    ("sectors", |one| one.sectors_per_request().map_or(String::new(), range_text)),
    ("conflicts", |one| one.bank_conflicts().map_or(String::new(), conflict_text)),
    ("PTX", |one| one.instructions().to_string()),
    ("loads", |one| one.count("ld.global").to_string()),
    ("stores", |one| one.count("st.global").to_string()),
];

impl fmt::Display for Comparison {
    /// Columns that have a figure somewhere, right-aligned behind the names.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let column = |(title, show): &Column| -> Vec<String> { [(*title).to_owned()].into_iter().chain(self.iter().map(show)).collect() };
        let columns = COLUMNS.iter().map(column).filter(|cells| cells[1..].iter().any(|cell| !cell.is_empty()));
        let columns: Vec<Vec<String>> = columns.collect();
        let targets: Vec<&str> = self.iter().take(1).map(|one| one.report.estimated.target.name).collect();
        let names: Vec<&str> = targets.into_iter().chain(self.iter().map(|one| one.name.as_str())).collect();
        let width = |cells: &[String]| cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0);
        let first = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        for (row, name) in names.iter().enumerate() {
            let mut line = format!("{name:first$}");
            for cells in &columns {
                line.push_str(&format!("  {:>1$}", cells[row], width(cells)));
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}
