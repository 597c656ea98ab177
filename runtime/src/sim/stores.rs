//! Tiles that the copy engine stores: one thread asks for them, makes groups of them, and waits for groups to have read, or to be done.
//!
//! The engine reads as late as it may: at the wait that covers the store's group; and it writes as late as it may: at the wait for what is done. Who writes an
//! element of the array before is at fault, so that it does not matter when it is read. A thread that waited may write it, others behind a barrier of the
//! block that came after such a wait, or behind a wait for a barrier of the engine at which somebody arrived who knew. What threads wrote the engine sees if they have passed an engine fence since. A block does not end before its stores are done.

use super::copied_matrix::CopiedMatrix;
use super::machine::{LaneFault, Machine};
use super::memory::{Request, load};
use super::registers::Reg;
use super::shadow::Now;
use super::warp::Warp;
use super::{AccessKind, FaultKind};
use std::collections::HashMap;
use warpwright_codegen::ir::{StoreStage, Swizzle};
use warpwright_codegen::target::limits::{LANES, VECTOR_BYTES};

/// A store of a tile; accesses by their numbers in the program.
#[derive(Clone, Debug)]
pub(super) struct TileStore {
    /// An element's access that reads the first place.
    pub(super) from: u32,
    /// An access of an element of the matrix; where is computed here.
    pub(super) to: u32,
    /// Rows and columns.
    pub(super) tile: [u64; 2],
    /// How it lies in shared memory.
    pub(super) swizzle: Option<Swizzle>,
    /// The matrix.
    pub(super) matrix: CopiedMatrix,
    /// Row and column of the first element.
    pub(super) at: [Reg; 2],
}

/// A store that is not done.
#[derive(Debug)]
struct Pending {
    /// Its number among the block's.
    number: u64,
    thread: u32,
    /// The number of its group among the thread's.
    group: u32,
    /// The array.
    from: usize,
    /// The access that writes the buffer.
    to: u32,
    /// Bytes of an element.
    size: u32,
    /// By element: where in the array, and where in the buffer.
    places: Vec<[u64; 2]>,
    /// The granules of the array.
    granules: Vec<u64>,
    /// What was read.
    bits: Option<Vec<u64>>,
}

/// A granule that a store reads.
#[derive(Clone, Copy, Debug)]
struct Source {
    number: u64,
    thread: u32,
    site: u32,
    /// The tick of the wait, if there was one.
    read_at: Option<u32>,
}

/// What a store may still read.
pub(super) struct InFlight {
    pub(super) thread: u32,
    pub(super) site: u32,
    /// Whether somebody has waited for it, and no barrier of the block has told others since.
    pub(super) is_awaited: bool,
}

/// The stores of a block.
#[derive(Debug, Default)]
pub(super) struct Stores {
    pending: Vec<Pending>,
    asked: u64,
    /// By thread.
    committed: HashMap<u32, u32>,
    /// By array and granule's offset.
    sources: HashMap<(usize, u64), Source>,
    /// By thread: the last of its stores that a wait was for, and the tick of that, wait after wait.
    read: HashMap<u32, Vec<(u64, u32)>>,
    /// By thread: what it has learnt at barriers of the engine.
    learnt: HashMap<u32, KnownReads>,
}

/// By thread: its last store that has read the array, as far as somebody knows. Those before have, too.
pub(super) type KnownReads = HashMap<u32, u64>;

impl Stores {
    /// A store that may still read this granule, for who writes it now.
    pub(super) fn find(&mut self, object: usize, offset: u64, now: &Now) -> Option<InFlight> {
        let source = self.sources.get(&(object, offset))?;
        let learnt = self.learnt.get(&now.thread).and_then(|known| known.get(&source.thread));
        let is_learnt = learnt.is_some_and(|last| source.number <= *last);
        if is_learnt || source.read_at.is_some_and(|tick| tick < now.interval_start || source.thread == now.thread) {
            self.sources.remove(&(object, offset));
            return None;
        }
        Some(InFlight { thread: source.thread, site: source.site, is_awaited: source.read_at.is_some() })
    }

    /// A store of the block that has not read this granule, for who writes there from another block.
    pub(super) fn unread(&self, object: usize, offset: u64) -> Option<InFlight> {
        let source = self.sources.get(&(object, offset)).filter(|source| source.read_at.is_none())?;
        Some(InFlight { thread: source.thread, site: source.site, is_awaited: false })
    }

    /// What a thread knows to be read.
    pub(super) fn known_to(&self, now: &Now) -> KnownReads {
        let mut known = self.learnt.get(&now.thread).cloned().unwrap_or_default();
        for (thread, waits) in &self.read {
            let is_known = |(_, tick): &&(u64, u32)| *thread == now.thread || *tick < now.interval_start;
            if let Some((number, _)) = waits.iter().rfind(is_known) {
                let last = known.entry(*thread).or_default();
                *last = (*last).max(*number);
            }
        }
        known
    }

    /// A thread learns what is read.
    pub(super) fn learn(&mut self, thread: u32, reads: &KnownReads) {
        if !reads.is_empty() {
            join(self.learnt.entry(thread).or_default(), reads);
        }
    }

    /// Makes a group of a thread's stores.
    pub(super) fn commit(&mut self, thread: u32) {
        *self.committed.entry(thread).or_default() += 1;
    }

    /// The access of a store that is not done.
    pub(super) fn left_over(&self) -> Option<u32> {
        self.pending.first().map(|one| one.to)
    }
}

/// Adds what others know.
pub(super) fn join(known: &mut KnownReads, other: &KnownReads) {
    for (thread, number) in other {
        let last = known.entry(*thread).or_default();
        *last = (*last).max(*number);
    }
}

impl Machine<'_> {
    pub(super) fn store_tile(&mut self, warp: &Warp, lane: usize, step: &TileStore) -> Result<(), LaneFault> {
        let fault = |kind: FaultKind| LaneFault { lane, kind };
        let program = self.launch.program;
        let of = |number: u32| {
            let access = &program.accesses[number as usize];
            Request { number, access, info: &program.objects[access.object], mask: 1 << lane }
        };
        let (source, target) = (of(step.from), of(step.to));
        let place = self.resolve(&warp.registers, &source)?[lane];
        let matrix = step.matrix.of_lane(&warp.registers, lane);
        let [row, column] = step.at.map(|reg| warp.registers.lane(reg, lane));
        let ([rows, columns], element) = (step.tile, u64::from(source.access.ty.bytes()));
        let (name, length) = (&target.info.name, self.launch.lengths[target.access.object]);
        if let Some(unaligned) = matrix.unaligned(element) {
            return Err(fault(FaultKind::TensorPitch { object: name.clone(), pitch: unaligned, bytes: unaligned * element }));
        }
        if !(column * element).is_multiple_of(VECTOR_BYTES as u64) {
            return Err(fault(FaultKind::TensorColumn { object: name.clone(), column, bytes: column * element }));
        }
        let (thread, base, granule) = (warp.first_thread + lane as u32, source.info.base, source.info.granule.max(1));
        // The engine permutes by addresses.
        let lies_at = |offset: u64| step.swizzle.map_or(offset, |swizzle| swizzle.of_address(base + offset) - base);
        let (mut places, mut granules) = (Vec::new(), Vec::new());
        for r in 0..rows {
            let (start, there) = matrix.run(row + r, column, columns);
            if there > 0 {
                if start.checked_add(there).is_none_or(|end| end > length) {
                    let kind = FaultKind::OutOfBounds { object: name.clone(), index: i128::from(start), length, width: there as u32 };
                    return Err(fault(kind));
                }
                self.count_copied(step.to, start * element, there * element);
            }
            for c in 0..columns {
                let at = lies_at(place + (r * columns + c) * element);
                granules.extend((at..at + element).step_by(granule as usize));
                if c < there {
                    let to = (start + c) * element;
                    self.check(warp, &source, &[at; LANES])?;
                    self.check_fence(&source, at, AccessKind::Read).map_err(fault)?;
                    self.check(warp, &target, &[to; LANES])?;
                    places.push([at, to]);
                }
            }
        }
        let from = source.access.object;
        let out = &mut self.block.engine.out;
        out.asked += 1;
        let (number, group) = (out.asked, out.committed.get(&thread).copied().unwrap_or(0));
        let reads = Source { number, thread, site: step.from, read_at: None };
        out.sources.extend(granules.iter().map(|at| ((from, *at), reads)));
        out.pending.push(Pending { number, thread, group, from, to: step.to, size: element as u32, places, granules, bits: None });
        Ok(())
    }

    /// A thread waits for its groups of stores but the last ones.
    pub(super) fn await_stores(&mut self, warp: &Warp, lane: usize, but: u32, until: StoreStage) -> Result<(), LaneFault> {
        let thread = warp.first_thread + lane as u32;
        let program = self.launch.program;
        let out = &mut self.block.engine.out;
        let covered = out.committed.get(&thread).copied().unwrap_or(0).saturating_sub(but);
        for mut one in std::mem::take(&mut out.pending) {
            if one.thread != thread || one.group >= covered {
                self.block.engine.out.pending.push(one);
                continue;
            }
            let from = one.from;
            if one.bits.is_none() {
                let base = program.objects[from].base;
                one.bits = Some(one.places.iter().map(|[at, _]| load(&self.block.shared, (base + at) as usize, one.size)).collect());
                for at in &one.granules {
                    if let Some(source) = self.block.engine.out.sources.get_mut(&(from, *at))
                        && source.number == one.number
                    {
                        source.read_at = Some(self.tick);
                    }
                }
                self.block.engine.out.read.entry(thread).or_default().push((one.number, self.tick));
            }
            // With the block's end its stores are done.
            if until != StoreStage::Read {
                let access = &program.accesses[one.to as usize];
                let target = Request { number: one.to, access, info: &program.objects[access.object], mask: 1 << lane };
                for ([_, at], bits) in one.places.iter().zip(one.bits.iter().flatten()) {
                    self.check(warp, &target, &[*at; LANES])?;
                    self.launch.views[access.object].write(*at, one.size, *bits);
                }
                self.version += 1;
            } else {
                self.block.engine.out.pending.push(one);
            }
        }
        Ok(())
    }

    /// Faults where the engine touches what a thread has written without a fence since.
    pub(super) fn check_fence(&self, request: &Request<'_>, offset: u64, access: AccessKind) -> Result<(), FaultKind> {
        let (object, granule, engine) = (request.access.object, request.info.granule.max(1), &self.block.engine);
        for offset in (offset..offset + u64::from(request.access.ty.bytes())).step_by(granule as usize) {
            let Some(writer) = engine.unfenced(object, offset) else { continue };
            let (index, length) = (offset / granule, self.launch.sizes[object] / granule);
            let writer = super::launch::thread_position(writer, self.launch.block);
            return Err(FaultKind::MissingEngineFence { object: request.info.name.clone(), index, length, writer, access });
        }
        Ok(())
    }
}
