//! What can go wrong: a kernel or launch that cannot be simulated ([`Error`]), and what a thread did wrong ([`Fault`]).

use super::engine::Misuse;
use super::order::MissingFence;
use super::origins::{DisplayedOrigins, Origin};
use std::fmt;

/// Why a simulation gave no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// The kernel breaks an invariant of the IR, or is beyond what the simulator can hold.
    #[error("kernel `{kernel}` cannot be simulated: {reason}")]
    Kernel {
        /// The kernel.
        kernel: String,
        /// Why not.
        reason: String,
    },
    /// The launch does not fit the kernel.
    #[error("launch of `{kernel}`: {reason}")]
    Launch {
        /// The kernel.
        kernel: String,
        /// What does not fit, with the figure and the limit.
        reason: String,
    },
    /// What the kernel printed could not be written.
    #[error("output of kernel `{kernel}` could not be written: {reason}; give an output that takes all of it")]
    Output {
        /// The kernel.
        kernel: String,
        /// The system's reason.
        reason: String,
    },
    /// A thread did something that is undefined or trapped.
    #[error(transparent)]
    Fault(#[from] Box<Fault>),
}

/// A place in the source that a fault names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultPlace {
    /// The source file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// Its column, from 1.
    pub column: u32,
}

/// What a thread did wrong, and where.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{place}{}: kernel `{kernel}`, block {}, thread {}: {kind}{}", DisplayedCalls(file, calls), Triple(*block), Triple(*thread), DisplayedOrigins(file, origins), place = DisplayedPlace(file, *line, *column))]
pub struct Fault {
    /// The kernel's name in the source.
    pub kernel: String,
    /// The source file; empty if unknown.
    pub file: String,
    /// Line of the instruction, from 1; 0 if unknown.
    pub line: u32,
    /// Its column, from 1.
    pub column: u32,
    /// Where the device function was called that has this line, where the one that calls it was, and so on to the kernel. Empty for a line of the kernel.
    pub calls: Vec<FaultPlace>,
    /// The block, `[x, y, z]`.
    pub block: [u32; 3],
    /// The thread within the block, `[x, y, z]`. Where several are at fault, the first.
    pub thread: [u32; 3],
    /// What it did.
    pub kind: FaultKind,
    /// Other lines that it comes from.
    pub origins: Vec<Origin>,
}

/// What two accesses did to the same element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// Read it.
    Read,
    /// Wrote it.
    Write,
    /// Changed it by an atomic operation.
    Atomic,
    /// Read it by an atomic operation.
    AtomicRead,
}

/// The kinds of faults.
#[derive(Clone, Debug, PartialEq)]
pub enum FaultKind {
    /// An index at or beyond the length of its dimension. For accesses by address (`Addressed` stage) the index counts scalars and may be
    /// negative.
    OutOfBounds {
        /// The object, with the path to the dimension: `tile[_]`.
        object: String,
        /// The index.
        index: i128,
        /// Elements of the dimension.
        length: u64,
        /// Consecutive elements accessed at once.
        width: u32,
    },
    /// An access whose byte offset is not a multiple of its width.
    Misaligned {
        /// The object.
        object: String,
        /// Bytes from the object's start.
        offset: u64,
        /// Width of the access in bytes.
        width: u64,
    },
    /// A read of shared or local memory that nobody wrote.
    Uninitialised {
        /// The object.
        object: String,
        /// Which scalar of it, counted flat.
        index: u64,
        /// How many it has.
        length: u64,
        /// Shared (one per block) rather than local (one per thread).
        shared: bool,
    },
    /// Two threads accessed one element without a barrier between them, one of them to write, not both atomically.
    Race {
        /// The object.
        object: String,
        /// Which scalar of it, counted flat.
        index: u64,
        /// How many it has.
        length: u64,
        /// What this thread did.
        access: AccessKind,
        /// What the other did.
        other_access: AccessKind,
        /// The other thread, if it is the only one and known.
        other_thread: Option<[u32; 3]>,
        /// Line of the other access, if known.
        other_line: Option<u32>,
        /// Whether the other belongs to another block, where no barrier helps.
        across_blocks: bool,
        /// The other's block, if known.
        other_block: Option<[u32; 3]>,
        /// Which fence would have ordered the two, in kernels whose threads may be ordered by fences and atomics.
        missing_fence: Option<MissingFence>,
        /// Line of this thread's last atomic that saw what others told, if there was one.
        atomic_line: Option<u32>,
        /// Whether it is shared memory that the blocks of a cluster reach.
        in_cluster: bool,
    },
    /// An element of a ring that `pipeline` made is touched while a copy to it is on its way.
    CopyInFlight {
        /// The object.
        object: String,
        /// Which scalar of it, counted flat.
        index: u64,
        /// How many it has.
        length: u64,
        /// What this thread did.
        access: AccessKind,
        /// The thread that copies.
        thread: [u32; 3],
        /// Line of the copy, if known.
        line: Option<u32>,
        /// Whether that thread has waited for it, and no barrier has told others since.
        is_awaited: bool,
    },
    /// A barrier of the copy engine is used as it cannot be.
    BarrierMisused {
        /// The barriers' array.
        object: String,
        /// Which of them.
        index: u64,
        /// How.
        misuse: Misuse,
    },
    /// Threads wait for a phase of a barrier that nobody is left to end.
    BarrierStuck {
        /// The barriers' array.
        object: String,
        /// Which of them.
        index: u64,
        /// The phase that does not end, from 0.
        phase: u32,
        /// Arrivals missing.
        missing: u32,
        /// Bytes that arrived in it.
        arrived: i64,
        /// Bytes that were announced.
        announced: i64,
    },
    /// A tensor copy of a matrix whose rows do not begin at multiples of 16 bytes.
    TensorPitch {
        /// The matrix's buffer.
        object: String,
        /// Elements from row to row.
        pitch: u64,
        /// The same in bytes.
        bytes: u64,
    },
    /// A tensor copy of a tile whose rows do not begin at multiples of 16 bytes of the matrix's.
    TensorColumn {
        /// The matrix's buffer.
        object: String,
        /// The tile's first column.
        column: u64,
        /// The same in bytes.
        bytes: u64,
    },
    /// An element is written while the copy engine may still read it, to store it.
    StoreInFlight {
        /// The object.
        object: String,
        /// Which scalar of it, counted flat.
        index: u64,
        /// How many it has.
        length: u64,
        /// The thread that asked for the store.
        thread: [u32; 3],
        /// Line of the store, if known.
        line: Option<u32>,
        /// Whether that thread has waited for it, and no barrier has told others since.
        is_awaited: bool,
    },
    /// An element is written while a product of a warpgroup that is left running may still read it.
    ProductInFlight {
        /// The object.
        object: String,
        /// Which scalar of it, counted flat.
        index: u64,
        /// How many it has.
        length: u64,
        /// The first thread of the warp whose product reads it.
        thread: [u32; 3],
        /// Line of the product, if known.
        line: Option<u32>,
        /// Whether that warp has waited for it, and no barrier has told others since.
        is_awaited: bool,
    },
    /// The block ends, and nobody has waited for a tile that the copy engine stores.
    StoreNeverAwaited {
        /// The matrix's buffer.
        object: String,
    },
    /// The copy engine fills or stores what a thread wrote, without a fence between.
    MissingEngineFence {
        /// The object.
        object: String,
        /// Which scalar of it, counted flat.
        index: u64,
        /// How many it has.
        length: u64,
        /// The thread that wrote.
        writer: [u32; 3],
        /// What the engine does.
        access: AccessKind,
    },
    /// Integer `/` or `%` by zero.
    DivisionByZero,
    /// An integer result that does not fit, checked on request only.
    Overflow {
        /// The operation.
        operation: &'static str,
        /// The type.
        ty: String,
        /// The operands.
        operands: Vec<i128>,
    },
    /// A `for` whose step is not positive.
    Step {
        /// The step.
        step: i128,
    },
    /// `assert!` failed.
    Assertion {
        /// Its message.
        message: String,
    },
    /// The kernel trapped.
    Trap {
        /// The message.
        message: String,
    },
    /// A barrier that not all living threads of the block reach together.
    DivergentBarrier {
        /// Threads that wait at it.
        waiting: u32,
        /// Threads of the block, or of the warp, that have not returned.
        living: u32,
        /// Whether the threads of one warp part there; else whole warps of the block do.
        within_warp: bool,
        /// Line of another barrier where the others wait, if they do.
        other_line: Option<u32>,
    },
    /// A barrier of the cluster that not all its blocks come to.
    ClusterApart {
        /// Blocks that wait at one.
        waiting: u32,
        /// Blocks of the cluster.
        blocks: u32,
        /// One of those that are not there.
        other_block: [u32; 3],
        /// Line of another barrier where that block waits; it has ended if there is none.
        other_line: Option<u32>,
    },
    /// Shared memory of a block of the cluster that may not have begun, or has ended.
    NoPeer {
        /// The array.
        object: String,
        /// What this thread does.
        access: AccessKind,
        /// That block.
        block: [u32; 3],
        /// Whether it has ended.
        has_returned: bool,
    },
    /// A warp intrinsic that not all living threads of the warp reach together.
    DivergentWarp {
        /// The intrinsic.
        name: &'static str,
        /// Threads that came.
        active: u32,
        /// Threads of the warp that have not returned.
        living: u32,
    },
    /// A shuffle from a lane that does not exist or has returned.
    MissingLane {
        /// The intrinsic.
        name: &'static str,
        /// The lane that it asks.
        source: u32,
        /// How many lanes the warp was launched with: fewer than 32 in a last, partial warp.
        lanes: u32,
    },
    /// A loop that never ends: a warp is as it was some turns before, nobody changed memory, and nobody can.
    EndlessLoop,
    /// Threads wait for each other in loops, or for what nobody will write.
    Deadlock {
        /// Warps that go round in circles.
        warps: u64,
        /// Blocks that wait.
        blocks: u64,
        /// Blocks that have not begun, since too many wait.
        coming: u64,
        /// Threads of the warp that have left the loop, and wait for the others of the warp.
        behind: u32,
        /// Line of a barrier where threads wait for these.
        barrier_line: Option<u32>,
    },
    /// A warp went round loops more often than [`crate::sim::SimOptions::loop_limit`].
    LoopLimit {
        /// The limit.
        limit: u64,
    },
    /// More barrier intervals in one launch than race detection can tell apart (2³²).
    IntervalLimit,
}

/// A position or size, as `(x, y, z)`.
pub(super) struct Triple(pub(super) [u32; 3]);

impl fmt::Display for Triple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {}, {})", self.0[0], self.0[1], self.0[2])
    }
}

/// A place in the source.
struct DisplayedPlace<'a>(&'a str, u32, u32);

/// The calls that lead to a line of this file.
struct DisplayedCalls<'a>(&'a str, &'a [FaultPlace]);

impl fmt::Display for DisplayedCalls<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut here = self.0;
        for FaultPlace { file, line, column } in self.1 {
            match file == here {
                true => write!(f, ", called on line {line}"),
                false => write!(f, ", called at {file}:{line}:{column}"),
            }?;
            here = file;
        }
        Ok(())
    }
}

impl fmt::Display for DisplayedPlace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DisplayedPlace("", _, _) | DisplayedPlace(_, 0, _) => f.write_str("unknown place"),
            DisplayedPlace(file, line, column) => write!(f, "{file}:{line}:{column}"),
        }
    }
}

impl AccessKind {
    pub(super) fn verb(self) -> &'static str {
        match self {
            AccessKind::Read => "reads",
            AccessKind::Write => "writes",
            AccessKind::Atomic => "atomically changes",
            AccessKind::AtomicRead => "atomically reads",
        }
    }
}
