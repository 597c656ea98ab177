//! What every annotation wants first: constants that are constants, and bodies with one end.
//!
//! A `continue` of an annotated loop becomes the end of a region round the body, and folding makes an `if` of that where it can. Arrays of a
//! thread with constant indices become values, so that `acc[3] += e` is an accumulator. Annotated loops stay loops meanwhile.
//!
//! A guard that leaves, `if i >= n { return; }`, comes out of that as an `if` with all in its `else`: it becomes the guard that it means.

use super::Schedule;
use crate::analysis::exits::Exits;
use crate::collections::HashMap;
use crate::ir::{BinaryOp, Block, Builder, Compute, Inst, Kernel, Op, Region, Terminator, Type, UnaryOp, Value};
use crate::passes::simplify;

/// Runs it.
pub(super) fn run(schedule: &mut Schedule<'_>) {
    let exits = Exits::of(schedule.kernel);
    let loops: Vec<Inst> = schedule.kernel.annotations.keys().copied().collect();
    for inst in loops {
        if !exits.get(inst).continues.is_empty() && matches!(schedule.kernel.insts[inst].op, Op::Region(Region::For { .. })) {
            enclose(schedule.kernel, inst, &exits.get(inst).continues);
        }
    }
    simplify(schedule.kernel);
    let loops: Vec<Inst> = schedule.kernel.annotations.keys().copied().collect();
    for inst in loops {
        for body in schedule.kernel.insts[inst].op.blocks() {
            turn_guards(schedule.kernel, body);
        }
    }
    let reachable: std::collections::BTreeSet<Inst> = schedule.kernel.insts_in(schedule.kernel.body).collect();
    schedule.kernel.annotations.retain(|inst, _| reachable.contains(inst));
}

/// Puts the body into a region that `continue` leaves.
fn enclose(kernel: &mut Kernel, inst: Inst, continues: &[Inst]) {
    let Op::Region(Region::For { body, .. }) = kernel.insts[inst].op else { return };
    let loc = kernel.insts[inst].loc;
    let types: Vec<Type> = kernel.insts[inst].results.iter().map(|value| kernel.ty(*value)).collect();
    let inner = kernel.new_block(&[]);
    kernel.blocks[inner].insts = std::mem::take(&mut kernel.blocks[body].insts);
    let mut b = Builder::new(kernel, body, loc);
    let region = b.push(Op::Region(Region::Block { body: inner }), &types);
    let results = b.kernel.insts[region].results.clone();
    b.push(Op::Terminator(Terminator::Yield(results)), &[]);
    for exit in continues {
        if let Op::Terminator(Terminator::Continue(_, values)) = &kernel.insts[*exit].op {
            kernel.insts[*exit].op = Op::Terminator(Terminator::Break(region, values.clone()));
        }
    }
}

/// Swaps the arms of each `if` at the top of a body that does nothing where its condition holds.
fn turn_guards(kernel: &mut Kernel, body: Block) {
    for inst in kernel.blocks[body].insts.clone() {
        let Op::Region(Region::If { condition, then_block, else_block }) = kernel.insts[inst].op else { continue };
        let ends = |block: Block| matches!(kernel.blocks[block].insts[..], [last] if matches!(kernel.insts[last].op, Op::Terminator(Terminator::Yield(_))));
        if !ends(then_block) || ends(else_block) {
            continue;
        }
        let at = kernel.blocks[body].insts.iter().position(|other| *other == inst).unwrap_or(0);
        let behind = kernel.blocks[body].insts.split_off(at);
        let loc = kernel.insts[inst].loc;
        let condition = negated(&mut Builder::new(kernel, body, loc), condition, &mut HashMap::default());
        kernel.insts[inst].op = Op::Region(Region::If { condition, then_block: else_block, else_block: then_block });
        kernel.blocks[body].insts.extend(behind);
    }
}

/// What holds where a condition does not. `known`: what was built before, since conditions may be parts of several.
fn negated(b: &mut Builder<'_>, condition: Value, known: &mut HashMap<Value, Value>) -> Value {
    if let Some(known) = known.get(&condition) {
        return *known;
    }
    let op = b.kernel.def(condition).map(|(_, op)| op.clone());
    let opposite = match op {
        Some(Op::Compute(Compute::Compare(op, x, y))) if !b.kernel.ty(x).is_float() => b.compare(op.negated(), x, y),
        Some(Op::Compute(Compute::Binary(op @ (BinaryOp::And | BinaryOp::Or), x, y))) => {
            let (x, y) = (negated(b, x, known), negated(b, y, known));
            b.binary(if op == BinaryOp::And { BinaryOp::Or } else { BinaryOp::And }, x, y)
        }
        Some(Op::Compute(Compute::Unary(UnaryOp::Not, x))) => x,
        _ => b.unary(UnaryOp::Not, condition),
    };
    known.insert(condition, opposite);
    opposite
}
