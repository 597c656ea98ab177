//! How a warp touches memory: sectors of a request to global memory, bank conflicts of one to shared memory, what of a branch splits a warp,
//! which elements of shared memory two threads share with no barrier between.
//!
//! Figures are those of the lanes that make an access, counted as the simulator counts them: a full warp, unless a condition that is known
//! lane by lane (`t % 2 == 0`) says otherwise. Where an index depends on data, nothing is said.
//!
//! | file | what it does |
//! |---|---|
//! | `lanes.rs` | sums with a coefficient for each lane: what indices are |
//! | `condition.rs` | `bool`s, lane by lane |
//! | `evaluate.rs` | values, found when asked for |
//! | `walk.rs`, `loops.rs` | goes through a kernel as a warp does |
//! | `traffic.rs` | what addresses cost |
//! | `parts.rs` | which accesses go to neighbouring places |
//! | `summary.rs` | gathers what was seen of an instruction |
//! | `races.rs` | accesses of two threads to one shared element between two barriers |

mod condition;

mod evaluate;
mod lanes;
mod loops;
mod parts;
mod races;
mod summary;
mod traffic;
mod walk;

pub use condition::Uncertainty;
pub use races::Race;

use crate::analysis::uniformity::Uniformity;
use crate::ir::{Inst, Kernel, Loc, MemoryOp, Object, Scalar, Space};
use crate::target::limits::LANES;
use evaluate::{Evaluator, Threads};
use lanes::Atoms;
use walk::Walk;

/// Everything this room knows of a kernel.
#[derive(Clone, Debug, Default)]
pub struct AccessPatterns {
    /// Every access to global, shared and constant memory, in program order.
    pub accesses: Vec<AccessFact>,
    /// Every branch, of an `if` and of a `for`, in program order.
    pub branches: Vec<BranchFact>,
    /// Shared elements that a thread writes and another one reads or writes with no barrier between, one for each pair of accesses.
    pub races: Vec<Race>,
}

/// Whether an access reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// A load.
    Load,
    /// A store.
    Store,
    /// An atomic.
    Atomic,
}

impl AccessKind {
    /// What an operation on memory does.
    pub fn of(op: &MemoryOp) -> AccessKind {
        match op {
            MemoryOp::Load | MemoryOp::LoadMatrix { .. } => AccessKind::Load,
            MemoryOp::Store(_) | MemoryOp::StoreMatrix(_) => AccessKind::Store,
            MemoryOp::Atomic(..) => AccessKind::Atomic,
        }
    }
}

/// One access in the program and how a warp makes it.
#[derive(Clone, Debug)]
pub struct AccessFact {
    /// The instruction, of the `Legal` kernel.
    pub inst: Inst,
    /// Where it comes from.
    pub loc: Loc,
    /// What it touches.
    pub object: Object,
    /// Which memory.
    pub space: Space,
    /// Load, store or atomic.
    pub kind: AccessKind,
    /// Bytes of a lane.
    pub bytes: u32,
    /// How the lanes' addresses lie.
    pub pattern: Pattern,
    /// Whether it is not known where the lanes' places are, and not the same for all of them: data says where, or arithmetic that is not followed.
    pub by_data: bool,
    /// Whether what says so is the thread's number alone, by arithmetic that is not followed: memory has no say in it.
    pub by_thread: bool,
    /// What is known of the first lane's: bytes from the object's begin, or from an unknown number of them.
    pub offset: i64,
    /// Lanes of a warp that make it, those of a boundary counted as inside.
    pub lanes: Range,
    /// Whether those lanes do: `None` and `Uniform` surely, `Boundary` where a launch has whole warps.
    pub uncertainty: Uncertainty,
    /// Whether only lanes beyond some boundary make it: the elements that are left over for a vector, say.
    pub is_rare: bool,
    /// Loops round it.
    pub loops: u32,
    /// The same over all warps of a block, as far as they were looked at one by one.
    pub total: Total,
    /// Warps of a block that touch the very same addresses at one time; 1: each its own. Unknown where the launch decides the block's size.
    pub sharing: Option<u32>,
    /// Where it is in the next round of its innermost loop, and in the next block; unknown where the address is.
    pub moves: Option<Moves>,
    /// The part of the object that it goes to: a number that accesses have in common whose places are neighbours', and planes of one buffer have not.
    pub part: u32,
    /// Whether it goes further than the first access to that part: to what later blocks have for their own.
    pub is_ahead: bool,
    /// Of a request to global memory: lines of 128 bytes.
    pub lines: u32,
    /// Of a request to global memory: passes through the L1 cache for its banks. To shared memory: those of the 16 bytes round each lane's place,
    /// if they are one access.
    pub bank_passes: u32,
}

/// How an address goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moves {
    /// From round to round of the innermost loop round it.
    pub round: Move,
    /// From block to block along each axis.
    pub block: [Move; 3],
    /// Whether it goes on in any loop.
    pub in_loops: bool,
}

/// What an address goes on by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// Not at all.
    Stays,
    /// By so many bytes.
    Bytes(i64),
    /// By so many elements times a number known at launch only: rows, say.
    Rows(i64),
    /// In a way that is not known: by an index that was read, say.
    Somehow,
}

impl AccessFact {
    /// Whether the figures are those of every request of a launch of whole warps.
    pub fn is_certain(&self) -> bool {
        self.uncertainty <= Uncertainty::Boundary && self.pattern != Pattern::Unknown
    }
}

/// Sums over the requests that were looked at: their ratio is what a launch has, unless warps with other figures are kept out by a condition
/// that is not known (`Uncertainty::Uniform`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Total {
    /// Requests.
    pub requests: u32,
    /// Their sectors, or their passes beyond the least, or their addresses.
    pub figure: Range,
    /// Their different bytes, in global memory.
    pub bytes: Range,
    /// All their passes, in shared memory.
    pub passes: Range,
}

/// A figure that may depend on where an object begins, or on numbers known at launch only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range {
    /// The least it can be.
    pub least: u32,
    /// The most it can be.
    pub most: u32,
}

impl Range {
    /// The figure, if it is one.
    pub fn exact(self) -> Option<u32> {
        (self.least == self.most).then_some(self.least)
    }
}

/// How the lanes of a full warp lie in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// The index is not affine in the lane: nothing is known.
    Unknown,
    /// Global memory.
    Global {
        /// Sectors (32 aligned bytes) of one request; lanes that are apart by a number known at launch only are taken to share none.
        sectors: Range,
        /// Different bytes that the lanes use.
        bytes: Range,
        /// Bytes from one thread to the next along x, where that is one number.
        stride: Option<i64>,
        /// Elements from one thread to the next along x, where that is a number known at launch only: as the source would write it.
        step: Option<String>,
    },
    /// Shared memory.
    Shared {
        /// Passes of one request over the least its width needs: 1 is without conflict.
        degree: Range,
        /// Bytes from one thread to the next along x, where that is one number.
        stride: Option<i64>,
    },
    /// Constant memory: different addresses of one request; 1 is a broadcast.
    Constant {
        /// Different addresses.
        addresses: Range,
    },
}

/// A branch in the program.
#[derive(Clone, Debug)]
pub struct BranchFact {
    /// The `If` or `For`.
    pub inst: Inst,
    /// Where it comes from.
    pub loc: Loc,
    /// Whether lanes of one warp may part.
    pub divergence: Divergence,
    /// Of how many warps that came by, how many were split.
    pub splits: (u32, u32),
    /// The lanes of each split warp that take an `if`'s first side, among those that came by.
    pub ways: Vec<Ways>,
    /// Whether that is so: `None` and `Uniform` surely, `Boundary` where a launch has whole warps.
    pub uncertainty: Uncertainty,
    /// Whether only lanes beyond some boundary get there.
    pub is_rare: bool,
}

impl BranchFact {
    /// Whether that is so in every launch of whole warps.
    pub fn is_certain(&self) -> bool {
        self.uncertainty <= Uncertainty::Boundary
    }
}

/// How a warp is split: lanes as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ways {
    /// Lanes that came by.
    pub active: u32,
    /// Those that surely take the first side.
    pub taken: u32,
}

/// Whether a branch splits warps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Divergence {
    /// All lanes of a warp go the same way.
    Uniform,
    /// At a boundary only (`i < n`): at most one warp of a row of the grid is split.
    Boundary,
    /// Warps are split by the lane.
    Splits,
    /// It depends on data.
    Unknown,
}

/// Whether races are sought: pairs of accesses, which cost more than all the rest, and are nothing to whoever asks how fast a kernel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Races {
    /// They are.
    Sought,
    /// There are none in what is found.
    Left,
}

/// Numbers that a launch gives parameters: the object, and the byte in it.
pub type Numbers = std::collections::HashMap<(Object, u64), Scalar>;

/// Looks at a kernel of stage `Legal`.
pub fn analyse(kernel: &Kernel) -> AccessPatterns {
    analyse_launched(kernel, &Numbers::new(), None, Races::Sought)
}

/// The same where these of its parameters are known, and how many blocks there are.
pub fn analyse_launched(kernel: &Kernel, numbers: &Numbers, grid: Option<[u32; 3]>, races: Races) -> AccessPatterns {
    let mut atoms = Atoms::of_grid(grid);
    let Some(block) = kernel.options.block else {
        let threads = Threads::of_any_block(kernel, &mut atoms);
        let mut walk = Walk::new(kernel, threads, atoms, numbers);
        walk.run();
        return summary::summary(&walk, None, races);
    };
    let warps = block.iter().map(|n| u64::from(*n)).product::<u64>().div_ceil(LANES as u64).min(u64::from(u32::MAX)) as u32;
    let any = Threads::of_any_warp(block, &mut atoms);
    let is_any = any.is_some();
    let mut walk = Walk::new(kernel, any.unwrap_or_else(|| Threads::of_warp(block, 0)), atoms, numbers);
    walk.run();
    let can_go_on = u64::from(walk.visits) * u64::from(warps) < u64::from(loops::MOST_VISITS) * 4;
    let is_open = walk.wants_warps() || races::may_race(&walk);
    if is_any && is_open && can_go_on {
        walk.records.clear();
        walk.branches.clear();
        (walk.wanted, walk.visits) = (0, 0);
        (0..warps).for_each(|warp| walk.run_as(warp, Threads::of_warp(block, warp)));
        return summary::summary(&walk, Some(Warps { number: warps, one_by_one: true }), races);
    }
    if !is_any {
        (1..warps).for_each(|warp| walk.run_as(warp, Threads::of_warp(block, warp)));
    }
    summary::summary(&walk, Some(Warps { number: warps, one_by_one: !is_any }), races)
}

/// What is the same in all lanes of a warp, whatever makes it so: `global_id().x / 32`, what all lanes read from one place.
pub fn uniform_in_warps(kernel: &Kernel) -> Uniformity {
    let mut atoms = Atoms::default();
    let threads = match kernel.options.block {
        None => Threads::of_any_block(kernel, &mut atoms),
        Some(block) => Threads::of_any_warp(block, &mut atoms).unwrap_or_else(|| Threads::of_warp(block, 0)),
    };
    Evaluator::new(kernel, threads, atoms, &Numbers::new()).into_uniform_in_warp()
}

/// The warps of a block.
#[derive(Clone, Copy, Debug)]
struct Warps {
    number: u32,
    /// Whether each was looked at.
    one_by_one: bool,
}
