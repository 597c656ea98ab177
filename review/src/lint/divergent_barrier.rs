//! `divergent_barrier`: a barrier under a condition that some threads of a block meet and others do not.
//!
//! Threads that have returned do not count: the others wait for each other, as in the simulator. Buffers are taken to hold one value for all
//! threads that read one place.

use super::{Finding, Lint, Subject};
use warpwright_codegen::analysis::parting::{Parting, partings};
use warpwright_codegen::analysis::uniformity::Uniformity;
use warpwright_codegen::ir::Op;

pub(super) const LINT: Lint = Lint {
    name: "divergent_barrier",
    summary: "a barrier that not all threads of a block reach",
    of_machine: false,
    page: include_str!("divergent_barrier.md"),
    check,
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let kernel = &subject.known.legal;
    let is_barrier = |op: &Op| op.effects(kernel).is_barrier();
    let mut has_barriers = false;
    kernel.for_each_inst(|kernel, _, inst| has_barriers |= is_barrier(&kernel.insts[inst].op));
    if !has_barriers {
        return;
    }
    for (barrier, parting) in partings(kernel, &Uniformity::without_races(kernel), &is_barrier) {
        let (what, label) = match parting {
            Parting::Condition(_) => ("under a condition that differs between the threads of a block", "this condition"),
            Parting::Loop(_) => ("under a loop that the threads of a block do not leave together", "this loop"),
            Parting::Exit(_) => ("after an exit that some threads of a block take", "they leave under this condition"),
        };
        findings.push(Finding {
            span: subject.span(kernel.insts[barrier].loc),
            message: format!("this barrier is {what}: the block waits forever for threads that do not reach it"),
            labels: vec![(subject.span(kernel.insts[parting.inst()].loc), label.to_owned())],
            help: "put the barrier where all threads of the block reach it, and only the work around it under the condition".to_owned(),
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::found;

    fn kernel(body: &str) -> String {
        format!(
            "#[kernel(block = 128)] fn k(n: usize, flags: &mut Global<u32>, x: &Global<f32>, y: &mut Global<f32>) {{ #[shared] let mut s: [f32; 128]; let t = thread_idx().x; let i = global_id().x; {body} y[i] = s[t]; }}"
        )
    }

    #[test]
    fn barriers_under_the_threads_own_conditions_are_found() {
        let bodies = [
            "if i < n { s[t] = x[i]; sync_threads(); }",
            "if x[i] > 0.0 { s[t] = 1.0; sync_threads(); }",
            "let mut h = t; while h > 0 { s[t] = 1.0; sync_threads(); h /= 2; }",
            "for k in 0..n { s[t] = 1.0; if t == k { break; } sync_threads(); }",
        ];
        for body in bodies {
            let says = found("divergent_barrier", &kernel(body));
            assert_eq!(says.len(), 1, "{body}: {says:?}");
            assert!(says[0].0.starts_with("this barrier is under a "), "{says:?}");
        }
    }

    #[test]
    fn barriers_behind_an_exit_of_some_threads_are_found() {
        let function = "#[device] fn put(v: f32, s: &mut [f32; 128]) -> f32 { if s[0] > 1.0 { if v < 0.0 { return 0.0; } if v > 9.0 { return 1.0; } } s[thread_idx().x] = v; sync_threads(); v }";
        let says = found("divergent_barrier", &format!("{function} {}", kernel("let v = put(x[i], &mut s); y[t] = v;")));
        assert_eq!(says.len(), 1, "{says:?}");
        assert!(says[0].0.starts_with("this barrier is after an exit that some threads of a block take"), "{says:?}");
        // What is left afterwards parts nobody before.
        let after = function
            .replace("if s[0] > 1.0 { if v < 0.0 { return 0.0; } if v > 9.0 { return 1.0; } } ", "")
            .replace("sync_threads(); v", "sync_threads(); if v < 0.0 { return 0.0; } v");
        assert_eq!(found("divergent_barrier", &format!("{after} {}", kernel("let v = put(x[i], &mut s); y[t] = v;"))), []);
    }

    #[test]
    fn barriers_that_a_block_meets_together_are_not() {
        let bodies = [
            "s[t] = 0.0; sync_threads(); if i < n { s[t] = x[i]; } sync_threads();",
            "s[t] = 0.0; if n > 3 { sync_threads(); }",
            "let mut h = 64; while h > 0 { if t < h { s[t] = 1.0; } sync_threads(); h /= 2; }",
            "s[t] = 0.0; if flags[block_idx().x] == 1 { sync_threads(); }",
            "if i >= n { return; } s[t] = x[i]; sync_threads();",
        ];
        for body in bodies {
            assert_eq!(found("divergent_barrier", &kernel(body)), [], "{body}");
        }
    }
}
