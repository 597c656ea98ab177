//! The source documents' experiments, and the same on an H200, from bare figures: threads, registers, loads at once.

use crate::{Errors, percent};
use std::fmt::Write;
use warpwright_codegen::target::limits::Limits;
use warpwright_codegen::target::occupancy::{Demand, Options, occupancy};
use warpwright_review::estimate::model::{Work, rate};
use warpwright_review::machine::Machine;
use warpwright_tests::chains::additions;

/// A column of the copying experiment: registers, loads at once, one after the other, bytes of each, whether shared memory is taken.
struct Column {
    name: &'static str,
    registers: u32,
    loads: u32,
    rounds: u32,
    bytes: u32,
    shared: bool,
}

const fn column(name: &'static str, registers: u32, loads: u32, rounds: u32, bytes: u32, shared: bool) -> Column {
    Column { name, registers, loads, rounds, bytes, shared }
}

/// CUDA C++ on an H200, 2²⁸ `f64`, GB/s.
const H200_COLUMNS: [Column; 12] = [
    column("copy", 8, 1, 1, 8, false),
    column("ILP 4 loop", 16, 1, 4, 8, false),
    column("ILP 4 batched", 20, 4, 1, 8, false),
    column("ILP 8 batched", 32, 8, 1, 8, false),
    column("16 bytes", 14, 1, 1, 16, false),
    column("16 bytes ILP 4", 28, 4, 1, 16, false),
    column("copy, taken", 8, 1, 1, 8, true),
    column("ILP 4 loop, taken", 16, 1, 4, 8, true),
    column("ILP 4 batched, taken", 20, 4, 1, 8, true),
    column("ILP 8 batched, taken", 32, 8, 1, 8, true),
    column("16 bytes, taken", 14, 1, 1, 16, true),
    column("16 bytes ILP 4, taken", 28, 4, 1, 16, true),
];
const H200: [(u32, [f64; 12]); 6] = [
    (32, [851., 3344., 3389., 4249., 1700., 4248., 125., 163., 453., 794., 237., 820.]),
    (64, [1700., 4075., 4243., 4219., 3378., 4210., 240., 313., 828., 1376., 462., 1393.]),
    (128, [3345., 4104., 4247., 4182., 4276., 4079., 467., 592., 1410., 2222., 829., 2249.]),
    (256, [3917., 4027., 4181., 4169., 4270., 4070., 827., 1055., 2263., 3366., 1406., 3393.]),
    (512, [3798., 3924., 4173., 4159., 4255., 4111., 1391., 1788., 3401., 3621., 2251., 3658.]),
    (1024, [3518., 3807., 4189., 4149., 4128., 4140., 2170., 2869., 3688., 4010., 3365., 4050.]),
];

/// "Thread- and Instruction-Level Parallelism in CUDA Fortran" (2012): a Tesla C2050, `f64`, GB/s. 0: registers do not fit.
const C2050_COLUMNS: [Column; 5] = [
    column("copy", 10, 1, 1, 8, false),
    column("copy, taken", 10, 1, 1, 8, true),
    column("ILP 4 loop, taken", 10, 1, 4, 8, true),
    column("ILP 4 batched, taken", 19, 4, 1, 8, true),
    column("ILP 8 batched, taken", 35, 8, 1, 8, true),
];
const C2050: [(u32, [f64; 5]); 6] = [
    (32, [54., 7., 11., 25., 32.]),
    (64, [82., 15., 21., 45., 57.]),
    (128, [104., 28., 39., 70., 86.]),
    (256, [102., 50., 63., 97., 103.]),
    (512, [104., 75., 89., 102., 95.]),
    (1024, [97., 97., 93., 94., 0.]),
];

/// GB/s that a copy reaches.
fn copy(machine: &Machine, threads: u32, column: &Column) -> f64 {
    let limits = Limits::find(&format!("{}.{}", machine.capability / 10, machine.capability % 10)).expect("a row of limits");
    let shared = if column.shared { limits.shared * 9 / 10 } else { 0 };
    let demand = Demand { threads, registers: column.registers, shared, ..Demand::default() };
    let resident = occupancy(limits, &demand, &Options::default());
    let work = Work::streaming(machine, threads, resident.blocks, column.bytes, column.loads, column.rounds, true);
    (work.read + work.written) * f64::from(machine.multiprocessors) / rate(&work, machine).block / 1e9
}

/// Predicted, measured and error of each cell.
fn judge<const N: usize>(machine: &Machine, columns: &[Column; N], rows: &[(u32, [f64; N])]) -> (String, Errors) {
    let mut errors = Errors::default();
    let mut text = String::from("| threads |");
    columns.iter().for_each(|column| text += &format!(" {} |", column.name));
    text += &format!("\n{}", "|---".repeat(N + 1) + "|");
    for (threads, cells) in rows {
        let _ = write!(text, "\n| {threads} |");
        for (column, measured) in columns.iter().zip(cells) {
            if *measured == 0.0 {
                text += " |";
                continue;
            }
            let predicted = copy(machine, *threads, column);
            let _ = write!(text, " {predicted:.0} / {measured:.0} ({}) |", percent(errors.add(predicted, *measured)));
        }
    }
    (text, errors)
}

/// The copies on an H200: docs/documents/fortran.md.
pub(crate) fn copies_on_an_h200() -> (String, Errors) {
    judge(Machine::of(90).expect("a row"), &H200_COLUMNS, &H200)
}

/// The article's own table.
pub(crate) fn copies_on_a_c2050() -> (String, Errors) {
    judge(Machine::of(20).expect("a row"), &C2050_COLUMNS, &C2050)
}

/// Additions of `W` warps of `I` dependent chains on each multiprocessor of an H200, GFLOP/s, as `docs/measurements.md` has them: 32
/// additions in a round of the loop.
const ADDITIONS: [(u32, [f64; 4]); 6] = [
    (1, [1953., 3534., 5856., 5856.]),
    (2, [3909., 7059., 11714., 11714.]),
    (4, [7818., 14155., 23476., 23476.]),
    (8, [15564., 27252., 29888., 29888.]),
    (16, [28857., 30226., 28556., 28553.]),
    (32, [30153., 30344., 30266., 30098.]),
];

/// The surface from bare figures.
pub(crate) fn additions_on_an_h200() -> (String, Errors) {
    let machine = Machine::of(90).expect("a row");
    let mut errors = Errors::default();
    let mut text = String::from("| warps | ILP 1 | ILP 2 | ILP 4 | ILP 8 |\n|---|---|---|---|---|");
    for (warps, cells) in ADDITIONS {
        let _ = write!(text, "\n| {warps} |");
        for (ilp, measured) in [1, 2, 4, 8].into_iter().zip(cells) {
            let predicted = additions(machine, warps, ilp) / 1e9;
            let _ = write!(text, " {predicted:.0} / {measured:.0} ({}) |", percent(errors.add(predicted, measured)));
        }
    }
    (text, errors)
}
