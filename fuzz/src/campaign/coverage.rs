//! Tables of what a campaign's kernels had: features of the language, intrinsics, passes, annotations, targets; how often, and what never.

use super::state::State;
use crate::source::features::{ABSENT, FEATURES};
use std::collections::BTreeMap;
use std::fmt::Write;
use warpwright_codegen::ir::Type;
use warpwright_codegen::ir::intrinsic::{Call, Class};
use warpwright_codegen::passes::{CONVERGE, OVERLAP, PLACE};
use warpwright_codegen::target::TARGETS;
use warpwright_codegen::{intrinsics, passes};

/// The tables of a state.
pub fn tables(state: &State) -> String {
    let kernels = state.count("kernels").max(1);
    let mut text = format!("{} kernels, {} statements\n", state.count("kernels"), state.count("statements"));
    table(&mut text, "features", FEATURES.iter().copied(), |name| state.count(&format!("feature {name}")), kernels);
    calls(&mut text, state);
    table(&mut text, "passes that changed something", pass_names().into_iter(), |name| state.count(&format!("pass {name}")), kernels);
    COUNTED_ELSEWHERE.iter().for_each(|(what, place)| {
        let _ = writeln!(text, "  {what}: {place}");
    });
    let annotations: Vec<&str> = FEATURES.iter().copied().filter(|name| name.starts_with("annotation.")).collect();
    table(&mut text, "annotations kept as drawn", annotations.into_iter(), |name| state.count(&format!("kept {name}")), kernels);
    let targets = || TARGETS.iter().map(|target| target.name);
    let texts = targets().chain(["opencl", "rust", "rust, read again and run"]);
    table(&mut text, "texts printed", texts, |name| state.count(&format!("target {name}")), kernels);
    table(&mut text, "texts refused for what the target lacks", targets(), |name| state.count(&format!("lacking {name}")), kernels);
    let _ = writeln!(text, "\nnot generated:");
    ABSENT.iter().for_each(|(what, why)| {
        let _ = writeln!(text, "  {what}: {why}");
    });
    text
}

/// What changes kernels and has no name in the lists of passes, and what counts it.
static COUNTED_ELSEWHERE: &[(&str, &str)] = &[
    ("unroll, vectorize, ilp, pipeline, prefetch, batch_loads", "counted with the annotations that they keep"),
    ("collectives, products", "counted with load_tile, store_tile, load_run and multiply_add among the features"),
    ("simplify", "runs fold, if_convert, dce and promote_arrays, which are counted in the lists"),
    ("converge_barriers", "converge for barriers alone: what it changes, converge changes as well"),
];

/// The passes of all lists, and what stands between these: `meet` for rounds of persistent blocks, `forms` for machines with a copy engine or tensor cores.
fn pass_names() -> Vec<&'static str> {
    let mut names = passes::pass_names();
    let others = CONVERGE.iter().chain(PLACE).chain(OVERLAP).map(|pass| pass.name).chain(["meet", "forms"]);
    for name in others {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Every intrinsic that source can call, with each type that it is there for (none where it has no type), and whether its result is exact.
pub fn cells() -> BTreeMap<(&'static str, &'static str), bool> {
    let mut cells = BTreeMap::new();
    // Passes place the others.
    for row in intrinsics::rows().filter(|row| row.call != Call::Pass) {
        let types: Vec<&str> = match row.over {
            Class::None => vec![""],
            over => Type::SCALARS.iter().filter(|(ty, _)| over.contains(*ty)).map(|(_, name)| *name).collect(),
        };
        let is_exact = row.accuracy.is_empty();
        types.into_iter().for_each(|ty| *cells.entry((row.name, ty)).or_insert(true) &= is_exact);
    }
    cells
}

/// The table of intrinsics by name and type: a line for each name.
fn calls(text: &mut String, state: &State) {
    let count = |(name, ty): (&str, &str)| match ty {
        "" => state.count(&format!("feature {name}")),
        _ => state.count(&format!("call {name} {ty}")),
    };
    let cells = cells();
    let drawn = |only_exact: bool| cells.iter().filter(|(cell, is_exact)| **is_exact >= only_exact && count(**cell) > 0).count();
    let exact = cells.values().filter(|is_exact| **is_exact).count();
    // Writing to a string does not fail.
    let _ = writeln!(
        text,
        "\nintrinsics, by name and type: {} of {}; of those without a bound of errors {} of {exact}",
        drawn(false),
        cells.len(),
        drawn(true)
    );
    let mut by_name: BTreeMap<&str, Vec<(&str, u64)>> = BTreeMap::new();
    cells.keys().for_each(|cell| by_name.entry(cell.0).or_default().push((cell.1, count(*cell))));
    for (name, types) in &by_name {
        let types: Vec<String> =
            types.iter().filter(|(_, count)| *count > 0).map(|(ty, count)| format!("{ty} {count}").trim().to_owned()).collect();
        if !types.is_empty() {
            let _ = writeln!(text, "  {name}: {}", types.join(", "));
        }
    }
    let never: Vec<String> =
        cells.keys().filter(|cell| count(**cell) == 0).map(|(name, ty)| format!("{name} {ty}").trim().to_owned()).collect();
    if !never.is_empty() {
        let _ = writeln!(text, "  never: {}", never.join(", "));
    }
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
