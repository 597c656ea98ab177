//! What is known of a kernel before anything runs: docs/check.md.
//!
//! [`VariantFacts`] hold for every target; an [`Estimate`] is about one. Every figure here is *estimated*: computed from the kernel and from
//! tables, never measured. Figures measured by `ptxas`, counted by the simulator or timed on a device have types of their own
//! elsewhere, and are never put in the place of one of these.
//!
//! | file | what it knows |
//! |---|---|
//! | `facts.rs` | the figures that no target changes, gathered |
//! | `demand.rs` | what a block asks for, and the resident blocks that follow by NVIDIA's own arithmetic: exact |
//! | `registers.rs` | registers of a thread: a model of the assembler |
//! | `launched.rs` | what of a launch is known |
//! | `weights.rs`, `control.rs` | how often a thread runs what |
//! | `mix.rs` | what a thread executes: instructions by pipe, bytes, operations |
//! | `flight.rs` | what a warp waits for: the order of its loads, its time if it were alone |
//! | `traffic.rs` | the bytes that a warp moves |
//! | `engine.rs` | what the copy engine moves for a block |
//! | `constants.rs` | what loads from constant memory cost |
//! | `model/` | how fast blocks go through a multiprocessor: the arithmetic of latency and throughput |
//! | `time.rs` | what bounds a kernel, and how long it takes |
//! | `waves.rs` | how the blocks of a launch fill a device |

pub mod clusters;
mod constants;
mod control;
pub mod demand;
mod engine;
mod facts;
pub mod flight;
mod launched;
pub mod mix;
pub mod model;
pub mod registers;
#[cfg(test)]
mod tests;
pub mod time;
pub mod traffic;
mod waves;
pub mod weights;

pub use facts::{MemoryUse, VariantFacts};
pub use launched::Launched;
pub use waves::Waves;

use clusters::ResidentClusters;
use registers::Registers;
use time::{Prediction, Threads};
use warpwright_codegen::analysis::access::Races;
use warpwright_codegen::pipeline::Legal;
use warpwright_codegen::target::Target;
use warpwright_codegen::target::occupancy::Occupancy;

/// One variant of a kernel, with what is known of it.
#[derive(Clone, Debug)]
pub struct Known {
    /// The kernel: whose accesses the facts are about, and with addresses, whose values take registers.
    pub legal: Legal,
    /// What holds for every target.
    pub facts: VariantFacts,
    /// What a thread executes and waits for, in the form that all machines have.
    pub threads: Threads,
    /// The same in the forms for machines that have more, in their order, where a target gets one.
    pub forms: Vec<Option<Threads>>,
    /// What holds for each target, in the order asked for.
    pub targets: Vec<Estimate>,
    /// The launch that all that is about, as far as it is known.
    pub launched: Launched,
}

impl Known {
    /// What a thread executes and waits for in the form that a target gets.
    pub fn threads_on(&self, target: &'static Target) -> &Threads {
        self.predicted_on(target).1
    }

    /// The form that predictions for a target are of, and what a thread executes there.
    pub fn predicted_on(&self, target: &'static Target) -> (&Legal, &Threads) {
        let form = self.legal.on_device(target);
        let own = self.legal.forms().zip(&self.forms).find(|(other, _)| std::ptr::eq(form, *other));
        match own {
            Some((_, Some(threads))) => (form, threads),
            _ => (&self.legal, &self.threads),
        }
    }
}

/// What is known of a variant on one target.
#[derive(Clone, Debug)]
pub struct Estimate {
    /// The target.
    pub target: &'static Target,
    /// Registers of a thread.
    pub registers: Registers,
    /// Resident blocks; `None` where the launch decides the block's size.
    pub occupancy: Option<Occupancy>,
    /// Clusters that are resident at once; `None` without clusters, or where the device is not known well enough.
    pub clusters: Option<ResidentClusters>,
    /// Time and what bounds it; `None` where the target has no row of rates, or the launch decides too much.
    pub prediction: Option<Prediction>,
}

/// Everything that is known of a kernel.
pub fn estimate(legal: &Legal, targets: &[&'static Target]) -> Known {
    estimate_launched(legal, targets, &Launched::default())
}

/// The same in launches of which something is known.
pub fn estimate_launched(legal: &Legal, targets: &[&'static Target], launched: &Launched) -> Known {
    estimate_races(legal, targets, launched, Races::Sought)
}

/// The same, with or without a look for races.
pub(crate) fn estimate_races(legal: &Legal, targets: &[&'static Target], launched: &Launched, races: Races) -> Known {
    let (legal, addressed) = (legal.clone(), legal.addressed());
    // Accesses are those of the form that all machines have: what the copy engine moves, it moves, too.
    let mut facts = VariantFacts::of_launched(&legal, launched, races);
    for form in legal.forms() {
        facts.memory.shared = facts.memory.shared.max(MemoryUse::of(form).shared);
    }
    let threads = Threads::of(addressed, &facts.accesses, &facts.branches, launched);
    let is_wanted = |form: &Legal| targets.iter().any(|target| std::ptr::eq(legal.on_device(target), form));
    let of_form = |form: &Legal| {
        let mut own = VariantFacts::of_launched(form, launched, Races::Left);
        own.accesses.extend(engine::facts_of_copies(form, &facts.accesses));
        Threads::of(form.addressed(), &own.accesses, &own.branches, launched)
    };
    let forms = legal.forms().map(|form| is_wanted(form).then(|| of_form(form))).collect();
    let mut known = Known { legal, facts, threads, forms, targets: Vec::new(), launched: launched.clone() };
    let legal = &known.legal;
    let registers = registers_of_forms(legal, targets);
    let each = targets.iter().zip(registers);
    let one = |(target, registers): (&&'static Target, Registers)| {
        let occupancy = demand::of_kernel(legal.on_device(target), registers.estimate, launched.dynamic_shared, target);
        let (form, threads) = known.predicted_on(target);
        let prediction = time::predict(form.addressed(), threads, occupancy.as_ref(), target);
        let clusters = ResidentClusters::of(&legal.options, occupancy.as_ref(), target);
        Estimate { target, registers, occupancy, clusters, prediction }
    };
    let targets = each.map(one).collect();
    known.targets = targets;
    known
}

/// Registers on each target, of the form that it gets.
fn registers_of_forms(legal: &Legal, targets: &[&'static Target]) -> Vec<Registers> {
    let mut found: Vec<(usize, Registers)> = Vec::new();
    for form in std::iter::once(legal).chain(legal.forms()) {
        let is_its = |(_, target): &(usize, &&'static Target)| std::ptr::eq(legal.on_device(target), form);
        let (numbers, its): (Vec<usize>, Vec<&'static Target>) =
            targets.iter().enumerate().filter(is_its).map(|(n, target)| (n, legal.target_on(target))).unzip();
        if !its.is_empty() {
            found.extend(numbers.into_iter().zip(registers::registers_of_each(form.addressed(), &its)));
        }
    }
    found.sort_by_key(|(number, _)| *number);
    found.into_iter().map(|(_, registers)| registers).collect()
}
