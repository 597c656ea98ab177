//! `shared_traffic`: a kernel computes slower than it could since its operands come from shared memory, which is busy all the time.
//!
//! A multiprocessor multiplies four warps a cycle and shared memory serves one wavefront, so products that need more than a quarter of a wavefront each wait for
//! it. Said where the model of time says that shared memory is what the kernel waits for, and where most of what it computes are products of two elements of shared
//! arrays: of these a thread can make more than it loads. A stencil, which adds neighbours up, cannot. Bank conflicts are `bank_conflict`'s.

use super::uncoalesced_access::of_space;
use super::weigh::Scales;
use super::{Finding, Lint, Subject, on, tensor_products};
use crate::estimate::Known;
use crate::estimate::time::Bound;
use crate::machine::{Machine, Pipe};
use std::collections::HashSet;
use warpwright_codegen::analysis::access::{AccessFact, AccessKind, Pattern};
use warpwright_codegen::ir::{Compute, Loc, Memory, MemoryOp, Op, Space, Value};
use warpwright_codegen::target::limits::{LINE, WARP};

pub(super) const LINT: Lint = Lint {
    name: "shared_traffic",
    summary: "products wait for operands from shared memory",
    of_machine: true,
    page: include_str!("shared_traffic.md"),
    check,
};

/// Products of a warp for a wavefront, at least: what computes less moves data, and shared memory is what it is for.
const PRODUCTS: f64 = 0.5;

/// The share of what is computed that products of two elements of shared arrays are, at least.
const MOST: f64 = 0.5;

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let threads = &subject.known.threads;
    let computed = threads.mix.of(Pipe::Single);
    if products(subject.known, &tensor_products::places(subject)) < computed * MOST {
        return;
    }
    let slow: Vec<_> = subject
        .known
        .targets
        .iter()
        .filter_map(|estimate| {
            let (prediction, machine) = estimate.prediction.as_ref().zip(Machine::of(estimate.target.capability))?;
            let wavefronts = prediction.work.shared / prediction.work.warps / f64::from(LINE) / computed.max(1.0);
            let share = f64::from(WARP) / machine.lanes(Pipe::Single) / wavefronts;
            let waits = prediction.bound == Bound::SharedMemory && wavefronts * PRODUCTS < 1.0;
            waits.then_some((estimate.target, wavefronts, share))
        })
        .collect();
    let Some((_, wavefronts, share)) = slow.iter().min_by(|a, b| a.2.total_cmp(&b.2)) else { return };
    let scales = Scales::of(subject);
    let loads = of_space(&subject.known.facts.accesses, Space::Shared).filter(|fact| fact.kind == AccessKind::Load && is_free(fact));
    let Some(most) = loads.max_by(|a, b| scales.of_access(a).total_cmp(&scales.of_access(b))) else { return };
    let array = &subject.known.legal.objects[most.object];
    findings.push(Finding {
        span: subject.span(most.loc),
        message: format!(
            "products wait for shared memory {}: each needs {wavefronts:.2} of a wavefront, and shared memory serves one while a multiprocessor computes four, so at most \
             {:.0} % of its products are made",
            on(slow.iter().map(|(target, ..)| *target)),
            share * 100.0,
        ),
        labels: vec![(subject.span(array.loc), format!("`{}` is declared here", array.name))],
        help: "let a thread make several results of what it loads: R · C of R + C operands, in arrays of its own; and load four neighbours at once, `load::<4>`".into(),
    });
}

/// Fused products of a thread, those left out that tensor cores make everywhere, of which both factors are elements of shared arrays.
fn products(known: &Known, by_tensor_cores: &HashSet<Loc>) -> f64 {
    let kernel = known.legal.addressed();
    let is_shared = |value: Value| {
        let loaded = kernel.def(value).filter(|(_, op)| matches!(op, Op::Memory(Memory { op: MemoryOp::Load, .. })));
        loaded.and_then(|(_, op)| op.object()).is_some_and(|object| kernel.objects[object].space() == Space::Shared)
    };
    let mut products = 0.0;
    kernel.for_each_inst(|kernel, _, inst| {
        if let Op::Compute(Compute::MulAdd(a, b, _)) = kernel.insts[inst].op
            && !by_tensor_cores.contains(&kernel.insts[inst].loc)
            && is_shared(a)
            && is_shared(b)
        {
            products += known.threads.times(inst);
        }
    });
    products
}

/// Whether a request has no bank conflicts.
fn is_free(fact: &AccessFact) -> bool {
    !matches!(fact.pattern, Pattern::Shared { degree, .. } if degree.least >= 2)
}
