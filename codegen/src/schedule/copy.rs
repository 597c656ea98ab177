//! Copies of a loop's body, each for an iteration of its own.

use super::Schedule;
use crate::annotations::Annotation;
use crate::collections::HashMap;
use crate::ir::{Annotations, Asked, Block, BlockData, Compute, Inst, InstData, Kernel, Object, Op, Terminator, Type, Value};

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
    pub(super) fn all(&self, values: &[Value]) -> Vec<Value> {
        values.iter().map(|value| self.get(*value)).collect()
    }

    /// From here on `to` stands for `from`.
    pub(super) fn set(&mut self, from: Value, to: Value) {
        self.values.insert(from, to);
    }

    /// The same for several.
    pub(super) fn set_all(&mut self, from: &[Value], to: &[Value]) {
        from.iter().zip(to).for_each(|(from, to)| self.set(*from, *to));
    }

    /// Exits of the instruction `from` are exits of `to`.
    pub(super) fn set_owner(&mut self, from: Inst, to: Inst) {
        self.owners.insert(from, to);
    }

    /// A `Continue` of the loop `from` breaks out of `to`, which takes the same values.
    pub(super) fn set_continue(&mut self, from: Inst, to: Inst) {
        self.continues.insert(from, to);
    }

    /// `to` is this copy's own array in the place of `from`.
    pub(super) fn set_object(&mut self, from: Object, to: Object) {
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
            early.loads.push(new);
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
    pub(super) fn params(&mut self, kernel: &mut Kernel, params: &[Value]) -> Block {
        let types: Vec<Type> = params.iter().map(|value| kernel.ty(*value)).collect();
        let new = kernel.new_block(&types);
        for (from, to) in params.iter().zip(kernel.blocks[new].params.clone()) {
            kernel.values[to].name = kernel.values[*from].name.clone();
            self.set(*from, to);
        }
        new
    }

    /// Copies what is in a block, its terminator included, to the end of `into`.
    pub(super) fn contents(&mut self, kernel: &mut Kernel, block: Block, into: Block) {
        for inst in kernel.blocks[block].insts.clone() {
            self.inst(kernel, inst, into);
        }
    }
}

/// A loop as it was, to undo what was begun with its body: nothing else of the kernel may have been changed.
pub(super) struct Saved {
    blocks: Vec<(Block, BlockData)>,
    insts: Vec<(Inst, InstData)>,
}

impl Saved {
    /// Of a loop, with all in it.
    pub(super) fn of(kernel: &Kernel, inst: Inst) -> Saved {
        let mut saved = Saved { blocks: Vec::new(), insts: vec![(inst, kernel.insts[inst].clone())] };
        for block in kernel.insts[inst].op.blocks() {
            saved.blocks.push((block, kernel.blocks[block].clone()));
            kernel.walk_block(block, &mut |kernel, _, inner| {
                saved.insts.push((inner, kernel.insts[inner].clone()));
                let children = kernel.insts[inner].op.blocks().into_iter();
                saved.blocks.extend(children.map(|child| (child, kernel.blocks[child].clone())));
            });
        }
        saved
    }

    /// Puts it back.
    pub(super) fn restore(self, kernel: &mut Kernel) {
        self.blocks.into_iter().for_each(|(block, data)| kernel.blocks[block] = data);
        self.insts.into_iter().for_each(|(inst, data)| kernel.insts[inst] = data);
    }
}

/// A block's instructions but for its terminator, and that.
pub(super) fn parts(kernel: &Kernel, block: Block) -> (Vec<Inst>, Option<Inst>) {
    let mut insts = kernel.blocks[block].insts.clone();
    let last = insts.pop_if(|inst| kernel.insts[*inst].op.is_terminator());
    (insts, last)
}

/// Every annotated loop that `wanted` wants, inner ones before outer ones, with the block it stands in.
pub(super) fn loops(kernel: &Kernel, wanted: impl Fn(&Annotations) -> bool) -> Vec<(Inst, Block)> {
    let mut found = Vec::new();
    kernel.for_each_inst(|kernel, block, inst| {
        if kernel.annotations.get(&inst).is_some_and(&wanted) {
            found.push((inst, block));
        }
    });
    // Program order has owners before what they own.
    found.reverse();
    found
}

/// Takes an annotation from each loop that has it, inner ones before outer ones; `keep` keeps it, and is told what else is asked of the loop.
pub(super) fn each_loop(
    schedule: &mut Schedule<'_>,
    annotation: &Annotation,
    keep: impl Fn(&mut Schedule<'_>, (Inst, Block), &Asked, Annotations),
) {
    schedule.begin();
    loop {
        let found = loops(schedule.kernel, |annotations| annotations.has(annotation));
        if found.is_empty() {
            return schedule.names.apply(schedule.kernel);
        }
        for (inst, block) in found {
            // A loop that became part of a version of the kernel stands elsewhere by now.
            if schedule.kernel.blocks[block].insts.contains(&inst) {
                schedule.names.apply_in(schedule.kernel, inst);
                let Some(annotations) = schedule.kernel.annotations.get_mut(&inst) else { continue };
                let Some(asked) = annotations.take(annotation) else { continue };
                let rest = annotations.clone();
                keep(schedule, (inst, block), &asked, rest);
            }
        }
    }
}

/// Instructions in a block, those of the blocks they own counted in, as they will be written out: constants are operands, what a block yields
/// is where it is wanted, and a function of the library is as many as it costs.
pub(super) fn size(kernel: &Kernel, block: Block) -> usize {
    let mut count = 0;
    kernel.walk_block(block, &mut |kernel, _, inst| {
        count += match &kernel.insts[inst].op {
            Op::Compute(Compute::Const(_)) | Op::Terminator(Terminator::Yield(_)) => 0,
            Op::Intrinsic(row, _) if row.row().is_of_the_library() => usize::from(row.row().cost).max(1),
            Op::Compute(_)
            | Op::Memory(_)
            | Op::Texture(..)
            | Op::Intrinsic(..)
            | Op::Collective(_)
            | Op::Tensor(_)
            | Op::Engine(_)
            | Op::Message(_)
            | Op::Region(_)
            | Op::Terminator(_) => 1,
        };
    });
    count
}
