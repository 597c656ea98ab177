//! `producer`: in the form of a kernel for targets that have a copy engine, threads of their own tell it what to copy.
//!
//! ```text
//!                                 // the producer
//!                                 for k in a..b carrying slot = 0, parity = 0 {
//!                                     barrier_wait free[slot], parity ^ 1
//!                                     barrier_expect arrived[slot], bytes; copies(k, slot) counted by arrived[slot]
//!                                     slot = slot + 1 mod S; parity ^= slot == 0
//!                                 }
//! for k in a..b {                 // the work
//!     load_run(tile, x, f(k))     sync_threads()
//!     sync_threads()              for k in a..b carrying slot = 0, parity = 0 {
//!     work(tile)             ▶        barrier_wait arrived[slot], parity
//!     sync_threads()                  work(slot)
//! }                                   sync_warp(); if lane == 0 { barrier_arrive free[slot] }
//!                                     slot = slot + 1 mod S; parity ^= slot == 0
//!                                 }
//!                                 sync_threads()
//! ```
//!
//! Each slot has two barriers. `arrived` is as in [`super::engine`]; `free` is over when every warp of the work has read what is in the slot. The first wait for a slot that nobody has filled
//! returns at once: it waits for the phase before the first. Of tiles one lane of each warp arrives, behind a barrier of the warp: an arrival is an atomic of shared memory, and 32 of them are
//! served one after another. Of runs every thread does: `compute-sanitizer`'s racecheck knows bulk copies, takes an arrival for that of its thread alone, and would report every other lane's reads.
//!
//! No barrier of the block is left in an iteration, unless the work writes memory: what other threads read or write there in the next iteration, the source's barriers order. Of the two outside the
//! loop, which order its accesses with what stands before and behind, those stay that order something. A run that is not whole is stored by the work's threads, once its slot has been handed over, with no bytes.
//!
//! Both roles stand one after the other when this is done; [`super::super::roles`] parts them. Loops that run again, and loops that share their rings, go on with the slot and the parity behind the
//! last ones: each role keeps its own.

use super::super::{Refusal, collectives, roles};
use super::engine::{Barriers, taken_out};
use super::slots::{Homes, in_slot};
use super::{Plan, Way, all_in, moves, multicast, stores};
use crate::analysis::uniformity::Uniformity;
use crate::annotations::Modifier;
use crate::collections::{HashMap, HashSet};
use crate::intrinsics::{by_name, called};
use crate::ir::Copy;
use crate::ir::{
    Asked, Axis, BinaryOp, Builder, Collective, CompareOp, Effects, Inst, Kernel, Loc, Object, Op, PRODUCER_THREADS, Region, Scalar, Space,
    Special, Step, Terminator, Type, Value, with_producer,
};
use crate::target::limits::{BLOCK_THREADS, LANES, WARP};

/// The barriers of a ring, and where the roles go on.
#[derive(Clone, Copy)]
pub(super) struct Flow {
    arrived: Barriers,
    free: Barriers,
    /// Blocks that copy to a slot of this one: those of the cluster, or this one alone.
    blocks: u32,
    /// Whether every thread of the work arrives at `free`, and not a lane of each warp.
    all_arrive: bool,
    /// Whether the phases go on where they stood, with another run of the loop or with the next loop. The producer keeps that beside `free`, the work beside `arrived`.
    goes_on: bool,
}

impl Flow {
    /// Where a role begins: at what stands beside these barriers.
    fn begin(self, b: &mut Builder<'_>, beside: Barriers) -> [Value; 2] {
        if self.goes_on { beside.turn(b).into() } else { [b.constant(Scalar::u32(0)); 2] }
    }

    /// Says that this thread of the work, or its warp, has read what is in a slot.
    fn hand_over(self, b: &mut Builder<'_>, slot: Value) {
        if self.all_arrive {
            return self.free.arrive(b, slot, None);
        }
        if let Some(row) = by_name(called::SYNC_WARP, None) {
            b.push(Op::Intrinsic(row, Vec::new()), &[]);
        }
        // A lane for each block that waits for it.
        let (lane, blocks) = (b.special(Special::LaneId, Axis::X), b.constant(Scalar::u32(self.blocks)));
        let arrives = b.compare(CompareOp::Lt, lane, blocks);
        b.if_else(
            arrives,
            |b| {
                self.free.arrive(b, slot, (self.blocks > 1).then_some(lane));
                Vec::new()
            },
            |_| Vec::new(),
        );
    }
}

/// The arrays that several loops with a producer copy to.
pub(super) fn has_several(plans: &[(Plan, Asked)]) -> bool {
    let mut seen: HashSet<Object> = HashSet::default();
    plans.iter().flat_map(|(plan, _)| &plan.rings).any(|ring| !seen.insert(*ring))
}

impl Plan {
    /// R8: why threads of their own cannot issue the copies of this loop.
    pub(super) fn producer_obstacle(&self, kernel: &Kernel, asked: &Asked) -> Option<Refusal> {
        let refuse = |message: String, help: String| Some(Refusal::new(message, help));
        if self.is_out {
            let message = "`producer` brings what a loop copies in, and this one stores tiles and copies nothing".to_owned();
            return refuse(message, "leave `producer` out".to_owned());
        }
        if let Some(by @ (Modifier::ByRegisters | Modifier::ByCpAsync)) = asked.by() {
            let message =
                format!("`producer` is one thread that tells the copy engine what to copy, and `{}` makes every thread copy", by.name());
            return refuse(message, "leave one of them out".to_owned());
        }
        if let Some(refusal) = multicast::obstacle(kernel) {
            return Some(refusal);
        }
        let by = asked.by().unwrap_or(Modifier::ByBulk);
        if let Some(refusal) = self.engine_obstacle(kernel, by, Modifier::Producer) {
            // `by`, if it is there, has been looked at before.
            return Some(Refusal { help: refusal.help.replace("`by`", "`producer`"), ..refusal });
        }
        // R2 asks for a block of known size.
        let block = kernel.options.block?;
        let threads: u32 = block.iter().product();
        if with_producer(block).is_none() {
            let most = BLOCK_THREADS - PRODUCER_THREADS;
            if !threads.is_multiple_of(WARP) {
                let message = format!("`producer` adds warps of its own to the block, whose {threads} threads are no whole warps");
                return refuse(message, format!("write `block = {}`", threads.next_multiple_of(WARP).min(most)));
            }
            if threads > most {
                let message =
                    format!("`producer` adds {PRODUCER_THREADS} threads to the block's {threads}, and a block has {BLOCK_THREADS} at most");
                return refuse(message, format!("write `block = {most}` at most, or leave `producer` out"));
            }
            let [x, y, z] = block;
            let message = format!(
                "`producer` adds {PRODUCER_THREADS} threads behind those of the block ({x}, {y}, {z}), and these are no whole rows or planes of it"
            );
            return refuse(message, format!("write `block = {threads}`, and compute rows and columns from `thread_idx().x`"));
        }
        if let Some(refusal) = returns_before_barrier(kernel) {
            return Some(refusal);
        }
        let copies: Vec<Inst> = self.section.iter().copied().filter(|inst| moves(kernel, *inst)).collect();
        roles::obstacle(kernel, &copies)
    }

    /// Makes it a loop of the producer and one of the work. `are_shared`: whether loops share rings.
    pub(super) fn apply_with_producer(self, kernel: &mut Kernel, asked: &Asked, way: Way, are_shared: bool, homes: &mut Homes) {
        let is_ordered = self.writes_memory(kernel);
        let [orders_before, orders_behind] = if is_ordered { [false, true] } else { self.ordered_outside(kernel) };
        let rings = self.make_rings(kernel, asked, way, homes);
        let flow = self.flow(kernel, asked.place, are_shared, homes);
        let block = self.block(kernel);
        let at = kernel.blocks[block].insts.iter().position(|other| *other == self.inst).unwrap_or(0);
        let behind = kernel.blocks[block].insts.split_off(at);
        self.produce(kernel, (block, at), &rings, flow, homes);
        homes.produced.place.get_or_insert(asked.place);
        let (walk, loc) = (&self.walk, self.walk.loc);
        let mut b = Builder::new(kernel, block, loc);
        let [slot, parity] = flow.begin(&mut b, flow.arrived);
        if orders_before {
            b.kernel.blocks[block].insts.push(self.barrier);
        }
        kernel.blocks[block].insts.extend(behind);
        // The work.
        for first in [slot, parity] {
            kernel.add_result(self.inst, Type::U32);
            if let Op::Region(Region::For { init, .. }) = &mut kernel.insts[self.inst].op {
                init.push(first);
            }
        }
        let [slot, parity] = [(); 2].map(|()| kernel.add_param(walk.body, Type::U32));
        kernel.values[slot].name = Some("slot".into());
        let results = kernel.insts[self.inst].results.clone();
        let last = kernel.blocks[walk.body].insts.last().copied();
        kernel.blocks[walk.body].insts.clear();
        flow.arrived.wait(&mut Builder::new(kernel, walk.body, loc), slot, parity);
        if is_ordered {
            kernel.blocks[walk.body].insts.push(self.barrier);
        }
        let kept = self.kept(kernel);
        let collectives: Vec<(Collective, Loc)> = self.collectives(kernel, slot, &rings);
        kernel.blocks[walk.body].insts.extend(kept);
        collectives::by_threads(&mut Builder::new(kernel, walk.body, loc), &collectives);
        for access in all_in(kernel, &self.work) {
            in_slot(kernel, access, slot, &rings);
        }
        let from = kernel.blocks[walk.body].insts.len();
        kernel.blocks[walk.body].insts.extend(&self.work);
        self.give_stores(kernel, way, from);
        let mut b = Builder::new(kernel, walk.body, loc);
        flow.hand_over(&mut b, slot);
        let next = self.next(&mut b, slot, parity);
        if let Some(last) = last {
            if let Op::Terminator(Terminator::Yield(values)) = &mut kernel.insts[last].op {
                values.extend(next);
            }
            kernel.blocks[walk.body].insts.push(last);
        }
        // What the work reads is written behind the loop, and what it writes is read.
        let at = kernel.blocks[block].insts.iter().position(|other| *other == self.inst).unwrap_or(0);
        let behind = kernel.blocks[block].insts.split_off(at + 1);
        way.await_all_stores(&mut Builder::new(kernel, block, loc));
        if orders_behind {
            kernel.blocks[block].insts.push(self.closing);
        }
        if let (true, [.., slot, parity]) = (flow.goes_on, &results[..]) {
            flow.arrived.keep_turn(&mut Builder::new(kernel, block, loc), *slot, *parity);
        }
        kernel.blocks[block].insts.extend(behind);
    }

    /// Whether the barriers before and behind the loop order any accesses of memory: those between the barriers round the loop, but for the loop's rings, whose barriers are their own.
    fn ordered_outside(&self, kernel: &Kernel) -> [bool; 2] {
        let body = &kernel.blocks[kernel.body].insts;
        let Some(at) = body.iter().position(|inst| *inst == self.inst) else { return [true; 2] };
        let is_barrier = |inst: &Inst| kernel.effects(*inst).is_barrier();
        let from = body[..at].iter().rposition(is_barrier).map_or(0, |barrier| barrier + 1);
        let to = body[at + 1..].iter().position(is_barrier).map_or(body.len(), |barrier| at + 1 + barrier);
        let accesses = |insts: &[Inst]| {
            let effects: Vec<Effects> = all_in(kernel, insts).into_iter().map(|inst| kernel.effects(inst)).collect();
            let is_common = |object: &Object| {
                let space = kernel.objects[*object].space();
                matches!(space, Space::Shared | Space::Cluster | Space::Global) && !self.rings.contains(object)
            };
            let reads: HashSet<Object> = effects.iter().flat_map(|effects| effects.reads.iter()).filter(is_common).collect();
            let writes: HashSet<Object> = effects.iter().filter_map(|effects| effects.writes).filter(is_common).collect();
            (reads, writes)
        };
        let meet = |before: &[Inst], behind: &[Inst]| {
            let ((read, written), (reads, writes)) = (accesses(before), accesses(behind));
            let is_met = |object: &Object| reads.contains(object) || writes.contains(object);
            written.iter().any(is_met) || read.iter().any(|object| writes.contains(object))
        };
        [meet(&body[from..at], &body[at..to]), meet(&body[from..=at], &body[at + 1..to])]
    }

    /// The loop of the producer, at the end of a block; what is made from `from` on is not the work's.
    fn produce(
        &self,
        kernel: &mut Kernel,
        (block, from): (crate::ir::Block, usize),
        rings: &HashMap<Object, Object>,
        flow: Flow,
        homes: &mut Homes,
    ) {
        let walk = &self.walk;
        let mut b = Builder::new(kernel, block, walk.loc);
        let init = flow.begin(&mut b, flow.free);
        let ends = b.for_each([walk.start, walk.end, walk.step], &init, |b, counter, carried| {
            let [slot, parity] = [carried[0], carried[1]];
            b.kernel.values[slot].name = Some("slot".into());
            let one = b.constant(Scalar::u32(1));
            let before = b.binary(BinaryOp::Xor, parity, one);
            flow.free.wait(b, slot, before);
            let mut copy = Copy::default();
            copy.set(walk.counter, counter);
            let copies: Vec<Inst> = self.section.iter().map(|inst| copy.inst(b.kernel, *inst, b.block)).collect();
            for store in stores(b.kernel, &copies) {
                in_slot(b.kernel, store, slot, rings);
            }
            let collectives = taken_out(b, &copies);
            let shares = homes.multicast.as_ref().map_or_else(Vec::new, |multicast| multicast.shares(b, &self.section));
            collectives::announced(b, &collectives, &shares, &flow.arrived.of(slot));
            self.next(b, slot, parity).to_vec()
        });
        if let (true, [slot, parity]) = (flow.goes_on, &ends[..]) {
            flow.free.keep_turn(&mut b, *slot, *parity);
        }
        let made: Vec<Inst> = kernel.blocks[block].insts[from..].to_vec();
        let is_root = |inst: &Inst| matches!(kernel.insts[*inst].op, Op::Engine(_));
        homes.produced.roots.extend(all_in(kernel, &made).into_iter().filter(is_root));
        homes.produced.whole.extend(made);
    }

    /// The barriers of the loop, and where the roles go on if they do.
    fn flow(&self, kernel: &mut Kernel, place: Loc, are_shared: bool, homes: &mut Homes) -> Flow {
        if let Some(flow) = self.rings.first().and_then(|ring| homes.flows.get(ring)) {
            return *flow;
        }
        let threads: u32 = kernel.options.block.map_or(WARP, |block| block.iter().product());
        let arrived = Barriers::new(kernel, "arrived", (self.stages, 1), place);
        let blocks = if homes.multicast.is_some() { kernel.options.cluster_blocks() } else { 1 };
        let is_run = |inst: &Inst| matches!(kernel.insts[*inst].op, Op::Collective(Collective::LoadRun { .. }));
        let all_arrive = blocks == 1 && self.section.iter().any(is_run);
        let arrivals = if all_arrive { threads } else { blocks * (threads / LANES as u32) };
        let free = Barriers::new(kernel, "free", (self.stages, arrivals), place);
        let goes_on = are_shared || self.runs_again(kernel);
        homes.barriers.extend([arrived, free]);
        homes.run_again.extend([arrived, free].into_iter().filter(|_| goes_on));
        let flow = Flow { arrived, free, blocks, all_arrive, goes_on };
        homes.flows.extend(self.rings.iter().map(|ring| (*ring, flow)));
        flow
    }

    /// The copies of an iteration into a slot, with what the section computes for them.
    fn collectives(&self, kernel: &Kernel, slot: Value, rings: &HashMap<Object, Object>) -> Vec<(Collective, Loc)> {
        let one = |inst: &Inst| {
            let Op::Collective(collective) = &kernel.insts[*inst].op else { return None };
            let mut collective = collective.clone();
            let access = collective.array_mut();
            access.object = rings.get(&access.object).copied().unwrap_or(access.object);
            access.path.insert(0, Step::Index(slot));
            Some((collective, kernel.insts[*inst].loc))
        };
        self.section.iter().filter_map(one).collect()
    }

    /// The slot and the parity of the next iteration.
    fn next(&self, b: &mut Builder<'_>, slot: Value, parity: Value) -> [Value; 2] {
        let (after, is_last) = self.after(b, slot);
        let one = b.constant(Scalar::u32(1));
        let other = b.binary(BinaryOp::Xor, parity, one);
        [after, b.select(is_last, other, parity)]
    }

    /// Whether the work writes what threads may read or write in the next iteration.
    fn writes_memory(&self, kernel: &Kernel) -> bool {
        let writes = |inst: Inst| kernel.effects(inst).writes.is_some_and(|object| kernel.objects[object].space() != Space::Local);
        all_in(kernel, &self.work).into_iter().any(writes)
    }
}

/// Barriers of the work count its threads. One that has returned does not come.
fn returns_before_barrier(kernel: &Kernel) -> Option<Refusal> {
    let is_return = |inst: &Inst| matches!(kernel.insts[*inst].op, Op::Terminator(Terminator::Return));
    let all: Vec<Inst> = kernel.insts_in(kernel.body).collect();
    let first = all[..all.len().saturating_sub(1)].iter().find(|inst| is_return(inst))?;
    let uniformity = Uniformity::of(kernel);
    let at = all.iter().position(|inst| kernel.effects(*inst).is_barrier() && !uniformity.runs_together(*inst))?;
    let (first, barrier) = (all[..at].iter().rfind(|inst| is_return(inst)).unwrap_or(first), all[at]);
    let message = "`producer`: barriers count the block's threads then, and some may have returned before one";
    let refusal = Refusal::new(message, "put what the others do into an `if` instead of returning");
    Some(refusal.label(kernel.insts[*first].loc, "returns here").label(kernel.insts[barrier].loc, "the barrier"))
}
