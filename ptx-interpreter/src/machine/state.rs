//! What there is of a launch while it runs: clusters of blocks, warps, threads.

use super::copies::{EngineCopy, ThreadCopies};
use super::wgmma::Products;
use crate::program::Program;

/// Lanes of a warp.
pub(crate) const LANES: usize = 32;
/// Barriers of a block.
pub(crate) const BARRIERS: usize = 16;

/// Where a thread stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Ready,
    /// At an instruction of its warp.
    AtWarp,
    /// At a barrier of its block.
    AtBarrier,
    /// At something that is looked at again and again: an `mbarrier`, the cluster's barrier.
    Polling,
    Exited,
}

/// A thread.
#[derive(Debug)]
pub(crate) struct Thread {
    pub(crate) pc: u32,
    pub(crate) state: State,
    pub(crate) tid: [u32; 3],
    /// The phase of the cluster's barrier that it has arrived at.
    pub(crate) cluster_phase: Option<u64>,
    /// Its copies that go on, once it has made one.
    pub(crate) copies: Option<Box<ThreadCopies>>,
}

/// A warp: its lanes by what they do, one bit each.
#[derive(Debug, Default)]
pub(crate) struct Warp {
    pub(crate) live: u32,
    pub(crate) ready: u32,
    pub(crate) at_warp: u32,
    pub(crate) polling: u32,
    /// Its products that go on.
    pub(crate) products: Products,
}

/// A barrier of a block.
#[derive(Debug, Default)]
pub(crate) struct Barrier {
    pub(crate) arrived: u32,
    /// How many threads come, if an arrival has said so.
    pub(crate) threads: Option<u32>,
    pub(crate) waiting: Vec<u32>,
    /// How many passed true.
    pub(crate) votes: u32,
}

/// A block.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) ctaid: [u32; 3],
    /// Registers of all threads, one thread behind the other.
    pub(crate) registers: Vec<u64>,
    pub(crate) local: Vec<u8>,
    pub(crate) threads: Vec<Thread>,
    pub(crate) warps: Vec<Warp>,
    pub(crate) barriers: [Barrier; BARRIERS],
    pub(crate) live: u32,
}

/// Blocks that run together: a cluster, or one block.
#[derive(Debug)]
pub(crate) struct Cluster {
    pub(crate) blocks: Vec<Block>,
    /// Shared memory of each.
    pub(crate) shared: Vec<Vec<u8>>,
    /// Copies of the engine that have not arrived.
    pub(crate) engine: Vec<EngineCopy>,
    /// Threads that have neither arrived at the cluster's barrier nor exited.
    pub(crate) to_arrive: u32,
    pub(crate) phase: u64,
    pub(crate) live: u32,
}

/// What a new block is made of.
pub(crate) struct BlockShape<'p> {
    pub(crate) program: &'p Program,
    pub(crate) extent: [u32; 3],
    /// What memory holds that nobody has written.
    pub(crate) garbage: u8,
}

impl Block {
    pub(crate) fn new(shape: &BlockShape<'_>, ctaid: [u32; 3]) -> Block {
        let [x, y, z] = shape.extent;
        let count = (x * y * z) as usize;
        let tid = |n: u32| [n % x, n / x % y, n / (x * y)];
        let thread = |n| Thread { pc: 0, state: State::Ready, tid: tid(n), cluster_phase: None, copies: None };
        let warp = |n: usize| {
            let lanes = (count - n * LANES).min(LANES);
            let all = if lanes == LANES { u32::MAX } else { (1 << lanes) - 1 };
            Warp { live: all, ready: all, ..Warp::default() }
        };
        let garbage = u64::from_le_bytes([shape.garbage; 8]);
        Block {
            ctaid,
            registers: vec![garbage; count * shape.program.registers as usize],
            local: vec![shape.garbage; count * shape.program.local_bytes as usize],
            threads: (0..count as u32).map(thread).collect(),
            warps: (0..count.div_ceil(LANES)).map(warp).collect(),
            barriers: std::array::from_fn(|_| Barrier::default()),
            live: count as u32,
        }
    }

    /// Moves a thread to another state, and its lane's bit with it.
    pub(crate) fn set_state(&mut self, thread: usize, state: State) {
        let bit = 1 << (thread % LANES);
        let warp = &mut self.warps[thread / LANES];
        warp.ready &= !bit;
        warp.at_warp &= !bit;
        warp.polling &= !bit;
        match state {
            State::Ready => warp.ready |= bit,
            State::AtWarp => warp.at_warp |= bit,
            State::Polling => warp.polling |= bit,
            State::AtBarrier => {}
            State::Exited => warp.live &= !bit,
        }
        self.threads[thread].state = state;
    }

    /// Has a thread that waits go on behind its instruction.
    pub(crate) fn go_on(&mut self, thread: usize) {
        self.threads[thread].pc += 1;
        self.set_state(thread, State::Ready);
    }
}
