//! Measures what the model of registers is fitted on: every variant of the project's kernels, of those of the language tests and of
//! `tests/fit`, on every target, with the model's figures and those of `ptxas`, as comma-separated values.
//!
//! ```sh
//! cargo run --release -p warpwright-tests --bin register_data > data.csv && python3 tests/fit_registers.py data.csv
//! ```

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use warpwright_codegen::backend::ptx::Ptx;
use warpwright_codegen::target::Target;
use warpwright_review::estimate::registers::{features, registers};
use warpwright_tests::corpus::{self, Variant};
use warpwright_tests::ptxas::{self, Ptxas};

/// One target of each row of constants.
const TARGETS: [&str; 10] = ["sm_50", "sm_60", "sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"];

fn main() {
    let assemblers = ptxas::all();
    if assemblers.is_empty() {
        eprintln!("no ptxas: name one by `WARPWRIGHT_PTXAS`, or put it on `PATH`");
        std::process::exit(1);
    }
    let sets = [("kernels", corpus::kernels()), ("language", corpus::folder("tests/language")), ("fit", corpus::folder("fit"))];
    println!("set,family,name,target,measured,spilt,needed,step,filled,next_step,next_filled,limit,estimate,low,high,threads");
    for (set, (variants, _)) in &sets {
        let next = AtomicUsize::new(0);
        let lines = Mutex::new(Vec::new());
        // The assembler is the slow part.
        let work = || {
            while let Some(variant) = variants.get(next.fetch_add(1, Ordering::Relaxed)) {
                let found: Vec<String> = TARGETS.iter().filter_map(|name| line(set, variant, name, &assemblers)).collect();
                if let Ok(mut lines) = lines.lock() {
                    lines.extend(found);
                }
            }
        };
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| (0..workers).for_each(|_| drop(scope.spawn(work))));
        let mut lines = lines.into_inner().unwrap_or_default();
        lines.sort();
        lines.iter().for_each(|line| println!("{line}"));
    }
}

/// The figures of a variant on a target, if an assembler knows it.
fn line(set: &str, variant: &Variant, name: &str, assemblers: &[Ptxas]) -> Option<String> {
    let target = Target::find(name).ok()?;
    let kernel = variant.kernel.legal().addressed();
    // The newest that knows it.
    let assembler = assemblers.iter().rev().find(|ptxas| ptxas.targets.contains(&target.capability))?;
    let text = variant.text(&Ptx, Some(target))?;
    let measured = assembler.measure(&text, target.capability).ok()?;
    let (model, estimated) = (features(kernel, target), registers(kernel, target));
    let threads = kernel.options.block.map_or(0, |block| block.iter().product());
    Some(format!(
        "{set},{},\"{}\",{name},{},{},{},{},{},{},{},{},{},{},{},{threads}",
        variant.family,
        variant.name,
        measured.registers,
        measured.spill_stores,
        model.needed,
        model.step,
        model.filled,
        model.next_step,
        model.next_filled,
        model.limit,
        estimated.estimate,
        estimated.low,
        estimated.high,
    ))
}
