//! `divergent_exchange`: lanes of a warp give each other values where not all of them come, or ask lanes that have returned; a reduction or a scan of a block that some of its threads have
//! returned before.
//!
//! Silent where nobody asks a lane that is gone: votes, a shuffle from one lane for all, and `shuffle_up` and scans, whose lanes ask those below, while at a boundary (`if i >= n { return; }`)
//! those above return.

use super::{Finding, Lint, Subject};
use std::collections::BTreeSet;
use warpwright_codegen::analysis::access::uniform_in_warps;
use warpwright_codegen::analysis::parting::{Parting, behind_returns, partings};
use warpwright_codegen::analysis::uniformity::Uniformity;
use warpwright_codegen::ir::intrinsic::Gives;
use warpwright_codegen::ir::{Inst, Kernel, Op, Scope};

pub(super) const LINT: Lint = Lint {
    name: "divergent_exchange",
    summary: "lanes of a warp exchange values where not all of them come, or a block's threads where some have returned",
    of_machine: false,
    page: include_str!("divergent_exchange.md"),
    check,
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let kernel = &subject.known.legal;
    let is_exchange = |op: &Op| matches!(op, Op::Intrinsic(..)) && op.effects(kernel).is_of_warp();
    let is_barrier = |op: &Op| matches!(op, Op::Intrinsic(..)) && op.effects(kernel).is_barrier();
    let (mut has_exchanges, mut has_reductions) = (false, false);
    kernel.for_each_inst(|kernel, _, inst| {
        let op = &kernel.insts[inst].op;
        has_exchanges |= is_exchange(op) && !is_of_reduction(kernel, inst);
        has_reductions |= is_barrier(op) && is_of_reduction(kernel, inst);
    });
    // Each call once: it may be several instructions, and unrolling makes copies.
    let mut said = BTreeSet::new();
    let mut say = |inst: Inst, message: String, by: (Inst, &str), help: String| {
        let loc = kernel.insts[inst].loc;
        if said.insert(loc.0) {
            let labels = vec![(subject.span(kernel.insts[by.0].loc), by.1.to_owned())];
            findings.push(Finding { span: subject.span(loc), message, labels, help });
        }
    };
    if has_exchanges {
        let uniformity = uniform_in_warps(kernel);
        // Of a block's reduction the barriers are looked at, here and by `divergent_barrier`.
        for (inst, parting) in partings(kernel, &uniformity, &is_exchange).into_iter().filter(|(inst, _)| !is_of_reduction(kernel, *inst)) {
            let name = kernel.called(inst);
            let place = match parting {
                Parting::Condition(_) => "under a condition that splits a warp",
                Parting::Loop(_) => "in a loop that lanes of a warp do not leave together",
                Parting::Exit(_) => "behind an exit that some lanes of a warp take",
            };
            let (label, edit) = parting.of_warp(name);
            let message = format!(
                "`{name}` is {place}: all lanes of the warp that have not returned must reach it, and the result is undefined where they do not"
            );
            say(inst, message, (parting.inst(), label), edit);
        }
        let asks = |op: &Op| match op {
            Op::Intrinsic(row, arguments) => match row.row().meeting.map(|meeting| meeting.gives) {
                Some(Gives::OfLaneXor | Gives::OfLaneAbove) => true,
                Some(Gives::OfLane) => !uniformity.is_uniform(arguments[1]),
                Some(Gives::Nothing | Gives::Own | Gives::OneForAll) | None => false,
            },
            _ => false,
        };
        for (inst, condition) in behind_returns(kernel, &uniformity, &asks).into_iter().filter(|(inst, _)| !is_of_reduction(kernel, *inst))
        {
            let name = kernel.called(inst);
            say(
                inst,
                format!("`{name}` asks lanes of the warp that may have returned, whose value is undefined"),
                (condition, "some lanes return under this condition"),
                BRING_ALL.to_owned(),
            );
        }
    }
    if has_reductions {
        let behind = behind_returns(kernel, &Uniformity::without_races(kernel), &is_barrier);
        for (inst, condition) in behind.into_iter().filter(|(inst, _)| is_of_reduction(kernel, *inst)) {
            let name = kernel.called(inst);
            say(
                inst,
                format!("`{name}` takes a value of every thread of the block, and some may have returned"),
                (condition, "some threads return under this condition"),
                BRING_ALL.to_owned(),
            );
        }
    }
}

const BRING_ALL: &str =
    "let all threads come: guard the loads and stores instead of returning, as in `let v = if i < n { x[i] } else { 0.0 };`";

/// Whether an instruction is part of a reduction or a scan of the block: a call that is a barrier, and takes values.
fn is_of_reduction(kernel: &Kernel, inst: Inst) -> bool {
    kernel.location(inst).call.is_some_and(|call| call.row().meeting.is_none() && call.row().effects.converges >= Some(Scope::Block))
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::found;

    fn kernel(body: &str) -> String {
        format!(
            "use warpwright::warp::*; #[kernel(block = 128, allow(divergent_barrier))] fn k(n: usize, flags: &Global<u32>, x: &Global<f32>, y: &mut Global<f32>) {{ let t = thread_idx().x; \
             let lane = lane_id(); let i = global_id().x; let v = if i < n {{ x[i] }} else {{ 0.0 }}; {body} }}"
        )
    }

    fn says(body: &str) -> Vec<(String, String)> {
        found("divergent_exchange", &kernel(body))
    }

    #[test]
    fn exchanges_that_not_all_lanes_come_to_are_found() {
        let bodies = [
            ("if lane < 16 { y[i] = shuffle_down(v, 8); }", "`shuffle_down` is under a condition that splits a warp: "),
            ("if i < n { y[i] = warp_sum(v); }", "`warp_sum` is under a condition that splits a warp: "),
            ("if x[i] > 0.0 { y[i] = ballot(true) as f32; }", "`ballot` is under a condition that splits a warp: "),
            ("for k in 0..flags[i] { y[i] += warp_max(v); }", "`warp_max` is in a loop that lanes of a warp do not leave together: "),
            (
                "'a: { if n > 3 { if v > 0.0 { break 'a; } if v < -9.0 { break 'a; } } y[i] = warp_inclusive_sum(v); }",
                "`warp_inclusive_sum` is behind an exit that some lanes of a warp take: ",
            ),
        ];
        for (body, message) in bodies {
            let found = says(body);
            assert_eq!(found.len(), 1, "{body}: {found:?}");
            assert!(found[0].0.starts_with(message), "{body}: {found:?}");
        }
    }

    #[test]
    fn lanes_that_have_returned_are_not_to_be_asked() {
        let bodies = [
            (
                "if i >= n { return; } y[i] = warp_sum(v);",
                "`warp_sum` asks lanes of the warp that may have returned, whose value is undefined",
            ),
            (
                "if x[i] > 0.0 { return; } y[i] = shuffle(v, lane + 1);",
                "`shuffle` asks lanes of the warp that may have returned, whose value is undefined",
            ),
            (
                "if t == 3 { return; } y[i] = shuffle_xor(v, 1);",
                "`shuffle_xor` asks lanes of the warp that may have returned, whose value is undefined",
            ),
            // Round again.
            (
                "for k in 0..n { y[i] += shuffle_down(v, 1); if x[i] > k as f32 { return; } }",
                "`shuffle_down` asks lanes of the warp that may have returned, whose value is undefined",
            ),
            (
                "if i >= n { return; } y[i] = block_sum(v);",
                "`block_sum` takes a value of every thread of the block, and some may have returned",
            ),
            (
                "if warp_id() == 1 { return; } y[i] = block_inclusive_sum(v);",
                "`block_inclusive_sum` takes a value of every thread of the block, and some may have returned",
            ),
        ];
        for (body, message) in bodies {
            let found = says(body);
            assert_eq!(found.len(), 1, "{body}: {found:?}");
            assert_eq!(found[0].0, message, "{body}");
            assert!(found[0].1.starts_with("let all threads come: "), "{found:?}");
        }
    }

    #[test]
    fn what_a_whole_warp_does_is_not_found() {
        let bodies = [
            "y[i] = warp_sum(v);",
            "if warp_id() < n { y[i] = warp_sum(v); }",
            "if i / 32 >= n { return; } y[i] = warp_sum(v);",
            "let row = i / 32; for k in 0..flags[row] { y[i] += warp_sum(v); }",
            "let mut left = flags[i]; while any(left > 0) { y[i] += warp_sum(v); if left > 0 { left -= 1; } }",
            "if all(v > 0.0) { y[i] = shuffle_xor(v, 1); }",
            "let s = warp_sum(v); if lane == 0 { y[i] = s; return; }",
            "if block_idx().x >= n { return; } y[i] = block_sum(v);",
            "y[i] = block_sum(v); if i >= n { return; } y[i] += 1.0;",
        ];
        for body in bodies {
            assert_eq!(says(body), [], "{body}");
        }
    }

    #[test]
    fn nobody_asks_who_is_gone() {
        let bodies = [
            "if i >= n { return; } y[i] = ballot(v > 0.0) as f32;",
            "if i >= n { return; } y[i] = shuffle(v, 0);",
            "if i >= n { return; } y[i] = warp_inclusive_sum(v);",
            "if i >= n { return; } sync_warp(); y[i] = v;",
            // One side leaves, and the other asks none that has.
            "if n > 3 { if i >= n { return; } } else { y[i] = warp_sum(v); }",
        ];
        for body in bodies {
            assert_eq!(says(body), [], "{body}");
        }
    }
}
