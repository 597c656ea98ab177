//! Lints of correctness say nothing of kernels that are correct by construction: those that `warpwright-fuzz` generates over the whole language, with barriers, exchanges, votes and early returns
//! wherever they may stand.
//!
//! `WARPWRIGHT_CORRECT_KERNELS` looks at more of them, `WARPWRIGHT_CORRECT_SEED` at others.

use warpwright_fuzz::executions::compiled::{instance, program};
use warpwright_fuzz::random::Random;
use warpwright_fuzz::source::{Form, kernel};
use warpwright_tests::faults::lints::of_instances;

#[test]
fn of_correct_kernels_nothing_is_said() {
    let number = |name: &str, otherwise: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise);
    let (first, count) = (number("WARPWRIGHT_CORRECT_SEED", 1), number("WARPWRIGHT_CORRECT_KERNELS", 300));
    let (mut looked_at, mut complaints) = (0, Vec::new());
    for seed in first..first + count {
        let kernel = kernel(&mut Random::new(seed));
        let (program, unit) = program(&kernel, Form::BestEffort).expect("a kernel parses");
        let said = of_instances(&program, unit, kernel.path(), &[instance(&kernel)]);
        looked_at += u64::from(!said.is_refused);
        complaints.extend(said.lints.iter().map(|lint| format!("seed {seed}: `{lint}`")));
    }
    assert!(looked_at * 10 >= count * 8, "{looked_at} of {count} kernels are looked at");
    assert!(complaints.is_empty(), "{} complaints of {looked_at} kernels:\n{}", complaints.len(), complaints.join("\n"));
}
