//! What the copy engine of a multiprocessor moves for a kernel, in the form that has one: bytes that no thread has registers for, nor issue slots but the one that asks.
//!
//! One thread of the block asks for a copy. It is one request of so many bytes; where they come from (which blocks have read them before) is known of the
//! loads that stand in its place in the form that all machines have.

use warpwright_codegen::analysis::access::{AccessFact, AccessKind};
use warpwright_codegen::ir::{Engine, Inst, Kernel, Object, Op};
use warpwright_codegen::target::limits::WARP;

/// The buffer that a copy of the engine reads, and the bytes that it brings; none of other instructions.
pub(super) fn copied(kernel: &Kernel, inst: Inst) -> Option<(Object, f64)> {
    match &kernel.insts[inst].op {
        Op::Engine(Engine::CopyRun { to, from, .. }) => Some((*from, kernel.bytes_of(to) as f64)),
        Op::Engine(Engine::CopyTile { to, from, .. }) => Some((from.data, kernel.bytes_of(to) as f64)),
        _ => None,
    }
}

/// The bytes that a store of the engine takes to memory; none of other instructions.
pub(super) fn stored(kernel: &Kernel, inst: Inst) -> Option<f64> {
    match &kernel.insts[inst].op {
        Op::Engine(Engine::StoreTile { from, .. }) => Some(kernel.bytes_of(from) as f64),
        _ => None,
    }
}

/// What a block's bytes are for each of its threads, where a warp in the mean does the share of `weight` of what brings them.
pub(super) fn of_thread(kernel: &Kernel, bytes: f64, weight: f64) -> f64 {
    let threads = kernel.options.block.map_or(WARP, |block| block.iter().product::<u32>().max(1));
    weight * f64::from(threads.div_ceil(WARP)) * bytes / f64::from(threads)
}

/// Facts of the copies of the form with an engine, `kernel`: those of the loads from the same places that the form for all machines, `portable`, has for them.
pub(super) fn facts_of_copies(kernel: &Kernel, portable: &[AccessFact]) -> Vec<AccessFact> {
    let mut found = Vec::new();
    kernel.for_each_inst(|kernel, _, inst| {
        let Some((object, _)) = copied(kernel, inst) else { return };
        let loc = kernel.insts[inst].loc;
        let is_its = |fact: &&AccessFact| fact.loc == loc && fact.object == object && fact.kind == AccessKind::Load && !fact.is_rare;
        // What stands in more loops is in the pipeline's, and says how it goes on there; if it says so at all, which elements at an edge do not.
        let fact = portable.iter().filter(is_its).max_by_key(|fact| (fact.moves.is_some(), fact.loops));
        found.extend(fact.map(|fact| AccessFact { inst, sharing: Some(1), ..fact.clone() }));
    });
    found
}
