//! Copies on their way: stores to rings (`Kernel::rings`), which may arrive at any time between the store and the wait that covers it.
//!
//! Whatever a program does with such an element before is a fault, so that it does not matter when copies arrive: early and late give the same. The
//! value is therefore there at once. Per granule there is a word: which thread's copy wrote it last, in which of its groups, by which access. Per
//! thread there are the groups that it has committed and those that it has waited for. A wait shows the copies to the thread itself; others see them
//! behind a barrier, or a `sync_warp`, that comes after the wait.

use super::shadow::Now;
use warpwright_codegen::ir::intrinsic::CopyStep;
use warpwright_codegen::target::limits::WARP;

/// Waits of a thread whose time is kept; what was waited for longer ago is long visible.
const KEPT: usize = 64;

const THREAD_SHIFT: u32 = 22;
const SITE_MASK: u64 = (1 << 22) - 1;

/// An element whose copy is not there yet for who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InFlight {
    /// The thread that copies.
    pub(super) thread: u32,
    /// Number of its access in the program.
    pub(super) site: u32,
    /// Whether that thread has waited, and no barrier has told others since.
    pub(super) is_awaited: bool,
}

/// The groups of a thread.
#[derive(Clone, Copy, Debug)]
struct Groups {
    committed: u32,
    /// Those before have arrived.
    arrived: u32,
    /// By group, modulo the length: the tick of the wait.
    ticks: [u32; KEPT],
}

impl Default for Groups {
    fn default() -> Groups {
        Groups { committed: 0, arrived: 0, ticks: [0; KEPT] }
    }
}

/// The copies of a block.
#[derive(Debug, Default)]
pub(super) struct Flights {
    /// By object and granule; empty for what is no ring.
    words: Vec<Vec<u64>>,
    shifts: Vec<u32>,
    threads: Vec<Groups>,
}

impl Flights {
    /// Of objects with so many bytes, in granules of so many: none for what is no ring.
    pub(super) fn new(rings: impl Iterator<Item = Option<(u64, u64)>>, threads: u32) -> Flights {
        let (words, shifts): (Vec<_>, Vec<_>) = rings
            .map(|ring| {
                ring.map_or((Vec::new(), 0), |(bytes, granule)| (vec![0; (bytes / granule.max(1)) as usize], granule.trailing_zeros()))
            })
            .unzip();
        let count = if words.iter().all(Vec::is_empty) { 0 } else { threads };
        Flights { words, shifts, threads: vec![Groups::default(); count as usize] }
    }

    /// A block begins.
    pub(super) fn clear(&mut self) {
        self.words.iter_mut().for_each(|words| words.fill(0));
        self.threads.fill(Groups::default());
    }

    /// What a thread does about its groups.
    pub(super) fn step(&mut self, thread: u32, step: CopyStep, groups: u32, tick: u32) {
        let Some(of) = self.threads.get_mut(thread as usize) else { return };
        match step {
            CopyStep::Commit => of.committed += 1,
            CopyStep::Await => {
                let arrived = of.committed.saturating_sub(groups).max(of.arrived);
                for group in of.arrived..arrived {
                    of.ticks[group as usize % KEPT] = tick;
                }
                of.arrived = arrived;
            }
        }
    }

    /// Notes a copy to `size` bytes at `offset`.
    pub(super) fn copy(&mut self, object: usize, offset: u64, size: u32, thread: u32, site: u32) {
        let group = self.threads.get(thread as usize).map_or(0, |of| of.committed);
        let word = u64::from(group) << 32 | u64::from(thread) << THREAD_SHIFT | (u64::from(site) + 1).min(SITE_MASK);
        let (first, count) = self.range(object, offset, size);
        self.words[object].iter_mut().skip(first).take(count).for_each(|at| *at = word);
    }

    /// A copy to these bytes that has not arrived for who looks now.
    pub(super) fn find(&self, object: usize, offset: u64, size: u32, now: &Now) -> Option<InFlight> {
        let (first, count) = self.range(object, offset, size);
        self.words[object].iter().skip(first).take(count).find_map(|word| {
            let (group, thread, site) = ((word >> 32) as u32, (word >> THREAD_SHIFT) as u32 & 0x3ff, word & SITE_MASK);
            let of = self.threads.get(thread as usize).filter(|_| site != 0)?;
            let is_awaited = group < of.arrived;
            let since = if thread / WARP == now.thread / WARP { now.warp_start.max(now.interval_start) } else { now.interval_start };
            let is_recent = of.arrived.saturating_sub(group) as usize <= KEPT && of.ticks[group as usize % KEPT] >= since;
            let is_there = is_awaited && (thread == now.thread || !is_recent);
            (!is_there).then_some(InFlight { thread, site: site as u32 - 1, is_awaited })
        })
    }

    fn range(&self, object: usize, offset: u64, size: u32) -> (usize, usize) {
        let shift = self.shifts[object];
        ((offset >> shift) as usize, (size >> shift).max(1) as usize)
    }
}
