//! What has to be taken apart: where the threads of a block are not known to go together.

use crate::analysis::uniformity::Uniformity;
use crate::ir::{Effects, Inst, Kernel, Op, Value};

/// Facts about the kernel as it was, by instruction and by value.
pub(super) struct Plan {
    uniformity: Uniformity,
    /// Meetings that threads may come to apart.
    meetings: Vec<bool>,
    /// Statements with such a meeting inside.
    holders: Vec<bool>,
    /// Who uses a value.
    users: Vec<Vec<Inst>>,
}

impl Plan {
    /// `None` if all meetings, instructions with such effects, are where the threads of a block go together.
    ///
    /// A barrier waits for the threads of the block anyway, so for barriers alone nothing is done where threads could part only if they
    /// read different values of one element of a buffer: the program would be wrong on every device.
    pub(super) fn of(kernel: &Kernel, is_meeting: fn(&Effects) -> bool) -> Option<Plan> {
        let (uniformity, lenient) = (Uniformity::of(kernel), Uniformity::without_races(kernel));
        let mut plan = Plan {
            uniformity,
            meetings: vec![false; kernel.insts.len()],
            holders: vec![false; kernel.insts.len()],
            users: vec![Vec::new(); kernel.values.len()],
        };
        let mut is_needed = false;
        kernel.for_each_inst(|kernel, _, inst| {
            let op = &kernel.insts[inst].op;
            op.for_each_operand(|value| plan.users[usize::from(value)].push(inst));
            let Op::Intrinsic(row, _) = op else { return };
            let effects = &row.row().effects;
            if is_meeting(effects) && !plan.uniformity.runs_together(inst) {
                plan.meetings[usize::from(inst)] = true;
                is_needed |= effects.is_of_warp() || !lenient.runs_together(inst);
            }
        });
        if !is_needed {
            return None;
        }
        plan.find_holders(kernel, kernel.body);
        Some(plan)
    }

    fn find_holders(&mut self, kernel: &Kernel, block: crate::ir::Block) -> bool {
        let mut found = false;
        for inst in &kernel.blocks[block].insts {
            let mut holds = false;
            for child in kernel.insts[*inst].op.blocks() {
                holds |= self.find_holders(kernel, child);
            }
            self.holders[usize::from(*inst)] = holds;
            found |= holds || self.is_meeting(*inst);
        }
        found
    }

    /// Whether all threads are to be brought to an instruction.
    pub(super) fn is_meeting(&self, inst: Inst) -> bool {
        self.meetings[usize::from(inst)]
    }

    /// Whether there is a meeting inside a statement.
    pub(super) fn holds(&self, inst: Inst) -> bool {
        self.holders[usize::from(inst)]
    }

    /// Whether all threads of the block, or none, run an instruction.
    pub(super) fn is_for_all(&self, inst: Inst) -> bool {
        self.uniformity.runs_together(inst)
    }

    /// Whether all threads of the block go through a statement's blocks together, from beginning to end.
    pub(super) fn is_together(&self, kernel: &Kernel, inst: Inst) -> bool {
        let blocks = kernel.insts[inst].op.blocks();
        let mut ends = blocks.iter().flat_map(|block| [kernel.blocks[*block].insts.first(), kernel.blocks[*block].insts.last()]);
        ends.all(|inst| inst.is_none_or(|inst| self.is_for_all(*inst)))
    }

    /// Whether a value is the same in every thread of the block that has it.
    pub(super) fn is_uniform(&self, value: Value) -> bool {
        self.uniformity.is_uniform(value)
    }

    /// The instructions that use a value.
    pub(super) fn users(&self, value: Value) -> &[Inst] {
        &self.users[usize::from(value)]
    }
}
