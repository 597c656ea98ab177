//! Steps of occupancy: the most registers of a thread with which a multiprocessor holds one block more.

use warpwright_codegen::ir::Kernel;
use warpwright_codegen::target::Target;
use warpwright_codegen::target::limits::BLOCK_THREADS;
use warpwright_codegen::target::occupancy::{Demand, Options, occupancy, register_ladder};

/// How many registers the assembler may give a kernel, and where it stops on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ladder {
    /// The steps, fewest registers first; the last is the limit.
    steps: Vec<u32>,
}

impl Ladder {
    /// `bound` is what the back end says where the source says nothing.
    pub(super) fn new(kernel: &Kernel, bound: Option<u32>, target: &Target) -> Ladder {
        let options = &kernel.options;
        // Where the launch decides, the assembler counts on what the printed kernel allows.
        let threads =
            kernel.started_block().map_or(BLOCK_THREADS, |[x, y, z]| x.saturating_mul(y).saturating_mul(z)).clamp(1, BLOCK_THREADS);
        let limits = target.limits;
        let mut steps = register_ladder(limits, threads);
        steps.sort_unstable();
        let asked = options.min_blocks.unwrap_or(1);
        let holds =
            |registers: u32| occupancy(limits, &Demand { threads, registers, ..Demand::default() }, &Options::default()).blocks >= asked;
        let held = steps.iter().copied().filter(|step| holds(*step)).max().unwrap_or(limits.registers_per_thread);
        let limit = held.min(options.max_registers.or(bound).unwrap_or(limits.registers_per_thread));
        // Who says how many blocks or registers there are to be has decided.
        let is_decided = options.min_blocks.is_some() || options.max_registers.or(bound).is_some();
        steps.retain(|step| *step < limit && !is_decided);
        steps.push(limit);
        Ladder { steps }
    }

    /// The most registers there can be.
    pub(super) fn limit(&self) -> u32 {
        self.steps.last().copied().unwrap_or(0)
    }

    /// The lowest step that has room for this many; the limit, if none has.
    pub(super) fn step(&self, registers: u32) -> u32 {
        self.steps.iter().copied().find(|step| *step >= registers).unwrap_or(self.limit())
    }
}
