//! How much of a kernel's time what a lint found can be about, by how often it runs: what runs once a block in a kernel that loops for long is
//! not worth a word, however badly it does it.
//!
//! An access takes its passes (what the load and store unit needs for a request) of the issue slots, and its sectors of the time
//! that memory is busy. The greater share counts. Loops that the launch decides count as the model of time counts them.

use super::Subject;
use crate::estimate::Known;
use crate::estimate::mix;
use crate::machine::Machine;
use warpwright_codegen::analysis::access::{AccessFact, Pattern, Range};
use warpwright_codegen::ir::{Block, Inst, Space};
use warpwright_codegen::target::limits::{self, WARP};

/// The share of a kernel's time below which a finding is not worth a person's: mending it cannot make the kernel faster by more.
pub(super) const WORTH: f64 = 0.02;

/// Bytes of a sector.
const SECTOR: f64 = limits::SECTOR as f64;

/// Sectors that the L1 cache gives in a pass.
const SECTORS_OF_A_PASS: f64 = (limits::LINE / limits::SECTOR) as f64;

/// A kernel on the scales.
pub(super) struct Scales<'a> {
    known: &'a Known,
    /// Issue slots of a warp, passes beyond the first of each access counted.
    slots: f64,
    /// Bytes of global memory of a warp, as sectors.
    bytes: f64,
    /// The share of the time that memory is busy, on the target where it is most; 1 where nothing is predicted.
    memory: f64,
}

impl<'a> Scales<'a> {
    pub(super) fn of(subject: &Subject<'a>) -> Scales<'a> {
        let known = subject.known;
        let mut scales = Scales { known, slots: known.threads.mix.instructions(), bytes: 0.0, memory: 0.0 };
        for fact in &known.facts.accesses {
            let times = scales.times(fact);
            scales.slots += times * (passes(fact) - 1.0);
            scales.bytes += times * bytes(fact);
        }
        let busy = known.targets.iter().map(|on| {
            let (prediction, machine) = on.prediction.as_ref().zip(Machine::of(on.target.capability))?;
            let bytes = (prediction.work.read + prediction.work.written) * f64::from(machine.multiprocessors);
            Some((bytes / prediction.block_seconds / machine.memory.peak).min(1.0))
        });
        scales.memory = busy.map(|share| share.unwrap_or(1.0)).fold(0.0, f64::max);
        scales
    }

    /// How often a warp of the block makes an access, on average over all of them.
    fn times(&self, fact: &AccessFact) -> f64 {
        if fact.is_rare { 0.0 } else { self.known.threads.times(fact.inst) }
    }

    /// The share of the kernel's time that an access takes.
    pub(super) fn of_access(&self, fact: &AccessFact) -> f64 {
        let times = self.times(fact);
        let memory = if self.bytes > 0.0 { times * bytes(fact) / self.bytes * self.memory } else { 0.0 };
        self.of_slots(times * passes(fact)).max(memory)
    }

    /// The share of what the kernel brings from global memory that loads bring, elements that several warps load alike counted once.
    pub(super) fn of_traffic<'f>(&self, facts: impl IntoIterator<Item = &'f AccessFact>) -> f64 {
        let fetched = |fact: &AccessFact| self.times(fact) * bytes(fact) / f64::from(fact.sharing.unwrap_or(1).max(1));
        let all: f64 = self.known.facts.accesses.iter().map(fetched).sum();
        if all > 0.0 { facts.into_iter().map(fetched).sum::<f64>() / all } else { 1.0 }
    }

    /// The share of the kernel's issue slots that a block of the program takes.
    pub(super) fn of_block(&self, block: Block) -> f64 {
        let mut slots = 0.0;
        self.known.legal.addressed().walk_block(block, &mut |kernel, _, inst| {
            slots += self.known.threads.times(inst) * mix::cost(kernel, inst).slots();
        });
        self.of_slots(slots)
    }

    /// The share that an instruction takes which is in truth so many.
    pub(super) fn of_instructions(&self, inst: Inst, count: f64) -> f64 {
        self.of_slots(self.known.threads.times(inst) * count)
    }

    fn of_slots(&self, slots: f64) -> f64 {
        if self.slots > 0.0 { slots / self.slots } else { 1.0 }
    }

    /// Whether accesses are worth a word, together.
    pub(super) fn are_worth<'f>(&self, facts: impl IntoIterator<Item = &'f AccessFact>) -> bool {
        facts.into_iter().map(|fact| self.of_access(fact)).sum::<f64>() >= WORTH
    }
}

/// What the load and store unit needs for a request; at least one pass.
fn passes(fact: &AccessFact) -> f64 {
    match fact.pattern {
        Pattern::Global { sectors, .. } => (middle(sectors) / SECTORS_OF_A_PASS).max(1.0),
        Pattern::Shared { degree, .. } => middle(degree).max(1.0),
        Pattern::Constant { addresses } => middle(addresses).max(1.0),
        // Every lane its own place.
        Pattern::Unknown => match fact.space {
            Space::Global => f64::from(WARP) / SECTORS_OF_A_PASS,
            Space::Constant => 32.0,
            _ => 1.0,
        },
    }
}

/// Bytes of global memory that a request moves.
fn bytes(fact: &AccessFact) -> f64 {
    match fact.pattern {
        Pattern::Global { sectors, .. } => middle(sectors) * SECTOR,
        Pattern::Unknown if fact.space == Space::Global => f64::from(WARP) * SECTOR,
        _ => 0.0,
    }
}

fn middle(range: Range) -> f64 {
    (f64::from(range.least) + f64::from(range.most)) / 2.0
}
