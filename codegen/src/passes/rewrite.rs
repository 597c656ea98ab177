//! Going forward over a kernel while rewriting it: what most passes are written with.
//!
//! In structured SSA every use comes after its definition in program order, so one forward walk both decides what a value becomes
//! and reaches all that use it. A pass takes a block's instructions away, goes through them, and puts back what stays: through
//! [`Rewrite::keep`], or built anew by a [`Builder`] that appends to the same block. Each instruction is handled once and nothing is
//! cloned: a walk is linear in the size of the kernel.

use crate::ir::{Block, Builder, Compute, Inst, Kernel, Loc, Op, Value};

/// A forward rewrite in progress.
pub(super) struct Rewrite<'k> {
    /// The kernel.
    pub(super) kernel: &'k mut Kernel,
    /// Whether anything changed.
    pub(super) changed: bool,
    /// By value: what stands in its place. Values beyond the end stand for themselves.
    replaced: Vec<Option<Value>>,
}

impl<'k> Rewrite<'k> {
    /// Starts one.
    pub(super) fn new(kernel: &'k mut Kernel) -> Rewrite<'k> {
        let replaced = vec![None; kernel.values.len()];
        Rewrite { kernel, changed: false, replaced }
    }

    /// Takes a block's instructions, leaving it empty, to be filled again.
    pub(super) fn take(&mut self, block: Block) -> Vec<Inst> {
        let insts = std::mem::take(&mut self.kernel.blocks[block].insts);
        self.kernel.blocks[block].insts.reserve(insts.len());
        insts
    }

    /// Puts an instruction at the end of a block.
    pub(super) fn keep(&mut self, block: Block, inst: Inst) {
        self.kernel.blocks[block].insts.push(inst);
    }

    /// Appends to the end of `block`.
    pub(super) fn builder(&mut self, block: Block, loc: Loc) -> Builder<'_> {
        Builder::new(self.kernel, block, loc)
    }

    /// What stands in the place of `value`.
    pub(super) fn resolve(&self, value: Value) -> Value {
        let mut value = value;
        while let Some(Some(next)) = self.replaced.get(usize::from(value)) {
            value = *next;
        }
        value
    }

    /// Makes the operands of an instruction current.
    pub(super) fn resolve_operands(&mut self, inst: Inst) {
        let replaced = &self.replaced;
        self.kernel.insts[inst].op.for_each_operand_mut(|value| {
            while let Some(Some(next)) = replaced.get(usize::from(*value)) {
                *value = *next;
            }
        });
    }

    /// From here on `to` stands in the place of `from`; it takes over the source's name if it has none of its own.
    pub(super) fn replace(&mut self, from: Value, to: Value) {
        let to = self.resolve(to);
        if from == to {
            return;
        }
        self.changed = true;
        if self.replaced.len() <= usize::from(from) {
            self.replaced.resize(usize::from(from) + 1, None);
        }
        self.replaced[usize::from(from)] = Some(to);
        if self.kernel.values[to].name.is_none() && !matches!(self.kernel.def(to), Some((_, Op::Compute(Compute::Const(_))))) {
            self.kernel.values[to].name = self.kernel.values[from].name.take();
        }
    }

    /// The only result of an instruction.
    pub(super) fn result(&self, inst: Inst) -> Option<Value> {
        match self.kernel.insts[inst].results[..] {
            [value] => Some(value),
            _ => None,
        }
    }
}

/// Goes through a kernel, inner blocks first, and replaces the results of instructions by what `with` builds for them.
pub(super) fn replace_each(kernel: &mut Kernel, mut with: impl FnMut(&mut Rewrite<'_>, Block, Inst) -> Option<Value>) -> bool {
    fn in_block(rewrite: &mut Rewrite<'_>, block: Block, with: &mut dyn FnMut(&mut Rewrite<'_>, Block, Inst) -> Option<Value>) {
        for inst in rewrite.take(block) {
            rewrite.resolve_operands(inst);
            for child in rewrite.kernel.insts[inst].op.blocks() {
                in_block(rewrite, child, with);
            }
            match with(rewrite, block, inst).zip(rewrite.result(inst)) {
                Some((value, result)) => rewrite.replace(result, value),
                None => rewrite.keep(block, inst),
            }
        }
    }
    let body = kernel.body;
    let mut rewrite = Rewrite::new(kernel);
    in_block(&mut rewrite, body, &mut with);
    rewrite.changed
}
