//! Loads that annotations issue early: whose they are, and whether a barrier stands between them and their use.
//!
//! What `ptxas` does with these (12.9, 13.5; sm_80, 90, 120, as `nvdisasm` shows): over a barrier it sinks a load that says `.nc`, since nobody writes what
//! that reads, and no other. So a load that is issued ahead of a barrier for what stands behind it does not say `.nc`; the cache it takes is the same.
//! Loads of shared arrays it moves as it sees fit, and down to their uses where registers are short. With room for registers (`room.rs`) it mixes them with the
//! work of the iteration before, and hides the latency of most, but swaps some so that they stand right before their use. `volatile` keeps their order, and
//! the machine code of such a load is the same; the pass `first_use_order` makes the order one that spreading keeps early. `bar.warp.sync` behind them, over which it moves no load, is
//! worse: the work moves in front of both.

use crate::collections::HashMap;
use crate::ir::{Block, Inst, Kernel, Op, Terminator, Value};

/// A load that an annotation issues early.
#[derive(Clone, Copy, Debug)]
pub(super) struct EarlyLoad {
    /// Which of the kernel's early loads it is one of.
    pub(super) annotation: usize,
    /// Whether a barrier stands before its first use.
    pub(super) is_ahead_of_barrier: bool,
    /// Whether its place among the other loads is to be kept: one of a shared array by `prefetch`.
    pub(super) keeps_order: bool,
}

/// All of a kernel.
pub(super) fn loads(kernel: &Kernel) -> HashMap<Inst, EarlyLoad> {
    let mut all = HashMap::default();
    if kernel.early_loads.is_empty() {
        return all;
    }
    let mut places: HashMap<Inst, (Block, usize)> = HashMap::default();
    for (block, data) in kernel.blocks.iter() {
        places.extend(data.insts.iter().enumerate().map(|(n, inst)| (*inst, (block, n))));
    }
    let mut events: HashMap<Block, Events> = HashMap::default();
    for (annotation, early) in kernel.early_loads.iter().enumerate() {
        let keeps_order = early.are_fragments(kernel);
        for load in &early.loads {
            let is_ahead_of_barrier = places.get(load).is_some_and(|(block, at)| {
                let events = events.entry(*block).or_insert_with(|| Events::of(kernel, *block));
                events.are_barrier_first(&kernel.insts[*load].results, *at)
            });
            all.insert(*load, EarlyLoad { annotation, is_ahead_of_barrier, keeps_order });
        }
    }
    all
}

/// Where in a block values are used first, and where it waits for the block of threads; by the number of the instruction, with what is inside of it.
#[derive(Default)]
struct Events {
    first_uses: HashMap<Value, usize>,
    waits: Vec<usize>,
}

impl Events {
    /// Of a block. What is passed on to the next iteration is no use.
    fn of(kernel: &Kernel, block: Block) -> Events {
        let mut events = Events::default();
        for (at, inst) in kernel.blocks[block].insts.iter().enumerate() {
            let mut waits = false;
            let mut look = |inner: Inst| {
                let op = &kernel.insts[inner].op;
                if !matches!(op, Op::Terminator(Terminator::Yield(_))) {
                    op.operands().into_iter().for_each(|value| _ = events.first_uses.entry(value).or_insert(at));
                }
                waits |= kernel.effects(inner).orders_blocks();
            };
            look(*inst);
            kernel.insts[*inst].op.blocks().iter().for_each(|block| kernel.insts_in(*block).for_each(&mut look));
            if waits {
                events.waits.push(at);
            }
        }
        events
    }

    /// Whether a barrier stands behind a load at this place, and before the first use of what it gives.
    fn are_barrier_first(&self, results: &[Value], load: usize) -> bool {
        let wait = self.waits.get(self.waits.partition_point(|at| *at <= load));
        let first_use = results.iter().filter_map(|result| self.first_uses.get(result)).min();
        wait.is_some_and(|wait| first_use.is_none_or(|first_use| wait < first_use))
    }
}
