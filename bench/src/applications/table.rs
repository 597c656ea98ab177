//! The tables: of a program when it is done, of all at the end, and all rows as comma-separated values.

use super::numbers::{CoreTime, geometric_mean};
use super::rounds::{Program, Row};
use crate::report::Spread;

const HEADS: [&str; 9] = ["variant", "ours", "twin", "ratio", "rate", "of limit", "nearest limit", "× one core", "checked"];

/// Seconds as milliseconds.
fn ms(time: &Spread) -> String {
    format!("{:.3} ms", time.median * 1e3)
}

fn of<T>(value: Option<T>, text: impl FnOnce(T) -> String) -> String {
    value.map(text).unwrap_or_default()
}

fn times_as_fast(core: Option<&CoreTime>, device: &Spread) -> String {
    of(core, |core| format!("{:.1}", core.over(device)))
}

/// Columns just as wide as they need be; the first and the last begin at their left.
fn columns<const N: usize>(lines: &[[String; N]]) -> String {
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(width);
    let mut text = String::new();
    for line in lines {
        let cells = line.iter().zip(widths).enumerate().map(|(column, (cell, width))| match column {
            0 => format!("  {cell:<width$}"),
            _ if column + 1 == N => cell.clone(),
            _ => format!("{cell:>width$}"),
        });
        text += cells.collect::<Vec<_>>().join("  ").trim_end();
        text.push('\n');
    }
    text
}

fn cells(program: &Program, row: &Row) -> [String; 9] {
    let times = row.times();
    let near = times.and_then(|times| Some((row.nearest?, times.ours.median)));
    [
        row.variant.clone(),
        of(times, |times| ms(&times.ours)),
        of(times.and_then(|times| times.theirs.as_ref()), ms),
        of(times.and_then(|times| times.ratio()), |ratio| format!("{ratio:.3}")),
        of(near, |(near, seconds)| format!("{:.0} {}", near.rate(seconds), near.resource.unit())),
        of(near, |(near, seconds)| format!("{:.0} %", 100.0 * near.share(seconds))),
        of(near, |(near, _)| near.resource.name().to_owned()),
        of(times, |times| times_as_fast(program.core.as_ref(), &times.ours)),
        match &row.outcome {
            Ok(passed) => passed.checked.clone(),
            Err(why) => format!("FAILED: {why}"),
        },
    ]
}

/// A program's variants, with what one core needs.
pub(super) fn of_program(program: &Program) -> String {
    let (document, quoted) = (program.document.0, program.document.1.0);
    let core = match &program.core {
        Some(CoreTime::Timed { seconds }) => format!("; one core: {seconds:.3} s, timed"),
        Some(core @ CoreTime::Scaled { timed, share }) => {
            let seconds = core.seconds();
            format!("; one core: {seconds:.3} s, scaled from {timed:.3} s for {:.3} % of the work", 100.0 * share)
        }
        None => String::new(),
    };
    let head = format!("{} ({document}, {quoted} × one core in the document): {}{core}\n", program.name, program.input);
    let rows = program.rows.iter().map(|row| cells(program, row));
    head + &columns(&[HEADS.map(str::to_owned)].into_iter().chain(rows).collect::<Vec<_>>())
}

/// The best variant of each program beside the best twin, and the mean of all.
pub(super) fn summary(programs: &[Program]) -> String {
    let heads = ["program", "ours", "twin", "ratio", "× one core", "the twin's", "the document's", "best variant"];
    let mut lines = vec![heads.map(str::to_owned)];
    for program in programs {
        let (ours, theirs) = (program.best_of_ours(), program.best_of_theirs());
        let core = program.core.as_ref();
        let is_scaled = matches!(core, Some(CoreTime::Scaled { .. }));
        lines.push([
            format!("{} ({})", program.name, program.document.0),
            of(ours, |(_, time)| ms(&time)),
            of(theirs, |(_, time)| ms(&time)),
            of(program.ratio(), |ratio| format!("{ratio:.3}")),
            of(ours, |(_, time)| times_as_fast(core, &time) + if is_scaled { "*" } else { "" }),
            of(theirs, |(_, time)| times_as_fast(core, &time) + if is_scaled { "*" } else { "" }),
            program.document.1.0.to_string(),
            of(ours, |(row, _)| row.variant.clone()),
        ]);
    }
    let ratios: Vec<f64> = programs.iter().filter_map(Program::ratio).collect();
    let mut text = columns(&lines);
    text += "  ratio: the best twin's time over that of our best variant, 1 is equal and more is faster; *: one core's time is scaled from a part of the work\n";
    if let Some(mean) = geometric_mean(&ratios) {
        let least = ratios.iter().fold(f64::INFINITY, |least, ratio| least.min(*ratio));
        text += &format!("  geometric mean of {} ratios: {mean:.3}; the least: {least:.3}\n", ratios.len());
    }
    text
}

/// The head of the file. Times in microseconds, rates in billions a second.
const CSV: &str = "program,document,input,variant,ours_min_us,ours_median_us,ours_max_us,twin_min_us,twin_median_us,twin_max_us,runs,ratio,\
                   limit,unit,amount,rate,share_of_limit,core_seconds,core_share_timed,speed_up,twin_speed_up,document_speed_up,check";

fn csv_row(program: &Program, row: &Row) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "'").replace('\n', " "));
    let spread = |time: Option<&Spread>| match time {
        Some(t) => format!("{:.3},{:.3},{:.3}", t.min * 1e6, t.median * 1e6, t.max * 1e6),
        None => ",,".into(),
    };
    let times = row.times();
    let theirs = times.and_then(|times| times.theirs.as_ref());
    let seconds = times.map(|times| times.ours.median);
    let over = |time: Option<&Spread>| of(program.core.zip(time), |(core, time)| format!("{:.3}", core.over(time)));
    [
        program.name.to_owned(),
        quoted(program.document.0),
        quoted(&program.input),
        quoted(&row.variant),
        spread(times.map(|times| &times.ours)),
        spread(theirs),
        of(times, |times| times.ours.runs.to_string()),
        of(times.and_then(|times| times.ratio()), |ratio| format!("{ratio:.4}")),
        of(row.nearest, |near| quoted(near.resource.name())),
        of(row.nearest, |near| near.resource.unit().to_owned()),
        of(row.nearest, |near| format!("{:.0}", near.amount)),
        of(row.nearest.zip(seconds), |(near, seconds)| format!("{:.2}", near.rate(seconds))),
        of(row.nearest.zip(seconds), |(near, seconds)| format!("{:.4}", near.share(seconds))),
        of(program.core, |core| format!("{:.6}", core.seconds())),
        of(program.core, |core| match core {
            CoreTime::Timed { .. } => "1".to_owned(),
            CoreTime::Scaled { share, .. } => format!("{share:.9}"),
        }),
        over(times.map(|times| &times.ours)),
        over(theirs),
        program.document.1.0.to_string(),
        match &row.outcome {
            Ok(passed) => quoted(&passed.checked),
            Err(why) => quoted(&format!("FAILED: {why}")),
        },
    ]
    .join(",")
}

/// All rows as comma-separated values.
pub(super) fn csv(programs: &[Program]) -> String {
    let rows = programs.iter().flat_map(|program| program.rows.iter().map(|row| csv_row(program, row)));
    std::iter::once(CSV.to_owned()).chain(rows).map(|line| line + "\n").collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::numbers::Quoted;
    use super::super::rounds::{Passed, Times};
    use super::super::work::{Nearest, Resource};
    use super::*;

    fn row(variant: &'static str, ours: f64, theirs: Option<f64>) -> Row {
        let times = Times { ours: Spread::of(&[ours]), theirs: theirs.map(|theirs| Spread::of(&[theirs])) };
        let nearest = Some(Nearest { resource: Resource::Memory, amount: 12e9, limit: 4.8e12 });
        Row { variant: variant.to_owned(), nearest, outcome: Ok(Passed { checked: "all by hand".into(), times: Some(times) }) }
    }

    /// Two programs: one whose best variant is not that of its best twin, one that failed in part and was not timed.
    pub(in super::super) fn programs() -> [Program; 2] {
        [
            Program {
                name: "saxpy",
                document: ("SAXPY", Quoted(19.4)),
                input: "2 \"elements\", 3".into(),
                core: Some(CoreTime::of(0.5, 0.5)),
                rows: vec![row("plain", 0.008, Some(0.004)), row("vectors", 0.005, Some(0.006)), row("alone", 0.007, None)],
            },
            Program {
                name: "sad",
                document: ("H.264", Quoted(20.2)),
                input: "none".into(),
                core: None,
                rows: vec![
                    Row { variant: "good".into(), nearest: None, outcome: Ok(Passed { checked: "all by hand".into(), times: None }) },
                    Row { variant: "bad".into(), nearest: None, outcome: Err("element 2 is \"3\"".into()) },
                ],
            },
        ]
    }

    #[test]
    fn the_summary_has_best_over_best() {
        let [saxpy, sad] = programs();
        assert_eq!((saxpy.ratio(), sad.ratio()), (Some(0.8), None));
        assert_eq!(saxpy.best_of_ours().map(|(row, _)| row.variant.as_str()), Some("vectors"));
        assert_eq!(saxpy.best_of_theirs().map(|(row, _)| row.variant.as_str()), Some("plain"));
        let text = summary(&[saxpy, sad]);
        let line = text.lines().find(|line| line.contains("SAXPY")).expect("its line");
        let words: Vec<&str> = line.split_whitespace().collect();
        // One core's second is 0.5 s for half of the work.
        assert_eq!(words, ["saxpy", "(SAXPY)", "5.000", "ms", "4.000", "ms", "0.800", "200.0*", "250.0*", "19.4", "vectors"]);
        assert!(text.contains("geometric mean of 1 ratios: 0.800; the least: 0.800"), "{text}");
    }

    #[test]
    fn a_programs_table_says_what_its_rate_is_a_share_of() {
        let [saxpy, sad] = programs();
        let text = of_program(&saxpy);
        assert!(text.contains("one core: 1.000 s, scaled from 0.500 s for 50.000 % of the work"), "{text}");
        let line = text.lines().find(|line| line.contains("vectors")).expect("its line");
        assert!(line.contains("1.200  2400 GB/s      50 %         memory       200.0  all by hand"), "{line}");
        assert!(of_program(&sad).contains("FAILED: element 2 is"));
    }

    #[test]
    fn every_line_of_the_csv_has_the_columns_of_its_head() {
        let text = csv(&programs());
        // Quoted cells here have no more than one comma, and that in the input of the first program.
        let columns: Vec<usize> = text.lines().map(|line| line.replace("', 3\"", "'\"").split(',').count()).collect();
        assert_eq!(columns, [23; 6], "{text}");
        assert!(text.contains("FAILED: element 2 is '3'"));
    }
}
