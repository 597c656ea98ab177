//! The bytes that a warp moves, as far as the accesses' patterns tell.
//!
//! A request moves whole sectors of 32 bytes. What several warps of a block read at one time, and what stands in sectors that the warp has just
//! read by the same pointer, comes from the first cache. A sector that is written in part is read first. Whether blocks read what other
//! blocks have read is not looked at: the second cache counts as memory.

use super::mix::{self, Weights};
use crate::analysis::access::{AccessFact, Pattern, Range};
use crate::ir::{Inst, Kernel, Op, Space, Value};

/// Bytes of a warp, *estimated*.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traffic {
    /// Bytes fetched from global memory.
    pub read: f64,
    /// Bytes written to it, whole sectors.
    pub written: f64,
    /// Different bytes that its lanes use, request by request.
    pub used: f64,
    /// Bytes that go to and from shared memory, conflicts counted.
    pub shared: f64,
    /// Bytes that global accesses take of the first cache's bandwidth, conflicts counted: it is the same memory.
    pub cache: f64,
}

/// Bytes of a sector.
const SECTOR: f64 = 32.0;

/// Bytes that the first cache, or shared memory, gives in one pass.
const PASS: f64 = 128.0;

/// Adds up the accesses of an `Addressed` kernel; facts are about it when it was `Legal`.
pub fn traffic(kernel: &Kernel, weights: &Weights, accesses: &[AccessFact]) -> Traffic {
    let mut facts: Vec<Option<&AccessFact>> = vec![None; kernel.insts.len()];
    for access in accesses {
        if let Some(slot) = facts.get_mut(usize::from(access.inst)) {
            *slot = Some(access);
        }
    }
    // Outside loops, what all warps of a block do is counted most often.
    let outside = |fact: &&AccessFact| fact.loops == 0 && !fact.is_rare;
    let most = accesses.iter().filter(outside).map(|fact| fact.total.requests).max().unwrap_or(1).max(1);
    let mut traffic = Traffic::default();
    let mut seen: Vec<(Value, i32)> = Vec::new();
    // Of sectors that are read again, what is used is used again, too: what is used of the memory is no more than what came from it.
    let (mut used_read, mut fetched) = (0.0, 0.0);
    kernel.for_each_inst(|kernel, _, inst| {
        let Some((space, is_write, bytes)) = mix::access(kernel, inst) else { return };
        let fact = facts.get(usize::from(inst)).copied().flatten();
        if fact.is_some_and(|fact| fact.is_rare) {
            return;
        }
        // Of the block's warps, those that get there.
        let takes_part = fact.filter(outside).map_or(1.0, |fact| f64::from(fact.total.requests.max(1)) / f64::from(most));
        let weight = weights.get(inst) * takes_part;
        let dense = 32.0 * f64::from(bytes);
        match space {
            Space::Global => {
                let (sectors, used) = match fact.map(|fact| &fact.pattern) {
                    // Where it depends on where an object begins, neighbours share the sectors at the edges.
                    Some(Pattern::Global { sectors, bytes, .. }) => (f64::from(sectors.least.max(1)), middle(*bytes)),
                    _ => (dense / SECTOR, dense),
                };
                let sharing = fact.and_then(|fact| fact.sharing).filter(|_| !is_write).map_or(1.0, |warps| f64::from(warps.max(1)));
                *(if is_write { &mut traffic.used } else { &mut used_read }) += weight * used / sharing;
                traffic.cache += weight * passes(fact, sectors) * PASS;
                if is_write {
                    traffic.written += weight * sectors * SECTOR;
                    if used <= sectors * SECTOR / 2.0 {
                        traffic.read += weight * sectors * SECTOR;
                    }
                } else if !is_cached(kernel, inst, &mut seen) {
                    fetched += weight * sectors * SECTOR / sharing;
                }
            }
            Space::Shared => {
                let degree = match fact.map(|fact| &fact.pattern) {
                    Some(Pattern::Shared { degree, .. }) => middle(*degree).max(1.0),
                    _ => 1.0,
                };
                // Narrow accesses take a whole pass.
                traffic.shared += weight * degree * dense.max(PASS);
            }
            _ => {}
        }
    });
    traffic.read += fetched;
    traffic.used += f64::min(used_read, fetched);
    traffic
}

/// Passes of a request through the first cache, whose banks are those of shared memory: lanes that are a power of two of words apart meet in
/// few of them, others take a pass for about ten sectors, as gpu-benches' `gpu-strides` publishes for an H200.
fn passes(fact: Option<&AccessFact>, sectors: f64) -> f64 {
    let stride = fact.and_then(|fact| match fact.pattern {
        Pattern::Global { stride, .. } => stride,
        _ => None,
    });
    let of_sectors = match stride {
        Some(bytes) if bytes % 4 == 0 && bytes != 0 => f64::from(1u32 << (bytes / 4).trailing_zeros().min(5)).max(sectors / 10.0),
        _ => sectors / 4.0,
    };
    of_sectors.max(1.0)
}

fn middle(range: Range) -> f64 {
    (f64::from(range.least) + f64::from(range.most)) / 2.0
}

/// Whether a load by the same pointer has just been to the same sectors; notes it if not.
fn is_cached(kernel: &Kernel, inst: Inst, seen: &mut Vec<(Value, i32)>) -> bool {
    let Op::LoadAt { ptr, offset, .. } = &kernel.insts[inst].op else { return false };
    let place = (*ptr, offset.div_euclid(SECTOR as i32));
    // As many as are found at once: a longer memory is the cache's, not this list's.
    let is_known = seen.iter().rev().take(64).any(|known| *known == place);
    if !is_known {
        seen.push(place);
    }
    is_known
}
