//! Stops: what a failed assertion or a trap does becomes a message and a `return`, which the pass takes out of the mask like any other.
//!
//! A thread that has stopped does not come to later barriers, where others may wait for it for good. And PoCL 3.1 takes what stands behind
//! a barrier for what the first thread does, if a `return` stands before it, though no thread takes it.

use crate::ir::{Compute, Inst, Kernel, Message, Op, PrintPart, Region, Scalar, Terminator};

/// Rewrites assertions and traps of a kernel whose threads wait for each other. What is left of an assertion only tells.
pub(in crate::passes) fn return_where_stopped(kernel: &mut Kernel) {
    let mut stops: Vec<(crate::ir::Block, Inst)> = Vec::new();
    let mut waits = false;
    kernel.for_each_inst(|kernel, block, inst| match &kernel.insts[inst].op {
        Op::Message(Message::Assert(..)) | Op::Terminator(Terminator::Trap(_)) => stops.push((block, inst)),
        Op::Intrinsic(row, _) => waits |= row.row().effects.is_convergent(),
        Op::Compute(_)
        | Op::Memory(_)
        | Op::Texture(..)
        | Op::Collective(_)
        | Op::Tensor(_)
        | Op::Engine(_)
        | Op::Message(_)
        | Op::Region(_)
        | Op::Terminator(_) => {}
    });
    if !waits {
        return;
    }
    for (block, inst) in stops {
        let loc = kernel.insts[inst].loc;
        let no = kernel.new_inst(Op::Compute(Compute::Const(Scalar::bool(false))), &[crate::ir::Type::Bool], loc);
        let never = kernel.insts[no].results[0];
        let ends = kernel.new_inst(Op::Terminator(Terminator::Return), &[], loc);
        match kernel.insts[inst].op.clone() {
            Op::Message(Message::Assert(condition, parts, values)) => {
                let tells = kernel.new_inst(Op::Message(Message::Assert(never, parts, values)), &[], loc);
                let goes_on = kernel.new_inst(Op::Terminator(Terminator::Yield(Vec::new())), &[], loc);
                let (then_block, else_block) = (kernel.new_block(&[]), kernel.new_block(&[]));
                kernel.blocks[then_block].insts.push(goes_on);
                kernel.blocks[else_block].insts.extend([no, tells, ends]);
                kernel.insts[inst].op = Op::Region(Region::If { condition, then_block, else_block });
            }
            Op::Terminator(Terminator::Trap(message)) => {
                let tells = kernel.new_inst(Op::Message(Message::Assert(never, vec![PrintPart::Text(message)], Vec::new())), &[], loc);
                let insts = &mut kernel.blocks[block].insts;
                insts.retain(|other| *other != inst);
                insts.extend([no, tells, ends]);
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
    }
}
