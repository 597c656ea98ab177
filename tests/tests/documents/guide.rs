//! The tables of the page about NVIDIA's OpenCL best practices guide 1.0 (2009).

use super::figures::{bound, lints, report, resident, today};
use super::library::{Library, Named};
use warpwright_kernels::experiments::brake::bytes_for;
use warpwright_review::machine::Pipe;
use warpwright_review::report::{conflict_text, range_text};

const fn named(file: &'static str, kernel: &'static str, generics: &'static str) -> Named {
    Named { file, kernel, generics }
}

/// Copies, products and transposes: what their accesses do.
const ACCESSES: [Named; 11] = [
    named("access.rs", "offset_copy", ""),
    named("ab.rs", "ab", "A_SHARED=false B_SHARED=false"),
    named("ab.rs", "ab", "A_SHARED=true B_SHARED=false"),
    named("ab.rs", "ab", "A_SHARED=true B_SHARED=true"),
    named("aat.rs", "aat_direct", ""),
    named("aat.rs", "aat", "PAD=0 SWIZZLE=false"),
    named("aat.rs", "aat", "PAD=1 SWIZZLE=false"),
    named("aat.rs", "aat", "PAD=2 SWIZZLE=false"),
    named("transpose.rs", "transpose_direct", ""),
    named("transpose.rs", "transpose_tiled", "PAD=0 SWIZZLE=false"),
    named("transpose.rs", "transpose_tiled", "PAD=1 SWIZZLE=false"),
];

/// Variants that differ in an instruction: what each is.
const INSTRUCTIONS: [(&str, Named); 13] = [
    ("sine and exponential, precise", named("experiments/instructions.rs", "waves", "FAST=false")),
    ("native", named("experiments/instructions.rs", "waves", "FAST=true")),
    ("index by `*`", named("experiments/instructions.rs", "indices", "MUL24=false")),
    ("by `mul24`", named("experiments/instructions.rs", "indices", "MUL24=true")),
    ("quotient and rest, divisor unknown", named("experiments/instructions.rs", "halves", "HOW=0")),
    ("shift and mask", named("experiments/instructions.rs", "halves", "HOW=1")),
    ("divisor known", named("experiments/instructions.rs", "halves", "HOW=2")),
    ("constants of `f32`", named("experiments/instructions.rs", "scaled", "STRAY=false")),
    ("of `f64`", named("experiments/instructions.rs", "scaled", "STRAY=true")),
    ("constant memory, one element", named("experiments/constants.rs", "from_constant", "SPREAD=false")),
    ("an element a lane", named("experiments/constants.rs", "from_constant", "SPREAD=true")),
    ("global memory, one element", named("experiments/constants.rs", "from_global", "SPREAD=false")),
    ("an element a lane", named("experiments/constants.rs", "from_global", "SPREAD=true")),
];

/// The guide's examples of occupancy: capability, threads of a block, registers, what it says.
const OCCUPANCY: [(&str, u32, u32, &str); 6] = [
    ("1.0", 128, 12, "5 blocks, 83 %"),
    ("1.0", 256, 12, "2 blocks, 66 %"),
    ("1.0", 256, 10, "3 blocks, 100 %"),
    ("1.0", 512, 10, "1 block, 66 %"),
    ("1.1", 192, 32, "25 %"),
    ("1.3", 192, 64, "18.75 %"),
];

/// The tables that the compiler computes.
pub(super) fn sections(library: &mut Library) -> Vec<(&'static str, String)> {
    let mut strict = Library::without_allowances();
    vec![
        ("accesses", accesses(library, &mut strict)),
        ("occupancy", occupancies()),
        ("brake", brake()),
        ("instructions", instructions(library, &mut strict)),
    ]
}

fn accesses(library: &mut Library, strict: &mut Library) -> String {
    let mut text = String::from("| kernel | sectors of the worst request | bank conflicts | bound by | lints |\n|---|---|---|---|---|");
    for named in ACCESSES {
        let looked = library.look(named, today());
        let report = report(&looked);
        let sectors = report.sectors_per_request().map_or_else(String::new, range_text);
        let conflicts = report.bank_conflicts().map_or_else(String::new, conflict_text);
        text += &format!("\n| `{}` | {sectors} | {conflicts} | {} | {} |", named.short(), bound(&looked), lints(strict, named));
    }
    text
}

fn occupancies() -> String {
    let mut text = String::from("| capability | threads of a block | registers | guide | our tables |\n|---|---|---|---|---|");
    for (capability, threads, registers, said) in OCCUPANCY {
        let found = resident(capability, threads, registers, 0);
        let blocks = if found.blocks == 1 { "block" } else { "blocks" };
        text += &format!("\n| {capability} | {threads} | {registers} | {said} | {} {blocks}, {} % |", found.blocks, found.percent());
    }
    text
}

fn brake() -> String {
    let mut text = String::from("| blocks | shared memory of a block, bytes | occupancy on 9.0 |\n|---|---|---|");
    for blocks in [8, 4, 2, 1] {
        let shared = bytes_for("9.0", blocks).expect("a figure that leaves so many");
        text += &format!("\n| {blocks} | {shared} | {} % |", resident("9.0", 256, 16, shared).percent());
    }
    text
}

/// What a round of a kernel's loop takes: loops that the launch decides count 1000 rounds, so that what is outside is next to nothing.
fn instructions(library: &mut Library, strict: &mut Library) -> String {
    const ROUNDS: f64 = 1000.0;
    let mut text = String::from(
        "| form | kernel | instructions a round | of them special | `f64` | bound by | lints |\n|---|---|---|---|---|---|---|",
    );
    for (form, named) in INSTRUCTIONS {
        let looked = library.look(named, today());
        let mix = &looked.known.threads.mix;
        let (all, special, double) = (mix.instructions() / ROUNDS, mix.of(Pipe::Special) / ROUNDS, mix.of(Pipe::Double) / ROUNDS);
        let (kernel, bound, lints) = (named.short(), bound(&looked), lints(strict, named));
        text += &format!("\n| {form} | `{kernel}` | {all:.0} | {special:.0} | {double:.0} | {bound} | {lints} |");
    }
    text
}
