//! The values that decide what runs: only they are evaluated.

use warpwright_codegen::collections::HashMap;
use warpwright_codegen::ir::{Block, Compute, Inst, Kernel, Op, Region, Special, Terminator, Value, ValueDef};

/// Values that conditions and bounds are made of.
pub(super) fn needed(kernel: &Kernel) -> Vec<bool> {
    let mut needed = vec![false; kernel.values.len()];
    let mut list: Vec<Value> = Vec::new();
    let mut exits: HashMap<Inst, Vec<Inst>> = HashMap::default();
    let mut owners: HashMap<Block, Inst> = HashMap::default();
    kernel.for_each_inst(|kernel, block, inst| match &kernel.insts[inst].op {
        Op::Terminator(Terminator::Break(owner, _) | Terminator::Continue(owner, _)) => exits.entry(*owner).or_default().push(inst),
        Op::Terminator(Terminator::Yield(_)) => {
            if let Some(owner) = owners.get(&block) {
                exits.entry(*owner).or_default().push(inst);
            }
        }
        op => {
            op.blocks().into_iter().for_each(|child| {
                owners.insert(child, inst);
            });
            match op {
                Op::Region(Region::If { condition, .. }) => list.push(*condition),
                Op::Region(Region::For { start, end, step, .. }) => list.extend([*start, *end, *step]),
                _ => {}
            }
        }
    });
    while let Some(value) = list.pop() {
        if std::mem::replace(&mut needed[usize::from(value)], true) {
            continue;
        }
        // The n-th of what is handed over where a construct ends or begins anew.
        let handed = |owner: Inst, n: usize, list: &mut Vec<Value>| {
            for exit in exits.get(&owner).into_iter().flatten() {
                list.extend(warpwright_codegen::analysis::exits::exit_values(&kernel.insts[*exit].op).get(n));
            }
        };
        match kernel.values[value].def {
            ValueDef::Result(inst, n) => {
                let op = &kernel.insts[inst].op;
                match op {
                    Op::Region(Region::If { .. } | Region::Loop { .. } | Region::Block { .. }) => handed(inst, usize::from(n), &mut list),
                    Op::Region(Region::For { init, .. }) => {
                        list.extend(init.get(usize::from(n)));
                        handed(inst, usize::from(n), &mut list);
                    }
                    _ => op.for_each_operand(|operand| list.push(operand)),
                }
            }
            ValueDef::Param(block, n) => {
                let Some(owner) = owners.get(&block) else { continue };
                let (init, n) = match &kernel.insts[*owner].op {
                    Op::Region(Region::For { init, .. }) => match usize::from(n).checked_sub(1) {
                        Some(n) => (init, n),
                        None => continue,
                    },
                    Op::Region(Region::Loop { init, .. }) => (init, usize::from(n)),
                    _ => continue,
                };
                list.extend(init.get(n));
                handed(*owner, n, &mut list);
            }
        }
    }
    needed
}

/// Whether any of them depends on which thread of the block asks.
pub(super) fn asks_who(kernel: &Kernel, needed: &[bool]) -> bool {
    let mut asks = false;
    kernel.for_each_inst(|kernel, _, inst| {
        let data = &kernel.insts[inst];
        asks |= matches!(data.op, Op::Compute(Compute::Special(Special::ThreadIdx | Special::WarpId, _)))
            && data.results.iter().any(|value| needed[usize::from(*value)]);
    });
    asks
}
