//! `missing_barrier`: one thread writes an element of shared memory, another one reads it, and no barrier stands between.
//!
//! Only what is proved is said: the two places lane by lane, and two threads that surely get there. The simulator faults such a kernel when it
//! runs; this says it before.

use super::{Finding, Lint, Subject};
use std::collections::BTreeSet;
use warpwright_codegen::analysis::access::Race;
use warpwright_codegen::ir::{Address, Kernel, Memory, MemoryOp, Op};

pub(super) const LINT: Lint = Lint {
    name: "missing_barrier",
    summary: "threads share an element of shared memory with no barrier between",
    of_machine: false,
    page: include_str!("missing_barrier.md"),
    check,
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let kernel = &subject.known.legal;
    let mut said = BTreeSet::new();
    for race in &subject.known.facts.races {
        let [first, second] = [race.first, race.second].map(|inst| &kernel.insts[inst]);
        let Some(array) = second.op.object() else { continue };
        if !said.insert((array.0, second.loc.0)) {
            continue;
        }
        let name = &kernel.objects[array].name;
        let [one, other] = [race.threads.0, race.threads.1].map(|thread| place(kernel, thread));
        let next = if race.is_next_iteration { " of the next iteration" } else { "" };
        findings.push(Finding {
            span: subject.span(second.loc),
            message: format!(
                "thread {other} {} an element of `{name}`{next} that thread {one} {}, with no barrier between",
                does(&second.op, false),
                does(&first.op, true)
            ),
            labels: vec![(subject.span(first.loc), format!("thread {one} {} it here", does(&first.op, true)))],
            help: help(race),
        });
    }
}

fn does(op: &Op, is_past: bool) -> &'static str {
    match (op, is_past) {
        (Op::Memory(Memory { op: MemoryOp::Load, at: Address::Path(_) }), false) => "reads",
        (Op::Memory(Memory { op: MemoryOp::Load, at: Address::Path(_) }), true) => "has read",
        (_, false) => "writes",
        (_, true) => "has written",
    }
}

fn help(race: &Race) -> String {
    if race.is_next_iteration {
        "put `sync_threads()` at the end of the loop's body too".to_owned()
    } else if race.threads.0 / 32 == race.threads.1 / 32 {
        "put `sync_threads()` between the two; within a warp, `sync_warp()`".to_owned()
    } else {
        "put `sync_threads()` between the two".to_owned()
    }
}

/// A thread's place in its block: `5`, `(5, 2)`.
fn place(kernel: &Kernel, thread: u32) -> String {
    let [x, y, z] = kernel.options.block.unwrap_or([u32::MAX, 1, 1]);
    match (y, z) {
        (_, 2..) => format!("({}, {}, {})", thread % x, thread / x % y, thread / x / y),
        (2.., _) => format!("({}, {})", thread % x, thread / x),
        _ => thread.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::found;

    fn kernel(body: &str) -> String {
        format!(
            "#[kernel(block = 128)] fn k(n: usize, x: &Global<f32>, y: &mut Global<f32>) {{ #[shared] let mut s: [f32; 128]; let t = thread_idx().x; let i = global_id().x; {body} }}"
        )
    }

    #[test]
    fn what_a_neighbour_wrote_needs_a_barrier() {
        let says = found("missing_barrier", &kernel("s[t] = x[i]; y[i] = s[127 - t];"));
        assert_eq!(says.len(), 1, "{says:?}");
        assert_eq!(says[0].0, "thread 0 reads an element of `s` that thread 127 has written, with no barrier between");
        assert_eq!(says[0].1, "put `sync_threads()` between the two");
        let says = found("missing_barrier", &kernel("s[t] = x[i]; y[i] = s[t ^ 1];"));
        assert!(says.len() == 1 && says[0].1.contains("sync_warp()"), "{says:?}");
        for body in
            ["s[t] = x[i]; sync_threads(); y[i] = s[127 - t];", "s[t] = x[i]; sync_warp(); y[i] = s[t ^ 1];", "s[t] = x[i]; y[i] = s[t];"]
        {
            assert_eq!(found("missing_barrier", &kernel(body)), [], "{body}");
        }
    }

    #[test]
    fn a_tile_that_is_filled_again_needs_a_second_one() {
        let body = |end: &str| {
            kernel(&format!(
                "let mut a = 0.0; for k in 0..n {{ s[t] = x[k * 128 + t]; sync_threads(); for j in 0..128 {{ a += s[j]; }} {end} }} y[i] = a;"
            ))
        };
        let says = found("missing_barrier", &body(""));
        assert_eq!(says.len(), 1, "{says:?}");
        assert!(says[0].0.contains("writes an element of `s` of the next iteration that thread"), "{says:?}");
        assert!(says[0].1.contains("at the end of the loop's body"), "{says:?}");
        assert_eq!(found("missing_barrier", &body("sync_threads();")), []);
    }

    #[test]
    fn rows_behind_the_last_are_not_the_next_slots() {
        // Rows are written in one slot of a ring and read in the next; the iteration behind the last row's would be there.
        let source = "#[kernel(block = 32)] fn k(x: &Global<u32>, y: &mut Global<u32>) { #[shared] let mut s: [[[u32; 32]; 4]; 3]; let t = thread_idx().x; let mut a = 0; \
             for r in 0..4 { s[1][r][t] = x[r * 32 + t]; s[2][r][t] = x[r * 64 + t]; } \
             for k in 0..3usize { sync_threads(); for r in 0..4 { s[k][r][t] = x[k * 128 + r * 32 + t]; } for r in 0..4 { a += s[(k + 1) % 3][r][31 - t] + x[(t * 3 + k) % 32]; } } y[t] = a; }";
        assert_eq!(found("missing_barrier", source), []);
        // One barrier too few: what is read was written in this round.
        let says = found("missing_barrier", &source.replace("s[(k + 1) % 3][r]", "s[k][r]"));
        assert_eq!(says.len(), 1, "{says:?}");
    }

    #[test]
    fn levels_of_a_tree_need_one_each() {
        let tree = |sync: &str| {
            kernel(&format!(
                "s[t] = x[i]; sync_threads(); let mut h = 64; while h > 0 {{ if t < h {{ s[t] += s[t + h]; }} {sync} h /= 2; }} if t == 0 {{ y[block_idx().x] = s[0]; }}"
            ))
        };
        assert!(!found("missing_barrier", &tree("")).is_empty());
        assert_eq!(found("missing_barrier", &tree("sync_threads();")), []);
    }

    #[test]
    fn sides_that_exclude_each_other_and_buffers_in_turn_do_not() {
        let bodies = [
            "if n > 3 { s[t] = x[i]; } else { y[i] = s[127 - t]; }",
            "s[t] = x[i]; sync_threads(); if t < 64 { s[t] += s[t + 64]; } sync_threads(); y[i] = s[0];",
            "s.atomic_add(t / 2, 1.0);",
            "if t == 0 { s[0] = x[0]; } sync_threads(); y[i] = s[0];",
        ];
        for body in bodies {
            assert_eq!(found("missing_barrier", &kernel(body)), [], "{body}");
        }
    }
}
