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
//! Both stand in the body itself and in no region of it: what is round them is the whole kernel.
//!
//! **The wait** stands before the first instruction that accesses memory which the kernels before may have written or may still read, or has such an access in one of its blocks; what is printed
//! counts, too, since users see it in order. And it stands before the first `return`, the one at the end if no other: a thread that is done without having waited would let the
//! kernel's end, which the next kernel waits for, come before that of the kernels before. So the end of a kernel is the end of all before it, whatever of them overlapped. Constants and by-value
//! parameters are no such memory: copies fill them, never kernels, and a launch follows a copy's end.
//!
//! **Admitting** asks for nothing, since the next kernel waits for this one's end wherever it begins: it stands behind the last instruction that reads global memory, for its blocks would take room from
//! loads that are still to be issued. It stands behind the wait: when the next kernel begins, all before this one are done.
//!
//! A persistent kernel waits before its first round, and admits the next at once: all its blocks have their room already, and those of the next take that of blocks which have no round left.
//!
//! **Needs** to be last of all, behind `blocks`. **Preserves** what the kernel computes. **Refuses** nothing.

#[cfg(test)]
mod tests;

use crate::intrinsics::{by_name, called};
use crate::ir::{Builder, Compute, Inst, Kernel, Loc, Message, Object, Op, Space, Special, Terminator};

/// Runs it.
pub(super) fn run(kernel: &mut Kernel) -> bool {
    let insts = &kernel.blocks[kernel.body].insts;
    // The body ends in a `return`, and no block does otherwise end.
    let end = insts.len().saturating_sub(1);
    let waits_before = insts.iter().position(|inst| has(kernel, *inst, needs_earlier)).unwrap_or(end);
    let reads_before = insts.iter().rposition(|inst| has(kernel, *inst, reads)).map_or(0, |last| last + 1);
    let admits_before = if goes_on(kernel) { waits_before } else { reads_before.clamp(waits_before, end.max(waits_before)) };
    // The later one first: its place counts the instructions as they are.
    place(kernel, called::ADMIT_NEXT, admits_before);
    place(kernel, called::AWAIT_EARLIER, waits_before);
    true
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

/// Has the row of this name run before the `at`th instruction of the body.
fn place(kernel: &mut Kernel, name: &str, at: usize) {
    let Some(row) = by_name(name, None) else { return };
    let body = kernel.body;
    let behind = kernel.blocks[body].insts.split_off(at);
    let loc = behind.first().map_or(Loc(0), |inst| kernel.insts[*inst].loc);
    Builder::new(kernel, body, loc).push(Op::Intrinsic(row, Vec::new()), &[]);
    kernel.blocks[body].insts.extend(behind);
}
