//! The copy engine of a multiprocessor: barriers that count bytes, copies that one thread asks for, and what they demand of all others.
//!
//! A barrier is modelled exactly: its phase, the arrivals that are missing, the bytes that are announced and not there yet (fewer than none where copies
//! overtake their announcement). Copies may arrive at any time between their issue and the end of the phase. Whatever a program does meanwhile with
//! what they write is a fault, so that it does not matter when: early and late give the same, and the bytes are there at once. A thread that waited for
//! the phase may touch them, others behind a barrier of the block that came after such a wait.
//!
//! The engine does not see what threads write as they do: it may fill what a thread wrote before only if that thread has passed an engine fence since.
//!
//! In a kernel with a producer no barrier of the block orders the issuer's copies with what others read: who arrives at a barrier tells what it has done and knows ([`super::order`]), and who
//! waits for the phase learns that. What the engine writes is checked against the reads before it as if the issuer wrote it.

use super::clock::VectorClock;
use super::copied_matrix::CopiedMatrix;
use super::machine::{Block, LaneFault, Machine};
use super::meeting::Meeting;
use super::memory::Request;
use super::multicast::SharedPart;
use super::program::{Access, SimStep};
use super::registers::{Reg, lanes};
use super::shadow::Now;
use super::stores::{self, KnownReads, Stores, TileStore};
use super::tensor::RunningProducts;
use super::warp::Warp;
use super::{AccessKind, Fault, FaultKind};
use std::borrow::Cow;
use std::collections::HashMap;
use warpwright_codegen::ir::{Location, Role, StoreStage, Swizzle, Type};
use warpwright_codegen::target::limits::{LANES, VECTOR_BYTES};

/// Bytes of a sector of global memory.
const SECTOR: u64 = 32;

/// An instruction to the engine; accesses by their numbers in the program.
#[derive(Clone, Debug)]
pub(super) enum EngineStep {
    /// Makes barriers of an object.
    Init {
        /// The object.
        object: usize,
        /// Arrivals of a phase.
        arrivals: u32,
    },
    /// Arrives.
    Arrive {
        /// The barrier.
        barrier: u32,
        /// The rank of the block whose barrier it is, if it may be another.
        of_block: Option<Reg>,
    },
    /// Arrives, and announces bytes.
    Expect {
        /// The barrier.
        barrier: u32,
        /// The bytes.
        bytes: Reg,
    },
    /// Waits for a phase.
    Wait {
        /// The barrier.
        barrier: u32,
        /// The phase's parity.
        parity: Reg,
    },
    /// Copies bytes.
    Copy {
        /// A scalar's access that writes the first place.
        to: u32,
        /// One that reads the first place.
        from: u32,
        /// How many bytes.
        bytes: u64,
        /// The barrier.
        barrier: u32,
    },
    /// Copies a tile of a matrix, zeros outside of it.
    CopyTile {
        /// An element's access that writes the first place.
        to: u32,
        /// An access of an element of the matrix; where is computed here.
        from: u32,
        /// Rows and columns.
        tile: [u64; 2],
        /// How it lies in shared memory.
        swizzle: Option<Swizzle>,
        /// The matrix.
        matrix: CopiedMatrix,
        /// Row and column of the first element.
        at: [Reg; 2],
        /// The barrier.
        barrier: u32,
        /// What of it this block copies, and to whom, if blocks of the cluster share it.
        share: Option<SharedPart>,
    },
    /// Stores a tile to a matrix, but for what is outside of it.
    StoreTile(TileStore),
    /// Makes a group of the thread's stores.
    CommitStores,
    /// Waits for groups of stores.
    AwaitStores {
        /// But for so many of the last.
        but: u32,
        /// For what.
        until: StoreStage,
    },
    /// The engine may touch what the thread has written.
    Fence,
    /// The threads of a warpgroup meet.
    Meet,
    /// Whether the thread has a role.
    Is {
        /// Which.
        role: Role,
        /// Where that is kept.
        result: Reg,
    },
}

/// Why a barrier cannot be used so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misuse {
    /// It is no barrier yet.
    NotMade,
    /// Another thread has made it, and no barrier of the block is between: it may be none yet.
    NotMet,
    /// It is one already.
    MadeAgain,
    /// More threads arrive in a phase than it counts.
    TooManyArrivals {
        /// How many that is.
        counts: u32,
    },
    /// More bytes arrive in a phase than were announced.
    TooManyBytes,
    /// The block ends, and nobody has waited for the last copies.
    NeverAwaited,
}

impl Misuse {
    /// What is wrong, behind the barrier's name.
    pub(super) fn words(self) -> Cow<'static, str> {
        match self {
            Misuse::NotMade => "is used before it is made".into(),
            Misuse::NotMet => {
                "is used by a thread that may come before the one that makes it: no barrier of the block is between the two".into()
            }
            Misuse::MadeAgain => "is made again".into(),
            Misuse::TooManyArrivals { counts } => {
                format!("has all arrivals of its phase, {counts} of {counts}, and another thread arrives").into()
            }
            Misuse::TooManyBytes => "gets more bytes in a phase than were announced".into(),
            Misuse::NeverAwaited => "counted copies that nobody has waited for when the block ends".into(),
        }
    }
}

#[derive(Clone, Debug)]
struct Barrier {
    /// The thread that made it, and the tick at which it did.
    made: (u32, u32),
    phase: u32,
    /// Arrivals of a phase, and those that are missing.
    arrivals: u32,
    missing: u32,
    /// Bytes announced, less those that arrived.
    bytes: i64,
    /// Bytes announced in all, in this phase.
    announced: i64,
    /// By phase that is over: the tick at which somebody first waited for it, and knew.
    seen: Vec<Option<u32>>,
    /// By thread: phases that it knows to be over.
    known: Vec<u32>,
    /// The last phase in which something was copied.
    last_copy: Option<u32>,
    /// What those who arrived in this phase tell, and what those who wait for the ones before learn: in kernels with [`super::program::Program::orders`].
    told: Told,
    over: Told,
}

/// What a thread knows, passed on to another.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    pub(super) accesses: VectorClock,
    /// Phases of barriers that are over.
    phases: HashMap<(usize, u64), u32>,
    /// Stores of the engine that have read their arrays.
    reads: KnownReads,
    /// Products of warpgroups that have read their tiles.
    products: KnownReads,
}

impl Told {
    pub(super) fn join(&mut self, other: &Told) {
        self.accesses.join(&other.accesses);
        for (barrier, phase) in &other.phases {
            let known = self.phases.entry(*barrier).or_default();
            *known = (*known).max(*phase);
        }
        stores::join(&mut self.reads, &other.reads);
        stores::join(&mut self.products, &other.products);
    }
}

impl Barrier {
    /// Ends the phase if nothing is missing. Whether it has ended.
    fn turn(&mut self) -> bool {
        let is_over = self.missing == 0 && self.bytes == 0;
        if is_over {
            self.phase += 1;
            (self.missing, self.announced) = (self.arrivals, 0);
            self.over.join(&std::mem::take(&mut self.told));
            self.seen.push(None);
        }
        is_over
    }
}

/// A copy to a granule.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flight {
    pub(super) barrier: (usize, u64),
    pub(super) phase: u32,
    pub(super) thread: u32,
    /// Number of the access that writes.
    pub(super) site: u32,
}

/// What has not arrived for who asks.
pub(super) struct InFlight {
    pub(super) thread: u32,
    pub(super) site: u32,
    /// Whether somebody has waited for it, and no barrier of the block has told others since.
    pub(super) is_awaited: bool,
}

/// What a block knows of the engine.
#[derive(Debug, Default)]
pub(super) struct Engine {
    threads: u32,
    /// By object and offset.
    barriers: HashMap<(usize, u64), Barrier>,
    /// By object and granule's offset.
    flights: HashMap<(usize, u64), Flight>,
    /// By object and granule's offset: who stored there last, and when in the count of events.
    stores: HashMap<(usize, u64), (u32, u64)>,
    /// By thread: its last engine fence.
    fences: HashMap<u32, u64>,
    events: u64,
    /// The tiles that it stores.
    pub(super) out: Stores,
    /// Products of warpgroups that are left running.
    pub(super) products: RunningProducts,
    /// By number: where warpgroups meet.
    pub(super) meetings: HashMap<u32, Meeting>,
}

impl Engine {
    pub(super) fn new(threads: u32) -> Engine {
        Engine { threads, ..Engine::default() }
    }

    /// A block begins.
    pub(super) fn clear(&mut self) {
        *self = Engine::new(self.threads);
    }

    /// A copy to this granule that has not arrived for who looks now.
    pub(super) fn find(&self, object: usize, offset: u64, now: &Now) -> Option<InFlight> {
        let flight = self.flights.get(&(object, offset))?;
        let barrier = self.barriers.get(&flight.barrier)?;
        if barrier.known[now.thread as usize] > flight.phase {
            return None;
        }
        let seen = barrier.seen.get(flight.phase as usize).copied().flatten();
        let is_told = seen.is_some_and(|tick| tick < now.interval_start);
        (!is_told).then_some(InFlight { thread: flight.thread, site: flight.site, is_awaited: seen.is_some() })
    }

    /// A copy to this granule whose phase is not over, whoever looks.
    pub(super) fn under_way(&self, object: usize, offset: u64) -> Option<&Flight> {
        let flight = self.flights.get(&(object, offset))?;
        self.barriers.get(&flight.barrier).is_some_and(|barrier| barrier.phase <= flight.phase).then_some(flight)
    }

    /// A copy comes to this granule.
    pub(super) fn fly(&mut self, object: usize, offset: u64, flight: Flight) {
        self.stores.remove(&(object, offset));
        self.flights.insert((object, offset), flight);
    }

    /// Notes that a thread stores to a granule.
    pub(super) fn store(&mut self, object: usize, offset: u64, thread: u32) {
        self.events += 1;
        self.stores.insert((object, offset), (thread, self.events));
    }

    /// The thread that stored to a granule last, if it has passed no engine fence since.
    pub(super) fn unfenced(&self, object: usize, offset: u64) -> Option<u32> {
        let (writer, event) = self.stores.get(&(object, offset))?;
        self.fences.get(writer).is_none_or(|fence| fence < event).then_some(*writer)
    }

    /// What a barrier waits for: missing arrivals, bytes that arrived, bytes announced, phase.
    pub(super) fn standing(&self, object: usize, offset: u64) -> Option<(u32, i64, i64, u32)> {
        let barrier = self.barriers.get(&(object, offset))?;
        Some((barrier.missing, barrier.announced - barrier.bytes, barrier.announced, barrier.phase))
    }

    /// The phases that a thread knows to be over.
    fn known_to(&self, thread: u32) -> HashMap<(usize, u64), u32> {
        let known =
            |(place, barrier): (&(usize, u64), &Barrier)| Some((*place, barrier.known[thread as usize])).filter(|(_, phase)| *phase > 0);
        self.barriers.iter().filter_map(known).collect()
    }

    /// A thread learns which phases are over.
    pub(super) fn learn(&mut self, thread: u32, told: &Told) {
        for (place, phase) in &told.phases {
            if let Some(barrier) = self.barriers.get_mut(place) {
                let known = &mut barrier.known[thread as usize];
                *known = (*known).max(*phase);
            }
        }
        self.out.learn(thread, &told.reads);
        self.products.learn(thread, &told.products);
    }

    /// A barrier whose last copies nobody has waited for.
    pub(super) fn left_over(&self) -> Option<(usize, u64)> {
        let is_left =
            |barrier: &Barrier| barrier.last_copy.is_some_and(|phase| barrier.seen.get(phase as usize).copied().flatten().is_none());
        self.barriers.iter().filter(|(_, barrier)| is_left(barrier)).map(|(place, _)| *place).min()
    }
}

impl Machine<'_> {
    /// Runs an instruction to the engine. Whether it is done: if not, it waits.
    pub(super) fn engine(&mut self, warp: &mut Warp, number: u32) -> Result<bool, LaneFault> {
        let program = self.launch.program;
        for lane in lanes(warp.active) {
            let fault = |kind: FaultKind| LaneFault { lane, kind };
            let thread = warp.first_thread + lane as u32;
            match &program.engines[number as usize] {
                EngineStep::Init { object, arrivals } => self.init_barriers(*object, *arrivals, thread).map_err(fault)?,
                EngineStep::Arrive { barrier, of_block } => {
                    let at = self.barrier(warp, lane, *barrier)?;
                    let own = self.block.membership.rank;
                    let rank = of_block.map_or(own, |rank| warp.registers.lane(rank, lane) as usize);
                    if rank == own {
                        self.made_barrier(warp, lane, *barrier)?;
                    }
                    self.check_block(program.accesses[*barrier as usize].object, AccessKind::Atomic, rank).map_err(fault)?;
                    self.arrive_at(warp, lane, (rank, at), 0).map_err(fault)?;
                }
                EngineStep::Expect { barrier, bytes } => {
                    let at = self.made_barrier(warp, lane, *barrier)?;
                    let bytes = i64::from(warp.registers.lane(*bytes, lane) as u32);
                    let own = self.block.membership.rank;
                    self.arrive_at(warp, lane, (own, at), bytes).map_err(fault)?;
                }
                EngineStep::Wait { barrier, parity } => {
                    let at = self.made_barrier(warp, lane, *barrier)?;
                    let parity = warp.registers.lane(*parity, lane) as u32 & 1;
                    let tick = self.tick;
                    let one = self.barrier_at(self.block.membership.rank, at).map_err(fault)?;
                    // The phase that runs has another parity than the one before, which is over.
                    if one.phase & 1 == parity {
                        return Ok(false);
                    }
                    one.known[thread as usize] = one.phase;
                    if let Some(seen) = one.seen.last_mut() {
                        seen.get_or_insert(tick);
                    }
                    if program.orders {
                        let over = one.over.clone();
                        self.block.order.learn(thread, &over.accesses);
                        self.block.engine.learn(thread, &over);
                    }
                }
                EngineStep::Copy { to, from, bytes, barrier } => self.copy_bytes(warp, lane, [*to, *from], *bytes, *barrier)?,
                EngineStep::CopyTile { to, from, tile, swizzle, matrix, at, barrier, share } => {
                    self.copy_tile(warp, lane, [*to, *from], (*tile, *swizzle, *share), (*matrix, *at), *barrier)?;
                }
                EngineStep::StoreTile(store) => self.store_tile(warp, lane, store)?,
                EngineStep::CommitStores => self.block.engine.out.commit(thread),
                EngineStep::AwaitStores { but, until } => self.await_stores(warp, lane, *but, *until)?,
                EngineStep::Fence => {
                    self.block.engine.events += 1;
                    let now = self.block.engine.events;
                    self.block.engine.fences.insert(thread, now);
                }
                EngineStep::Meet => return self.meet_in_warpgroup(warp),
                EngineStep::Is { role, result } => {
                    let has_it = match role {
                        Role::Producer => thread >= self.launch.workers,
                        Role::Issuer => thread == self.launch.workers,
                    };
                    if let Reg::Pred(n) = *result {
                        let lanes = &mut warp.registers.preds[usize::from(n)];
                        *lanes = *lanes & !(1 << lane) | u32::from(has_it) << lane;
                    }
                }
            }
        }
        Ok(true)
    }

    /// What a thread has done and knows, for others of its block.
    pub(super) fn what_is_told(&self, now: &Now) -> Told {
        let engine = &self.block.engine;
        Told {
            accesses: self.block.order.tell(now, self.block.number),
            phases: engine.known_to(now.thread),
            reads: engine.out.known_to(now),
            products: engine.products.known_to(now),
        }
    }

    /// The fault of a warp that waits for a phase which nobody is left to end.
    pub(super) fn stuck_at_barrier(&self, block: &Block, warp: &Warp) -> Option<FaultKind> {
        let program = self.launch.program;
        let SimStep::Engine(number) = program.steps[warp.watch.at] else { return None };
        let EngineStep::Wait { barrier, .. } = program.engines[number as usize] else { return None };
        let lane = super::memory::first(warp.active)?;
        let (object, offset) = self.barrier(warp, lane, barrier).ok()?;
        let (missing, arrived, announced, phase) = block.engine.standing(object, offset)?;
        let object = program.objects[object].name.clone();
        Some(FaultKind::BarrierStuck { object, index: offset / 8, phase, missing, arrived, announced })
    }

    /// The current block is done.
    pub(super) fn end_block(&mut self) -> Result<(), Box<Fault>> {
        let engine = &self.block.engine;
        let program = self.launch.program;
        let of_store = |to: u32| {
            let object = program.accesses[to as usize].object;
            FaultKind::StoreNeverAwaited { object: program.objects[object].name.clone() }
        };
        let left = engine.left_over().map(|at| self.misuse(at, Misuse::NeverAwaited)).or(engine.out.left_over().map(of_store));
        left.map_or(Ok(()), |kind| Err(self.launch.fault(Location::default(), self.block.place, 0, kind)))
    }

    /// A thread arrives at a barrier of the block of a rank, and announces so many bytes.
    fn arrive_at(&mut self, warp: &Warp, lane: usize, (rank, at): (usize, (usize, u64)), bytes: i64) -> Result<(), FaultKind> {
        self.tell(warp, lane, (rank, at))?;
        let one = self.barrier_at(rank, at)?;
        if one.missing == 0 {
            let counts = one.arrivals;
            return Err(self.misuse(at, Misuse::TooManyArrivals { counts }));
        }
        one.missing -= 1;
        one.bytes += bytes;
        one.announced += bytes;
        self.end_phase(rank, at)
    }

    /// Who waits for the phase learns what a thread has done, and what it knows; of another block's barriers, that is its accesses alone.
    fn tell(&mut self, warp: &Warp, lane: usize, (rank, at): (usize, (usize, u64))) -> Result<(), FaultKind> {
        if self.launch.program.orders {
            let now = self.now(warp, lane, 0);
            let told = if rank == self.block.membership.rank {
                self.what_is_told(&now)
            } else {
                Told { accesses: self.block.order.tell(&now, self.block.number), ..Told::default() }
            };
            self.barrier_at(rank, at)?.told.join(&told);
            // What is done behind is not told.
            self.next_tick()?;
        }
        Ok(())
    }

    fn init_barriers(&mut self, object: usize, arrivals: u32, thread: u32) -> Result<(), FaultKind> {
        let bytes = self.launch.sizes[object];
        let threads = self.block.engine.threads as usize;
        for offset in (0..bytes).step_by(8) {
            let new = Barrier {
                made: (thread, self.tick),
                phase: 0,
                arrivals,
                missing: arrivals,
                bytes: 0,
                announced: 0,
                seen: Vec::new(),
                known: vec![0; threads],
                last_copy: None,
                told: Told::default(),
                over: Told::default(),
            };
            if self.block.engine.barriers.insert((object, offset), new).is_some() {
                return Err(self.misuse((object, offset), Misuse::MadeAgain));
            }
        }
        self.version += 1;
        Ok(())
    }

    /// Which barrier an access is to.
    fn barrier(&self, warp: &Warp, lane: usize, number: u32) -> Result<(usize, u64), LaneFault> {
        let program = self.launch.program;
        let access = &program.accesses[number as usize];
        let request = Request { number, access, info: &program.objects[access.object], mask: 1 << lane };
        Ok((access.object, self.resolve(&warp.registers, &request)?[lane]))
    }

    /// The same, of a barrier of this block that is used: whoever uses it has met the thread that made it.
    fn made_barrier(&self, warp: &Warp, lane: usize, number: u32) -> Result<(usize, u64), LaneFault> {
        let at = self.barrier(warp, lane, number)?;
        let now = self.now(warp, lane, 0);
        let may_be_none = |(thread, tick): (u32, u32)| thread != now.thread && tick >= now.interval_start;
        match self.block.engine.barriers.get(&at) {
            Some(one) if may_be_none(one.made) => Err(LaneFault { lane, kind: self.misuse(at, Misuse::NotMet) }),
            _ => Ok(at),
        }
    }

    fn barrier_at(&mut self, rank: usize, at: (usize, u64)) -> Result<&mut Barrier, FaultKind> {
        let unknown = self.misuse(at, Misuse::NotMade);
        self.peer_mut(rank).engine.barriers.get_mut(&at).ok_or(unknown)
    }

    /// The fault of a barrier that is used wrongly.
    pub(super) fn misuse(&self, (object, offset): (usize, u64), misuse: Misuse) -> FaultKind {
        FaultKind::BarrierMisused { object: self.launch.program.objects[object].name.clone(), index: offset / 8, misuse }
    }

    fn end_phase(&mut self, rank: usize, at: (usize, u64)) -> Result<(), FaultKind> {
        let one = self.barrier_at(rank, at)?;
        let is_too_much = one.missing == 0 && one.bytes < 0;
        one.turn();
        if is_too_much {
            return Err(self.misuse(at, Misuse::TooManyBytes));
        }
        self.version += 1;
        Ok(())
    }

    fn copy_bytes(&mut self, warp: &Warp, lane: usize, [to, from]: [u32; 2], bytes: u64, barrier: u32) -> Result<(), LaneFault> {
        let fault = |kind: FaultKind| LaneFault { lane, kind };
        let at = self.made_barrier(warp, lane, barrier)?;
        let program = self.launch.program;
        let of = |number: u32| {
            let access: &Access = &program.accesses[number as usize];
            Request { number, access, info: &program.objects[access.object], mask: 1 << lane }
        };
        let (target, source) = (of(to), of(from));
        let (first, first_read) = (self.resolve(&warp.registers, &target)?[lane], self.resolve(&warp.registers, &source)?[lane]);
        if !first_read.is_multiple_of(VECTOR_BYTES as u64) {
            let (object, width) = (source.info.name.clone(), VECTOR_BYTES as u64);
            return Err(fault(FaultKind::Misaligned { object, offset: first_read, width }));
        }
        self.count_copied(from, first_read, bytes);
        let (own, granule) = (self.block.membership.rank, u64::from(target.access.ty.bytes()));
        let phase = self.barrier_at(own, at).map_err(fault)?.phase;
        let flight = Flight { barrier: at, phase, thread: warp.first_thread + lane as u32, site: to };
        for n in (0..bytes).step_by(granule as usize) {
            self.check(warp, &source, &[first_read + n; LANES])?;
            let bits = self.launch.views[source.access.object].read(first_read + n, granule as u32);
            self.arrive(warp, &target, lane, first + n, bits, flight)?;
        }
        self.tell(warp, lane, (own, at)).map_err(fault)?;
        self.count_in_phase(own, at, flight.phase, bytes).map_err(fault)
    }

    fn copy_tile(
        &mut self,
        warp: &Warp,
        lane: usize,
        [to, from]: [u32; 2],
        ([rows, columns], swizzle, share): ([u64; 2], Option<Swizzle>, Option<SharedPart>),
        (matrix, first): (CopiedMatrix, [Reg; 2]),
        barrier: u32,
    ) -> Result<(), LaneFault> {
        let fault = |kind: FaultKind| LaneFault { lane, kind };
        let at = self.made_barrier(warp, lane, barrier)?;
        let program = self.launch.program;
        let of = |number: u32| {
            let access: &Access = &program.accesses[number as usize];
            Request { number, access, info: &program.objects[access.object], mask: 1 << lane }
        };
        let (target, source) = (of(to), of(from));
        let place = self.resolve(&warp.registers, &target)?[lane];
        let matrix = matrix.of_lane(&warp.registers, lane);
        let [row, column] = first.map(|reg| warp.registers.lane(reg, lane));
        let element = u64::from(target.access.ty.bytes());
        // The engine permutes by addresses.
        let base = target.info.base;
        let lies_at = |offset: u64| swizzle.map_or(offset, |swizzle| swizzle.of_address(base + offset) - base);
        let (name, length) = (&source.info.name, self.launch.lengths[source.access.object]);
        if let Some(unaligned) = matrix.unaligned(element) {
            return Err(fault(FaultKind::TensorPitch { object: name.clone(), pitch: unaligned, bytes: unaligned * element }));
        }
        if !(column * element).is_multiple_of(VECTOR_BYTES as u64) {
            return Err(fault(FaultKind::TensorColumn { object: name.clone(), column, bytes: column * element }));
        }
        let (part, blocks) = self.share_of(&warp.registers, lane, share, rows);
        let mut flights = Vec::new();
        for rank in blocks {
            self.check_block(target.access.object, AccessKind::Write, rank).map_err(fault)?;
            let phase = self.barrier_at(rank, at).map_err(fault)?.phase;
            flights.push((rank, Flight { barrier: at, phase, thread: warp.first_thread + lane as u32, site: to }));
        }
        let copied = (part.end - part.start) * columns * element;
        for r in part {
            // What is there of the row, in one piece.
            let (start, there) = matrix.run(row + r, column, columns);
            if there > 0 {
                if start.checked_add(there).is_none_or(|end| end > length) {
                    let kind = FaultKind::OutOfBounds { object: name.clone(), index: i128::from(start), length, width: there as u32 };
                    return Err(fault(kind));
                }
                self.count_copied(from, start * element, there * element);
            }
            for c in 0..columns {
                let mut bits = 0;
                if c < there {
                    let offset = (start + c) * element;
                    self.check(warp, &source, &[offset; LANES])?;
                    bits = self.launch.views[source.access.object].read(offset, element as u32);
                }
                let to = lies_at(place + (r * columns + c) * element);
                for (rank, flight) in &flights {
                    if *rank == self.block.membership.rank {
                        self.arrive(warp, &target, lane, to, bits, *flight)?;
                    } else {
                        self.arrive_at_peer(warp, &target, lane, (*rank, to), bits, *flight)?;
                    }
                }
            }
        }
        for (rank, flight) in flights {
            self.tell(warp, lane, (rank, at)).map_err(fault)?;
            self.count_in_phase(rank, at, flight.phase, copied).map_err(fault)?;
        }
        Ok(())
    }

    /// Counts a piece of global memory that the engine reads.
    pub(super) fn count_copied(&mut self, access: u32, offset: u64, bytes: u64) {
        let traffic = &mut self.tallies.traffic[access as usize];
        traffic.sectors += (offset + bytes - 1) / SECTOR - offset / SECTOR + 1;
        traffic.bytes += bytes;
        traffic.requests += 1;
        traffic.lanes += 1;
    }

    /// A scalar arrives in shared memory; nobody may touch it before the flight's phase is over.
    fn arrive(&mut self, warp: &Warp, target: &Request<'_>, lane: usize, offset: u64, bits: u64, flight: Flight) -> Result<(), LaneFault> {
        let (object, size) = (target.access.object, target.access.ty.bytes());
        self.check(warp, target, &[offset; LANES])?;
        if self.launch.program.orders {
            self.block.cells[object].settle(offset, size);
        } else {
            self.shadows[object].settle(offset, size);
        }
        let granule = target.info.granule.max(1);
        self.check_fence(target, offset, AccessKind::Write).map_err(|kind| LaneFault { lane, kind })?;
        for offset in (offset..offset + u64::from(size)).step_by(granule as usize) {
            self.block.engine.fly(object, offset, flight);
        }
        super::memory::store(&mut self.block.shared, (target.info.base + offset) as usize, size, bits);
        Ok(())
    }

    /// Counts bytes that arrive in a phase.
    fn count_in_phase(&mut self, rank: usize, at: (usize, u64), phase: u32, bytes: u64) -> Result<(), FaultKind> {
        let one = self.barrier_at(rank, at)?;
        one.last_copy = Some(phase);
        one.bytes -= bytes as i64;
        self.end_phase(rank, at)
    }
}

/// The scalar of so many bytes.
pub(super) fn scalar_of_bytes(bytes: u64) -> Type {
    match bytes {
        1 => Type::U8,
        2 => Type::U16,
        4 => Type::U32,
        _ => Type::U64,
    }
}
