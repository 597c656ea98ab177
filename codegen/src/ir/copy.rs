//! Copies of instructions and blocks, in which other values, loops, exits and arrays stand for the original's: what unrolls a loop, interleaves its iterations or makes a second version of it.

use super::{Block, Inst, Kernel, Object, Op, Terminator, Type, Value};
use crate::collections::HashMap;

/// One copy in the making: what stands in it for the body's values, loops and exits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Copy {
    values: HashMap<Value, Value>,
    owners: HashMap<Inst, Inst>,
    /// The instruction a `Continue` of the original loop breaks out of instead.
    continues: HashMap<Inst, Inst>,
    objects: HashMap<Object, Object>,
}

impl Copy {
    /// What stands for a value; those from outside the body stand for themselves.
    pub(crate) fn get(&self, value: Value) -> Value {
        self.values.get(&value).copied().unwrap_or(value)
    }

    /// What stands for some values.
    pub(crate) fn all(&self, values: &[Value]) -> Vec<Value> {
        values.iter().map(|value| self.get(*value)).collect()
    }

    /// From here on `to` stands for `from`.
    pub(crate) fn set(&mut self, from: Value, to: Value) {
        self.values.insert(from, to);
    }

    /// The same for several.
    pub(crate) fn set_all(&mut self, from: &[Value], to: &[Value]) {
        from.iter().zip(to).for_each(|(from, to)| self.set(*from, *to));
    }

    /// Exits of the instruction `from` are exits of `to`.
    pub(crate) fn set_owner(&mut self, from: Inst, to: Inst) {
        self.owners.insert(from, to);
    }

    /// A `Continue` of the loop `from` breaks out of `to`, which takes the same values.
    pub(crate) fn set_continue(&mut self, from: Inst, to: Inst) {
        self.continues.insert(from, to);
    }

    /// `to` is this copy's own array in the place of `from`.
    pub(crate) fn set_object(&mut self, from: Object, to: Object) {
        self.objects.insert(from, to);
    }

    /// Copies an instruction, with the blocks it owns, to the end of `into`. Its results stand for the original's.
    pub(crate) fn inst(&mut self, kernel: &mut Kernel, inst: Inst, into: Block) -> Inst {
        let (op, loc) = (kernel.insts[inst].op.clone(), kernel.insts[inst].loc);
        let results = kernel.insts[inst].results.clone();
        let types: Vec<Type> = results.iter().map(|value| kernel.ty(*value)).collect();
        let new = kernel.new_inst(op, &types, loc);
        kernel.blocks[into].insts.push(new);
        self.owners.insert(inst, new);
        if let Some(asked) = kernel.annotations.get(&inst).cloned() {
            kernel.annotations.insert(new, asked);
        }
        for early in kernel.early_loads.iter_mut().filter(|early| early.loads.contains(&inst)) {
            early.loads.insert(new);
        }
        let mut op = kernel.insts[new].op.clone();
        op.for_each_operand_mut(|value| *value = self.get(*value));
        op.for_each_block_mut(|block| *block = self.block(kernel, *block));
        op.for_each_object_mut(|object| *object = self.objects.get(object).copied().unwrap_or(*object));
        match op {
            Op::Terminator(Terminator::Break(target, values)) => op = Op::Terminator(Terminator::Break(self.owner(target), values)),
            Op::Terminator(Terminator::Continue(target, values)) => {
                op = match self.continues.get(&target) {
                    Some(region) => Op::Terminator(Terminator::Break(*region, values)),
                    None => Op::Terminator(Terminator::Continue(self.owner(target), values)),
                };
            }
            Op::Compute(_)
            | Op::Memory(_)
            | Op::Texture(..)
            | Op::Intrinsic(..)
            | Op::Collective(_)
            | Op::Tensor(_)
            | Op::Engine(_)
            | Op::Message(_)
            | Op::Region(_)
            | Op::Terminator(_) => {}
        }
        kernel.insts[new].op = op;
        for (from, to) in results.into_iter().zip(kernel.insts[new].results.clone()) {
            kernel.values[to].name = kernel.values[from].name.clone();
            self.set(from, to);
        }
        new
    }

    fn owner(&self, target: Inst) -> Inst {
        self.owners.get(&target).copied().unwrap_or(target)
    }

    /// A copy of a block, its parameters included.
    fn block(&mut self, kernel: &mut Kernel, block: Block) -> Block {
        let params = kernel.blocks[block].params.clone();
        let new = self.params(kernel, &params);
        self.contents(kernel, block, new);
        new
    }

    /// An empty block with parameters that stand for `params`.
    pub(crate) fn params(&mut self, kernel: &mut Kernel, params: &[Value]) -> Block {
        let types: Vec<Type> = params.iter().map(|value| kernel.ty(*value)).collect();
        let new = kernel.new_block(&types);
        for (from, to) in params.iter().zip(kernel.blocks[new].params.clone()) {
            kernel.values[to].name = kernel.values[*from].name.clone();
            self.set(*from, to);
        }
        new
    }

    /// Copies what is in a block, its terminator included, to the end of `into`.
    pub(crate) fn contents(&mut self, kernel: &mut Kernel, block: Block, into: Block) {
        for inst in kernel.blocks[block].insts.clone() {
            self.inst(kernel, inst, into);
        }
    }
}
