//! `costly_batch`: `batch_loads` takes the registers of a block that could be resident, and the kernel is no faster for it.
//!
//! What the batch does is tried out: the variant is made again without it. Said where a target then holds more blocks and by the model no target is slower
//! by a fiftieth. That is so where the assembler has the loads under way anyway: from a buffer that nobody writes, with no barrier between.

use super::what_if::{asked, without};
use super::{Finding, Lint, Subject, each};
use crate::estimate::Estimate;
use warpwright_codegen::annotations::BATCH_LOADS;
use warpwright_codegen::target::occupancy::Resource;

pub(super) const LINT: Lint = Lint {
    name: "costly_batch",
    summary: "`batch_loads` costs resident blocks and gains nothing",
    of_machine: true,
    page: include_str!("costly_batch.md"),
    check,
};

/// What a batch must bring to be worth its registers.
const WORTH: f64 = 1.02;

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(built) = subject.built else { return };
    let is_short = |on: &Estimate| {
        on.prediction.is_some()
            && on.occupancy.as_ref().is_some_and(|now| now.share() < 1.0 && now.limiters().any(|what| what == Resource::Registers))
    };
    if !subject.known.targets.iter().any(is_short) {
        return;
    }
    let batches: Vec<_> = asked(built).into_iter().filter(|(annotation, _)| **annotation == BATCH_LOADS).collect();
    let targets = subject.targets();
    for other in without(subject, &batches) {
        let (at, Some(other)) = (other.asked.1, other.known(&targets)) else { continue };
        let pairs = || subject.known.targets.iter().zip(&other.targets);
        // How many times as fast the batch makes the kernel.
        let brings = |(with, without): (&Estimate, &Estimate)| {
            Some(without.prediction.as_ref()?.block_seconds / with.prediction.as_ref()?.block_seconds)
        };
        if pairs().any(|pair| brings(pair).is_none_or(|gain| gain >= WORTH)) {
            continue;
        }
        let costs = pairs().filter_map(|(with, without)| {
            let (now, then) = (with.occupancy?, without.occupancy?);
            let words = format!(
                "{} registers instead of {}: {} blocks ({} %) are resident instead of {} ({} %)",
                with.registers.estimate,
                without.registers.estimate,
                now.blocks,
                now.percent(),
                then.blocks,
                then.percent(),
            );
            (now.blocks < then.blocks).then_some((with.target, words))
        });
        let costs: Vec<_> = costs.collect();
        if costs.is_empty() {
            continue;
        }
        found.push(Finding {
            span: subject.span(at),
            message: format!("`batch_loads` gains nothing here, and takes {} (estimated)", each(costs)),
            labels: Vec::new(),
            help: "leave `batch_loads` out here, or batch fewer loads (a smaller `ilp` or `unroll`): loads from buffers that nobody writes are under way \
                   together anyway"
                .to_owned(),
        });
    }
}
