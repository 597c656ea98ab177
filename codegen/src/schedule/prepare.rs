//! What every annotation wants first: constants that are constants, and bodies with one end.
//!
//! A `continue` of an annotated loop becomes the end of a region round the body, and folding makes an `if` of that where it can. Arrays of a
//! thread with constant indices become values, so that `acc[3] += e` is an accumulator. Annotated loops stay loops meanwhile.

use super::Schedule;
use crate::analysis::exits::Exits;
use crate::ir::{Builder, Inst, Kernel, Op, Type};
use crate::passes::simplify;

/// Runs it.
pub(super) fn run(schedule: &mut Schedule<'_>) {
    let exits = Exits::of(schedule.kernel);
    let loops: Vec<Inst> = schedule.kernel.annotations.keys().copied().collect();
    for inst in loops {
        if !exits.get(inst).continues.is_empty() && matches!(schedule.kernel.insts[inst].op, Op::For { .. }) {
            enclose(schedule.kernel, inst, &exits.get(inst).continues);
        }
    }
    simplify(schedule.kernel);
    let mut reachable = std::collections::BTreeSet::new();
    schedule.kernel.for_each_inst(|_, _, inst| {
        reachable.insert(inst);
    });
    schedule.kernel.annotations.retain(|inst, _| reachable.contains(inst));
}

/// Puts the body into a region that `continue` leaves.
fn enclose(kernel: &mut Kernel, inst: Inst, continues: &[Inst]) {
    let Op::For { body, .. } = kernel.insts[inst].op else { return };
    let loc = kernel.insts[inst].loc;
    let types: Vec<Type> = kernel.insts[inst].results.iter().map(|value| kernel.ty(*value)).collect();
    let inner = kernel.new_block(&[]);
    kernel.blocks[inner].insts = std::mem::take(&mut kernel.blocks[body].insts);
    let mut b = Builder::new(kernel, body, loc);
    let region = b.push(Op::Region { body: inner }, &types);
    let results = b.kernel.insts[region].results.clone();
    b.push(Op::Yield(results), &[]);
    for exit in continues {
        if let Op::Continue(_, values) = &kernel.insts[*exit].op {
            kernel.insts[*exit].op = Op::Break(region, values.clone());
        }
    }
}
