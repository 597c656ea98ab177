//! What comes out: a line per function and size while it runs, a table for the documents, comma-separated values.

use super::Line;
use crate::report::Spread;
use std::fmt::Write;

impl Line {
    /// A work's and a size's name: what tells lines apart.
    pub(super) fn is(&self, work: &str, size: &str) -> bool {
        self.work == work && self.size == size
    }

    fn rate(&self, time: &Spread) -> f64 {
        self.unit.rate(self.amount, time.median)
    }

    /// The incumbents that were timed.
    fn incumbents(&self) -> impl Iterator<Item = (&'static str, &Spread)> {
        let twin = self.theirs.as_ref().map(|(name, time)| (*name, time));
        twin.into_iter().chain(self.torch.as_ref().map(|time| ("torch", time)))
    }

    /// The fastest incumbent's time over ours: 1 is equal, more is faster.
    pub(super) fn ratio(&self) -> Option<f64> {
        let ours = self.ours?;
        self.incumbents().map(|(_, time)| time.median / ours.median).min_by(f64::total_cmp)
    }
}

/// A line for the terminal.
pub(super) fn text_of(line: &Line) -> String {
    let Line { work, size, unit, ours, failure, .. } = line;
    let mut text = format!("{work:<28} {size:>13}");
    // Writing to a string cannot fail.
    if let Some(ours) = ours {
        let _ = write!(text, " {:>10.1} us {:>9.2} {:<8}", ours.median * 1e6, line.rate(ours), unit.name());
        let _ = write!(text, " {:>9.1} to {:>9.1} us", ours.min * 1e6, ours.max * 1e6);
        for (name, theirs) in line.incumbents() {
            let _ = write!(text, "   {name} {:.1} us, {:.2}: x {:.3}", theirs.median * 1e6, line.rate(theirs), theirs.median / ours.median);
        }
    }
    match failure {
        Some(failure) => text + "   FAILED: " + failure,
        None if ours.is_none() => text + "   checked",
        None => text,
    }
}

/// The lines that were timed, in Markdown.
pub(super) fn markdown(lines: &[Line]) -> String {
    let mut text =
        "| work | size | ours, µs | rate | incumbent, µs | ratio | torch, µs | ratio |\n|---|---|---|---|---|---|---|---|\n".to_owned();
    for line in lines {
        let Some(ours) = &line.ours else { continue };
        let theirs = line
            .theirs
            .as_ref()
            .map_or("| |".to_owned(), |(name, time)| format!("{:.1} ({name}) | {:.3} |", time.median * 1e6, time.median / ours.median));
        let torch = line.torch.map_or("| |".to_owned(), |time| format!("{:.1} | {:.3} |", time.median * 1e6, time.median / ours.median));
        let (rate, unit) = (line.rate(ours), line.unit.name());
        let rate = if unit == "GB/s" { format!("{rate:.0}") } else { format!("{rate:.2}") };
        let _ = writeln!(text, "| {} | {} | {:.1} | {rate} {unit} | {theirs} {torch}", line.work, line.size, ours.median * 1e6);
    }
    text
}

/// Of each line: times in microseconds, rates in the unit.
pub(super) fn csv(lines: &[Line]) -> String {
    let mut text = "work,size,unit,ours_us,ours_min_us,ours_max_us,ours_rate,incumbent,incumbent_us,incumbent_rate,ratio,torch_us,torch_rate,torch_ratio,runs,check\n"
        .to_owned();
    for line in lines {
        let ours = line
            .ours
            .map_or(",,,".to_owned(), |t| format!("{:.3},{:.3},{:.3},{:.3}", t.median * 1e6, t.min * 1e6, t.max * 1e6, line.rate(&t)));
        let over = |time: &Spread| line.ours.map_or(String::new(), |ours| format!("{:.4}", time.median / ours.median));
        let theirs = line
            .theirs
            .as_ref()
            .map_or(",,,".to_owned(), |(name, t)| format!("{name},{:.3},{:.3},{}", t.median * 1e6, line.rate(t), over(t)));
        let torch = line.torch.map_or(",,".to_owned(), |t| format!("{:.3},{:.3},{}", t.median * 1e6, line.rate(&t), over(&t)));
        let check =
            line.failure.as_ref().map_or("ok".to_owned(), |failure| format!("\"{}\"", failure.replace('"', "'").replace('\n', " ")));
        let runs = line.ours.map_or(0, |ours| ours.runs);
        let _ = writeln!(text, "{},{},{},{ours},{theirs},{torch},{runs},{check}", line.work, line.size, line.unit.name());
    }
    text
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::Unit;
    use super::*;

    fn spread(microseconds: f64) -> Spread {
        Spread { min: microseconds * 0.9e-6, median: microseconds * 1e-6, max: microseconds * 1.2e-6, runs: 20 }
    }

    /// A sum at three sizes, the last ahead of CUB and behind torch; one that was not timed.
    pub(in super::super) fn lines() -> Vec<Line> {
        let line = |size: &str, amount, ours: Option<f64>, cub: Option<f64>, torch: Option<f64>| Line {
            work: "sum f32",
            size: size.into(),
            amount,
            unit: Unit::Bytes,
            ours: ours.map(spread),
            theirs: cub.map(|time| ("CUB", spread(time))),
            torch: torch.map(spread),
            failure: None,
        };
        vec![
            line("10000", 4e4, Some(5.0), Some(10.0), None),
            line("10000000", 4e7, Some(10.0), Some(20.0), Some(8.0)),
            line("7", 28.0, None, None, None),
        ]
    }

    #[test]
    fn a_line_has_every_incumbent_and_the_table_those_that_were_timed() {
        let lines = lines();
        let text = text_of(&lines[1]);
        assert!(text.contains("10.0 us   4000.00 GB/s"), "{text}");
        assert!(text.contains("CUB 20.0 us, 2000.00: x 2.000   torch 8.0 us, 5000.00: x 0.800"), "{text}");
        assert!(text_of(&lines[2]).ends_with("checked"));
        let table = markdown(&lines);
        let rows: Vec<&str> = table.lines().skip(2).collect();
        assert_eq!(
            rows,
            [
                "| sum f32 | 10000 | 5.0 | 8 GB/s | 10.0 (CUB) | 2.000 | | |",
                "| sum f32 | 10000000 | 10.0 | 4000 GB/s | 20.0 (CUB) | 2.000 | 8.0 | 0.800 |"
            ]
        );
    }

    #[test]
    fn the_fastest_incumbent_counts() {
        let ratios: Vec<Option<f64>> = lines().iter().map(Line::ratio).collect();
        assert_eq!(
            ratios.iter().map(|ratio| ratio.map(|ratio| (ratio * 1e3).round() as u32)).collect::<Vec<_>>(),
            [Some(2000), Some(800), None]
        );
    }

    #[test]
    fn rows_have_as_many_values_as_there_are_columns() {
        let text = csv(&lines());
        assert!(text.lines().all(|line| line.split(',').count() == 16), "{text}");
    }
}
