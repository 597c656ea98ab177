//! The application suite: what `warpwright compare` predicts of each launch, beside the times that `docs/documents/ryoo.md` shows.

use super::{Errors, percent};
use std::process::Command;
use warpwright_tests::command::{binary, root};

const LAUNCHES: &str = include_str!("applications.txt");

/// What one variant's run launches.
struct Run<'t> {
    program: &'t str,
    variant: &'t str,
    /// How many such launches there are in a run.
    times: f64,
    arguments: Vec<String>,
}

/// The errors of a program's variants.
pub(super) struct Program {
    pub(super) name: String,
    pub(super) errors: Errors,
    /// Variants whose times are more than half off.
    pub(super) misses: Vec<String>,
}

/// The table, and the errors by program.
pub(super) fn judged() -> (String, Vec<Program>) {
    let page = std::fs::read_to_string(root().join("docs/documents/ryoo.md")).expect("docs/documents/ryoo.md");
    let runs: Vec<Run<'_>> = LAUNCHES.lines().filter(|line| !line.starts_with('#')).map(run).collect();
    binary();
    let mut predicted = vec![0.0; runs.len()];
    let share = runs.len().div_ceil(std::thread::available_parallelism().map_or(1, usize::from));
    std::thread::scope(|scope| {
        for (runs, predicted) in runs.chunks(share).zip(predicted.chunks_mut(share)) {
            scope.spawn(|| runs.iter().zip(predicted).for_each(|(run, predicted)| *predicted = seconds(run)));
        }
    });
    let mut table = String::from("| application | variant | predicted, ms | timed, ms | error |\n|---|---|---|---|---|");
    let mut programs: Vec<Program> = Vec::new();
    // A variant may launch several kernels: its lines follow each other.
    let all: Vec<(&Run<'_>, f64)> = runs.iter().zip(predicted).collect();
    for lines in all.chunk_by(|a, b| (a.0.program, a.0.variant) == (b.0.program, b.0.variant)) {
        let Run { program, variant, .. } = lines[0].0;
        let predicted = 1e3 * lines.iter().map(|(run, seconds)| run.times * seconds).sum::<f64>();
        let timed = timed(&page, program, variant);
        if programs.last().is_none_or(|last| last.name != *program) {
            programs.push(Program { name: (*program).to_owned(), errors: Errors::default(), misses: Vec::new() });
        }
        let last = programs.last_mut().expect("one was added");
        let error = last.errors.add(predicted, timed);
        if error.abs() > 0.5 {
            last.misses.push((*variant).to_owned());
        }
        table += &format!("\n| {program} | {variant} | {} | {} | {} |", three(predicted), three(timed), percent(error));
    }
    (table, programs)
}

/// Three digits that count.
fn three(milliseconds: f64) -> String {
    let digits = (2.0 - milliseconds.log10().floor()).max(0.0) as usize;
    format!("{milliseconds:.digits$}")
}

fn run(line: &str) -> Run<'_> {
    let fields: Vec<&str> = line.splitn(4, " | ").collect();
    let [program, variant, times, arguments] = fields[..] else { panic!("four fields: {line}") };
    // As a shell splits it: blanks part, but not between quotes.
    let parts = arguments.split('\'').enumerate();
    let arguments = parts.flat_map(|(n, part)| if n % 2 == 1 { vec![part] } else { part.split_whitespace().collect() });
    Run { program, variant, times: times.parse().expect("a number"), arguments: arguments.map(str::to_owned).collect() }
}

/// What is predicted of one launch.
fn seconds(run: &Run<'_>) -> f64 {
    let mut command = Command::new(binary());
    command.arg("compare").args(&run.arguments).args(["--targets", "sm_90", "--json"]).current_dir(root().join("kernels/src"));
    let output = command.output().expect("the command runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let document: serde_json::Value = serde_json::from_str(&text)
        .unwrap_or_else(|error| panic!("{}, {}: {error}\n{}", run.program, run.variant, String::from_utf8_lossy(&output.stderr)));
    let figure = &document["comparisons"][0]["variants"][0]["targets"][0]["figures"]["predicted_time"]["value"];
    figure.as_f64().unwrap_or_else(|| panic!("{}, {}: no time is predicted\n{text}", run.program, run.variant))
}

/// Milliseconds of ours, from the page's section about the program.
fn timed(page: &str, program: &str, variant: &str) -> f64 {
    let begin = format!("<!-- timed {program} -->");
    let section = page.split(&begin).nth(1).unwrap_or_else(|| panic!("ryoo.md has no `{begin}`"));
    let section = section.split("<!-- end of").next().unwrap_or_default();
    let row = section.lines().find_map(|line| line.strip_prefix("| ")?.strip_prefix(variant)?.strip_prefix(" | "));
    let row = row.unwrap_or_else(|| panic!("ryoo.md has no time of {program}, {variant}"));
    row.split(' ').next().and_then(|figure| figure.parse().ok()).unwrap_or_else(|| panic!("no time: {row}"))
}
