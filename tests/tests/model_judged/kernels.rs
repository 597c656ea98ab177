//! What the compiler predicts of the benchmarks' kernels on an H200, against what `docs/measurements.md` says was timed there.

use crate::{Errors, percent};
use std::path::Path;
use warpwright_codegen::analysis::access::Races;
use warpwright_codegen::ir::Scalar;
use warpwright_codegen::pipeline::compile_text;
use warpwright_codegen::syntax::{ConstValue, GenericValue, Instance};
use warpwright_codegen::target::Target;
use warpwright_codegen::target::occupancy::{Options, occupancy};
use warpwright_review::estimate::demand::demand_of;
use warpwright_review::estimate::registers::registers;
use warpwright_review::estimate::time::{Prediction, Threads, predict};
use warpwright_review::estimate::{Launched, VariantFacts};

/// A row of a table of `docs/measurements.md`.
struct Timed {
    family: String,
    variant: String,
    threads: u32,
    /// GB/s or GFLOP/s.
    figure: f64,
}

/// The kernel that a row is about: its file, its name, its generics, its block if the launch decides that.
struct Which {
    file: &'static str,
    kernel: &'static str,
    generics: Vec<GenericValue>,
    block: Option<u32>,
    /// Numbers of the launch, by parameter.
    numbers: Vec<(&'static str, u32)>,
    /// Bytes or operations that a block is counted for, where that is not what the compiler counts.
    work: Option<f64>,
    /// Blocks, where they are so few that the last of them count.
    grid: Option<u64>,
}

impl Which {
    fn of(file: &'static str, kernel: &'static str, generics: Vec<GenericValue>) -> Which {
        Which { file, kernel, generics, block: None, numbers: Vec::new(), work: None, grid: None }
    }

    fn with(mut self, name: &'static str, number: u32) -> Which {
        self.numbers.push((name, number));
        self
    }

    fn in_blocks(mut self, grid: u64) -> Which {
        self.grid = Some(grid);
        self
    }

    fn counted(mut self, work: f64) -> Which {
        self.work = Some(work);
        self
    }
}

fn number(value: u32) -> GenericValue {
    GenericValue::Const(ConstValue::Index(i128::from(value), false))
}

fn boolean(value: bool) -> GenericValue {
    GenericValue::Const(ConstValue::Scalar(Scalar::bool(value)))
}

fn which(row: &Timed) -> Option<Which> {
    let of = |file, kernel, generics| Some(Which::of(file, kernel, generics));
    let timed = |file, kernel, work: f64| Which::of(file, kernel, Vec::new()).counted(work);
    let count = |word: &str| {
        let mut words = row.variant.split([' ', ',']).skip_while(|w| *w != word).skip(1);
        words.next().and_then(|n| n.parse::<u32>().ok())
    };
    let has = |word: &str| row.variant.contains(word);
    match row.family.as_str() {
        "copy" => {
            let vector = if has("vectors") { 2 } else { 1 };
            let ilp = count("ilp").unwrap_or(1);
            let f64 = GenericValue::Type("f64".to_owned());
            of("copy", "copy", vec![f64, number(row.threads), number(ilp), boolean(has("batched")), number(vector)])
        }
        "saxpy" if row.variant == "plain" => of("saxpy", "saxpy", vec![]),
        "saxpy" => {
            let vector = if has("vectors") { 4 } else { 1 };
            of("saxpy", "saxpy_grouped", vec![number(row.threads), number(count("ilp")?), boolean(true), number(vector)])
        }
        "offset_copy" => of("access", "offset_copy", vec![]),
        "reduce" if has("interleaved") => of("reduce", "reduce_interleaved", vec![number(row.threads)]),
        "reduce" => of("reduce", "reduce_contiguous", vec![number(row.threads)]),
        "matmul" if has("not tiled") => of("matmul", "matmul_direct", vec![number(if has("unrolled") { 4 } else { 1 })]),
        "matmul" => {
            let side = row.variant.split('x').next()?.parse().ok()?;
            of("matmul", "matmul_tiled", vec![number(side), number(if has("unrolled") { side } else { 1 }), boolean(has("prefetched"))])
        }
        "ab" => of("ab", "ab", vec![boolean(has("shared")), boolean(has("B shared"))]),
        "aat" if has("global") => of("aat", "aat_direct", vec![]),
        "aat" => of("aat", "aat", vec![number(u32::from(has("padded"))), boolean(has("swizzled"))]),
        "transpose" if has("direct") => of("transpose", "transpose_direct", vec![]),
        "transpose" => of("transpose", "transpose_tiled", vec![number(u32::from(has("padded"))), boolean(has("swizzled"))]),
        "shortcut" => Some(Which::of("shortcut", "shortcut", vec![]).with("n", 4096).with("padded", 4096).in_blocks(64 * 64)),
        "additions" => {
            let ilp = count("ilp")?;
            let generics = vec![number(ilp), number(32 / ilp)];
            let steps = Which::of("throughput", "additions", generics).with("steps", 1 << 17);
            Some(Which { block: Some(row.threads), ..steps })
        }
        // Four bytes or one in and out of each thread; the cells of a row, of eight rows; bodies, of which a step writes six numbers.
        "halo" if has("convolution") => Some(timed("halo", "convolve", 8.0 * 256.0)),
        "halo" => Some(timed("halo", "five_points", 8.0 * 256.0)),
        "rows" if has("bytes") => {
            let length = count("of")?;
            Some(timed("rows", "rows_by_thread", 256.0 * f64::from(length)).with("length", length))
        }
        "rows" if has("warp") => Some(timed("rows", "rows_by_warp", 8.0 * 2048.0 * 4.0).with("columns", 2048)),
        "rows" => Some(timed("rows", "softmax", 2048.0 * 8.0).with("columns", 2048)),
        "structures" if has("body") => Some(timed("structures", "bodies::advance", 256.0 * 56.0)),
        "structures" => Some(timed("structures", "bodies::energies", 256.0 * 16.0 * 16.0).with("length", 16)),
        "automaton" => Some(timed("automaton", "generation", 256.0 * 2.0)),
        "tiles" if has("multiplication") => {
            Some(timed("tiles", "multiply", 2.0 * 64.0 * 64.0 * 8192.0).with("n", 8192).in_blocks(128 * 128))
        }
        "tiles" => Some(timed("tiles", "forces", 21.0 * 256.0 * 131_072.0).with("n", 131_072).in_blocks(512)),
        _ => None,
    }
}

/// The rows of the tables with a column of threads and one of "ours".
fn timed() -> Vec<Timed> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/measurements.md");
    let text = std::fs::read_to_string(path).expect("the measurements");
    let (mut family, mut rows) = (String::new(), Vec::new());
    let (mut columns, mut taken): (Vec<String>, &str) = (Vec::new(), "");
    for line in text.lines() {
        match line {
            "Shared memory free:" => taken = "",
            "0.9 of the shared memory taken:" => taken = ", taken",
            _ if line.starts_with("| threads | plain |") => {
                columns = line.trim_matches('|').split('|').skip(1).map(|column| column.trim().to_owned()).collect();
            }
            _ if !line.starts_with('|') => columns.clear(),
            _ => {}
        }
        if let Some(heading) = line.strip_prefix("### ") {
            family = heading.trim().to_owned();
        }
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        // The copies: a row for each block, a column for each kernel, our figure and the ratio.
        if let (false, Ok(threads)) = (columns.is_empty(), cells[0].parse::<u32>()) {
            for (column, cell) in columns.iter().zip(&cells[1..]) {
                let figure = cell.split(' ').next().and_then(|figure| figure.parse().ok()).expect("a figure");
                rows.push(Timed { family: "copy".to_owned(), variant: format!("{column}{taken}"), threads, figure });
            }
            continue;
        }
        if let [variant, threads, ours, _, _] = cells[..]
            && let (Ok(threads), Ok(figure)) = (threads.parse(), ours.parse())
        {
            rows.push(Timed { family: family.clone(), variant: variant.to_owned(), threads, figure });
        }
    }
    rows
}

/// Predicts an instance; `taken` bytes of dynamic shared memory are asked for at the launch.
fn prediction(which: &Which, taken: u32) -> Prediction {
    let folder = if which.file == "kernels" { "../bench/src/bin/calibrate" } else { "../kernels/src" };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("{folder}/{}.rs", which.file));
    let text = std::fs::read_to_string(path).expect("a kernel's file");
    let messages = |found: &warpwright_codegen::diagnostic::Diagnostics| found.iter().map(|d| d.message.clone()).collect::<Vec<_>>();
    let instance = Instance { generics: which.generics.clone() };
    let lowered = compile_text(which.file, &text, which.kernel, &instance);
    let lowered = lowered.unwrap_or_else(|found| panic!("{}: {:?}", which.kernel, messages(&found)));
    let (legal, addressed) = (lowered.kernel.legal(), lowered.kernel.legal().addressed());
    let target = Target::find("sm_90").expect("a target");
    let mut launched = Launched { block: which.block.map(|threads| [threads, 1, 1]), ..Launched::default() };
    for (name, value) in &which.numbers {
        let object = legal.objects.iter().find(|(_, object)| object.name == *name).expect("a parameter").0;
        launched.numbers.insert((object, 0), Scalar::u32(*value));
    }
    let facts = VariantFacts::of_launched(legal, &launched, Races::Left);
    let threads = Threads::of(addressed, &facts.accesses, &facts.branches, &launched);
    let block = legal.options.block.or(which.block.map(|threads| [threads, 1, 1])).expect("a block");
    let demand = demand_of(legal, registers(addressed, target).estimate, block, taken).expect("a block's demand");
    let resident = occupancy(target.limits, &demand, &Options::default());
    predict(addressed, &threads, Some(&resident), target).expect("a prediction")
}

/// The families, each with its errors, and the table of all kernels.
pub(crate) fn timed_kernels() -> (String, Vec<(String, Errors)>) {
    let mut families: Vec<(String, Errors)> = Vec::new();
    let mut text = String::from("| kernel | threads | predicted | timed | error | bound |\n|---|---|---|---|---|---|");
    for row in &timed() {
        let Some(which) = which(row) else { continue };
        // One block on each multiprocessor.
        let is_taken = row.family == "additions" || row.variant.ends_with("taken");
        let taken = if is_taken { 228 * 1024 / 10 * 9 } else { 0 };
        let predicted = prediction(&which, taken);
        let figure = match row.family.as_str() {
            _ if which.work.is_some() => which.work.unwrap_or(0.0) * 132.0 / predicted.block_seconds / 1e9,
            "matmul" | "shortcut" | "additions" => predicted.operations / 1e9,
            // What the benchmark counts: each element of the result once, of the operands what is not negligible.
            "ab" | "aat" | "reduce" => 4.0 * f64::from(row.threads) * 132.0 / predicted.block_seconds / 1e9,
            _ => predicted.bandwidth / 1e9,
        };
        // The last blocks leave some multiprocessors idle.
        let steady = which.grid.map(|grid| grid as f64 * predicted.block_seconds / 132.0 / predicted.seconds(grid));
        let figure = figure * steady.unwrap_or(1.0);
        let at = families.iter().position(|(family, _)| *family == row.family).unwrap_or_else(|| {
            families.push((row.family.clone(), Errors::default()));
            families.len() - 1
        });
        let error = percent(families[at].1.add(figure, row.figure));
        let (family, variant, threads, bound) = (&row.family, &row.variant, row.threads, predicted.bound.word());
        text += &format!("\n| {family}: {variant} | {threads} | {figure:.0} | {:.0} | {error} | {bound} |", row.figure);
    }
    (text, families)
}

/// Launches of `triad` of all sizes, small ones too: seconds, from launch to end.
pub(crate) fn launches() -> (String, Errors) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bench/calibration/h200.csv");
    let text = std::fs::read_to_string(path).expect("the calibration's file");
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let names = lines.next().expect("a heading");
    let at = |name| names.iter().position(|known| *known == name).expect("a column");
    let (kernel, block, resident, grid) = (at("kernel"), at("block"), at("resident"), at("grid"));
    let (ilp, vector, footprint, median) = (at("ilp"), at("vector"), at("footprint"), at("median"));
    let mut errors = Errors::default();
    let mut table =
        String::from("| elements | blocks of 256 | elements a thread | predicted, µs | timed, µs | error |\n|---|---|---|---|---|---|");
    for row in lines.filter(|row| row[kernel] == "triad" && row[block] == "256" && row[resident] == "0" && row[ilp] == "1") {
        let figure = |column: usize| row[column].parse::<f64>().expect("a number");
        let which = Which::of("kernels", "triad", vec![number(256), number(1), number(figure(vector) as u32)]);
        let predicted = 1e6 * prediction(&which, 0).seconds(figure(grid) as u64);
        let timed = 1e6 * figure(median);
        let error = percent(errors.add(predicted, timed));
        let (elements, grid, vector) = (figure(footprint) / 12.0, row[grid], row[vector]);
        table += &format!("\n| {elements:.0} | {grid} | {vector} | {predicted:.1} | {timed:.1} | {error} |");
    }
    (table, errors)
}
