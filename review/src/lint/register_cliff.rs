//! `register_cliff`: one or two registers over a step that would hold another block.
//!
//! Assemblers take the registers they need and then fill up to the next step of occupancy. So what counts is the need, not the estimate of
//! what is taken: a need just over a step costs a block, and all the registers up to the next step. A limit one or two below the need holds
//! the block; the assembler computes a value again or spills one or two, which may cost less than the block brings, and is to be measured.
//!
//! Another block is worth a person's time only if the kernel lacks warps: where the model predicts that it would be faster by a twentieth.
//! Of targets that the model has no rates for, where less than half of the warp slots are taken.

use super::{Finding, Lint, Subject, each, what_if};
use crate::estimate::Estimate;
use crate::estimate::registers::Registers;
use warpwright_codegen::target::occupancy::{Occupancy, OccupancyStep, Resource};

pub(super) const LINT: Lint = Lint {
    name: "register_cliff",
    summary: "one or two registers are over a step that would hold another block",
    of_machine: true,
    page: include_str!("register_cliff.md"),
    check,
};

/// Registers that can be had back without spilling.
const NEAR: u32 = 2;

/// The least that makes another block worth speaking of.
const WORTH: f64 = 1.05;

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let over: Vec<(&Estimate, OccupancyStep)> = subject.known.targets.iter().filter_map(|on| Some((on, cliff_of(on)?))).collect();
    let figure = |(on, step): &(&Estimate, OccupancyStep)| {
        let (least, now) = (step.changes[0].1, on.occupancy?);
        let figure = format!(
            "{}, {} over the {least} that would hold {} blocks ({} %) instead of {} ({} %)",
            registers(&on.registers),
            on.registers.needed - least,
            step.occupancy.blocks,
            step.occupancy.percent(),
            now.blocks,
            now.percent()
        );
        Some((on.target, figure))
    };
    if over.is_empty() {
        return;
    }
    let edit = |step: &OccupancyStep| format!("`max_registers = {}`", step.changes[0].1);
    let edits = match &over[..] {
        [(_, first), others @ ..] if others.iter().all(|(_, step)| step.changes == first.changes) => edit(first),
        _ => each(over.iter().map(|(on, step)| (on.target, edit(step)))),
    };
    findings.push(Finding {
        span: what_if::growth(subject),
        message: format!("{} (estimated)", each(over.iter().filter_map(figure))),
        labels: Vec::new(),
        help: format!("try {edits}: keeping a value or two elsewhere may cost less than the extra block gains"),
    });
}

/// The estimate, as every report has it, and how many of it are needed.
fn registers(registers: &Registers) -> String {
    let (taken, needed) = (registers.estimate, registers.needed);
    if taken == needed { format!("{taken} registers are needed") } else { format!("{taken} registers, of which {needed} are needed") }
}

/// The step that an estimate is just over, if the block that it would hold is worth it.
pub(super) fn cliff_of(on: &Estimate) -> Option<OccupancyStep> {
    let now = on.occupancy?;
    let step = over_a_step(&now, on.registers.needed)?;
    let is_worth = match &on.prediction {
        Some(prediction) => prediction.speed_up(&step.occupancy) >= WORTH,
        None => now.share() < 0.5,
    };
    is_worth.then_some(step)
}

/// The step that a need of registers is one or two over, if the block's other demands would let it hold more.
fn over_a_step(now: &Occupancy, needed: u32) -> Option<OccupancyStep> {
    let step = now.step_of(Resource::Registers)?;
    let least = step.changes[0].1;
    (least < needed && needed <= least + NEAR).then_some(step)
}

#[cfg(test)]
mod tests {
    use super::super::testing::found_at;
    use super::*;
    use warpwright_codegen::target::limits::Limits;
    use warpwright_codegen::target::occupancy::{Demand, Options, occupancy};

    fn resident(capability: &str, threads: u32, registers: u32, shared: u32) -> Occupancy {
        let limits = Limits::find(capability).expect("a capability");
        occupancy(limits, &Demand { threads, registers, shared, ..Demand::default() }, &Options::default())
    }

    #[test]
    fn ten_registers_to_eleven_on_a_g80() {
        // VSCSE 2009, lecture 5: tiles of 16 × 16 threads; three blocks with ten registers, two with eleven.
        let step = over_a_step(&resident("1.0", 256, 11, 2048), 11).expect("a cliff");
        assert_eq!(step.to_string(), "at ≤ 10 registers: 3 blocks, 100 %");
        assert_eq!(over_a_step(&resident("1.0", 256, 12, 2048), 12).map(|step| step.changes[0].1), Some(10));
        // Three over is another kernel; ten is no cliff; where shared memory allows two blocks, registers are not what is short.
        assert_eq!(over_a_step(&resident("1.0", 256, 13, 2048), 13), None);
        assert_eq!(over_a_step(&resident("1.0", 256, 10, 2048), 10), None);
        assert_eq!(over_a_step(&resident("1.0", 256, 11, 8192), 11), None);
    }

    /// A walk along a list, a load at a time, with a state of some numbers.
    fn walk(attribute: &str, count: u32, body: &str) -> Vec<(String, String, String)> {
        found_at(
            "register_cliff",
            &format!(
                "#[kernel(block = 256, targets = [sm_90]{attribute})] fn k(next: &Global<u32>, y: &mut Global<f32>) {{
                    let i = global_id().x;
                    let mut state = [1.0f32; {count}];
                    let mut at = i as u32;
                    for j in 0..1000 {{
                        at = next[at as usize];
                        #[unroll] for n in 0..{count} {{ state[n] = state[n] * at as f32 + n as f32; }}
                    }}
                    {body}
                }}"
            ),
        )
    }

    const SUM: &str = "let mut sum = 0.0; #[unroll] for n in 0..state.len() { sum = sum * 2.0 + state[n]; } y[i] = sum;";

    #[test]
    fn a_walk_that_lacks_warps() {
        let all: Vec<_> = (40..60).map(|count| (count, walk("", count, SUM))).collect();
        let over: Vec<&(u32, Vec<_>)> = all.iter().filter(|(_, found)| !found.is_empty()).collect();
        // Each number more is one register: of twenty counts, two are one or two over each of the steps 48 and 64.
        assert!((2..=5).contains(&over.len()), "{over:?}");
        for (count, found) in over {
            let (at, message, help) = &found[0];
            assert_eq!(at, "unroll");
            let step = if message.contains("over the 64") { 64 } else { 48 };
            let blocks =
                if step == 64 { "hold 4 blocks (50 %) instead of 3 (37.5 %)" } else { "hold 5 blocks (62.5 %) instead of 4 (50 %)" };
            assert!(message.contains(blocks) && message.ends_with("on sm_90 (estimated)"), "{message}");
            assert!(help.starts_with(&format!("try `max_registers = {step}`")), "{help}");
            // The edit mends it, and what already says so is left alone.
            assert_eq!(walk(&format!(", max_registers = {step}"), *count, SUM), []);
        }
    }

    #[test]
    fn a_kernel_with_work_for_its_latency_is_left_alone() {
        // As many registers, and every load and sum independent of the others: half of the warps are enough.
        for count in 40..60 {
            let found = found_at(
                "register_cliff",
                &format!(
                    "#[kernel(block = 256, targets = [sm_90])] fn k(x: &Global<f32>, y: &mut Global<f32>) {{
                    let i = global_id().x;
                    let mut sums = [0.0f32; {count}];
                    for j in 0..1000 {{ #[unroll] for n in 0..{count} {{ sums[n] = sums[n] * 0.5 + x[j * {count} + n]; }} }}
                    #[unroll] for n in 0..{count} {{ y[i * {count} + n] = sums[n]; }}
                }}"
                ),
            );
            assert_eq!(found, [], "{count}");
        }
    }

    #[test]
    fn what_the_assembler_fills_up_is_no_need() {
        // 66 are needed and 80 taken: the step is 64. 70 needed and 80 taken: nothing near.
        assert_eq!(over_a_step(&resident("9.0", 256, 80, 0), 66).map(|step| step.changes[0].1), Some(64));
        assert_eq!(over_a_step(&resident("9.0", 256, 80, 0), 70), None);
    }
}
