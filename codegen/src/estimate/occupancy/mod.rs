//! How many blocks a multiprocessor holds at once, what limits them, and how far the next step is.

use super::Facts;
use crate::ir::Kernel;
use crate::target::Target;

/// What limits the resident blocks of a multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resource {
    /// Warps (threads) of a multiprocessor.
    Warps,
    /// Block slots.
    Blocks,
    /// Registers.
    Registers,
    /// Shared memory.
    Shared,
    /// Named barriers.
    Barriers,
}

/// What a block asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// Threads of a block.
    pub threads: u32,
    /// Registers of a thread.
    pub registers: u32,
    /// Shared memory of a block, bytes, static and dynamic.
    pub shared: u32,
    /// Named barriers of a block.
    pub barriers: u32,
}

/// The resident blocks of a multiprocessor. Exact for the demand it was computed from; that demand's registers may be an estimate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// What was asked for.
    pub demand: Demand,
    /// Resident blocks; 0 where not even one fits.
    pub blocks: u32,
    /// Resident warps.
    pub warps: u32,
    /// Most warps a multiprocessor can hold.
    pub max_warps: u32,
    /// How many blocks each resource would allow by itself; `None` where the block asks for none of it.
    pub allowed: [(Resource, Option<u32>); 5],
}

impl Occupancy {
    /// Resident warps as a share of the most there can be, 0 to 1.
    pub fn share(&self) -> f64 {
        f64::from(self.warps) / f64::from(self.max_warps)
    }

    /// The resources that allow no more blocks than are resident.
    pub fn limiters(&self) -> impl Iterator<Item = Resource> + '_ {
        self.allowed.iter().filter(|(_, blocks)| *blocks == Some(self.blocks)).map(|(resource, _)| *resource)
    }
}

/// The occupancy of a kernel with this many registers, if its attribute fixes the block.
pub fn of_kernel(_kernel: &Kernel, _facts: &Facts, _registers: u32, _target: &'static Target) -> Option<Occupancy> {
    None
}
