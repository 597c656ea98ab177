//! Loads that annotations issue early: whose they are, and whether a barrier stands between them and their use.
//!
//! What `ptxas` does with these (12.9, 13.5; sm_80, 90, 120, as `nvdisasm` shows): over a barrier it sinks a load that says `.nc`, since nobody writes what
//! that reads, and no other. So a load that is issued ahead of a barrier for what stands behind it does not say `.nc`; the cache it takes is the same.
//! Loads of shared arrays it moves as it sees fit, and down to their uses where registers are short, but for one thing: over `bar.warp.sync` it moves
//! none. So that stands behind a group of such loads where all threads of the block come to it. It costs an issue slot.

use crate::analysis::uniformity::Uniformity;
use crate::collections::{HashMap, HashSet};
use crate::ir::{Block, Compute, Inst, Kernel, Op, Space, Terminator};

/// A load that an annotation issues early.
#[derive(Clone, Copy, Debug)]
pub(super) struct EarlyLoad {
    /// Which of the kernel's early loads it is one of.
    pub(super) annotation: usize,
    /// Whether a barrier stands before its first use.
    pub(super) is_ahead_of_barrier: bool,
    /// Whether it is the last of a group of loads of shared arrays that is to stay in front of what follows.
    pub(super) is_pinned: bool,
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
    let pinned = pinned(kernel, &places);
    for (annotation, early) in kernel.early_loads.iter().enumerate() {
        for load in &early.loads {
            let is_ahead_of_barrier =
                places.get(load).is_some_and(|(block, n)| is_ahead_of_barrier(kernel, *load, &kernel.blocks[*block].insts[n + 1..]));
            all.insert(*load, EarlyLoad { annotation, is_ahead_of_barrier, is_pinned: pinned.contains(load) });
        }
    }
    all
}

/// The last loads of the groups that are to stay where they are: of shared arrays, with nothing but other such loads and pure instructions between them, and
/// products behind them in the same block.
fn pinned(kernel: &Kernel, places: &HashMap<Inst, (Block, usize)>) -> HashSet<Inst> {
    let is_shared = |inst: &Inst| kernel.insts[*inst].op.object().is_some_and(|object| kernel.objects[object].space() == Space::Shared);
    let loads: HashSet<Inst> = kernel.early_loads.iter().flat_map(|early| &early.loads).copied().filter(is_shared).collect();
    if loads.is_empty() {
        return HashSet::default();
    }
    let uniformity = Uniformity::of(kernel);
    let is_last = |load: &&Inst| {
        let Some((block, n)) = places.get(load) else { return false };
        let behind = &kernel.blocks[*block].insts[n + 1..];
        let next = behind.iter().find(|inst| loads.contains(inst) || matches!(kernel.insts[**inst].op, Op::Compute(Compute::MulAdd(..))));
        next.is_some_and(|inst| !loads.contains(inst)) && uniformity.runs_together(**load)
    };
    loads.iter().filter(is_last).copied().collect()
}

/// Whether the first of the instructions behind a load that uses it or waits for the block waits for the block. What is passed on to the next iteration is
/// no use.
fn is_ahead_of_barrier(kernel: &Kernel, load: Inst, behind: &[Inst]) -> bool {
    let results = &kernel.insts[load].results;
    for inst in behind {
        let (mut uses, mut waits) = (false, false);
        let mut look = |inner: Inst| {
            let op = &kernel.insts[inner].op;
            uses |= !matches!(op, Op::Terminator(Terminator::Yield(_))) && op.operands().iter().any(|value| results.contains(value));
            waits |= kernel.effects(inner).orders_blocks();
        };
        look(*inst);
        kernel.insts[*inst].op.blocks().iter().for_each(|block| kernel.insts_in(*block).for_each(&mut look));
        if uses || waits {
            return waits && !uses;
        }
    }
    false
}
