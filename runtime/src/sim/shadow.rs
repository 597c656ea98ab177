//! Shadow memory: who accessed what, and when. Finds races and reads of what nobody wrote.
//!
//! Time is a count of ticks that grows at the start of each block, at each barrier and at each `sync_warp`. Per granule (the object's
//! smallest scalar) shadow memory keeps two words: the last modification and the last read, each with tick, thread, and flags for "and
//! others too". As nothing is reported but the first race, that is enough to find every one: as long as there was none, plain writes of a
//! granule come from one block and, in one interval, from one thread, so the last stands for all.
//!
//! Two accesses are ordered if they are by one thread, or in one block with a barrier between them, or in one warp with a `sync_warp`
//! between them; an access of a collective is by no thread in particular, so barriers alone order it. Two that are not race unless both read or both are atomic. Blocks are never ordered: kernels whose fences and atomics might do that
//! have [`super::cells`] instead. Writing the value that is there already is a race too.

use super::AccessKind;
use warpwright_codegen::target::limits::WARP;

/// One word: tick 32, thread 10, spread 2, flags 3, site 17 bits, from the top.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Entry(u64);

const THREAD_SHIFT: u32 = 22;
const SPREAD_SHIFT: u32 = 20;
const BLOCKS: u64 = 1 << 19;
const PLAIN_IN_INTERVAL: u64 = 1 << 18;
const PLAIN_IN_BLOCK: u64 = 1 << 17;
const SITE_MASK: u64 = (1 << 17) - 1;

/// How many threads an entry stands for, within its interval.
const ONE: u64 = 0;
const LANES: u64 = 1;
const WARPS: u64 = 2;
/// It is the copy engine's, whose barriers order it: [`super::engine`] knows.
const ENGINE: u64 = 3;

impl Entry {
    fn new(now: &Now, spread: u64, flags: u64) -> Entry {
        let site = u64::from(now.site).min(SITE_MASK);
        // Any thread might have been the one.
        let spread = if now.is_of_block { WARPS } else { spread };
        Entry(u64::from(now.tick) << 32 | u64::from(now.thread) << THREAD_SHIFT | spread << SPREAD_SHIFT | flags | site)
    }

    fn tick(self) -> u32 {
        (self.0 >> 32) as u32
    }

    fn thread(self) -> u32 {
        (self.0 >> THREAD_SHIFT) as u32 & 0x3ff
    }

    fn spread(self) -> u64 {
        self.0 >> SPREAD_SHIFT & 3
    }

    fn has(self, flag: u64) -> bool {
        self.0 & flag != 0
    }

    fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether some access of the entry was by another block.
    fn is_foreign(self, now: &Now) -> bool {
        self.has(BLOCKS) || self.tick() < now.block_start
    }

    /// Whether some access that the entry stands for is not ordered with one by `now`.
    #[inline]
    fn is_concurrent(self, now: &Now) -> bool {
        if self.is_empty() {
            return false;
        }
        if self.is_foreign(now) {
            return true;
        }
        if self.tick() < now.interval_start || self.spread() == ENGINE {
            return false;
        }
        if now.is_of_block {
            return true;
        }
        let is_same_warp = self.thread() / WARP == now.thread / WARP;
        match self.spread() {
            ONE if self.thread() == now.thread => false,
            ONE | LANES if is_same_warp => self.tick() >= now.warp_start,
            _ => true,
        }
    }

    /// The entry with one more access of its kind.
    #[inline]
    fn with(self, now: &Now, flags: u64) -> Entry {
        if self.is_empty() {
            return Entry::new(now, ONE, flags);
        }
        if self.is_foreign(now) {
            return Entry::new(now, ONE, flags | BLOCKS);
        }
        let kept = flags | self.0 & PLAIN_IN_BLOCK;
        if self.tick() < now.interval_start {
            return Entry::new(now, ONE, kept);
        }
        let kept = kept | self.0 & PLAIN_IN_INTERVAL;
        let is_same_warp = self.thread() / WARP == now.thread / WARP;
        let spread = match self.spread() {
            ENGINE => ONE,
            ONE if self.thread() == now.thread => ONE,
            ONE | LANES if is_same_warp && self.tick() < now.warp_start => ONE,
            ONE | LANES if is_same_warp => LANES,
            _ => WARPS,
        };
        Entry::new(now, spread, kept)
    }
}

/// Who accesses, and when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Now {
    /// The current tick, from 1.
    pub(super) tick: u32,
    /// The tick at which the block began.
    pub(super) block_start: u32,
    /// The tick of the block's last barrier, or its begin.
    pub(super) interval_start: u32,
    /// The tick of the warp's last `sync_warp`, barrier or begin.
    pub(super) warp_start: u32,
    /// Thread of the block, 0 to 1023.
    pub(super) thread: u32,
    /// Number of the access in the program, plus 1.
    pub(super) site: u32,
    /// Whether it is part of a collective, of which any thread might have made it: only barriers order it.
    pub(super) is_of_block: bool,
}

/// An access that is not ordered with an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clash {
    /// What the earlier one did.
    pub(super) other: AccessKind,
    /// Its thread, if it is the only one.
    pub(super) thread: Option<u32>,
    /// The number of the access in the program.
    pub(super) site: Option<u32>,
    /// Whether it was in another block.
    pub(super) across_blocks: bool,
}

/// Granules of a page: the unit in which workers compare what they touched.
const PAGE: usize = 4096;

/// The shadow of one object.
#[derive(Debug, Default)]
pub(super) struct Shadow {
    /// Modification and read of each granule.
    entries: Vec<[u64; 2]>,
    touched: Vec<bool>,
    shift: u32,
}

impl Shadow {
    /// Of an object of `bytes` bytes in granules of `granule`, nothing accessed.
    pub(super) fn new(bytes: u64, granule: u64) -> Shadow {
        let shift = granule.trailing_zeros();
        let count = (bytes >> shift) as usize;
        // Zeroed by the system page by page, when first touched.
        Shadow { entries: vec![[0; 2]; count], touched: vec![false; count / PAGE + 1], shift }
    }

    /// Notes an access to `size` bytes at `offset`.
    #[inline]
    pub(super) fn access(&mut self, offset: u64, size: u32, kind: AccessKind, now: &Now) -> Result<(), Clash> {
        let first = (offset >> self.shift) as usize;
        let count = (size >> self.shift).max(1) as usize;
        self.touched[first / PAGE] = true;
        for entry in self.entries.iter_mut().skip(first).take(count) {
            access_entry(entry, kind, now)?;
        }
        Ok(())
    }

    /// What was just written to `size` bytes at `offset` was written by the copy engine.
    pub(super) fn settle(&mut self, offset: u64, size: u32) {
        let first = (offset >> self.shift) as usize;
        let count = (size >> self.shift).max(1) as usize;
        self.entries.iter_mut().skip(first).take(count).for_each(|[modified, _]| *modified |= ENGINE << SPREAD_SHIFT);
    }

    /// Whether all of `size` bytes at `offset` were modified since the block began.
    pub(super) fn is_initialised(&self, offset: u64, size: u32, block_start: u32) -> bool {
        let first = (offset >> self.shift) as usize;
        let count = (size >> self.shift).max(1) as usize;
        self.entries.iter().skip(first).take(count).all(|[m, _]| Entry(*m).tick() >= block_start)
    }

    /// Whether the accesses of another worker, to the same object in other blocks, race with these.
    pub(super) fn races_with(&self, other: &Shadow) -> bool {
        let pages = self.touched.iter().zip(&other.touched).enumerate().filter(|(_, (a, b))| **a && **b);
        for (page, _) in pages {
            let range = page * PAGE..((page + 1) * PAGE).min(self.entries.len());
            for (a, b) in self.entries[range.clone()].iter().zip(&other.entries[range]) {
                if entries_race(*a, *b) || entries_race(*b, *a) {
                    return true;
                }
            }
        }
        false
    }
}

/// Whether modifications of `a` race with accesses of `b`, known to be of other blocks.
fn entries_race(a: [u64; 2], b: [u64; 2]) -> bool {
    let (modified, other_modified, other_read) = (Entry(a[0]), Entry(b[0]), Entry(b[1]));
    let is_touched = !other_modified.is_empty() || !other_read.is_empty();
    modified.has(PLAIN_IN_BLOCK) && is_touched || !modified.is_empty() && !other_read.is_empty()
}

#[inline]
fn access_entry(entry: &mut [u64; 2], kind: AccessKind, now: &Now) -> Result<(), Clash> {
    let (modified, read) = (Entry(entry[0]), Entry(entry[1]));
    let modified_by = || if modified.has(PLAIN_IN_BLOCK) { AccessKind::Write } else { AccessKind::Atomic };
    match kind {
        AccessKind::Read => {
            if modified.is_concurrent(now) {
                return Err(clash(modified, modified_by(), now));
            }
            entry[1] = read.with(now, 0).0;
        }
        AccessKind::Write => {
            if modified.is_concurrent(now) {
                return Err(clash(modified, modified_by(), now));
            }
            if read.is_concurrent(now) {
                return Err(clash(read, AccessKind::Read, now));
            }
            entry[0] = Entry::new(now, ONE, PLAIN_IN_INTERVAL | PLAIN_IN_BLOCK).0;
        }
        // Kernels with atomics that only read have the shadow of `cells`.
        AccessKind::Atomic | AccessKind::AtomicRead => {
            let is_plain = if modified.is_foreign(now) { modified.has(PLAIN_IN_BLOCK) } else { modified.has(PLAIN_IN_INTERVAL) };
            if is_plain && modified.is_concurrent(now) {
                return Err(clash(modified, AccessKind::Write, now));
            }
            if read.is_concurrent(now) {
                return Err(clash(read, AccessKind::Read, now));
            }
            entry[0] = modified.with(now, 0).0;
        }
    }
    Ok(())
}

#[cold]
fn clash(entry: Entry, other: AccessKind, now: &Now) -> Clash {
    let across_blocks = entry.is_foreign(now);
    let site = (entry.0 & SITE_MASK) as u32;
    Clash {
        other,
        thread: (!across_blocks && entry.spread() == ONE).then(|| entry.thread()),
        site: (site != 0 && u64::from(site) != SITE_MASK).then(|| site - 1),
        across_blocks,
    }
}

/// Shared memory's: as [`Shadow::access`], but what other blocks did is forgotten.
impl Shadow {
    /// Notes an access to memory that is new in each block.
    #[inline]
    pub(super) fn access_in_block(&mut self, offset: u64, size: u32, kind: AccessKind, now: &Now) -> Result<(), Clash> {
        let first = (offset >> self.shift) as usize;
        let count = (size >> self.shift).max(1) as usize;
        for entry in self.entries.iter_mut().skip(first).take(count) {
            for word in entry.iter_mut() {
                if Entry(*word).tick() < now.block_start {
                    *word = 0;
                }
            }
            access_entry(entry, kind, now)?;
        }
        Ok(())
    }
}
