//! How a warp touches memory: sectors of a request to global memory, bank conflicts of one to shared memory, what of a branch splits a warp.
//!
//! Figures are those of a full warp, counted as the simulator counts them. Where the index is not known to be affine in the lane, nothing
//! is said.

use crate::ir::{Inst, Kernel, Loc, Object, Space};

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
}

/// A figure that may depend on where an object begins, or on numbers known at launch only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
        /// Sectors (32 aligned bytes) of one request.
        sectors: Range,
        /// Different bytes that the lanes use.
        bytes: Range,
        /// Bytes from lane to lane, where that is one number.
        stride: Option<i64>,
    },
    /// Shared memory.
    Shared {
        /// Passes of one request over the least its width needs: 1 is without conflict.
        degree: Range,
        /// Bytes from lane to lane, where that is one number.
        stride: Option<i64>,
    },
    /// Constant memory: different addresses of one request; 1 is a broadcast.
    Constant {
        /// Different addresses.
        addresses: Range,
    },
}

/// A branch in the program.
#[derive(Clone, Copy, Debug)]
pub struct BranchFact {
    /// The `If`, `For` or `Loop`.
    pub inst: Inst,
    /// Where it comes from.
    pub loc: Loc,
    /// Whether lanes of one warp may part.
    pub divergence: Divergence,
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

/// The accesses of a kernel of stage `Legal`, in program order.
pub fn accesses(_kernel: &Kernel) -> Vec<AccessFact> {
    Vec::new()
}

/// The branches of a kernel of stage `Legal`, in program order.
pub fn branches(_kernel: &Kernel) -> Vec<BranchFact> {
    Vec::new()
}
