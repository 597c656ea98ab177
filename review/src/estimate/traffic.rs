//! The bytes that a warp moves, and from where, as far as the accesses' patterns tell.
//!
//! A request moves whole sectors of 32 bytes. From the L1 cache comes what stands in sectors that the warp has just read by the same pointer; what
//! several warps of a block read at one time; and what a walk along a row reads round after round until it comes to the next sector, as long
//! as the lines that all resident warps walk along fit. From the L2 cache comes what all blocks of a row or column of the grid read, and what
//! neighbouring blocks read of each other's. The rest comes from memory. Sectors that are written twice go there once; those that are written
//! in part are read first, unless they have been.

use super::constants::{ConstantLoad, constant_loads};
use super::engine;
use super::launched::Launched;
use super::mix;
use super::weights::Weights;
use warpwright_codegen::analysis::access::{AccessFact, Move, Moves, Pattern, Range};
use warpwright_codegen::collections::HashMap;
use warpwright_codegen::ir::{Address, BinaryOp, Block, Compute, Inst, Kernel, Memory, MemoryOp, Object, Op, Space, Special, Value};
use warpwright_codegen::target::limits::{self, WARP};

/// Bytes of a warp, *estimated*.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traffic {
    /// Bytes fetched from device memory.
    pub read: f64,
    /// Bytes written to it, whole sectors.
    pub written: f64,
    /// Bytes that come into the L1 cache, wherever from.
    pub filled: f64,
    /// Bytes that go out of the multiprocessor.
    pub drained: f64,
    /// Bytes of `read` and `written` that its lanes use.
    pub used: f64,
    /// Bytes that go to and from shared memory, conflicts counted.
    pub shared: f64,
    /// Bytes that global accesses take of the L1 cache's bandwidth, conflicts counted: it is the same memory.
    pub cache: f64,
    /// Addresses of constant memory that it reads beyond the first of each request.
    pub replays: f64,
    /// Lines of constant memory that it fetches, since the multiprocessor's cache does not hold them.
    pub constant_lines: f64,
}

/// Where a load's values come from: shares of its requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadSource {
    /// Those that find what they want in the L1 cache.
    pub first: f64,
    /// In the second.
    pub second: f64,
    /// The load that asks for the same sectors just before it: this one's values come when that one's do, or are there already.
    pub with: Option<Inst>,
    /// What it costs beside, in constant memory.
    pub(super) constant: ConstantLoad,
}

/// Bytes of a sector.
const SECTOR: f64 = limits::SECTOR as f64;

/// Bytes of a line.
const LINE: f64 = limits::LINE as f64;

/// Bytes that the L1 cache, or shared memory, gives in one pass.
const PASS: f64 = LINE;

/// Lines whose tags the L1 cache looks up in a pass, as our micro-kernels of lanes a stride apart show.
const TAGS: f64 = 4.0;

/// How much more than fits is walked along when nothing stays until the next round. What fits to nine tenths stays; from this ratio on, nothing.
const THRASHED: f64 = 1.5;

/// A walk along a part of an object: how it moves, where in an element, and the lanes that go.
type Walk = (Object, u32, Moves, i64, u32);

/// A request of the kernel, as often as it is made.
#[derive(Clone, Debug)]
struct Request {
    inst: Inst,
    weight: f64,
    space: Space,
    is_write: bool,
    sectors: f64,
    lines: f64,
    /// Bytes that its lanes use.
    used: f64,
    /// Passes through the L1 cache or shared memory.
    passes: f64,
    /// Warps of the block that make it together.
    sharing: f64,
    /// The share of rounds in which it comes to sectors that it had not in the round before.
    fresh: f64,
    /// The number of the request before it that has been to the same sectors.
    again: Option<usize>,
    /// Whether they are written in part, and were not read.
    in_part: bool,
    /// The share of what it fetches that no block before has fetched.
    own: f64,
    /// The share of it that comes from memory as late as if it were: blocks that walk along the same rows go side by side, and wait for the first of them.
    late: f64,
    /// Whether the copy engine makes it, for the block: into shared memory.
    is_of_engine: bool,
}

/// All requests of a kernel.
#[derive(Clone, Debug)]
pub struct Requests {
    /// To global and shared memory.
    all: Vec<Request>,
    /// Loads from constant memory that cost more than their issue, as often as they are made.
    constants: HashMap<Inst, (f64, ConstantLoad)>,
}

impl Requests {
    /// Finds those of an `Addressed` kernel; facts are about it when it was `Legal`.
    pub fn of(kernel: &Kernel, weights: &Weights, accesses: &[AccessFact], launched: &Launched) -> Requests {
        let mut facts: Vec<Option<&AccessFact>> = vec![None; kernel.insts.len()];
        for access in accesses {
            if let Some(slot) = facts.get_mut(usize::from(access.inst)) {
                *slot = Some(access);
            }
        }
        let merged = Merged::of(kernel);
        let mut requests = Vec::new();
        let mut seen = Seen::default();
        kernel.for_each_inst(|kernel, _, inst| {
            if let Some((_, bytes)) = engine::copied(kernel, inst) {
                requests.push(Request::by_engine(inst, weights.get(inst), bytes, false));
                return;
            }
            if let Some(bytes) = engine::stored(kernel, inst) {
                requests.push(Request::by_engine(inst, weights.get(inst), bytes, true));
                return;
            }
            let Some((space, is_write, bytes)) = mix::access(kernel, inst) else { return };
            let fact = facts.get(usize::from(inst)).copied().flatten();
            if fact.is_some_and(|fact| fact.is_rare) || merged.rides_along(inst) {
                return;
            }
            let weight = weights.get(inst);
            match space {
                Space::Global => {
                    let request = global(inst, (weight, is_write, bytes), fact, seen.visit(kernel, inst, requests.len()));
                    requests.push(request);
                }
                Space::Shared => requests.push(shared(inst, weight, is_write, bytes, fact, merged.words(inst))),
                _ => {}
            }
        });
        let constants = constant_loads(kernel, weights, &facts).into_iter();
        let constants = constants.map(|(inst, load)| (inst, (weights.get(inst), load))).collect();
        let mut requests = Requests { all: requests, constants };
        requests.note_own(kernel, &facts, launched);
        requests
    }

    /// Notes what blocks share.
    fn note_own(&mut self, kernel: &Kernel, facts: &[Option<&AccessFact>], launched: &Launched) {
        let Some(block) = kernel.options.block.or(launched.block) else { return };
        let warps = f64::from(block.iter().product::<u32>().div_ceil(WARP));
        let grid = Grid::of(kernel, launched);
        let fact = |request: &Request| facts.get(usize::from(request.inst)).copied().flatten();
        // Of each part of an object, what has been fetched of what is the block's own, and which walks along it have been made.
        let mut parts: HashMap<(Object, u32), f64> = HashMap::default();
        let mut walked: Vec<(Walk, f64)> = Vec::new();
        for request in self.all.iter_mut().filter(|request| request.space == Space::Global && !request.is_write) {
            let Some((fact, moves)) = fact(request).and_then(|fact| Some((fact, fact.moves?))) else { continue };
            let walk = (fact.object, fact.part, moves, fact.offset, fact.lanes.most);
            let before = walked.iter().filter(|(other, _)| moves.in_loops && *other == walk).map(|(_, weight)| *weight).fold(0.0, f64::max);
            if request.again.is_some() || before >= request.weight && before > 0.0 {
                (request.own, request.late) = (0.0, 0.0);
                continue;
            }
            walked.push((walk, request.weight));
            let more = request.weight * request.fetched(0.0) * warps;
            // The one before may have gone part of the way: the first tiles of a pipeline.
            let rest = if before > 0.0 { 1.0 - before / request.weight } else { 1.0 };
            match grid.own(&moves, more) {
                Own::Share(share) => {
                    let is_one_for_all = (0..3).all(|axis| moves.block[axis] == Move::Stays);
                    request.own = share * rest;
                    request.late = if moves.in_loops && !is_one_for_all { 1.0 } else { share };
                }
                _ if before > 0.0 => request.own = rest,
                Own::Bytes(bytes) => {
                    let fetched = parts.entry((fact.object, fact.part)).or_default();
                    if more > 0.0 {
                        request.own = ((bytes - *fetched) / more).clamp(0.0, 1.0);
                        // What is ahead of the block's own is fetched from memory before the block comes whose own it is.
                        request.late = if fact.is_ahead { 1.0 } else { request.own };
                    }
                    *fetched += more;
                }
                Own::All => {}
            }
        }
    }

    /// Adds them up, for a multiprocessor that holds so many warps and has so many bytes of L1 cache.
    pub fn traffic(&self, warps: f64, cache: f64) -> Traffic {
        let missed = self.missed(warps, cache);
        let mut traffic = Traffic::default();
        // Of sectors that are read again, and of those that come from the L2 cache, what is used is used again: what is used of the memory is
        // no more than what came from there.
        let (mut used_read, mut used_written, mut fetched) = (0.0, 0.0, 0.0);
        for request in &self.all {
            let (weight, bytes) = (request.weight, request.sectors * SECTOR);
            match request.space {
                Space::Shared => traffic.shared += weight * request.passes * PASS,
                _ if request.is_write => {
                    used_written += weight * request.used;
                    if request.is_of_engine {
                        // It reads shared memory, past the L1 cache.
                        traffic.shared += weight * request.used;
                    } else {
                        // What goes out goes sector by sector.
                        traffic.cache += weight * request.passes.max(request.sectors) * PASS;
                    }
                    traffic.drained += weight * bytes;
                    if request.again.is_none() {
                        traffic.written += weight * bytes;
                        traffic.read += if request.in_part { weight * bytes } else { 0.0 };
                    }
                }
                _ => {
                    used_read += weight * request.used / request.sharing;
                    if request.is_of_engine {
                        // It writes shared memory past the L1 cache.
                        traffic.shared += weight * request.used;
                        traffic.filled += weight * bytes;
                        fetched += weight * bytes * request.own;
                        continue;
                    }
                    let filled = request.fetched(missed);
                    // Lines come in one by one, between look-ups, and beside passes that conflicts leave few banks to.
                    let lines = filled / bytes.max(1.0) * request.lines;
                    let busy = (request.lines / TAGS).max(request.used / PASS);
                    traffic.cache += weight * request.passes.max(busy + lines) * PASS;
                    traffic.filled += weight * filled;
                    fetched += weight * request.fetched(0.0) * request.own;
                }
            }
        }
        for (weight, load) in self.constants.values() {
            traffic.replays += weight * load.replays;
            traffic.constant_lines += weight * load.lines;
        }
        traffic.read += fetched;
        traffic.used = f64::min(used_read, fetched) + f64::min(used_written, traffic.written);
        traffic
    }

    /// The share of what walks come back to that has been driven out since.
    fn missed(&self, warps: f64, cache: f64) -> f64 {
        let walks = self.all.iter().filter(|request| request.fresh < 1.0 && request.again.is_none() && !request.is_write);
        let footprint: f64 = walks.map(|request| request.lines * LINE / request.sharing).sum::<f64>() * warps;
        let ratio = if cache > 0.0 { footprint / cache } else { 0.0 };
        ((ratio - 1.0) / (THRASHED - 1.0)).clamp(0.0, 1.0)
    }

    /// Where loads' values come from, by instruction; what is not in it comes from memory.
    pub(crate) fn sources(&self, warps: f64, cache: f64) -> HashMap<Inst, LoadSource> {
        let missed = self.missed(warps, cache);
        let loads = self.all.iter().filter(|request| request.space == Space::Global && !request.is_write);
        let source = |request: &Request| {
            let fetched = request.fetched(missed) * request.sharing / (request.sectors * SECTOR).max(1.0);
            let late = if missed > 0.0 { request.late * request.fresh } else { request.late };
            let with = request.again.map(|first| self.all[first].inst);
            (request.inst, LoadSource { first: 1.0 - fetched, second: fetched * (1.0 - late), with, constant: ConstantLoad::default() })
        };
        let constant = |(inst, (_, constant)): (&Inst, &(f64, ConstantLoad))| {
            (*inst, LoadSource { first: 1.0, second: 0.0, with: None, constant: *constant })
        };
        loads.map(source).chain(self.constants.iter().map(constant)).collect()
    }
}

impl Request {
    /// One that does not leave the multiprocessor.
    fn inside(inst: Inst, weight: f64, space: Space, is_write: bool) -> Request {
        Request {
            inst,
            weight,
            space,
            is_write,
            sectors: 0.0,
            lines: 0.0,
            used: 0.0,
            passes: 1.0,
            sharing: 1.0,
            fresh: 1.0,
            again: None,
            in_part: false,
            own: 1.0,
            late: 1.0,
            is_of_engine: false,
        }
    }

    /// A copy of so many bytes by the copy engine.
    fn by_engine(inst: Inst, weight: f64, bytes: f64, is_write: bool) -> Request {
        let lines = (bytes / LINE).max(1.0);
        let sectors = (bytes / SECTOR).ceil();
        Request { sectors, lines, used: bytes, is_of_engine: true, ..Request::inside(inst, weight, Space::Global, is_write) }
    }

    /// Bytes that come into the L1 cache for one, if so much of what it comes back to is gone.
    fn fetched(&self, missed: f64) -> f64 {
        if self.again.is_some() {
            return 0.0;
        }
        (self.fresh + (1.0 - self.fresh) * missed) * self.sectors * SECTOR / self.sharing
    }
}

/// What of an address's bytes a block has for itself.
enum Own {
    /// A share: so many blocks of a row or column of the grid, or all, read the same.
    Share(f64),
    /// So many, as far as it goes on to the next block.
    Bytes(f64),
    All,
}

/// The blocks of a launch.
struct Grid {
    /// By axis: whether the kernel asks where a block stands along it, so that there may be more than one.
    is_used: [bool; 3],
    /// How many there are.
    blocks: Option<[f64; 3]>,
}

impl Grid {
    fn of(kernel: &Kernel, launched: &Launched) -> Grid {
        let mut is_used = [false; 3];
        kernel.for_each_inst(|kernel, _, inst| {
            if let Op::Compute(Compute::Special(Special::BlockIdx, axis)) = kernel.insts[inst].op {
                is_used[axis as usize] = true;
            }
        });
        Grid { is_used, blocks: launched.grid.map(|blocks| blocks.map(f64::from)) }
    }

    /// `fetched`: what the block fetches by this address.
    fn own(&self, moves: &Moves, fetched: f64) -> Own {
        let is_shared = |axis: &usize| {
            let is_one = self.blocks.is_some_and(|blocks| blocks[*axis] <= 1.0);
            self.is_used[*axis] && moves.block[*axis] == Move::Stays && !is_one
        };
        let mut shared = (0..3).filter(is_shared).peekable();
        if shared.peek().is_some() {
            // Of a grid that is not known there are many.
            return Own::Share(self.blocks.map_or(0.0, |blocks| shared.map(|axis| 1.0 / blocks[axis]).product()));
        }
        if moves.in_loops {
            return Own::All;
        }
        // Where it goes on in a way that is not known, it is taken to go on by what it fetches.
        if moves.block.contains(&Move::Somehow) {
            return Own::Bytes(fetched);
        }
        let bytes = |step: &Move| match step {
            Move::Stays => Some(0.0),
            Move::Bytes(bytes) => Some(bytes.unsigned_abs() as f64),
            Move::Rows(_) | Move::Somehow => None,
        };
        let steps: Option<Vec<f64>> = moves.block.iter().map(bytes).collect();
        let own = match (self.blocks, steps) {
            // All blocks together go over as much as the axis does that goes furthest.
            (Some(blocks), Some(steps)) if steps.iter().filter(|step| **step > 0.0).count() > 1 => {
                steps.iter().zip(blocks).map(|(step, blocks)| step * blocks).fold(0.0, f64::max) / blocks.iter().product::<f64>()
            }
            _ => {
                let [x, y, z] = moves.block;
                let Move::Bytes(x) = x else { return Own::All };
                let rows = |step: Move| match step {
                    Move::Stays => Some(1.0),
                    Move::Rows(rows) => Some(rows.unsigned_abs() as f64),
                    Move::Bytes(_) | Move::Somehow => None,
                };
                match (rows(y), rows(z)) {
                    (Some(y), Some(z)) => x.unsigned_abs() as f64 * y * z,
                    _ => return Own::All,
                }
            }
        };
        // Rows of neighbours share sectors at their ends.
        Own::Bytes((own / SECTOR).ceil() * SECTOR)
    }
}

/// Sectors that accesses have been to: the pointer, the sector from it, the number of the request.
#[derive(Default)]
struct Seen {
    read: Vec<(Value, i32, usize)>,
    written: Vec<(Value, i32, usize)>,
}

/// As many as are found at once: a longer memory is the cache's, not this list's.
const REMEMBERED: usize = 64;

/// Who has been to the sectors of a request: another one of its kind, and any load.
#[derive(Clone, Copy, Default)]
struct Visited {
    again: Option<usize>,
    was_read: bool,
}

impl Seen {
    /// Looks up the sectors of an access, request number `request`, and remembers them.
    fn visit(&mut self, kernel: &Kernel, inst: Inst, request: usize) -> Visited {
        let (is_write, ptr, offset) = match &kernel.insts[inst].op {
            Op::Memory(Memory { op: MemoryOp::Load, at: Address::Pointer { ptr, offset, .. } }) => (false, *ptr, *offset),
            Op::Memory(Memory { op: MemoryOp::Store(_), at: Address::Pointer { ptr, offset, .. } }) => (true, *ptr, *offset),
            _ => return Visited::default(),
        };
        let sector = offset.div_euclid(SECTOR as i32);
        let find = |list: &[(Value, i32, usize)]| {
            list.iter().rev().take(REMEMBERED).find(|known| (known.0, known.1) == (ptr, sector)).map(|known| known.2)
        };
        let was_read = find(&self.read).is_some();
        let list = if is_write { &mut self.written } else { &mut self.read };
        let again = find(list);
        if again.is_none() {
            list.push((ptr, sector, request));
        }
        Visited { again, was_read }
    }
}

fn global(inst: Inst, (weight, is_write, bytes): (f64, bool, u32), fact: Option<&AccessFact>, visited: Visited) -> Request {
    let dense = 32.0 * f64::from(bytes);
    let (sectors, used) = match fact.map(|fact| &fact.pattern) {
        // Where it depends on where an object begins, neighbours share the sectors at the edges.
        Some(Pattern::Global { sectors, bytes, .. }) => (f64::from(sectors.least.max(1)), middle(*bytes)),
        _ => (dense / SECTOR, dense),
    };
    let (lines, passes) = match fact.filter(|fact| fact.pattern != Pattern::Unknown) {
        Some(fact) => (f64::from(fact.lines.max(1)), f64::from(fact.bank_passes.max(1))),
        None => ((dense / LINE).max(1.0), (dense / PASS).max(1.0)),
    };
    let fresh = match fact.and_then(|fact| fact.moves.filter(|_| fact.loops > 0)).map(|moves| moves.round) {
        Some(Move::Stays) => 0.0,
        Some(Move::Bytes(step)) => (step.unsigned_abs() as f64 / SECTOR).min(1.0),
        _ => 1.0,
    };
    let Visited { again, was_read } = visited;
    Request {
        inst,
        weight,
        space: Space::Global,
        is_write,
        sectors,
        lines,
        used,
        passes,
        sharing: fact.and_then(|fact| fact.sharing).filter(|_| !is_write).map_or(1.0, |warps| f64::from(warps.max(1))),
        fresh: if is_write { 1.0 } else { fresh },
        again,
        in_part: is_write && used <= sectors * SECTOR / 2.0 && !was_read,
        own: 1.0,
        late: 1.0,
        is_of_engine: false,
    }
}

fn shared(inst: Inst, weight: f64, is_write: bool, bytes: u32, fact: Option<&AccessFact>, words: u32) -> Request {
    let least = (f64::from(WARP * bytes) / PASS).max(1.0);
    let passes = match fact {
        // One wide access in the place of several.
        Some(fact) if words > 1 && fact.bank_passes > 0 => f64::from(fact.bank_passes) * f64::from(words) / 4.0,
        Some(fact) if fact.pattern != Pattern::Unknown && fact.total.requests > 0 => {
            middle(fact.total.passes) / f64::from(fact.total.requests)
        }
        _ => least,
    };
    Request { passes: passes.max(1.0), ..Request::inside(inst, weight, Space::Shared, is_write) }
}

fn middle(range: Range) -> f64 {
    (f64::from(range.least) + f64::from(range.most)) / 2.0
}

/// Loads of neighbouring words of shared memory that the assembler makes one of, where it knows that they begin at a multiple of 8 or 16 bytes.
#[derive(Debug, Default)]
pub struct Merged {
    /// By the load that stays: how many words it takes.
    words: HashMap<Inst, u32>,
    rides_along: std::collections::HashSet<Inst>,
}

impl Merged {
    /// Finds them.
    pub fn of(kernel: &Kernel) -> Merged {
        let mut merged = Merged::default();
        merged.block(kernel, kernel.body);
        merged
    }

    /// Whether a load is part of another.
    pub fn rides_along(&self, inst: Inst) -> bool {
        self.rides_along.contains(&inst)
    }

    /// Words of 4 bytes that a load takes with those that ride along; 1: itself alone.
    pub fn words(&self, inst: Inst) -> u32 {
        self.words.get(&inst).copied().unwrap_or(1)
    }

    fn block(&mut self, kernel: &Kernel, block: Block) {
        let mut open: HashMap<Value, Vec<(i32, Inst)>> = HashMap::default();
        for inst in &kernel.blocks[block].insts {
            let data = &kernel.insts[*inst];
            match &data.op {
                Op::Memory(Memory { op: MemoryOp::Load, at: Address::Pointer { object, ptr, offset } })
                    if kernel.objects[*object].space() == Space::Shared =>
                {
                    if data.results.len() == 1 && kernel.ty(data.results[0]).bytes() == 4 {
                        open.entry(*ptr).or_default().push((*offset, *inst));
                    }
                }
                // What is read behind it may be other words.
                Op::Memory(Memory {
                    op: MemoryOp::Store(_) | MemoryOp::StoreMatrix(_) | MemoryOp::Atomic(..),
                    at: Address::Pointer { object, .. },
                }) if kernel.objects[*object].space() == Space::Shared => {
                    self.close(kernel, &mut open);
                }
                Op::Intrinsic(row, _) if row.row().effects.is_barrier() => self.close(kernel, &mut open),
                op => {
                    let blocks = op.blocks();
                    if !blocks.is_empty() {
                        self.close(kernel, &mut open);
                        blocks.into_iter().for_each(|child| self.block(kernel, child));
                    }
                }
            }
        }
        self.close(kernel, &mut open);
    }

    fn close(&mut self, kernel: &Kernel, open: &mut HashMap<Value, Vec<(i32, Inst)>>) {
        for (ptr, mut loads) in open.drain() {
            let aligned = multiple_of(kernel, ptr, 0);
            loads.sort_unstable();
            for bytes in [16, 8].into_iter().filter(|bytes| aligned.is_multiple_of(*bytes as u64)) {
                let mut at = 0;
                while at < loads.len() {
                    let (first, inst) = loads[at];
                    let count = bytes / 4;
                    let is_run = first % bytes == 0
                        && !self.rides_along(inst)
                        && self.words(inst) == 1
                        && (1..count).all(|n| loads.get(at + n as usize).is_some_and(|(offset, _)| *offset == first + 4 * n));
                    if is_run {
                        self.words.insert(inst, count as u32);
                        self.rides_along.extend((1..count).map(|n| loads[at + n as usize].1));
                        at += count as usize;
                    } else {
                        at += 1;
                    }
                }
            }
        }
    }
}

/// A power of two up to 16 that surely divides a pointer or number.
fn multiple_of(kernel: &Kernel, value: Value, depth: u32) -> u64 {
    const MOST: u64 = 16;
    let of = |value: &Value| if depth < 16 { multiple_of(kernel, *value, depth + 1) } else { 1 };
    let constant = |value: Value| kernel.constant(value).map(|scalar| scalar.bits);
    match kernel.def(value).map(|(_, op)| op) {
        Some(Op::Compute(Compute::Address(_))) => MOST,
        Some(Op::Compute(Compute::Const(scalar))) => 1 << scalar.bits.trailing_zeros().min(4),
        Some(Op::Compute(Compute::Offset(a, b) | Compute::Binary(BinaryOp::Add | BinaryOp::Sub, a, b))) => of(a).min(of(b)),
        Some(Op::Compute(Compute::Binary(BinaryOp::Mul, a, b))) => (of(a) * of(b)).min(MOST),
        Some(Op::Compute(Compute::Binary(BinaryOp::Shl, a, b))) => constant(*b).map_or(1, |count| (of(a) << count.min(4)).min(MOST)),
        Some(Op::Compute(Compute::MulAdd(a, b, c))) => (of(a) * of(b)).min(of(c)).min(MOST),
        Some(Op::Compute(Compute::Cast(a))) => of(a),
        _ => 1,
    }
}
