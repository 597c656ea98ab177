//! Weak memory: what atomics may see and do that no order of the steps gives.
//!
//! Each place that atomics touch has its writes in *coherence order*, which need not be that of the steps. A load gives any write that is not before one that its thread has to know of; a store takes any
//! place behind those; what reads and writes at once stands directly behind what it read. One whose old value nobody asks for may have read something else: what comes to stand before it, it is done upon. A thread has to know of a write that it made or read itself, or that another did before telling it by fences, ordered
//! atomics or barriers ([`super::order`]). Fences of one order know of what came before those that ran before them. (PTX ISA, *Memory Consistency Model*: coherence, causality, atomicity, and Fence-SC order as the
//! order of the run. What waits for the value of a load stays behind it, so no value comes out of thin air; what does not may come first: [`super::delay`].)
//!
//! Plain accesses give what is there: where that might be anything else, they race, which is a fault already.

use super::clock::VectorClock;
use super::machine::Machine;
use super::memory::{Request, atomic_result};
use super::order::{Order, Ordered, Passed, Passes, Patterns, Reach};
use super::program::Program;
use super::shadow::Now;
use super::warp::Warp;
use std::collections::{BTreeMap, HashMap};
use warpwright_codegen::ir::{AtomicOp, Atomicity, MemoryOrder, Space, Type};
use warpwright_codegen::target::limits::{LANES, WARP};

/// Writes of a place that are remembered: what is older has been overwritten for everybody.
const REMEMBERED: usize = 16;

/// A write, or a read of it, by a thread of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Event {
    thread: u32,
    tick: u32,
}

impl Event {
    /// Whether it is before what a thread of its own block does now, fences apart.
    fn is_before(self, now: &Now) -> bool {
        let is_same_warp = self.thread / WARP == now.thread / WARP;
        self.thread == now.thread || self.tick < now.interval_start || is_same_warp && self.tick < now.warp_start
    }
}

/// Who made a write, and who read it: by block, for all blocks may read one flag, and most threads know of their own block alone.
#[derive(Debug, Default)]
struct Witnesses(BTreeMap<u32, Vec<Event>>);

impl Witnesses {
    fn add(&mut self, block: u32, event: Event) {
        self.0.entry(block).or_default().push(event);
    }

    /// Whether a thread that acts now has to know of the write.
    fn are_known(&self, now: &Now, block: u32, order: &Order) -> bool {
        let is_own = |events: &Vec<Event>| events.iter().any(|event| event.is_before(now));
        let is_told = |(block, events): (&u32, &Vec<Event>)| events.iter().any(|e| order.knows(now.thread, *block, e.thread, e.tick));
        self.0.get(&block).is_some_and(is_own) || order.knows_others(now.thread) && self.0.iter().any(is_told)
    }
}

/// A write of a place.
#[derive(Debug)]
struct Write {
    bits: u64,
    /// What whoever reads it hears.
    passed: Passed,
    /// What its own thread tells of that.
    own: Passed,
    /// Whether it read the write before it, behind which it stands directly.
    is_update: bool,
    /// What it does to the value before it, if nobody has seen that.
    unseen: Option<Update>,
    /// Who made it, and who read it.
    known_by: Witnesses,
}

/// What an update does.
#[derive(Clone, Copy, Debug)]
struct Update {
    op: AtomicOp,
    ty: Type,
    operands: [u64; 2],
}

impl Update {
    fn of(self, before: u64) -> u64 {
        let [first, second] = self.operands;
        atomic_result(self.op, self.ty, before, first, second) & u64::MAX >> (64 - 8 * self.ty.bytes())
    }
}

/// The writes of a place in coherence order. The last one is what is in memory.
#[derive(Debug)]
struct Place {
    writes: Vec<Write>,
    patterns: Patterns,
}

impl Place {
    fn new(bits: u64) -> Place {
        Place {
            writes: vec![Write {
                bits,
                passed: Passed::default(),
                own: Passed::default(),
                is_update: false,
                unseen: None,
                known_by: Witnesses::default(),
            }],
            patterns: Patterns::default(),
        }
    }

    /// The first write that a thread may still read: the last that it has to know of.
    fn first(&self, now: &Now, block: u32, order: &Order) -> usize {
        self.writes.iter().rposition(|write| write.known_by.are_known(now, block, order)).unwrap_or(0)
    }

    /// Whether a write may stand directly behind the `n`th: the updates that follow it there can be done upon the new one, if nobody has seen what they read or wrote.
    fn has_room_behind(&self, n: usize) -> bool {
        let is_free = |update: &Write| update.unseen.is_some();
        self.writes[n + 1..].iter().take_while(|write| write.is_update).all(is_free)
    }

    /// Puts a write behind the `n`th, and does what follows upon it.
    fn insert(&mut self, n: usize, write: Write) {
        self.writes.insert(n + 1, write);
        for at in n + 2..self.writes.len() {
            let (before, behind) = self.writes.split_at_mut(at);
            let (Some(before), Some(Write { bits, passed, own, unseen: Some(update), is_update: true, .. })) =
                (before.last(), behind.first_mut())
            else {
                break;
            };
            *bits = update.of(before.bits);
            passed.clone_from(own);
            passed.join(&before.passed);
        }
    }

    /// A thread has read the `n`th write.
    fn note(&mut self, n: usize, block: u32, event: Event, is_known: bool) {
        let write = &mut self.writes[n];
        write.unseen = None;
        // Of the first one everybody knows; and who has to know of it is no news.
        if n > 0 && !is_known {
            write.known_by.add(block, event);
        }
    }

    fn forget(&mut self) {
        if self.writes.len() > REMEMBERED {
            self.writes.remove(0);
            // Nothing stands before it any more.
            self.writes[0].is_update = false;
        }
    }
}

/// What is known of all places of one memory: of a block's, or of the device's.
#[derive(Debug, Default)]
pub(super) struct Places(HashMap<(usize, u64), Place>);

impl Places {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// Fences of one order, and what is chosen.
#[derive(Debug)]
pub(super) struct Weak {
    random: u64,
    /// What fences for the device make known to those after them.
    fences: VectorClock,
    /// Those for one block.
    fences_in_block: HashMap<u32, VectorClock>,
    pub(super) places: Places,
}

impl Weak {
    pub(super) fn new(seed: u64) -> Weak {
        Weak { random: seed, fences: VectorClock::default(), fences_in_block: HashMap::new(), places: Places::default() }
    }

    /// One of so many: the last one half of the time, so that what waits for a write does not wait long.
    fn choose(&mut self, count: usize) -> usize {
        // SplitMix64 (Steele, Lea and Flood 2014).
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.random;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        if bits & 1 == 0 { count - 1 } else { ((bits >> 1) % count as u64) as usize }
    }

    /// A fence of one order: knows of what came before those before it.
    pub(super) fn fence(&mut self, order: &mut Order, now: &Now, block: u32, reach: Reach) {
        order.fence(now, block, reach, true);
        let in_block = self.fences_in_block.entry(block).or_default();
        order.learn(now.thread, in_block);
        if reach == Reach::Device {
            order.learn(now.thread, &self.fences);
        }
        let told = order.tell(now, block);
        in_block.join(&told);
        if reach == Reach::Device {
            self.fences.join(&told);
        }
        // What it has learnt is told by what comes behind it.
        order.fence(now, block, reach, true);
    }
}

/// An atomic of a lane.
pub(super) struct LaneAtomic {
    pub(super) lane: usize,
    pub(super) offset: u64,
    pub(super) op: AtomicOp,
    pub(super) atomicity: Atomicity,
    /// What it is done with: what a compare-exchange compares with is the first.
    pub(super) operands: [u64; 2],
}

impl Machine<'_> {
    /// An atomic of a lane on a weak memory: what it read. `None`: this memory is not, or not here.
    pub(super) fn weak_atomic(&mut self, warp: &mut Warp, request: &Request<'_>, atomic: &LaneAtomic) -> Option<u64> {
        let mut weak = self.weak.take()?;
        let is_here = match request.info.space {
            Space::Global => true,
            Space::Shared => !self.launch.program.is_clustered,
            Space::Cluster | Space::Local | Space::Param | Space::Constant => false,
        };
        let old = is_here.then(|| self.weakly(&mut weak, warp, request, atomic));
        self.weak = Some(weak);
        old
    }

    /// An atomic that is not done weakly is in the one order of fences all the same.
    pub(super) fn weak_fence(&mut self, warp: &Warp, lane: usize, number: u32, space: Space, atomicity: Atomicity) {
        if atomicity.order != MemoryOrder::SeqCst {
            return;
        }
        let now = self.now(warp, lane, number + 1);
        let is_far = self.launch.program.is_clustered || space == Space::Global;
        let reach = if is_far { Reach::of(atomicity.scope).unwrap_or(Reach::Block) } else { Reach::Block };
        if let Some(weak) = &mut self.weak {
            weak.fence(&mut self.block.order, &now, self.block.number, reach);
        }
    }

    fn weakly(&mut self, weak: &mut Weak, warp: &mut Warp, request: &Request<'_>, atomic: &LaneAtomic) -> u64 {
        let LaneAtomic { lane, offset, op, atomicity, operands } = *atomic;
        let is_shared = request.info.space == Space::Shared;
        let now = self.now(warp, lane, request.number + 1);
        let block = self.block.number;
        let reach = if is_shared { Reach::Block } else { Reach::of(atomicity.scope).unwrap_or(Reach::Block) };
        if atomicity.order == MemoryOrder::SeqCst {
            weak.fence(&mut self.block.order, &now, block, reach);
        }
        let one = Request { mask: 1 << lane, ..*request };
        let mut offsets = [0; LANES];
        offsets[lane] = offset;
        let present = self.read(warp, &one, &offsets)[lane];
        let key = (request.access.object, offset);
        let places = if is_shared { &mut self.block.places } else { &mut weak.places };
        let mut place = places.0.remove(&key).unwrap_or_else(|| Place::new(present));
        if place.writes.last().is_none_or(|last| last.bits != present) {
            // Plain writes are after and before all others.
            place.writes = Place::new(present).writes;
        }
        let first = place.first(&now, block, &self.block.order);
        let event = Event { thread: now.thread, tick: now.tick };
        let count = place.writes.len();
        let writes = |n: usize, place: &Place| match op {
            AtomicOp::Load => false,
            AtomicOp::CompareExchange => place.writes[n].bits == operands[0],
            _ => true,
        };
        // What is read, or stood behind.
        let able: Vec<usize> = (first..count).filter(|n| !writes(*n, &place) || place.has_room_behind(*n)).collect();
        let n = able[weak.choose(able.len())];
        let read = place.writes[n].bits;
        let is_known = place.writes[n].known_by.are_known(&now, block, &self.block.order);
        let Program { has_fences, has_patterns, .. } = *self.launch.program;
        let order = &mut self.block.order;
        let mut pass = |passed: &mut Passed, patterns: &mut Patterns, passes| {
            // Without fences and ordered atomics nothing is told.
            if has_fences {
                let patterns = has_patterns.then_some(patterns);
                order.atomic(&now, block, passed, patterns, &Ordered { passes, order: atomicity.order, reach });
            }
        };
        if writes(n, &place) {
            let is_update = op != AtomicOp::Store;
            let mut passed = if is_update { place.writes[n].passed.clone() } else { Passed::default() };
            if is_update {
                pass(&mut passed, &mut place.patterns, Passes::Nothing);
                if request.access.result.is_some() {
                    place.writes[n].unseen = None;
                }
            }
            let mut own = Passed::default();
            pass(&mut own, &mut place.patterns, Passes::Own);
            passed.join(&own);
            let update = Update { op, ty: request.access.ty, operands };
            let unseen = (is_update && request.access.result.is_none() && is_reduction(op, atomicity, request.access.ty)).then_some(update);
            let mut known_by = Witnesses::default();
            known_by.add(block, event);
            place.insert(n, Write { bits: update.of(read), passed, own, is_update, unseen, known_by });
            let last = place.writes.last().map_or(present, |last| last.bits);
            self.write(warp, &one, &offsets, &[last; LANES]);
            self.version += u64::from(last != present);
            place.forget();
        } else {
            place.note(n, block, event, is_known);
            pass(&mut place.writes[n].passed, &mut place.patterns, Passes::Nothing);
        }
        // Who has seen something old may see something else the next time.
        self.version += u64::from(n + 1 != count);
        let places = if is_shared { &mut self.block.places } else { &mut weak.places };
        places.0.insert(key, place);
        read
    }
}

/// Whether an update whose old value is not asked for is a reduction on a device, which acquires nothing: of integers of 32 and 64 bits.
fn is_reduction(op: AtomicOp, atomicity: Atomicity, ty: Type) -> bool {
    let changes =
        matches!(op, AtomicOp::Add | AtomicOp::Sub | AtomicOp::Min | AtomicOp::Max | AtomicOp::And | AtomicOp::Or | AtomicOp::Xor);
    changes && !atomicity.order.acquires() && ty.is_int() && ty.bytes() >= 4
}
