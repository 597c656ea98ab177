//! Random kernels give the same results before and after the passes: each pass alone, all of them, and the addresses, on the
//! simulator.
//!
//! The kernels are those of `warpwright_tests::random_kernels`. NaNs count as equal.

use std::collections::BTreeSet;
use warpwright_codegen::backend::rust::emit_rust;
use warpwright_codegen::diagnostic::Diagnostics;
use warpwright_codegen::ir::Kernel;
use warpwright_codegen::passes::{self, ADDRESS, CONVERGE, OPTIMIZE, Pass};
use warpwright_codegen::pipeline::compile_text;
use warpwright_codegen::syntax::Instance;
use warpwright_codegen::verify::verify;
use warpwright_tests::random::{Failure, check_all};
use warpwright_tests::random_kernels::{Style, random_kernel, random_kernel_of_warps, simulated};

/// The kernel after these passes, and those of them that changed it.
fn run_passes(kernel: &Kernel, passes: &[&Pass]) -> (Kernel, Vec<&'static str>) {
    let (mut kernel, mut changed) = (kernel.clone(), Vec::new());
    for pass in passes {
        changed.extend((pass.run)(&mut kernel).then_some(pass.name));
        if let Err(violations) = verify(&kernel) {
            panic!("after {}: {violations:?}\n{kernel:#}", pass.name);
        }
    }
    (kernel, changed)
}

/// The passes that changed the kernel where they ran alone or with the others.
fn check(kernel: &Kernel) -> Result<BTreeSet<&'static str>, Failure> {
    verify(kernel).map_err(|violations| Failure::NoCase(format!("{violations:?}")))?;
    let expected = simulated(kernel).map_err(Failure::NoCase)?;
    let all: Vec<&Pass> = OPTIMIZE.iter().collect();
    let addressed: Vec<&Pass> = OPTIMIZE.iter().chain(ADDRESS).collect();
    let converged: Vec<&Pass> = OPTIMIZE.iter().chain(CONVERGE).collect();
    let alone: Vec<Vec<&Pass>> = addressed.iter().chain(&CONVERGE[..1].iter().collect::<Vec<_>>()).map(|pass| vec![*pass]).collect();
    let mut effective = BTreeSet::new();
    for passes in alone.iter().chain([&all, &addressed, &converged]) {
        let (changed, by) = run_passes(kernel, passes);
        effective.extend(by);
        let names: Vec<&str> = passes.iter().map(|pass| pass.name).collect();
        let wrong = |why: &str| Err(Failure::Wrong(format!("after {names:?} {why}\n{changed}")));
        if simulated(&changed).as_ref() != Ok(&expected) {
            return wrong("the results are others");
        }
        if passes.iter().any(|pass| pass.name == "converge") && passes::converge(&changed).is_some() {
            return wrong("threads part");
        }
    }
    for changed in in_rounds(kernel) {
        if simulated(&changed).as_ref() != Ok(&expected) {
            return Err(Failure::Wrong(format!("in rounds the results are others\n{changed}")));
        }
    }
    Ok(effective)
}

/// The kernel as one of a block that runs for several: behind no pass, and as PTX is made of it. Compiling it for the simulator puts the loop round it.
fn in_rounds(kernel: &Kernel) -> [Kernel; 2] {
    let mut persistent = kernel.clone();
    persistent.options.persistent = true;
    let (mut legal, _) = run_passes(&persistent, &OPTIMIZE.iter().collect::<Vec<_>>());
    passes::meet(&mut legal);
    [persistent, run_passes(&legal, &ADDRESS.iter().collect::<Vec<_>>()).0]
}

/// Kernels to try.
fn rounds() -> u64 {
    std::env::var("WARPWRIGHT_RANDOM_KERNELS").ok().and_then(|n| n.parse().ok()).unwrap_or(150)
}

/// What every pass must have changed: else random kernels say nothing about it.
fn every_pass_changes(kernels: &[BTreeSet<&'static str>], least: usize, passes: impl Iterator<Item = &'static Pass>) {
    for pass in passes {
        let changed = kernels.iter().filter(|effective| effective.contains(pass.name)).count();
        assert!(changed >= least, "`{}` changes {changed} of {} kernels, and is to change {least}", pass.name, kernels.len());
    }
}

#[test]
fn random_kernels_keep_their_results() {
    let kernels = check_all(1..=rounds(), |random| random_kernel(random, Style::Alone), Kernel::to_string, check);
    // `contract` rounds once where the source rounds twice: the kernels forbid it.
    let passes = OPTIMIZE.iter().chain(ADDRESS).filter(|pass| pass.name != "contract");
    every_pass_changes(&kernels, kernels.len() / 25, passes);
}

/// Whole warps, and a last one of 16 threads. (Three warps take longer than one.)
#[test]
fn random_kernels_that_exchange_values_keep_their_results() {
    let kernels = check_all(1..=rounds() / 3, random_kernel_of_warps, Kernel::to_string, check);
    every_pass_changes(&kernels, kernels.len() / 25, CONVERGE.iter());
}

/// A random kernel printed as Rust and compiled again.
fn check_printed(kernel: &Kernel) -> Result<(), Failure> {
    let text = emit_rust(kernel);
    let expected = simulated(kernel).map_err(Failure::NoCase)?;
    let wrong = |why: String| Failure::Wrong(format!("{why}\n{text}"));
    let messages = |found: Diagnostics| wrong(found.iter().map(|finding| finding.message.clone()).collect::<Vec<_>>().join("; "));
    let again = compile_text("printed.rs", &text, "random", &Instance::default()).map_err(messages)?;
    let found = simulated(again.kernel.legal());
    if found.as_ref() == Ok(&expected) { Ok(()) } else { Err(wrong(format!("{found:?}, expected {expected:?}"))) }
}

#[test]
fn printed_random_kernels_keep_their_results() {
    check_all(1..=rounds(), |random| random_kernel(random, Style::Alone), Kernel::to_string, check_printed);
}
