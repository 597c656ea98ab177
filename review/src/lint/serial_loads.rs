//! `serial_loads`: a load waits for another one that it does not need, since the store between them may be to the same place for all the
//! assembler knows.
//!
//! Found only where the store is to another buffer than the load is from (so that both are free of each other: parameters do not alias), and
//! where a target's resident warps are too few to hide what the waiting costs.

use super::{Finding, Lint, Subject, on};
use crate::estimate::time::Bound;
use warpwright_codegen::ir::{Address, Inst, Kernel, Memory, Object, Op};

pub(super) const LINT: Lint = Lint {
    name: "serial_loads",
    summary: "a load waits for an independent one",
    of_machine: true,
    page: include_str!("serial_loads.md"),
    check,
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let kernel = subject.known.legal.addressed();
    let slow: Vec<_> = subject
        .known
        .targets
        .iter()
        .filter_map(|estimate| {
            let prediction = estimate.prediction.as_ref()?;
            let waits = prediction.bound == Bound::MemoryLatency && prediction.warps < prediction.warps_needed;
            waits.then_some((estimate.target, prediction))
        })
        .collect();
    let Some((target, worst)) = slow.iter().max_by(|(_, a), (_, b)| (a.warps_needed / a.warps).total_cmp(&(b.warps_needed / b.warps)))
    else {
        return;
    };
    let mut seen: Vec<(Object, Object)> = Vec::new();
    for serial in &subject.known.threads.flight.serial {
        let (Some(load), Some(store), Some(first)) =
            (object(kernel, serial.load), object(kernel, serial.store), object(kernel, serial.first))
        else {
            continue;
        };
        if load == store || seen.contains(&(load, store)) {
            continue;
        }
        seen.push((load, store));
        let name = |object: Object| kernel.objects[object].name.as_str();
        let span = |inst: Inst| subject.span(kernel.insts[inst].loc);
        let of_which = if slow.len() == 1 { String::new() } else { format!(" {}", on([*target])) };
        let targets = on(slow.iter().map(|(target, _)| *target));
        found.push(Finding {
            span: span(serial.load),
            message: format!(
                "the load from `{}` waits for the one from `{}`, which it does not need: the store to `{}` stands between them, and \
                 {targets} too few warps are resident to hide it: {:.0}{}, where {:.0} would",
                name(load),
                name(first),
                name(store),
                worst.warps,
                of_which,
                worst.warps_needed.ceil(),
            ),
            labels: vec![
                (span(serial.first), format!("this load from `{}` is waited for", name(first))),
                (span(serial.store), format!("by this store to `{}`", name(store))),
            ],
            help: format!("load from `{}` before the store, into a variable; or let `batch_loads` do it", name(load)),
        });
    }
}

fn object(kernel: &Kernel, inst: Inst) -> Option<Object> {
    if let Op::Memory(Memory { at: Address::Pointer { object, .. }, .. }) = &kernel.insts[inst].op { Some(*object) } else { None }
}
