//! The tables of the page about VSCSE 2009, lecture 5.

use super::figures::{bound, lints, measured, release, report, resident, today};
use super::library::{Library, Named};
use warpwright_codegen::analysis::access::Divergence;
use warpwright_review::report::range_text;
use warpwright_tests::ptxas::Ptxas;

const fn named(file: &'static str, kernel: &'static str, generics: &'static str) -> Named {
    Named { file, kernel, generics }
}

/// Branches and walks.
const FORMS: [(&str, Named); 6] = [
    ("branch by thread", named("experiments/divergence.rs", "split_by_thread", "")),
    ("branch by warp", named("experiments/divergence.rs", "split_by_warp", "")),
    ("reduction, interleaved", named("reduce.rs", "reduce_interleaved", "B=256")),
    ("reduction, contiguous", named("reduce.rs", "reduce_contiguous", "B=256")),
    ("walk, a thread a row", named("experiments/walks.rs", "along_rows", "")),
    ("walk, a thread a column", named("experiments/walks.rs", "along_columns", "")),
];

/// Kernels whose registers are the point: what each is, and what the lecture gives.
const REGISTERS: [(&str, &str, Named); 9] = [
    ("tiles of 16 × 16", "10", named("matmul.rs", "matmul_tiled", "T=16 UNROLL=1 PREFETCH=false")),
    ("unrolled", "\"does this use more registers?\"", named("matmul.rs", "matmul_tiled", "T=16 UNROLL=16 PREFETCH=false")),
    ("prefetched", "11", named("matmul.rs", "matmul_tiled", "T=16 UNROLL=1 PREFETCH=true")),
    ("unrolled and prefetched", "", named("matmul.rs", "matmul_tiled", "T=16 UNROLL=16 PREFETCH=true")),
    ("16 values", "", named("experiments/cliff.rs", "held", "LIVE=16 MOST=255")),
    ("32 values", "", named("experiments/cliff.rs", "held", "LIVE=32 MOST=255")),
    ("64 values", "", named("experiments/cliff.rs", "held", "LIVE=64 MOST=255")),
    ("64 values, at most 64 registers", "", named("experiments/cliff.rs", "held", "LIVE=64 MOST=64")),
    ("64 values, at most 32 registers", "", named("experiments/cliff.rs", "held", "LIVE=64 MOST=32")),
];

/// Threads of the lecture's blocks, 16 × 16.
const BLOCK: u32 = 256;

/// The tables that the compiler computes.
pub(super) fn sections(library: &mut Library) -> Vec<(&'static str, String)> {
    let mut strict = Library::without_allowances();
    vec![("forms", forms(library, &mut strict)), ("partitioning", partitioning()), ("worked example", worked_example())]
}

fn forms(library: &mut Library, strict: &mut Library) -> String {
    let mut text = String::from(
        "| form | kernel | branches that split warps | sectors of the worst request | bound by | lints |\n|---|---|---|---|---|---|",
    );
    for (form, named) in FORMS {
        let looked = library.look(named, today());
        let report = report(&looked);
        let splits = report.branches.iter().filter(|branch| branch.divergence == Divergence::Splits).count();
        let sectors = report.sectors_per_request().map_or_else(String::new, range_text);
        let (kernel, bound, lints) = (named.short(), bound(&looked), lints(strict, named));
        text += &format!("\n| {form} | `{kernel}` | {splits} of {} | {sectors} | {bound} | {lints} |", report.branches.len());
    }
    text
}

/// Blocks of 16 × 16 by registers of a thread, then and now: each row is where a block is lost.
fn partitioning() -> String {
    let mut text = String::from("| registers, 1.0 | blocks | threads | registers, 9.0 | blocks | threads |\n|---|---|---|---|---|---|");
    let steps = |capability: &str, most: u32| -> Vec<(u32, u32)> {
        let blocks = |registers| resident(capability, BLOCK, registers, 0).blocks;
        (1..=most).filter(|registers| *registers == most || blocks(registers + 1) < blocks(*registers)).map(|r| (r, blocks(r))).collect()
    };
    let (then, now) = (steps("1.0", 32), steps("9.0", 255));
    let cells = |step: Option<&(u32, u32)>| {
        step.map_or_else(|| " | | ".to_owned(), |(registers, blocks)| format!("to {registers} | {blocks} | {}", blocks * BLOCK))
    };
    for row in 0..then.len().max(now.len()) {
        text += &format!("\n| {} | {} |", cells(then.get(row)), cells(now.get(row)));
    }
    text
}

/// Thread-level against instruction-level parallelism: warps that hide a load of 200 cycles if a warp issues an instruction in four.
fn worked_example() -> String {
    const LATENCY: u32 = 200;
    const ISSUE: u32 = 4;
    let mut text =
        String::from("| independent instructions a load | registers | blocks on 1.0 | warps there | warps needed |\n|---|---|---|---|---|");
    for (independent, registers) in [(4u32, 10), (8, 11)] {
        let found = resident("1.0", BLOCK, registers, 0);
        let needed = LATENCY.div_ceil(independent * ISSUE);
        assert!(found.warps >= needed, "there are enough");
        text += &format!("\n| {independent} | {registers} | {} | {} | {needed} |", found.blocks, found.warps);
    }
    text
}

/// Registers, and the blocks that they leave room for.
pub(super) fn registers(library: &mut Library, ptxas: &Ptxas) -> String {
    let mut text = format!(
        "{}, blocks of 16 × 16.\n\n| kernel | | registers, lecture | ours | blocks on 9.0 |\n|---|---|---|---|---|",
        release(ptxas)
    );
    for (form, theirs, named) in REGISTERS {
        let looked = library.look(named, today());
        let ours = measured(&looked, ptxas);
        let blocks = resident("9.0", BLOCK, ours, looked.known.facts.memory.shared as u32).blocks;
        text += &format!("\n| `{}` | {form} | {theirs} | {ours} | {blocks} |", named.short());
    }
    text
}
