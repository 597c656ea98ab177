//! Loads that come late, for [`super::weak`]: a relaxed load of an atomic may be done behind what stands behind it, up to what needs its value.
//!
//! What a load waits for is what orders, what touches the same memory, whoever asks for its value, and whoever may leave before it; so each moves down as far as it may in its block. That is all: a load that
//! comes late may still give what was there early.

use warpwright_codegen::ir::{AtomicOp, Block, Inst, Kernel, Memory, MemoryOp, MemoryOrder, Op, Terminator};

/// Moves every relaxed load of an atomic to the last place where it may be done.
pub(super) fn delay(kernel: &mut Kernel) {
    let blocks: Vec<Block> = kernel.blocks.iter().map(|(block, _)| block).collect();
    for block in blocks {
        let count = kernel.blocks[block].insts.len();
        // From the end: what stands behind a load has its place already.
        for at in (0..count).rev() {
            let insts = &kernel.blocks[block].insts;
            if !is_relaxed_load(kernel, insts[at]) {
                continue;
            }
            let load = insts[at];
            let behind = insts[at + 1..].iter().take_while(|inst| may_come_before(kernel, **inst, load)).count();
            kernel.blocks[block].insts[at..=at + behind].rotate_left(1);
        }
    }
}

fn is_relaxed_load(kernel: &Kernel, inst: Inst) -> bool {
    let op = &kernel.insts[inst].op;
    matches!(op, Op::Memory(Memory { op: MemoryOp::Atomic(AtomicOp::Load, atomicity, _), .. }) if atomicity.order == MemoryOrder::Relaxed)
}

/// Whether an instruction, with all that is in its regions, may be done before a load that stands before it.
fn may_come_before(kernel: &Kernel, inst: Inst, load: Inst) -> bool {
    let results = &kernel.insts[load].results;
    let loaded = kernel.insts[load].op.effects(kernel).reads;
    let waits = |inst: Inst| {
        let op = &kernel.insts[inst].op;
        let effects = op.effects(kernel);
        let mut asks = false;
        op.for_each_operand(|value| asks |= results.contains(&value));
        let touches = effects.reads.iter().chain(effects.writes).any(|object| loaded.contains(object));
        asks || touches || effects.orders.is_some() || effects.converges.is_some()
    };
    let mut is_free = !matches!(kernel.insts[inst].op, Op::Terminator(_)) && !waits(inst);
    let (mut inside, mut left) = (vec![inst], Vec::new());
    kernel.insts[inst].op.clone().for_each_block_mut(|block| {
        kernel.walk_block(*block, &mut |_, _, inner| {
            is_free &= !waits(inner);
            inside.push(inner);
            match &kernel.insts[inner].op {
                Op::Terminator(Terminator::Break(of, _) | Terminator::Continue(of, _)) => left.push(*of),
                // Whoever ends here has to have done its load: it may fault.
                Op::Terminator(Terminator::Return | Terminator::Trap(_)) => is_free = false,
                _ => {}
            }
        });
    });
    is_free && left.iter().all(|of| inside.contains(of))
}
