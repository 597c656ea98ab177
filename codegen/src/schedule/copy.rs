//! Loops whose bodies are copied, or changed and put back as they were.

use super::Schedule;
use crate::annotations::Annotation;
use crate::ir::{Annotations, Asked, Block, BlockData, Compute, Inst, InstData, Kernel, Op, Terminator};

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
