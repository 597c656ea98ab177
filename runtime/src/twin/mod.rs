//! The host twin: a kernel's body, compiled by `rustc`, run on the CPU as a device would run it.
//!
//! Blocks run one after another, those of a cluster together, and within a block the threads, x fastest, each up to its next barrier. A kernel without barriers and
//! warp operations is a plain loop over its threads; otherwise every thread of a block is a fibre with a stack of its own. All of
//! a launch runs on the caller's OS thread, so results do not vary from run to run.
//!
//! What a kernel may not do comes back as a [`TwinError`] that names block and thread: a panic (an index out of bounds, a failed
//! `assert!`, a division by zero), or a barrier that not all living threads of the block reach together.
//!
//! **Overflow.** Kernels' integer arithmetic wraps (docs/language.md, "Numbers"), and shift counts are taken modulo the width. The twin is ordinary
//! Rust: built with overflow checks, as debug builds are, it panics where the device wraps, and the error says so. Kernels that mean to
//! wrap say `wrapping_add`, as in all Rust, and then agree everywhere.
//!
//! **`usize`** has the host's width here, 32 bits on devices unless the kernel says `index = 64`. By-value parameters arrive as the host
//! has them, but a launch refuses those that the device's `usize` could not hold.

pub(crate) mod arguments;
pub(crate) mod context;
pub(crate) mod fibre;
mod panics;
pub(crate) mod schedule;
pub(crate) mod shared;
mod turns;

#[cfg(test)]
mod tests;

pub use arguments::{TwinArgument, TwinArguments, TwinEntry};
pub use shared::{Shared, shared, shared_dynamic};
pub use turns::Turns;

// What expanded kernels name, and the bounds of the prelude's functions: not in the prelude, which kernels import whole.
pub use crate::prelude::atomics::{AtomicArithmetic, AtomicBits, AtomicScalar, SharedAtomics};
pub use crate::prelude::cast::{CastSource, CastTarget, Universal, cast};
pub use crate::prelude::native::NativeFloat;
pub use crate::prelude::numeric::{Ordered, Scalar};

use crate::{Dim3, Error};
use context::Extents;

/// Why a host twin did not run to its end. Buffers hold what was written before.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.told())]
pub struct TwinError {
    /// What happened.
    pub message: String,
    /// File, line and column in the kernel, where known.
    pub location: Option<(String, u32, u32)>,
    /// Block and thread, unless no thread was at fault.
    pub thread: Option<(Dim3, Dim3)>,
}

impl TwinError {
    /// The same as a fault of this kernel.
    pub(crate) fn of_kernel(self, kernel: &'static str) -> Error {
        let (message, help) = self.parts();
        let (message, place) = (message.to_owned(), self.place() + &help);
        Error::Fault { kernel, device: "the host twin".into(), message, place }
    }

    /// What happened, and the way out, `; help: …`, which may be empty: the place comes between the two.
    fn parts(&self) -> (&str, String) {
        let parts = self.message.split_once(" help: ");
        let parts = parts.map(|(message, help)| (message.strip_suffix(';').unwrap_or(message), format!("; help: {help}")));
        parts.unwrap_or_else(|| (self.message.as_str(), String::new()))
    }

    fn told(&self) -> String {
        let (message, help) = self.parts();
        format!("{message}{}{help}", self.place())
    }

    /// ` at file:line:column, block …, thread …`, as far as known.
    pub fn place(&self) -> String {
        let location = self.location.as_ref().map(|(file, line, column)| format!(" at {file}:{line}:{column}"));
        let thread = self.thread.map(|(block, thread)| format!(", block {block}, thread {thread}"));
        format!("{}{}", location.unwrap_or_default(), thread.unwrap_or_default())
    }
}

/// How a twin is run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    /// `ilp` and `vectorize`: how many elements each thread runs the body for. More than one only without barriers.
    pub(crate) elements: [u32; 2],
    /// Blocks of a cluster, by axis.
    pub(crate) cluster: [u32; 3],
    /// Dynamic shared memory.
    pub(crate) shared_bytes: u32,
    /// Whether the kernel, or a function it calls, has a barrier or a warp operation; where it is not known, `true`.
    pub(crate) uses_barriers: bool,
    /// How many times a thread may go round one loop.
    pub(crate) loop_limit: u64,
}

/// Runs a twin for every thread of a grid.
///
/// # Errors
/// [`TwinError`], as the module says; also if there is no memory for the stacks of a block's fibres.
pub(crate) fn run_twin(
    entry: TwinEntry,
    arguments: &TwinArguments<'_>,
    grid: [u32; 3],
    block: [u32; 3],
    run: Run,
) -> Result<(), TwinError> {
    let elements = run.elements.map(|count| count as usize);
    let extents = Extents { grid: dim3(grid), block: dim3(block), cluster: dim3(run.cluster), elements };
    let _launch = context::enter(extents, run.shared_bytes as usize, run.loop_limit);
    let _quiet = panics::catch_quietly();
    let is_alone = extents.block == Dim3::new(1, 1, 1) && extents.cluster == Dim3::new(1, 1, 1);
    if run.uses_barriers && !is_alone {
        schedule::run(entry, arguments, extents)
    } else {
        panics::catch(|| run_plainly(entry, arguments, extents)).map_err(|panic| panic.into_error(context::block(), context::thread()))
    }
}

fn run_plainly(entry: TwinEntry, arguments: &TwinArguments<'_>, extents: Extents) {
    let threads = extents.block;
    for block in places(extents.grid) {
        context::start_block(block);
        // Loops rather than `places`: they are most of the time of small kernels built without optimisation.
        let mut rank = 0;
        for z in 0..threads.z {
            for y in 0..threads.y {
                for x in 0..threads.x {
                    context::set_thread(rank, Dim3::new(x, y, z));
                    run_elements(entry, arguments, extents);
                    rank += 1;
                }
            }
        }
    }
}

/// Runs a thread, once for each of its elements.
fn run_elements(entry: TwinEntry, arguments: &TwinArguments<'_>, extents: Extents) {
    let [groups, lanes] = extents.elements;
    if (groups, lanes) == (1, 1) {
        return entry(arguments);
    }
    for group in 0..groups {
        for lane in 0..lanes {
            context::set_element([group, lane]);
            entry(arguments);
        }
    }
    context::set_element([0, 0]);
}

fn dim3([x, y, z]: [u32; 3]) -> Dim3 {
    Dim3::new(x as usize, y as usize, z as usize)
}

/// Every place within the extents, x fastest.
fn places(extents: Dim3) -> impl Iterator<Item = Dim3> {
    let rows = (0..extents.z).flat_map(move |z| (0..extents.y).map(move |y| (y, z)));
    rows.flat_map(move |(y, z)| (0..extents.x).map(move |x| Dim3::new(x, y, z)))
}
