//! The lint `register_spill` against assemblers: kernels that need more and more registers under tighter and tighter limits, spilled by `ptxas`
//! or not.
//!
//! The lint is silent up to two registers over a limit, since the need is an estimate: what it says has to be true, and what it does not say
//! has to be small.

use std::sync::atomic::{AtomicUsize, Ordering};
use warpwright_codegen::backend::ptx::Ptx;
use warpwright_codegen::hir::declared_instances;
use warpwright_codegen::syntax::{Program, Unit};
use warpwright_codegen::target::{Target, Targets};
use warpwright_review::{ReviewScope, ReviewedVariant, review};
use warpwright_tests::ptxas::found_or_skip;

const TEST: &str = "what_is_said_to_spill_spills";

/// Sums of a thread, all live in a loop, of a product and of doubles; and a state that a walk along a list changes.
const KERNELS: &str = "
#[kernel(block = 128, max_registers = R, variants(N in [16, 24, 32, 48, 64, 100, 160, 240], R in [32, 48, 64, 96, 128, 168]))]
pub fn sums<const N: usize, const R: usize>(k: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut sums = [0.0f32; N];
    for j in 0..k {
        let v = x[i + j];
        #[unroll] for n in 0..N { sums[n] = sums[n] * v + x[j * N + n]; }
    }
    #[unroll] for n in 0..N { y[i * N + n] = sums[n]; }
}
#[kernel(block = 128, max_registers = R, variants(N in [8, 12, 16, 24, 32, 48, 80], R in [32, 48, 64, 96, 128, 168]))]
pub fn doubles<const N: usize, const R: usize>(k: usize, x: &Global<f64>, y: &mut Global<f64>) {
    let i = global_id().x;
    let mut sums = [0.0f64; N];
    for j in 0..k {
        let v = x[i * k + j];
        #[unroll] for n in 0..N { sums[n] = sums[n] + v * x[j * N + n]; }
    }
    let mut product = 1.0;
    #[unroll] for n in 0..N { product = product * (sums[n] + 1.5); }
    y[i] = product;
}
#[kernel(block = 256, max_registers = R, variants(N in [16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56], R in [24, 32, 40, 48, 64]))]
pub fn walk<const N: usize, const R: usize>(steps: usize, next: &Global<u32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut state = [1.0f32; N];
    let mut at = i as u32;
    for j in 0..steps {
        at = next[at as usize];
        let v = at as f32;
        #[unroll] for n in 0..N { state[n] = state[n] * v + n as f32; }
    }
    let mut sum = 0.0;
    #[unroll] for n in 0..N { sum = sum * 2.0 + state[n]; }
    y[i] = sum;
}
";

#[test]
fn what_is_said_to_spill_spills() {
    let Some(assemblers) = found_or_skip(TEST) else { return };
    let assembler = assemblers.last().expect("one was found");
    let mut program = Program::default();
    let unit = program.add(Unit::parse("kernels.rs", 1, 1, KERNELS).expect("the kernels parse"));
    let target = Target::find("sm_90").expect("a target");
    let count = |counter: &AtomicUsize| counter.fetch_add(1, Ordering::Relaxed);
    let (both, neither, only_said, only_spilled) = Default::default();
    for path in ["sums", "doubles", "walk"] {
        for instance in declared_instances(&program, unit, path).expect("the variants are known") {
            let mut spilled = None;
            let scope = ReviewScope { targets: &Targets { gpus: vec![target], families: Vec::new() }, findings: None, most: usize::MAX };
            let mut look = |variant: &ReviewedVariant<'_>| {
                let emitted = variant.lowered.emit(&Ptx, Some(target)).expect("it is printed");
                let measured = assembler.measure(&emitted.text, target.capability).unwrap_or_else(|error| panic!("{path}: {error}"));
                spilled = Some(measured.spill_stores > 0);
                Vec::new()
            };
            let found = review(&program, unit, path, &[instance], scope, Some(&mut look));
            let is_said = found.iter().any(|finding| finding.lint == Some("register_spill"));
            match (is_said, spilled.expect("it was looked at")) {
                (true, true) => count(&both),
                (false, false) => count(&neither),
                (true, false) => count(&only_said),
                (false, true) => count(&only_spilled),
            };
        }
    }
    let [both, neither, only_said, only_spilled] = [both, neither, only_said, only_spilled].map(AtomicUsize::into_inner);
    let all = both + neither + only_said + only_spilled;
    println!(
        "ran: {TEST} ({all} texts on ptxas), {both} spill as said, {neither} as not said; {only_said} said in vain, {only_spilled} missed"
    );
    // A finding is worth a person's time: at most one in twenty is wrong. A spill of one or two values may go unsaid.
    assert!(only_said * 20 <= both, "{only_said} of {} findings are wrong", both + only_said);
    assert!(only_spilled * 5 <= both, "{only_spilled} of {} spills are missed", both + only_spilled);
}
