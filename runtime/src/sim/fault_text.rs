//! What is said of a fault: what a thread did, and the edit that mends it.

use super::LOOP_LIMIT;
use super::error::{AccessKind, FaultKind, Triple};
use super::order::MissingFence;
use std::fmt;

/// The way out of a fault that no source should lead to.
pub(super) const PLACED: &str = "; help: please report the kernel: warpwright itself places copies, their barriers and their waits; without `#[pipeline]` there are none";

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_what(f)?;
        if self.is_of_pipeline() { f.write_str(PLACED) } else { Ok(()) }
    }
}

impl FaultKind {
    /// Whether it is about what `pipeline` places: copies on their way, their barriers and their waits.
    fn is_of_pipeline(&self) -> bool {
        match self {
            FaultKind::CopyInFlight { .. }
            | FaultKind::BarrierMisused { .. }
            | FaultKind::BarrierStuck { .. }
            | FaultKind::StoreInFlight { .. }
            | FaultKind::StoreNeverAwaited { .. }
            | FaultKind::ProductInFlight { .. }
            | FaultKind::MissingEngineFence { .. } => true,
            FaultKind::OutOfBounds { .. }
            | FaultKind::Misaligned { .. }
            | FaultKind::Uninitialised { .. }
            | FaultKind::Race { .. }
            | FaultKind::TensorPitch { .. }
            | FaultKind::TensorColumn { .. }
            | FaultKind::DivisionByZero
            | FaultKind::Overflow { .. }
            | FaultKind::Step { .. }
            | FaultKind::Assertion { .. }
            | FaultKind::Trap { .. }
            | FaultKind::DivergentBarrier { .. }
            | FaultKind::ClusterApart { .. }
            | FaultKind::NoPeer { .. }
            | FaultKind::DivergentWarp { .. }
            | FaultKind::MissingLane { .. }
            | FaultKind::EndlessLoop
            | FaultKind::Deadlock { .. }
            | FaultKind::LoopLimit { .. }
            | FaultKind::IntervalLimit => false,
        }
    }

    fn fmt_what(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultKind::OutOfBounds { object, index, length, width } => {
                match width {
                    1 => write!(f, "index {index} is out of bounds of `{object}`, which has {length} elements")?,
                    _ => write!(f, "{width} elements from index {index} are out of bounds of `{object}`, which has {length} elements")?,
                }
                f.write_str(&back_in_bounds(object, *index, *length, *width))
            }
            FaultKind::Misaligned { object, offset, width } => {
                let below = offset - offset % width;
                write!(
                    f,
                    "access of {width} bytes at byte {offset} of `{object}` is misaligned; its offset must be a multiple of {width}; \
                     help: begin at byte {below} or {}",
                    below + width
                )
            }
            FaultKind::Uninitialised { object, index, length, shared } => {
                let (space, help) = match shared {
                    true => ("shared", " yet; write it, and pass `sync_threads()`, before"),
                    false => ("local", "; help: please report the kernel: in Rust every element has a value"),
                };
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
                write!(f, "`{operation}` of {} overflows `{ty}`", operands.join(" and "))?;
                f.write_str(&without_overflow(operation, operands.len(), ty))
            }
            FaultKind::Step { step } => write!(
                f,
                "the step of a `for` is {step}; it must be more than zero; help: launch with 1 or more for it, or write `.step_by(n.max(1))`"
            ),
            // One without words of its own says that it failed already.
            FaultKind::Assertion { message } => {
                write!(f, "assertion failed: {}", message.strip_prefix("assertion failed: ").unwrap_or(message))
            }
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

/// The way out of an index beyond an end, or of several at once. An index that is far beyond what memory holds is a difference below zero.
fn back_in_bounds(object: &str, index: i128, length: u64, width: u32) -> String {
    /// Differences below zero that are taken for such.
    const LEAST: i128 = -(1 << 16);
    let wrapped = [index, index - (1 << 32), index - (1 << 64)].into_iter().find(|index| (LEAST..0).contains(index));
    if let Some(index) = wrapped {
        return format!("; help: with a sign it is {index}: subtract only where `a >= b` holds");
    }
    // A dimension of an array, and the elements of a matrix, have no name whose length can be asked.
    let is_named = !object.contains('[') && !object.ends_with(".data");
    let length = if is_named { format!("{object}.len()") } else { length.to_string() };
    let test = if width == 1 { format!("i < {length}") } else { format!("i + {width} <= {length}") };
    let or = if is_named { ", or launch fewer threads" } else { "" };
    format!("; help: guard it, `if {test}` where `i` is the index{or}")
}

/// The way out of a result that does not fit its type.
fn without_overflow(operation: &str, operands: usize, ty: &str) -> String {
    let method = match (operation, operands) {
        ("+", _) => "wrapping_add",
        ("-", 1) => "wrapping_neg",
        ("-", _) => "wrapping_sub",
        ("/", _) => "wrapping_div",
        ("abs", _) => "wrapping_abs",
        _ => "wrapping_mul",
    };
    let wider = ["u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64"].into_iter().skip_while(|known| *known != ty).nth(1);
    let wider = wider.filter(|wider| wider.starts_with(&ty[..1]));
    let or = wider.map_or(String::new(), |wider| format!(", or compute it in `{wider}`"));
    format!("; help: write `{method}` if that is meant{or}")
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
            return f.write_str("; no `cluster_sync()` is between the two; help: write it between them");
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
