//! `#[kernel(overlap)]`: where a kernel waits for those before it in the stream, and where the next may begin.
//!
//! ```text
//! indices, values, barriers, constants into shared memory       runs while the kernel before it still runs
//! await_earlier                                                 griddepcontrol.wait
//! loads, copies, atomics, what is computed of them
//! admit_next                                                    griddepcontrol.launch_dependents
//! stores                                                        the next kernel runs up to its own `await_earlier`
//! ```
//!
//! Both stand in the body itself and in no region of it, but for the wait of roles and of rounds.
//!
//! **The wait** stands before the first instruction that accesses memory which the kernels before may have written or may still read, or has such an access in one of its blocks; what is printed
//! counts, too, since users see it in order. And it stands before the first `return`, the one at the end if no other: a thread that is done without having waited would let the
//! kernel's end, which the next kernel waits for, come before that of the kernels before. So the end of a kernel is the end of all before it, whatever of them overlapped. Constants and by-value
//! parameters are no such memory: copies fill them, never kernels, and a launch follows a copy's end.
//!
//! Where producer and consumers part, each waits by itself: the producer before it asks for its first copy, the others before they first store. A persistent kernel waits within
//! its rounds, behind what finds the block's place, and once more behind them, for threads that had none. Waiting again costs nothing: all that it waits for is done.
//!
//! **Admitting** asks for nothing, since the next kernel waits for this one's end wherever it begins: it stands behind the last instruction that reads global memory, for its blocks would take room from
//! loads that are still to be issued. It stands behind the wait, but for persistent kernels: when the next kernel begins, all before this one are done.
//!
//! A persistent kernel admits the next before its first round: all its blocks have their room already, and those of the next take that of blocks which have no round left. These wait for this kernel's end, which is behind
//! that of all before.
//!
//! **Needs** to be last of all, behind `blocks`. **Preserves** what the kernel computes. **Refuses** nothing.

#[cfg(test)]
mod tests;

use crate::intrinsics::{by_name, called};
use crate::ir::{Axis, Block, Builder, Compute, Inst, Kernel, Loc, Message, Object, Op, Region, Space, Special, Terminator, Value};

/// Runs it.
pub(super) fn run(kernel: &mut Kernel) -> bool {
    let insts = &kernel.blocks[kernel.body].insts;
    // The body ends in a `return`, and no block does otherwise end.
    let end = insts.len().saturating_sub(1);
    let waits_before = insts.iter().position(|inst| has(kernel, *inst, needs_earlier)).unwrap_or(end);
    let reads_before = insts.iter().rposition(|inst| has(kernel, *inst, reads)).map_or(0, |last| last + 1);
    let admits_before = reads_before.clamp(waits_before, end.max(waits_before));
    let is_in_body = wait_in(kernel, kernel.body, false);
    let at = if goes_on(kernel) { waits_before } else { admits_before + usize::from(is_in_body) };
    place(kernel, kernel.body, called::ADMIT_NEXT, at);
    true
}

/// Has every way through a block wait before its first access, and at its end if there is none. `is_round`: whoever leaves it early waits behind the rounds, if nothing behind it in the round needs that. Gives whether the wait stands in the
/// block itself, before what needs it.
fn wait_in(kernel: &mut Kernel, block: Block, is_round: bool) -> bool {
    let insts = &kernel.blocks[block].insts;
    let Some((_, before_end)) = insts.split_last() else { return false };
    let at = before_end.iter().position(|inst| has(kernel, *inst, needs_earlier)).unwrap_or(before_end.len());
    let inst = insts[at];
    // Who leaves a block early goes on behind it.
    let is_last = !before_end.iter().skip(at + 1).any(|inst| has(kernel, *inst, needs_earlier));
    if let Some(roles) = kernel.roles_at(inst) {
        wait_in(kernel, roles.producer, is_round);
        wait_in(kernel, roles.work, is_round);
    } else if let Some(round) = round_at(kernel, inst) {
        place(kernel, block, called::AWAIT_EARLIER, at + 1);
        wait_in(kernel, round, true);
    } else if let (true, true, Op::Region(Region::Block { body })) = (is_round, is_last, &kernel.insts[inst].op) {
        wait_in(kernel, *body, true);
    } else {
        place(kernel, block, called::AWAIT_EARLIER, at);
        return true;
    }
    false
}

/// What a persistent kernel does in each round, where this is the loop over them.
fn round_at(kernel: &Kernel, inst: Inst) -> Option<Block> {
    let Op::Region(Region::For { start, step, body, .. }) = kernel.insts[inst].op else { return None };
    let is = |value: Value, wanted: Special| matches!(kernel.def(value), Some((_, Op::Compute(Compute::Special(special, Axis::X)))) if *special == wanted);
    (goes_on(kernel) && is(start, Special::BlockIdx) && is(step, Special::GridDim)).then_some(body)
}

/// Whether blocks go on to others of the grid that was asked for (`persistent`).
fn goes_on(kernel: &Kernel) -> bool {
    kernel.insts_in(kernel.body).any(|inst| matches!(kernel.insts[inst].op, Op::Compute(Compute::Special(Special::AskedGrid, _))))
}

/// Whether an instruction, or one in its blocks, is such a one.
fn has(kernel: &Kernel, inst: Inst, is_one: fn(&Kernel, Inst) -> bool) -> bool {
    is_one(kernel, inst) || kernel.insts[inst].op.blocks().into_iter().any(|block| kernel.insts_in(block).any(|inst| is_one(kernel, inst)))
}

/// Whether the kernels before must be done when it runs.
fn needs_earlier(kernel: &Kernel, inst: Inst) -> bool {
    let writes = kernel.effects(inst).writes.is_some_and(|object| is_global(kernel, object));
    writes || reads(kernel, inst) || matches!(kernel.insts[inst].op, Op::Terminator(Terminator::Return) | Op::Message(Message::Print(..)))
}

/// Whether it reads global memory.
fn reads(kernel: &Kernel, inst: Inst) -> bool {
    let is_texel = matches!(&kernel.insts[inst].op, Op::Texture(op, ..) if op.reads());
    is_texel || kernel.effects(inst).reads.any(|object| is_global(kernel, object))
}

fn is_global(kernel: &Kernel, object: Object) -> bool {
    kernel.objects[object].space() == Space::Global
}

/// Has the row of this name run before the `at`th instruction of a block.
fn place(kernel: &mut Kernel, block: Block, name: &str, at: usize) {
    let Some(row) = by_name(name, None) else { return };
    let behind = kernel.blocks[block].insts.split_off(at);
    let loc = behind.first().map_or(Loc(0), |inst| kernel.insts[*inst].loc);
    Builder::new(kernel, block, loc).push(Op::Intrinsic(row, Vec::new()), &[]);
    kernel.blocks[block].insts.extend(behind);
}
