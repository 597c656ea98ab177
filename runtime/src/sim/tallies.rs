//! What a machine counts while it runs; [`super::counters`] is made of it.

use super::program::Program;

/// What an access cost, in sum.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Traffic {
    pub(super) requests: u64,
    pub(super) lanes: u64,
    pub(super) sectors: u64,
    pub(super) bytes: u64,
    pub(super) passes: u64,
    pub(super) replays: u64,
}

/// What a machine has counted, by number in the program.
#[derive(Clone, Debug)]
pub(super) struct Tallies {
    /// Warps and threads that ran each segment.
    pub(super) segments: Vec<(u64, u64)>,
    /// By access.
    pub(super) traffic: Vec<Traffic>,
    /// How often each branch split a warp.
    pub(super) divergent: Vec<u64>,
    /// How often a block passed each barrier.
    pub(super) barriers: Vec<u64>,
    /// Blocks that ran.
    pub(super) blocks: u64,
}

impl Tallies {
    pub(super) fn new(program: &Program) -> Tallies {
        Tallies {
            segments: vec![(0, 0); program.segments.len()],
            traffic: vec![Traffic::default(); program.accesses.len()],
            divergent: vec![0; program.branches.len()],
            barriers: vec![0; program.barriers.len()],
            blocks: 0,
        }
    }

    /// Adds another machine's.
    pub(super) fn add(&mut self, other: &Tallies) {
        for (a, b) in self.segments.iter_mut().zip(&other.segments) {
            *a = (a.0 + b.0, a.1 + b.1);
        }
        for (a, b) in self.traffic.iter_mut().zip(&other.traffic) {
            a.requests += b.requests;
            a.lanes += b.lanes;
            a.sectors += b.sectors;
            a.bytes += b.bytes;
            a.passes += b.passes;
            a.replays += b.replays;
        }
        self.divergent.iter_mut().zip(&other.divergent).for_each(|(a, b)| *a += b);
        self.barriers.iter_mut().zip(&other.barriers).for_each(|(a, b)| *a += b);
        self.blocks += other.blocks;
    }
}
