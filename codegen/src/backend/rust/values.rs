//! What is written where it is used, and what values are called.
//!
//! What the source named keeps its `let`; what is used once is written where it is used. A load is, only if nothing else of the text
//! would come between: the order of loads and stores in the text is that of the kernel, since that is what a reader looks for.

use super::Printer;
use crate::backend::structured::{UNNAMED, is_assignment};
use crate::ir::{Address, Block, Compute, Inst, Memory, MemoryOp, Object, Op, Type, Value};
use std::collections::BTreeSet;

impl Printer<'_> {
    /// Whether a value's one use puts it into a variable or a place, here.
    pub(super) fn is_passed_on(&self, inst: Inst, value: Value) -> bool {
        let passes = |user: Inst| {
            is_assignment(&self.kernel.insts[user].op)
                || matches!(self.kernel.insts[user].op, Op::Memory(Memory { op: MemoryOp::Store(_), at: Address::Path(_) }))
        };
        self.is_single(inst, value) && self.state.user[value.0 as usize].is_some_and(passes)
    }

    /// Whether a value is to be written where it is used.
    pub(super) fn is_moved(&self, inst: Inst, value: Value) -> bool {
        let op = &self.kernel.insts[inst].op;
        if op.effects(self.kernel).is_pure() { self.is_single(inst, value) } else { self.moves[inst.0 as usize] }
    }

    /// Whether a value has one use, in its own block, and the source has no `let` for it.
    fn is_single(&self, inst: Inst, value: Value) -> bool {
        let is_assigned = self.state.user[value.0 as usize].is_some_and(|user| is_assignment(&self.kernel.insts[user].op));
        self.state.is_used_once_here(inst, value) && (is_assigned || self.kernel.values[value].name.is_none())
    }

    /// Finds the loads that may be written where they are used: nothing that is a statement stands between.
    pub(super) fn find_moves(&mut self) {
        let kernel = self.kernel;
        self.moves = vec![false; kernel.insts.len()];
        let mut blocks: BTreeSet<Block> = BTreeSet::new();
        kernel.for_each_inst(|_, block, _| {
            blocks.insert(block);
        });
        for block in blocks {
            let insts = &kernel.blocks[block].insts;
            // From the back: `next` is the statement that a load here would be written in.
            let mut next: Option<Inst> = None;
            for inst in insts.iter().rev() {
                let data = &kernel.insts[*inst];
                let single = data.results.len() == 1 && self.is_single(*inst, data.results[0]);
                let is_text = matches!(data.op, Op::Compute(Compute::Const(_))) || (data.op.effects(self.kernel).is_pure() && single);
                if matches!(data.op, Op::Memory(Memory { op: MemoryOp::Load, at: Address::Path(_) }))
                    && single
                    && next == self.statement_of(data.results[0])
                    && next.is_some()
                {
                    self.moves[inst.0 as usize] = true;
                } else if !is_text {
                    next = Some(*inst);
                }
            }
        }
    }

    /// The instruction whose text has a value in it: its user, or that one's.
    fn statement_of(&self, value: Value) -> Option<Inst> {
        let mut user = self.state.user[value.0 as usize]?;
        loop {
            let data = &self.kernel.insts[user];
            match data.results[..] {
                [result] if data.op.effects(self.kernel).is_pure() && self.is_single(user, result) => {
                    user = self.state.user[result.0 as usize]?;
                }
                _ => return Some(user),
            }
        }
    }

    /// The source's name for a value, or one that says where it comes from.
    pub(super) fn called(&self, value: Value) -> String {
        let data = &self.kernel.values[value];
        if let Some(name) = &data.name {
            return name.to_string();
        }
        let object = |object: &Object| self.kernel.objects[*object].name.clone();
        match (self.kernel.def(value).map(|(_, op)| op), data.ty) {
            (Some(Op::Memory(Memory { op: MemoryOp::Load, at: Address::Path(access) })), _) => object(&access.object),
            (Some(Op::Compute(Compute::Len(of))), _) => format!("{}_len", object(of)),
            (None, ty) if ty.is_int() => "j".to_owned(),
            (_, Type::Bool) => "guard".to_owned(),
            _ => UNNAMED.to_owned(),
        }
    }
}
