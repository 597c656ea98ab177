//! The tables of the page about "Programming Parallel Computers", part 5B (2020).

use super::figures::{measured, release, resident, today};
use super::library::{Library, Named};
use warpwright_review::machine::{Machine, Pipe};
use warpwright_tests::chains::additions;
use warpwright_tests::ptxas::Ptxas;

/// The lecture's device: Maxwell, five multiprocessors.
const MAXWELL: &str = "5.0";

/// What it says of warps that are active at once: how it says it, threads and shared bytes of a block, registers of a thread, warps.
const ACTIVE: [(&str, u32, u32, u32, &str); 6] = [
    ("blocks of one warp", 32, 32, 0, "32"),
    ("blocks of two warps", 64, 32, 0, "64"),
    ("at most 32 registers, at most 2 KB for a block of two warps", 64, 32, 2048, "64"),
    ("a register more", 64, 33, 2048, "less"),
    ("a byte more", 64, 32, 2049, "less"),
    ("255 registers", 64, 255, 0, "8"),
];

const SHORTCUT: Named = Named { file: "shortcut.rs", kernel: "shortcut", generics: "" };

/// Registers that the lecture's compiler gives the shortcut kernel.
const REGISTERS: u32 = 96;

/// The tables that the compiler computes.
pub(super) fn sections(_: &mut Library) -> Vec<(&'static str, String)> {
    vec![("active warps", active()), ("additions", chains())]
}

/// Active warps of a multiprocessor.
fn active() -> String {
    let mut text = String::from(
        "| | threads of a block | registers | shared, bytes | warps, lecture | our tables, 5.0 | 9.0 |\n|---|---|---|---|---|---|---|",
    );
    for (words, threads, registers, shared, said) in ACTIVE {
        let warps = |capability| resident(capability, threads, registers, shared).warps;
        text += &format!("\n| {words} | {threads} | {registers} | {shared} | {said} | {} | {} |", warps(MAXWELL), warps("9.0"));
    }
    text
}

/// Shares of the peak that chains of additions reach, by the model.
fn chains() -> String {
    let mut text = String::from(
        "| warps | 5.0: ILP 1 | ILP 2 | ILP 4 | ILP 8 | 9.0: ILP 1 | ILP 2 | ILP 4 | ILP 8 |\n|---|---|---|---|---|---|---|---|---|",
    );
    for warps in [1, 2, 3, 4, 8, 16, 24, 32, 64] {
        let cells = [50, 90].into_iter().flat_map(|capability| {
            let machine = Machine::of(capability).expect("a device of this capability");
            let peak = machine.lanes(Pipe::Single) * machine.clock * f64::from(machine.multiprocessors);
            [1, 2, 4, 8].map(|ilp| format!("{:.0} %", 100.0 * additions(machine, warps, ilp) / peak))
        });
        text += &format!("\n| {warps} | {} |", cells.collect::<Vec<_>>().join(" | "));
    }
    text
}

/// Registers of the tile in registers, and the warps that they leave room for.
pub(super) fn registers(library: &mut Library, ptxas: &Ptxas) -> String {
    let looked = library.look(SHORTCUT, today());
    let [x, y, z] = looked.known.legal.addressed().options.block.expect("the block is known");
    let warps = |capability, registers| resident(capability, x * y * z, registers, 0).warps;
    let ours = measured(&looked, ptxas);
    format!(
        "{}.\n\n| kernel | values of a thread | registers, lecture | warps on 5.0 | ours | warps on 9.0 |\n|---|---|---|---|---|---|\n\
         | `{}` | 8 + 8 + 64 | {REGISTERS} | {} | {ours} | {} |",
        release(ptxas),
        SHORTCUT.short(),
        warps(MAXWELL, REGISTERS),
        warps("9.0", ours),
    )
}
