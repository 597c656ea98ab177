//! `divergent_barrier`: a barrier under a condition that some threads of a block meet and others do not; one of a cluster that some of its blocks meet and others do not.
//!
//! Threads that have returned do not count: the others wait for each other, as in the simulator. Buffers are taken to hold one value for all
//! threads that read one place.

use super::{Finding, Lint, Subject};
use warpwright_codegen::analysis::parting::{Parting, partings};
use warpwright_codegen::analysis::uniformity::Uniformity;
use warpwright_codegen::ir::{Op, Scope};

pub(super) const LINT: Lint = Lint {
    name: "divergent_barrier",
    summary: "a barrier that not all threads of a block, or not all blocks of a cluster, reach",
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
    let found = partings(kernel, &Uniformity::without_races(kernel), &is_barrier);
    let is_of_cluster = |op: &Op| op.effects(kernel).converges == Some(Scope::Cluster);
    let across =
        if kernel.options.has_clusters() { partings(kernel, &Uniformity::across_clusters(kernel), &is_of_cluster) } else { Vec::new() };
    // What parts the threads of a block parts those of its cluster.
    let across: Vec<_> = across.into_iter().filter(|(barrier, _)| found.iter().all(|(known, _)| known != barrier)).collect();
    let of_block = found.into_iter().map(|found| (found, ["threads", "block"]));
    for ((barrier, parting), [who, whole]) in of_block.chain(across.into_iter().map(|found| (found, ["blocks", "cluster"]))) {
        let (what, label) = match parting {
            Parting::Condition(_) => (format!("under a condition that differs between the {who} of a {whole}"), "this condition"),
            Parting::Loop(_) => (format!("under a loop that the {who} of a {whole} do not leave together"), "this loop"),
            Parting::Exit(_) => (format!("after an exit that some {who} of a {whole} take"), "they leave under this condition"),
        };
        findings.push(Finding {
            span: subject.span(kernel.insts[barrier].loc),
            message: format!("this barrier is {what}: the {whole} waits forever for {who} that do not reach it"),
            labels: vec![(subject.span(kernel.insts[parting.inst()].loc), label.to_owned())],
            help: format!("put the barrier where all {who} of the {whole} reach it, and only the work around it under the condition"),
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

    fn in_clusters(body: &str) -> Vec<(String, String)> {
        let source = format!(
            "#[kernel(block = 128, cluster = (2, 2), targets = [sm_90])] fn k(n: usize, flags: &mut Global<u32>, y: &mut Global<f32>) {{ #[shared] let mut s: [f32; 128]; \
             let t = thread_idx().x; s[t] = 1.0; {body} y[global_id().x] = s[t]; }}"
        );
        found("divergent_barrier", &source)
    }

    #[test]
    fn barriers_that_some_blocks_of_a_cluster_do_not_reach_are_found() {
        let bodies = [
            "if cluster_rank() == 0 { cluster_sync(); }",
            "if block_idx().x * 128 < n { cluster_sync(); }",
            "for k in 0..block_idx().y { cluster_sync(); }",
            "if s[0] > 0.0 { cluster_sync(); }",
            "if sync_threads_or(s[t] > 0.0) { cluster_sync(); }",
        ];
        for body in bodies {
            let says = in_clusters(body);
            assert_eq!(says.len(), 1, "{body}: {says:?}");
            assert!(
                says[0].0.contains("of a cluster") && says[0].0.ends_with("the cluster waits forever for blocks that do not reach it"),
                "{says:?}"
            );
        }
        // Of these the block itself is torn.
        let says = in_clusters("if t < 3 { cluster_sync(); }");
        assert!(says.len() == 1 && says[0].0.contains("the threads of a block"), "{says:?}");
    }

    #[test]
    fn barriers_that_a_cluster_meets_together_are_not() {
        let bodies = [
            "if cluster_idx().x < n { cluster_sync(); }",
            "if block_idx().x / 4 + cluster_idx().y < n { cluster_sync(); }",
            "for k in 0..n { cluster_sync(); if flags[k] == 1 { break; } }",
            "if block_idx().z < n { cluster_sync(); }",
            "cluster_sync(); let first = shared_of(&s, 0)[0]; if first > 0.0 { cluster_sync(); }",
            "if block_idx().x > n { s[t] = 2.0; } cluster_sync();",
            // Who has returned is waited for by nobody.
            "if block_idx().x > n { return; } cluster_sync();",
        ];
        for body in bodies {
            assert_eq!(in_clusters(body), [], "{body}");
        }
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
