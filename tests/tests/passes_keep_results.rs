//! Random kernels give the same results before and after the passes: each pass alone, all of them, and the addresses, on the
//! simulator.
//!
//! The kernels are those of `warpwright_tests::random_kernels`. NaNs count as equal.

use warpwright_codegen::backend::rust::emit_rust;
use warpwright_codegen::diagnostic::Diagnostics;
use warpwright_codegen::ir::Kernel;
use warpwright_codegen::passes::{self, ADDRESS, CONVERGE, OPTIMIZE, Pass};
use warpwright_codegen::pipeline::compile_text;
use warpwright_codegen::syntax::Instance;
use warpwright_codegen::verify::verify;
use warpwright_tests::random_kernels::{Style, random_kernel, simulated};

fn run_passes(kernel: &Kernel, passes: &[&Pass]) -> Kernel {
    let mut kernel = kernel.clone();
    for pass in passes {
        (pass.run)(&mut kernel);
        if let Err(violations) = verify(&kernel) {
            panic!("after {}: {violations:?}\n{kernel:#}", pass.name);
        }
    }
    kernel
}

fn check_seed(seed: u64, style: Style) {
    let kernel = random_kernel(seed, style);
    if let Err(violations) = verify(&kernel) {
        panic!("seed {seed} is no kernel: {violations:?}\n{kernel:#}");
    }
    let expected = simulated(&kernel);
    assert!(expected.is_ok(), "seed {seed}: {expected:?}\n{kernel}");
    let all: Vec<&Pass> = OPTIMIZE.iter().collect();
    let addressed: Vec<&Pass> = OPTIMIZE.iter().chain(ADDRESS).collect();
    let converged: Vec<&Pass> = OPTIMIZE.iter().chain(CONVERGE).collect();
    let alone: Vec<Vec<&Pass>> = addressed.iter().chain(&CONVERGE[..1].iter().collect::<Vec<_>>()).map(|pass| vec![*pass]).collect();
    for passes in alone.iter().chain([&all, &addressed, &converged]) {
        let changed = run_passes(&kernel, passes);
        let names: Vec<&str> = passes.iter().map(|pass| pass.name).collect();
        assert_eq!(simulated(&changed), expected, "seed {seed} after {names:?}\n{kernel}\n{changed}");
        if passes.iter().any(|pass| pass.name == "converge") {
            assert!(passes::converge(&changed).is_none(), "seed {seed}: threads part after {names:?}\n{kernel}\n{changed}");
        }
    }
}

/// Kernels to try.
fn rounds() -> u64 {
    std::env::var("WARPWRIGHT_RANDOM_KERNELS").ok().and_then(|n| n.parse().ok()).unwrap_or(150)
}

#[test]
fn random_kernels_keep_their_results() {
    (1..=rounds()).for_each(|seed| check_seed(seed, Style::Alone));
}

/// Whole warps, and a last one of 16 threads. (Three warps take longer than one.)
#[test]
fn random_kernels_that_exchange_values_keep_their_results() {
    (1..=rounds() / 3).for_each(|seed| check_seed(seed, Style::Warps { threads: if seed % 2 == 0 { 80 } else { 96 } }));
}

/// A random kernel printed as Rust and compiled again.
fn printed(seed: u64) -> Result<(), String> {
    let kernel = random_kernel(seed, Style::Alone);
    let text = emit_rust(&kernel);
    let messages = |found: Diagnostics| found.iter().map(|finding| finding.message.clone()).collect::<Vec<_>>().join("; ");
    let wrong = |why: String| format!("seed {seed}: {why}\n{text}\n{kernel}");
    let again = compile_text("printed.rs", &text, "random", &Instance::default()).map_err(|found| wrong(messages(found)))?;
    let (found, expected) = (simulated(again.kernel.legal()), simulated(&kernel));
    if found == expected { Ok(()) } else { Err(wrong(format!("{found:?}, expected {expected:?}"))) }
}

#[test]
fn printed_random_kernels_keep_their_results() {
    let rounds = rounds();
    let wrong: Vec<String> = (1..=rounds).filter_map(|seed| printed(seed).err()).collect();
    assert!(wrong.is_empty(), "{} of {rounds} printed kernels are others:\n{}", wrong.len(), wrong.join("\n\n"));
}
