//! Tables of what a campaign's kernels had: features of the language, intrinsics, passes, annotations, targets; how often, and what never.

use super::state::State;
use crate::source::features::{ABSENT, FEATURES};
use std::collections::BTreeSet;
use std::fmt::Write;
use warpwright_codegen::ir::intrinsic::Call;
use warpwright_codegen::target::TARGETS;
use warpwright_codegen::{intrinsics, passes};

/// The tables of a state.
pub fn tables(state: &State) -> String {
    let kernels = state.count("kernels").max(1);
    let mut text = format!("{} kernels, {} statements\n", state.count("kernels"), state.count("statements"));
    table(&mut text, "features", FEATURES.iter().copied(), |name| state.count(&format!("feature {name}")), kernels);
    // Passes place the others.
    let rows: BTreeSet<&str> = intrinsics::rows().filter(|row| row.call != Call::Pass).map(|row| row.name).collect();
    table(&mut text, "intrinsics, by name", rows.iter().copied(), |name| of_intrinsic(state, name), kernels);
    table(
        &mut text,
        "passes that changed something",
        passes::pass_names().into_iter(),
        |name| state.count(&format!("pass {name}")),
        kernels,
    );
    let annotations: Vec<&str> = FEATURES.iter().copied().filter(|name| name.starts_with("annotation.")).collect();
    table(&mut text, "annotations kept as drawn", annotations.into_iter(), |name| state.count(&format!("kept {name}")), kernels);
    let targets = || TARGETS.iter().map(|target| target.name);
    table(&mut text, "texts printed", targets().chain(["opencl", "rust"]), |name| state.count(&format!("target {name}")), kernels);
    table(&mut text, "texts refused for what the target lacks", targets(), |name| state.count(&format!("lacking {name}")), kernels);
    let _ = writeln!(text, "\nnot generated:");
    ABSENT.iter().for_each(|(what, why)| {
        let _ = writeln!(text, "  {what}: {why}");
    });
    text
}

/// How often a function or method was written. Features are called as the functions are, or end with their names.
fn of_intrinsic(state: &State, name: &str) -> u64 {
    let is_of = |feature: &str| {
        let last = feature.rsplit(['.', ':']).next().unwrap_or(feature);
        last == name || feature == name
    };
    state.counts.iter().filter_map(|(key, count)| key.strip_prefix("feature ").filter(|feature| is_of(feature)).map(|_| *count)).sum()
}

fn table<'n>(text: &mut String, title: &str, names: impl Iterator<Item = &'n str>, count: impl Fn(&str) -> u64, kernels: u64) {
    let all: Vec<(&str, u64)> = names.map(|name| (name, count(name))).collect();
    let never: Vec<&str> = all.iter().filter(|(_, count)| *count == 0).map(|(name, _)| *name).collect();
    // Writing to a string does not fail.
    let _ = writeln!(text, "\n{title}: {} of {}", all.len() - never.len(), all.len());
    for (name, count) in all.iter().filter(|(_, count)| *count > 0) {
        let _ = writeln!(text, "  {count:>9}  {:>5.1} %  {name}", 100.0 * *count as f64 / kernels as f64);
    }
    if !never.is_empty() {
        let _ = writeln!(text, "  never: {}", never.join(", "));
    }
}
