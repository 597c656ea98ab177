//! A kernel with an edit in its source, or in that of a function it calls, and what it does on the simulator.

use super::site::Site;
use warpwright::{Error, Launch};
use warpwright_runtime::definition::KernelDefinition;
use warpwright_runtime::sim::Fault;

/// What became of a mutant.
#[derive(Clone, Debug)]
pub enum Ran {
    /// The compiler says what is wrong, or the launch.
    Refused(String),
    /// The simulator stops it.
    Faulted(Box<Fault>),
    /// It ran to its end, and left this in its buffers.
    Ended(Vec<Vec<u8>>),
}

/// Runs a kernel on the simulator as it is launched here, or another definition in its place, on copies of its buffers.
pub fn run(launch: &Launch<'_>, definition: Option<&'static KernelDefinition>) -> Ran {
    ran(launch.simulated_memory(definition))
}

fn ran(memory: warpwright::Result<Vec<Vec<u8>>>) -> Ran {
    match memory {
        Ok(memory) => Ran::Ended(memory),
        Err(Error::Simulated(fault)) => Ran::Faulted(fault),
        Err(other) => Ran::Refused(other.to_string()),
    }
}

/// The same on a weak memory, with a seed.
pub fn run_weakly(launch: &Launch<'_>, definition: Option<&'static KernelDefinition>, seed: u64) -> Ran {
    ran(launch.weakly_simulated_memory(definition, seed))
}

/// The same of a kernel with another text at a site.
pub fn run_with(launch: &Launch<'_>, site: &Site, text: String) -> Ran {
    run(launch, Some(site.with_text(text)))
}
