//! Which values of a loop's body may differ between iterations: through what they are computed from, through which way control went, and
//! through memory that the body writes. What is not among them is the same in every iteration.

use super::dependence::privates;
use crate::ir::{Block, Inst, Kernel, Object, Op, Value};
use std::collections::HashSet;

/// The values of `body` that may differ, its own parameters first of all.
pub(super) fn varying(kernel: &Kernel, body: Block) -> HashSet<Value> {
    let mut insts = Vec::new();
    kernel.walk_block(body, &mut |_, _, inst| insts.push(inst));
    let mut written: HashSet<Object> = privates(kernel, body).into_iter().collect();
    for inst in &insts {
        if let Op::Store(access, _) | Op::Atomic(_, access, _) = &kernel.insts[*inst].op {
            written.insert(access.object);
        }
    }
    let mut found: HashSet<Value> = kernel.blocks[body].params.iter().copied().collect();
    loop {
        let before = found.len();
        for inst in &insts {
            mark(kernel, *inst, &written, &mut found);
        }
        if found.len() == before {
            return found;
        }
    }
}

fn mark(kernel: &Kernel, inst: Inst, written: &HashSet<Object>, found: &mut HashSet<Value>) {
    let data = &kernel.insts[inst];
    let yielded = |block: Block| match kernel.blocks[block].insts.last().map(|last| &kernel.insts[*last].op) {
        Some(Op::Yield(values)) => values.clone(),
        _ => Vec::new(),
    };
    match &data.op {
        Op::If { condition, then_block, else_block } => {
            let arms = [yielded(*then_block), yielded(*else_block)];
            for (n, result) in data.results.iter().enumerate() {
                let differs = arms.iter().filter_map(|arm| arm.get(n)).any(|value| found.contains(value));
                if differs || found.contains(condition) {
                    found.insert(*result);
                }
            }
        }
        Op::For { start, end, step, init, body, .. } => {
            let params = &kernel.blocks[*body].params;
            let differs = [start, end, step].into_iter().any(|bound| found.contains(bound)) || has_exits(kernel, *body);
            let next = yielded(*body);
            if differs {
                found.insert(params[0]);
            }
            for (n, result) in data.results.iter().enumerate() {
                if differs || found.contains(&init[n]) || next.get(n).is_some_and(|value| found.contains(value)) {
                    found.extend([params[n + 1], *result]);
                }
            }
        }
        // Where these are left depends on control that is not followed here.
        Op::Loop { body, .. } | Op::Region { body } => {
            found.extend(&kernel.blocks[*body].params);
            found.extend(&data.results);
        }
        Op::Load(access) if written.contains(&access.object) => found.extend(&data.results),
        Op::Atomic(..) => found.extend(&data.results),
        Op::Intrinsic(row, _) if row.row().effect != crate::intrinsics::Effect::Pure => found.extend(&data.results),
        op => {
            if op.operands().iter().any(|operand| found.contains(operand)) {
                found.extend(&data.results);
            }
        }
    }
}

/// Whether a loop's body may end otherwise than by its last instruction.
fn has_exits(kernel: &Kernel, body: Block) -> bool {
    let mut found = false;
    kernel
        .walk_block(body, &mut |kernel, _, inner| found |= matches!(kernel.insts[inner].op, Op::Break(..) | Op::Continue(..) | Op::Return));
    found
}
