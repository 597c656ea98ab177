//! What can go wrong: a kernel or launch that cannot be simulated ([`Error`]), and what a thread did wrong ([`Fault`]).

use super::LOOP_LIMIT;
use super::engine::Misuse;
use super::order::MissingFence;
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
    #[error("output of kernel `{kernel}` could not be written: {reason}")]
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

/// What a thread did wrong, and where.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{place}: kernel `{kernel}`, block {}, thread {}: {kind}", Triple(*block), Triple(*thread), place = DisplayedPlace(file, *line, *column))]
pub struct Fault {
    /// The kernel's name in the source.
    pub kernel: String,
    /// The source file; empty if unknown.
    pub file: String,
    /// Line of the instruction, from 1; 0 if unknown.
    pub line: u32,
    /// Its column, from 1.
    pub column: u32,
    /// The block, `[x, y, z]`.
    pub block: [u32; 3],
    /// The thread within the block, `[x, y, z]`. Where several are at fault, the first.
    pub thread: [u32; 3],
    /// What it did.
    pub kind: FaultKind,
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
struct Triple([u32; 3]);

impl fmt::Display for Triple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {}, {})", self.0[0], self.0[1], self.0[2])
    }
}

/// A place in the source.
struct DisplayedPlace<'a>(&'a str, u32, u32);

impl fmt::Display for DisplayedPlace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DisplayedPlace("", _, _) | DisplayedPlace(_, 0, _) => f.write_str("unknown place"),
            DisplayedPlace(file, line, column) => write!(f, "{file}:{line}:{column}"),
        }
    }
}

impl AccessKind {
    fn verb(self) -> &'static str {
        match self {
            AccessKind::Read => "reads",
            AccessKind::Write => "writes",
            AccessKind::Atomic => "atomically changes",
            AccessKind::AtomicRead => "atomically reads",
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultKind::OutOfBounds { object, index, length, width: 1 } => {
                write!(f, "index {index} is out of bounds of `{object}`, which has {length} elements")
            }
            FaultKind::OutOfBounds { object, index, length, width } => {
                write!(f, "{width} elements from index {index} are out of bounds of `{object}`, which has {length} elements")
            }
            FaultKind::Misaligned { object, offset, width } => {
                write!(f, "access of {width} bytes at byte {offset} of `{object}` is misaligned; its offset must be a multiple of {width}")
            }
            FaultKind::Uninitialised { object, index, length, shared } => {
                let (space, help) = if *shared { ("shared", " yet; write it, and pass `sync_threads()`, before") } else { ("local", "") };
                write!(f, "reads scalar {index} of {space} `{object}` (of {length}), which nothing has written{help}")
            }
            FaultKind::Race { .. } => self.fmt_race(f),
            FaultKind::CopyInFlight { object, index, length, access, thread, line, is_awaited } => {
                write!(f, "{} scalar {index} of `{object}` (of {length}), to which thread {} copies", access.verb(), Triple(*thread))?;
                if let Some(line) = line {
                    write!(f, " on line {line}")?;
                }
                f.write_str(match is_awaited {
                    true => "; that thread has waited for the copy, and no barrier is between its wait and this line",
                    false => "; the copy may still be on its way, since that thread has not waited for it",
                })
            }
            FaultKind::BarrierMisused { object, index, misuse } => write!(f, "barrier {index} of `{object}` {}", misuse.words()),
            FaultKind::BarrierStuck { object, index, phase, missing, arrived, announced } => write!(
                f,
                "waits for phase {phase} of barrier {index} of `{object}`: {arrived} of {announced} bytes arrived, {missing} arrival{} missing; \
                 nobody is left who could end it",
                if *missing == 1 { "" } else { "s" }
            ),
            FaultKind::TensorPitch { object, pitch, bytes } => write!(
                f,
                "a tensor copy of `{object}`, whose pitch or stride of {pitch} elements is {bytes} bytes; it must be a multiple of 16; \
                 help: give the matrix one that is, or leave `by = tma` out"
            ),
            FaultKind::TensorColumn { object, column, bytes } => write!(
                f,
                "a tensor copy of `{object}` from column {column} on, which is {bytes} bytes; it must be a multiple of 16, and GPUs trap; \
                 help: begin tiles at such a column, or leave `by = tma` out"
            ),
            FaultKind::StoreInFlight { object, index, length, thread, line, is_awaited } => {
                let thread = Triple(*thread);
                write!(f, "writes scalar {index} of `{object}` (of {length}), which the copy engine stores for thread {thread}")?;
                if let Some(line) = line {
                    write!(f, " on line {line}")?;
                }
                f.write_str(match is_awaited {
                    true => "; that thread has waited until it was read, and no barrier is between its wait and this line",
                    false => "; it may not be read yet, since that thread has not waited for that",
                })
            }
            FaultKind::ProductInFlight { object, index, length, thread, line, is_awaited } => {
                let thread = Triple(*thread);
                write!(f, "writes scalar {index} of `{object}` (of {length}), which a product of the warp of thread {thread} reads")?;
                if let Some(line) = line {
                    write!(f, " on line {line}")?;
                }
                f.write_str(match is_awaited {
                    true => "; that warp has waited for it, and no barrier is between its wait and this line",
                    false => "; it may still run, since that warp has not waited for it",
                })
            }
            FaultKind::StoreNeverAwaited { object } => {
                write!(f, "the block ends, and nobody has waited for a tile that the copy engine stores to `{object}`")
            }
            FaultKind::MissingEngineFence { object, index, length, writer, access } => write!(
                f,
                "the copy engine {} scalar {index} of `{object}` (of {length}), which thread {} wrote; no engine fence of that thread is between the two",
                if *access == AccessKind::Read { "stores" } else { "fills" },
                Triple(*writer)
            ),
            FaultKind::DivisionByZero => f.write_str("integer division by zero; help: divide only where the divisor is not 0"),
            FaultKind::Overflow { operation, ty, operands } => {
                let operands: Vec<String> = operands.iter().map(i128::to_string).collect();
                write!(f, "`{operation}` of {} overflows `{ty}`", operands.join(" and "))
            }
            FaultKind::Step { step } => write!(f, "the step of a `for` is {step}; it must be more than zero"),
            FaultKind::Assertion { message } => write!(f, "assertion failed: {message}"),
            FaultKind::Trap { message } => write!(f, "trap: {message}"),
            FaultKind::DivergentBarrier { waiting, living, within_warp, other_line } => {
                let whose = if *within_warp { "warp" } else { "block" };
                write!(f, "divergent barrier: {waiting} of the {whose}'s {living} living threads wait at it, ")?;
                match other_line {
                    None => f.write_str("the others do not get here; help: put it where all threads come, outside of the `if` or the loop"),
                    Some(line) => {
                        write!(f, "others wait at another one, on line {line}; help: let all wait at one barrier, outside of the `if` or the loop")
                    }
                }
            }
            FaultKind::ClusterApart { waiting, blocks, other_block, other_line } => {
                write!(f, "divergent barrier: {waiting} of the cluster's {blocks} blocks wait at a `cluster_sync()`, block {} ", Triple(*other_block))?;
                match other_line {
                    None => f.write_str("has ended without coming here")?,
                    Some(line) => write!(f, "waits at another one, on line {line}")?,
                }
                f.write_str("; help: put it where all blocks of the cluster come")
            }
            FaultKind::NoPeer { object, access, block, has_returned } => {
                write!(f, "{} `{object}` of block {}, which ", access.verb(), Triple(*block))?;
                f.write_str(match has_returned {
                    true => "has ended, and its shared memory with it; help: `cluster_sync();` in all blocks, behind the last use",
                    false => "may not have begun; help: `cluster_sync();` before the first use",
                })
            }
            FaultKind::DivergentWarp { name, active, living } => {
                write!(
                    f,
                    "`{name}` is reached by {active} of the warp's {living} living threads, and all must reach it together; \
                     help: call it before the `if` or the loop"
                )
            }
            FaultKind::MissingLane { name, source, lanes } => f.write_str(&missing_lane(name, *source, *lanes)),
            FaultKind::EndlessLoop => f.write_str(
                "endless loop: neither a variable nor memory changes between iterations; help: change, in the loop, a value that its condition depends on",
            ),
            FaultKind::Deadlock { .. } => self.fmt_deadlock(f),
            FaultKind::LoopLimit { limit } => f.write_str(&loop_limit_reached("a warp", "its loops", "", *limit)),
            FaultKind::IntervalLimit => f.write_str("more than 2^32 barrier intervals in one launch; help: launch fewer blocks at a time"),
        }
    }
}

/// That whoever it is has gone round loops as often as the limit allows, and the way out; `or` is what else it may be. For the host twin, too.
pub(crate) fn loop_limit_reached(who: &str, loops: &str, or: &str, limit: u64) -> String {
    let or = if or.is_empty() { "?".to_owned() } else { format!(", {or}") };
    format!(
        "{who} has gone round {loops} {limit} times without an end: is it an endless loop{or} \
         help: if it is none, set `{LOOP_LIMIT}` to more"
    )
}

/// What is wrong with a shuffle from a lane that is not there, and the way out. For the host twin, too.
pub(crate) fn missing_lane(name: &str, source: u32, lanes: u32) -> String {
    if source >= lanes {
        let have = if lanes == 1 { "one thread".to_owned() } else { format!("{lanes} threads, lanes 0 to {}", lanes - 1) };
        format!(
            "`{name}` asks lane {source}, which does not exist: this warp has {have}; \
             help: launch blocks of a multiple of 32 threads, or ask a lane below {lanes}"
        )
    } else {
        format!(
            "`{name}` asks lane {source}, which has returned; \
             help: let all threads of the warp come here, and put what only some may do under an `if` instead of returning before"
        )
    }
}

impl FaultKind {
    fn fmt_race(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FaultKind::Race { object, index, length, access, other_access, other_thread, other_line, across_blocks, other_block, .. } =
            self
        else {
            return Ok(());
        };
        write!(f, "race: {} scalar {index} of `{object}` (of {length}), which ", access.verb())?;
        match (other_thread, other_block) {
            (Some(thread), Some(block)) if *across_blocks => write!(f, "thread {} of block {}", Triple(*thread), Triple(*block))?,
            (Some(thread), _) if !across_blocks => write!(f, "thread {}", Triple(*thread))?,
            _ if *across_blocks => f.write_str("a thread of another block")?,
            _ => f.write_str("another thread")?,
        }
        write!(f, " {}", other_access.verb())?;
        if let Some(line) = other_line {
            write!(f, " on line {line}")?;
        }
        self.fmt_missing_fence(f)
    }

    /// What would have ordered two accesses.
    fn fmt_missing_fence(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FaultKind::Race { access, other_access, other_line, across_blocks, missing_fence, atomic_line, in_cluster, .. } = self else {
            return Ok(());
        };
        if *in_cluster && *across_blocks && missing_fence == &Some(MissingFence::Both) {
            return f.write_str("; no `cluster_sync()` is between the two");
        }
        let is_atomic = |kind: &AccessKind| matches!(kind, AccessKind::Atomic | AccessKind::AtomicRead);
        if is_atomic(access) && is_atomic(other_access) {
            return f.write_str("; one of the two is atomic for its own block only; help: give both `ThreadScope::Device`");
        }
        // Within a block a barrier may be what is missing: a counter is set to 0 before others add to it.
        let is_unordered = missing_fence == &Some(MissingFence::Both) || (missing_fence.is_none() && *across_blocks);
        if (is_atomic(access) || is_atomic(other_access)) && is_unordered {
            return f.write_str("; help: make both atomic (`atomic_load` reads, `atomic_store` writes)");
        }
        let at = |line: &Option<u32>, unknown: &str| line.map_or(unknown.to_owned(), |line| format!("line {line}"));
        let (fence, other) = (if *across_blocks { "fence_device()" } else { "fence_block()" }, at(other_line, "that access"));
        match missing_fence {
            Some(MissingFence::Release) => {
                write!(f, "; no `{fence}` is between {other} and the atomic that tells of it; help: put it right before that atomic")
            }
            Some(MissingFence::WiderRelease) => write!(
                f,
                "; the `fence_block()` between {other} and the atomic that tells of it orders for its own block only; \
                 help: make it `fence_device()`"
            ),
            Some(MissingFence::Acquire) => write!(
                f,
                "; no `{fence}` is between the atomic that shows it, on {}, and this line; help: put it right after that atomic",
                at(atomic_line, "another line")
            ),
            Some(MissingFence::Both) if *across_blocks => write!(
                f,
                "; nothing orders the two blocks there; help: behind {other} write `fence_device()` and then an atomic, and here, \
                 once an atomic on the same element has seen that one, `fence_device()`"
            ),
            _ if *across_blocks => {
                f.write_str("; no barrier orders blocks; help: give each block elements of its own, or make both accesses atomic")
            }
            _ => f.write_str(
                "; no barrier is between the two; help: write `sync_threads()` between them, or give each thread elements of its own",
            ),
        }
    }

    fn fmt_deadlock(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FaultKind::Deadlock { warps, blocks, coming, behind, barrier_line } = self else {
            return Ok(());
        };
        let count = |n: u64, one: &str| if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") };
        write!(
            f,
            "deadlock: {} of {} {} in loops for a value that no thread is left to write",
            count(*warps, "warp"),
            count(*blocks, "block"),
            if *warps == 1 { "waits" } else { "wait" }
        )?;
        if let Some(line) = barrier_line {
            write!(f, ", others at the barrier on line {line}")?;
        }
        if *behind > 0 {
            let (lanes, wait) = (
                count(u64::from(*behind), "thread"),
                if *behind == 1 { "has left the loop and waits" } else { "have left the loop and wait" },
            );
            return write!(
                f,
                "; {lanes} of this warp {wait} after it for the rest; help: do the work that the rest waits for inside the loop"
            );
        }
        if *coming > 0 {
            let coming = if *coming == 1 { "1 more block has".to_owned() } else { format!("{coming} more blocks have") };
            return write!(
                f,
                "; {coming} not begun, which a device would not run at once either; \
                 help: let blocks wait only for those that began before them, which an atomic's ticket tells"
            );
        }
        f.write_str("; help: write it before this loop, or in a thread that does not wait")
    }
}
