//! Whether all threads of a block could meet where an instruction stands: what help that puts a barrier there must know.
//!
//! They can where every loop round it goes round equally often for all of them, and every condition round it, and before it whatever leaves
//! early, is the same for the block or a boundary of the grid (`row < rows`), which can guard less than it does.

use super::nest::{made_of, names};
use std::collections::HashMap;
use warpwright_codegen::analysis::uniformity::Uniformity;
use warpwright_codegen::ir::{
    Address, BinaryOp, Block, Compute, Inst, Kernel, Memory, MemoryOp, ObjectKind, Op, Region, Special, Terminator, UnaryOp, Value,
};

/// Where threads of a block meet, or could.
pub(super) struct Meeting<'k> {
    kernel: &'k Kernel,
    uniformity: Uniformity,
    /// The construct that each instruction stands in.
    owners: HashMap<Inst, Inst>,
    /// Early exits: what they leave, `None` for the kernel.
    exits: Vec<(Inst, Option<Inst>)>,
}

impl<'k> Meeting<'k> {
    pub(super) fn of(kernel: &'k Kernel) -> Meeting<'k> {
        let mut meeting = Meeting { kernel, uniformity: Uniformity::without_races(kernel), owners: HashMap::new(), exits: Vec::new() };
        meeting.enter(kernel.body, None);
        meeting
    }

    fn enter(&mut self, block: Block, owner: Option<Inst>) {
        let kernel = self.kernel;
        for inst in &kernel.blocks[block].insts {
            if let Some(owner) = owner {
                self.owners.insert(*inst, owner);
            }
            let op = &kernel.insts[*inst].op;
            match op {
                Op::Terminator(Terminator::Return) => self.exits.push((*inst, None)),
                Op::Terminator(Terminator::Break(target, _)) if matches!(kernel.insts[*target].op, Op::Region(Region::Block { .. })) => {
                    self.exits.push((*inst, Some(*target)));
                }
                _ => {}
            }
            op.blocks().into_iter().for_each(|child| self.enter(child, Some(*inst)));
        }
    }

    /// What stands round an instruction, innermost first.
    fn around(&self, inst: Inst) -> impl Iterator<Item = Inst> + '_ {
        std::iter::successors(self.owners.get(&inst).copied(), |inst| self.owners.get(inst).copied())
    }

    /// Whether all threads of a block could come to an instruction together; then the boundary's guard that would have to guard less, if there is one.
    pub(super) fn at(&self, inst: Inst) -> Option<Option<Inst>> {
        let mut guard = None;
        for owner in self.around(inst) {
            match &self.kernel.insts[owner].op {
                Op::Region(Region::If { condition, .. }) if self.uniformity.is_uniform(*condition) => {}
                Op::Region(Region::If { condition, .. }) if self.is_boundary(*condition) => guard = Some(owner),
                Op::Region(Region::If { .. }) => return None,
                Op::Region(Region::For { .. } | Region::Loop { .. }) if !self.uniformity.goes_round_together(self.kernel, owner) => {
                    return None;
                }
                _ => {}
            }
        }
        let around: Vec<Inst> = self.around(inst).collect();
        let leaves = |target: &Option<Inst>| target.is_none_or(|target| around.contains(&target));
        let is_harmless = |exit: Inst, target: Option<Inst>| {
            self.around(exit).take_while(|owner| Some(*owner) != target).all(|owner| {
                if let Op::Region(Region::If { condition, .. }) = &self.kernel.insts[owner].op {
                    self.uniformity.is_uniform(*condition) || self.is_boundary(*condition)
                } else {
                    self.uniformity.goes_round_together(self.kernel, owner)
                }
            })
        };
        self.exits.iter().all(|(exit, target)| !leaves(target) || is_harmless(*exit, *target)).then_some(guard)
    }

    /// Whether a condition asks where the thread stands in the grid, by arithmetic alone.
    fn is_boundary(&self, condition: Value) -> bool {
        let kernel = self.kernel;
        let mut open = vec![condition];
        while let Some(value) = open.pop() {
            if self.uniformity.is_uniform(value) {
                continue;
            }
            match kernel.def(value) {
                Some((_, Op::Compute(Compute::Binary(BinaryOp::And | BinaryOp::Or, a, b)))) => open.extend([*a, *b]),
                Some((_, Op::Compute(Compute::Unary(UnaryOp::Not, a)))) => open.push(*a),
                Some((_, Op::Compute(Compute::Compare(_, a, b)))) => {
                    let is_place = |value: Value| made_of(kernel, value, &|value| self.is_known_number(value));
                    let is_of_block = |value: Value| names(kernel, value, &[Special::BlockIdx]);
                    if !(is_place(*a) && is_place(*b) && (is_of_block(*a) || is_of_block(*b))) {
                        return false;
                    }
                }
                _ => return false,
            }
        }
        true
    }

    /// Where a thread stands, and numbers that are one in the block.
    fn is_known_number(&self, value: Value) -> bool {
        let is_special = match self.kernel.def(value) {
            Some((_, Op::Compute(Compute::Special(..) | Compute::Len(_)))) => true,
            Some((_, Op::Memory(Memory { op: MemoryOp::Load, at: Address::Path(access) }))) => {
                self.kernel.objects[access.object].kind == ObjectKind::Value
            }
            _ => false,
        };
        is_special || self.uniformity.is_uniform(value)
    }
}
