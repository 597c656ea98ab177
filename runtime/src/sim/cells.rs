//! Shadow memory of kernels whose threads are ordered by fences and atomics, or whose blocks take turns.
//!
//! For each granule it keeps the last plain write, the last atomic since, and every read since, atomic or not, that is not ordered before a later one.
//! Two atomics of one block, or for the whole device, do not race; where one of them is atomic for its own block only, those of different blocks do. That is
//! enough: as long as there was no race, the last write is after all others; each atomic on an element sees the ones before it, so
//! whoever is ordered after the last is after all. [`super::shadow`] does the same for other kernels with less memory in less time.

use super::AccessKind;
use super::order::Order;
use super::shadow::Now;
use std::collections::BTreeMap;
use warpwright_codegen::target::limits::WARP;

/// Lanes of one warp that accessed a granule by one instruction. Tick 0: none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Epoch {
    pub(super) tick: u32,
    pub(super) block: u32,
    /// Warp 5 bits, site 27 bits.
    place: u32,
    lanes: u32,
}

const SITE_BITS: u32 = 27;

impl Epoch {
    fn new(now: &Now, block: u32) -> Epoch {
        let site = now.site.min((1 << SITE_BITS) - 1);
        Epoch { tick: now.tick, block, place: (now.thread / WARP) << SITE_BITS | site, lanes: 1 << (now.thread % WARP) }
    }

    /// Number of the access in the program, plus 1.
    pub(super) fn site(self) -> u32 {
        self.place & ((1 << SITE_BITS) - 1)
    }

    fn first_thread(self) -> u32 {
        self.place >> SITE_BITS << 5
    }

    /// The threads that it stands for.
    fn threads(self) -> impl Iterator<Item = u32> {
        (0..WARP).filter(move |lane| self.lanes >> lane & 1 == 1).map(move |lane| self.first_thread() + lane)
    }

    /// The first thread that is not ordered before an access by `now`.
    #[inline]
    fn concurrent(self, now: &Now, block: u32, order: &Order) -> Option<u32> {
        if self.tick == 0 {
            return None;
        }
        if self.block == block {
            if self.tick < now.interval_start || self.place >> SITE_BITS == now.thread / WARP && self.tick < now.warp_start {
                return None;
            }
            if self.lanes == 1 << (now.thread % WARP) && self.first_thread() + now.thread % WARP == now.thread {
                return None;
            }
        }
        self.threads().find(|thread| {
            let is_same = self.block == block && *thread == now.thread;
            !is_same && !order.knows(now.thread, self.block, *thread, self.tick)
        })
    }

    /// Takes in one more lane of the same access.
    fn takes(&mut self, other: Epoch) -> bool {
        let is_same = (self.tick, self.block, self.place) == (other.tick, other.block, other.place);
        if is_same {
            self.lanes |= other.lanes;
        }
        is_same
    }
}

/// What few granules need.
#[derive(Clone, Debug, Default)]
struct More {
    atomic: Epoch,
    /// The last that is atomic for its own block only.
    atomic_in_block: Epoch,
    /// Reads but the one in the cell, by block.
    reads: Reads,
    /// Atomic loads.
    atomic_reads: Reads,
    /// Those for their own block only.
    atomic_reads_in_block: Reads,
}

/// By block, those that are not ordered before a later one of the block.
type Reads = BTreeMap<u32, Vec<Epoch>>;

#[derive(Clone, Debug, Default)]
struct Cell {
    write: Epoch,
    read: Epoch,
    more: Option<Box<More>>,
}

/// An access that is not ordered with an earlier one, and whose that was.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unordered {
    pub(super) other: AccessKind,
    pub(super) epoch: Epoch,
    pub(super) thread: u32,
}

/// Granules of a page: what memory is taken for at once.
const PAGE: usize = 256;

/// The shadow of one object.
#[derive(Debug, Default)]
pub(super) struct Cells {
    pages: Vec<Option<Box<[Cell]>>>,
    shift: u32,
}

impl Cells {
    /// Of an object of `bytes` bytes in granules of `granule`, nothing accessed.
    pub(super) fn new(bytes: u64, granule: u64) -> Cells {
        let shift = granule.trailing_zeros();
        Cells { pages: vec![None; (bytes >> shift) as usize / PAGE + 1], shift }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.pages.iter_mut().for_each(|page| *page = None);
    }

    fn granules(&self, offset: u64, size: u32) -> std::ops::Range<usize> {
        let first = (offset >> self.shift) as usize;
        first..first + (size >> self.shift).max(1) as usize
    }

    /// Notes an access to `size` bytes at `offset`.
    pub(super) fn access(
        &mut self,
        offset: u64,
        size: u32,
        (kind, is_for_block): (AccessKind, bool),
        now: &Now,
        block: u32,
        order: &Order,
    ) -> Result<(), Unordered> {
        for granule in self.granules(offset, size) {
            let Some(page) = self.pages.get_mut(granule / PAGE) else { continue };
            let page = page.get_or_insert_with(|| vec![Cell::default(); PAGE].into_boxed_slice());
            page[granule % PAGE].access((kind, is_for_block), now, block, order)?;
        }
        Ok(())
    }

    /// What was just written is the copy engine's: its barriers order it ([`super::engine`]), and no thread has written it.
    pub(super) fn settle(&mut self, offset: u64, size: u32) {
        for granule in self.granules(offset, size) {
            if let Some(Some(page)) = self.pages.get_mut(granule / PAGE) {
                page[granule % PAGE].write.lanes = 0;
            }
        }
    }

    /// Whether all of `size` bytes at `offset` were modified.
    pub(super) fn is_initialised(&self, offset: u64, size: u32) -> bool {
        let is_modified = |cell: &Cell| {
            cell.write.tick != 0 || cell.more.as_ref().is_some_and(|more| more.atomic.tick != 0 || more.atomic_in_block.tick != 0)
        };
        self.granules(offset, size).all(|n| matches!(self.pages.get(n / PAGE), Some(Some(page)) if is_modified(&page[n % PAGE])))
    }
}

impl Cell {
    #[inline]
    fn access(&mut self, (kind, is_for_block): (AccessKind, bool), now: &Now, block: u32, order: &Order) -> Result<(), Unordered> {
        let ordered = |other, epoch: Epoch| match epoch.concurrent(now, block, order) {
            None => Ok(()),
            Some(thread) => Err(Unordered { other, epoch, thread }),
        };
        ordered(AccessKind::Write, self.write)?;
        let is_atomic = matches!(kind, AccessKind::Atomic | AccessKind::AtomicRead);
        let changes = matches!(kind, AccessKind::Write | AccessKind::Atomic);
        if let Some(more) = &self.more {
            // Of two atomics those of other blocks count, where one is not for them.
            let is_foreign = |epoch: &Epoch| !is_atomic || epoch.block != block;
            if !is_atomic || is_for_block {
                ordered(AccessKind::Atomic, if is_foreign(&more.atomic) { more.atomic } else { Epoch::default() })?;
            }
            ordered(AccessKind::Atomic, if is_foreign(&more.atomic_in_block) { more.atomic_in_block } else { Epoch::default() })?;
            if changes {
                let wide = if !is_atomic || is_for_block { Some(&more.atomic_reads) } else { None };
                for epoch in wide.into_iter().chain([&more.atomic_reads_in_block]).flat_map(|reads| reads.values().flatten()) {
                    ordered(AccessKind::AtomicRead, if is_foreign(epoch) { *epoch } else { Epoch::default() })?;
                }
            }
        }
        if changes {
            ordered(AccessKind::Read, self.read)?;
            for epoch in self.more.iter().flat_map(|more| more.reads.values().flatten()) {
                ordered(AccessKind::Read, *epoch)?;
            }
        }
        let epoch = Epoch::new(now, block);
        match (kind, is_for_block) {
            (AccessKind::Write, _) => *self = Cell { write: epoch, ..Cell::default() },
            (AccessKind::Atomic, false) => self.more.get_or_insert_default().atomic = epoch,
            (AccessKind::Atomic, true) => self.more.get_or_insert_default().atomic_in_block = epoch,
            (AccessKind::AtomicRead, false) => note(&mut self.more.get_or_insert_default().atomic_reads, epoch, now, block, order),
            (AccessKind::AtomicRead, true) => note(&mut self.more.get_or_insert_default().atomic_reads_in_block, epoch, now, block, order),
            (AccessKind::Read, _) => self.read_by(epoch, now, block, order),
        }
        Ok(())
    }

    fn read_by(&mut self, epoch: Epoch, now: &Now, block: u32, order: &Order) {
        if self.read.takes(epoch) {
            return;
        }
        if self.read.concurrent(now, block, order).is_none() {
            self.read = epoch;
            return;
        }
        note(&mut self.more.get_or_insert_default().reads, epoch, now, block, order);
    }
}

/// Adds a read to those of its block, without those that it comes after.
fn note(reads: &mut Reads, epoch: Epoch, now: &Now, block: u32, order: &Order) {
    let reads = reads.entry(block).or_default();
    if !reads.last_mut().is_some_and(|last| last.takes(epoch)) {
        reads.retain(|read| read.concurrent(now, block, order).is_some());
        reads.push(epoch);
    }
}
