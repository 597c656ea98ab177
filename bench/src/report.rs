//! What comes out: a line per case while it runs, an aligned table at the end, a file of comma-separated values.

use std::fmt::{self, Write};

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Bytes read and written.
    Bytes,
    /// Floating-point operations.
    Operations,
    /// Calls of a function.
    Calls,
}

impl Unit {
    fn name(self) -> &'static str {
        match self {
            Unit::Bytes => "GB/s",
            Unit::Operations => "GFLOP/s",
            Unit::Calls => "Gcall/s",
        }
    }
}

/// Times of repeated runs, seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) min: f64,
    pub(crate) median: f64,
    pub(crate) max: f64,
    pub(crate) runs: usize,
}

impl Spread {
    /// Of one time or more.
    pub(crate) fn of(times: &[f64]) -> Spread {
        let mut times = times.to_vec();
        times.sort_by(f64::total_cmp);
        let (first, last, middle) = (0, times.len() - 1, times.len() / 2);
        let median = if times.len() % 2 == 1 { times[middle] } else { (times[middle - 1] + times[middle]) / 2.0 };
        Spread { min: times[first], median, max: times[last], runs: times.len() }
    }

    /// The distance between fastest and slowest, as a part of the median.
    fn relative(&self) -> f64 {
        (self.max - self.min) / self.median
    }
}

enum Result {
    Pending,
    /// On a device whose clock says nothing.
    Checked,
    Timed {
        ours: Spread,
        theirs: Option<Spread>,
    },
    Failed(String),
}

/// A case and what came of it.
pub(crate) struct Row {
    family: &'static str,
    variant: String,
    threads: usize,
    shared: u32,
    work: f64,
    unit: Unit,
    result: Result,
}

impl Row {
    pub(crate) fn new(family: &'static str, variant: &str, threads: usize, shared: u32, work: f64, unit: Unit) -> Row {
        Row { family, variant: variant.to_owned(), threads, shared, work, unit, result: Result::Pending }
    }

    pub(crate) fn timed(self, ours: Spread, theirs: Option<Spread>) -> Row {
        Row { result: Result::Timed { ours, theirs }, ..self }
    }

    pub(crate) fn checked(self) -> Row {
        Row { result: Result::Checked, ..self }
    }

    pub(crate) fn failed(self, why: String) -> Row {
        Row { result: Result::Failed(why), ..self }
    }

    /// What went wrong, with where.
    pub(crate) fn complaint(&self) -> Option<String> {
        match &self.result {
            Result::Failed(why) => Some(format!("{} {} ({} threads): {why}", self.family, self.variant, self.threads)),
            _ => None,
        }
    }

    /// Theirs over ours in time: 1 is equal, more is faster.
    pub(crate) fn ratio(&self) -> Option<f64> {
        match self.result {
            Result::Timed { ours, theirs: Some(theirs) } => Some(theirs.median / ours.median),
            _ => None,
        }
    }

    fn rate(&self, seconds: f64) -> f64 {
        self.work / seconds / 1e9
    }

    /// The cells of the table.
    fn cells(&self) -> [String; 9] {
        let [mut ours, mut theirs, mut spread, mut runs] = [const { String::new() }; 4];
        let ratio = self.ratio().map(|ratio| format!("{ratio:.3}")).unwrap_or_default();
        if let Result::Timed { ours: o, theirs: t } = &self.result {
            ours = format!("{:.0}", self.rate(o.median));
            spread = format!("{:.1}%", 100.0 * o.relative());
            runs = o.runs.to_string();
            if let Some(t) = t {
                theirs = format!("{:.0}", self.rate(t.median));
                spread = format!("{:.1}/{:.1}%", 100.0 * o.relative(), 100.0 * t.relative());
            }
        }
        let ratio = match &self.result {
            Result::Failed(why) => format!("FAILED: {why}"),
            Result::Checked => "checked".into(),
            _ => ratio,
        };
        let shared = if self.shared == 0 { String::new() } else { self.shared.to_string() };
        let unit = self.unit.name().to_owned();
        [format!("{} {}", self.family, self.variant), self.threads.to_string(), shared, ours, theirs, unit, spread, runs, ratio]
    }

    /// Times in microseconds, rates in the unit.
    fn csv(&self) -> String {
        let head = format!("{},\"{}\",{},{},{}", self.family, self.variant, self.threads, self.shared, self.unit.name());
        match &self.result {
            Result::Timed { ours, theirs: Some(theirs) } => {
                let us = |t: &Spread| format!("{:.3},{:.3},{:.3}", t.min * 1e6, t.median * 1e6, t.max * 1e6);
                let rates = format!("{:.2},{:.2},{:.4}", self.rate(ours.median), self.rate(theirs.median), theirs.median / ours.median);
                format!("{head},{rates},{},{},{},ok", us(ours), us(theirs), ours.runs)
            }
            Result::Timed { ours, theirs: None } => {
                let [min, median, max] = [ours.min, ours.median, ours.max].map(|time| time * 1e6);
                format!("{head},{:.2},,,{min:.3},{median:.3},{max:.3},,,,{},ok", self.rate(ours.median), ours.runs)
            }
            Result::Checked => format!("{head},,,,,,,,,,0,ok"),
            Result::Failed(why) => format!("{head},,,,,,,,,,0,\"{}\"", why.replace('"', "'").replace('\n', " ")),
            Result::Pending => format!("{head},,,,,,,,,,0,not run"),
        }
    }
}

const HEADS: [&str; 9] = ["kernel", "threads", "shared", "ours", "twin", "unit", "spread", "runs", "ratio"];

impl fmt::Display for Row {
    /// One line, wide enough for most.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [kernel, threads, shared, ours, theirs, unit, spread, runs, ratio] = self.cells();
        write!(f, "{kernel:<44}{threads:>5} {shared:>7} {ours:>7} {theirs:>7} {unit:<7} {spread:>12} {runs:>4}  {ratio}")
    }
}

/// All rows in columns just as wide as they need be.
pub(crate) fn table(rows: &[Row]) -> String {
    let lines: Vec<[String; 9]> = [HEADS.map(str::to_owned)].into_iter().chain(rows.iter().map(Row::cells)).collect();
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..HEADS.len()).map(width).collect();
    let mut text = String::new();
    for line in &lines {
        for (column, (cell, width)) in line.iter().zip(&widths).enumerate() {
            // Writing to a string cannot fail.
            let _ = match column {
                0 => write!(text, "{cell:<width$}"),
                5 | 8 => write!(text, "  {cell:<width$}"),
                _ => write!(text, "  {cell:>width$}"),
            };
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}

/// All rows as comma-separated values.
pub(crate) fn csv(rows: &[Row]) -> String {
    let head = "family,variant,threads,shared_bytes,unit,ours,twin,ratio,ours_min_us,ours_median_us,ours_max_us,twin_min_us,twin_median_us,\
                twin_max_us,runs,check";
    std::iter::once(head.to_owned()).chain(rows.iter().map(Row::csv)).map(|line| line + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_csv_has_the_columns_of_its_head() {
        let row = || Row::new("copy", "ilp 4", 128, 0, 4e9, Unit::Bytes);
        let rows = [
            row().timed(Spread::of(&[2e-3, 1e-3, 4e-3]), Some(Spread::of(&[1e-3]))),
            row().timed(Spread::of(&[2e-3]), None),
            row().checked(),
            row().failed("2 of 3 results \"differ\"".into()),
        ];
        let text = csv(&rows);
        let columns: Vec<usize> = text.lines().map(|line| line.split(',').count()).collect();
        assert_eq!(columns, [16; 5], "{text}");
        let first = "copy,\"ilp 4\",128,0,GB/s,2000.00,4000.00,0.5000,1000.000,2000.000,4000.000,1000.000,1000.000,1000.000,3,ok";
        assert_eq!(text.lines().nth(1), Some(first));
        assert!(table(&rows).contains("FAILED: 2 of 3"), "{}", table(&rows));
    }

    #[test]
    fn the_median_of_an_even_number_is_between_the_middle_two() {
        assert_eq!(Spread::of(&[4.0, 1.0, 3.0, 2.0]).median, 2.5);
    }
}
