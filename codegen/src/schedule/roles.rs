//! `#[pipeline(stages = S, producer)]`, behind all loops: the kernel's two roles.
//!
//! ```text
//! head                              is_producer = engine.is_producer
//! producer's loop, a..b             if is_producer {
//! work's loop, a..b          ▶          if engine.is_issuer { what of the head a..b is computed of; producer's loop }
//! tail                              } else { head; work's loop; tail }
//! ```
//!
//! `pipeline` puts the producer's loop before the loop that works. Here it is taken out, with what it needs: its bounds and addresses, the loops and conditions round it, and the exits before it. All
//! that is computed once more, by the producer's threads, which know parameters, block indices, lengths, constants and counters, but no thread of the block, and nothing that is written
//! while kernels run ([`slice`]). What would need more is refused before.
//!
//! Barriers of the block in the work are of the declared block's threads: those of the producer come to none.

mod slice;

use super::Refusal;
use crate::collections::HashSet;
use crate::intrinsics::{by_name, called};
use crate::ir::{Builder, Engine, Inst, Kernel, Loc, Op, Role, Terminator, Type};
use slice::Slice;

/// What `pipeline` has put before loops for the producer.
#[derive(Default)]
pub(super) struct Produced {
    /// What the producer's loops do: waits, announcements, copies; and what is kept for the next of them.
    pub(super) roots: HashSet<Inst>,
    /// All that is not the work's: the loops, and what is done for them before and behind.
    pub(super) whole: HashSet<Inst>,
    /// Where the annotation stands.
    pub(super) place: Option<Loc>,
}

/// Why the producer's threads cannot make these copies by themselves.
pub(super) fn obstacle(kernel: &Kernel, copies: &[Inst]) -> Option<Refusal> {
    let roots: HashSet<Inst> = copies.iter().copied().collect();
    let inst = Slice::of(kernel, &roots).err()?;
    let data = &kernel.insts[inst];
    let name = data.results.first().and_then(|value| kernel.values[*value].name.clone());
    let what = name.map_or_else(|| "a value that".to_owned(), |name| format!("`{name}`, which"));
    let why = match &data.op {
        Op::Compute(_) => "depends on the thread",
        Op::Memory(_) => "is read from memory that may be written meanwhile",
        Op::Texture(..)
        | Op::Intrinsic(..)
        | Op::Collective(_)
        | Op::Engine(_)
        | Op::Tensor(_)
        | Op::Message(_)
        | Op::Region(_)
        | Op::Terminator(_) => "the threads of the block make together",
    };
    let message = format!("`producer`: threads of their own find out what to copy, and where, and that needs {what} {why}");
    let help = "compute it from parameters, `block_idx()`, lengths, constants and counters, or leave `producer` out";
    Some(Refusal::new(message, help).label(data.loc, "needed for the copies"))
}

/// Parts the roles.
pub(super) fn part(kernel: &mut Kernel, produced: &Produced) {
    // Checked before: nothing else is needed.
    let (Some(loc), Ok(slice)) = (produced.place, Slice::of(kernel, &produced.roots)) else { return };
    let body = kernel.body;
    let [producer, issuer, nothing, work] = [(); 4].map(|()| kernel.new_block(&[]));
    slice.copy(kernel, body, issuer);
    let blocks: Vec<_> = kernel.blocks.keys().collect();
    for block in blocks {
        kernel.blocks[block].insts.retain(|inst| !produced.whole.contains(inst));
    }
    let mut insts = std::mem::take(&mut kernel.blocks[body].insts);
    let end = insts.pop_if(|inst| kernel.insts[*inst].op.is_terminator());
    kernel.blocks[work].insts = insts;
    let end_of = |kernel: &mut Kernel, block| _ = Builder::new(kernel, block, loc).push(Op::Terminator(Terminator::Yield(Vec::new())), &[]);
    [work, nothing].into_iter().for_each(|block| end_of(kernel, block));
    let mut b = Builder::new(kernel, producer, loc);
    let is_issuer = b.push1(Op::Engine(Engine::Is(Role::Issuer)), Type::Bool);
    b.push(Op::Region(crate::ir::Region::If { condition: is_issuer, then_block: issuer, else_block: nothing }), &[]);
    end_of(kernel, producer);
    let mut b = Builder::new(kernel, body, loc);
    let is_producer = b.push1(Op::Engine(Engine::Is(Role::Producer)), Type::Bool);
    b.push(Op::Region(crate::ir::Region::If { condition: is_producer, then_block: producer, else_block: work }), &[]);
    kernel.blocks[body].insts.extend(end);
}

/// Has the blocks of a cluster meet behind the roles, with all their threads.
pub(super) fn meet_behind(kernel: &mut Kernel) {
    let (Some(roles), Some(row)) = (kernel.roles(), by_name(called::CLUSTER_SYNC, None)) else { return };
    let (body, loc) = (kernel.body, kernel.insts[roles.inst].loc);
    let end = kernel.blocks[body].insts.pop_if(|inst| kernel.insts[*inst].op.is_terminator());
    Builder::new(kernel, body, loc).push(Op::Intrinsic(row, Vec::new()), &[]);
    kernel.blocks[body].insts.extend(end);
}
