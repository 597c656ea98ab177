//! Which thread of which launch the OS thread is running. Outside a launch: thread 0 of a grid of one thread.

use super::{fibre, shared};
use crate::Dim3;
use std::cell::Cell;

/// Extents of a launch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extents {
    /// Blocks of the grid.
    pub(crate) grid: Dim3,
    /// Threads of a block.
    pub(crate) block: Dim3,
    /// Blocks of a cluster.
    pub(crate) cluster: Dim3,
    /// `ilp` and `vectorize`: groups of elements of a thread, and elements of a group.
    pub(crate) elements: [usize; 2],
}

const ORIGIN: Dim3 = Dim3::new(0, 0, 0);
const ONE: Dim3 = Dim3::new(1, 1, 1);

/// Everything there is to know about the running thread.
#[derive(Clone, Copy)]
struct RunningThread {
    extents: Extents,
    block: Dim3,
    thread: Dim3,
    rank: usize,
    element: [usize; 2],
    loop_limit: u64,
}

thread_local! {
    static EXTENTS: Cell<Extents> = const { Cell::new(Extents { grid: ONE, block: ONE, cluster: ONE, elements: [1, 1] }) };
    static BLOCK: Cell<Dim3> = const { Cell::new(ORIGIN) };
    static THREAD: Cell<Dim3> = const { Cell::new(ORIGIN) };
    static ELEMENT: Cell<[usize; 2]> = const { Cell::new([0, 0]) };
    static RANK: Cell<usize> = const { Cell::new(0) };
    static LOOP_LIMIT: Cell<u64> = const { Cell::new(u64::MAX) };
}

/// Extents of the running launch.
#[inline]
pub(crate) fn extents() -> Extents {
    EXTENTS.get()
}

/// The running block.
#[inline]
pub(crate) fn block() -> Dim3 {
    BLOCK.get()
}

/// The running block's number within its cluster, x fastest.
#[inline]
pub(crate) fn cluster_rank() -> usize {
    let (block, cluster) = (BLOCK.get(), EXTENTS.get().cluster);
    (block.z % cluster.z * cluster.y + block.y % cluster.y) * cluster.x + block.x % cluster.x
}

/// The running thread within its block.
#[inline]
pub(crate) fn thread() -> Dim3 {
    THREAD.get()
}

/// The running thread's element: the group it is of, and its place in that.
#[inline]
pub(crate) fn element() -> [usize; 2] {
    ELEMENT.get()
}

/// The next code run is for this element of the thread.
#[inline]
pub(super) fn set_element(element: [usize; 2]) {
    ELEMENT.set(element);
}

/// The running thread's number within its block.
#[inline]
pub(crate) fn rank() -> u32 {
    RANK.get() as u32
}

/// How many times a thread may go round one loop.
#[inline]
pub(super) fn loop_limit() -> u64 {
    LOOP_LIMIT.get()
}

/// The next code run is this thread's.
#[inline]
pub(super) fn set_thread(rank: usize, thread: Dim3) {
    THREAD.set(thread);
    RANK.set(rank);
}

/// The next threads are this block's: its shared memory starts afresh.
pub(super) fn start_block(block: Dim3) {
    BLOCK.set(block);
    shared::start_block();
}

/// The next code run is of this block, of a cluster whose blocks run together. Its shared memory is as it left it.
pub(super) fn set_block(block: Dim3) {
    BLOCK.set(block);
    shared::set_rank(cluster_rank());
}

/// Puts back what was there before a launch, however it ends.
pub(super) struct LaunchGuard {
    before: RunningThread,
    _fibre: fibre::Outside,
    _shared: shared::SharedMemoryGuard,
}

/// Starts a launch on this OS thread.
pub(super) fn enter(extents: Extents, shared_bytes: usize, loop_limit: u64) -> LaunchGuard {
    let before = RunningThread {
        extents: EXTENTS.get(),
        block: BLOCK.get(),
        thread: THREAD.get(),
        rank: RANK.get(),
        element: ELEMENT.get(),
        loop_limit: LOOP_LIMIT.get(),
    };
    EXTENTS.set(extents);
    LOOP_LIMIT.set(loop_limit);
    ELEMENT.set([0, 0]);
    LaunchGuard { before, _fibre: fibre::leave(), _shared: shared::enter(shared_bytes) }
}

impl Drop for LaunchGuard {
    fn drop(&mut self) {
        EXTENTS.set(self.before.extents);
        BLOCK.set(self.before.block);
        set_thread(self.before.rank, self.before.thread);
        ELEMENT.set(self.before.element);
        LOOP_LIMIT.set(self.before.loop_limit);
    }
}
