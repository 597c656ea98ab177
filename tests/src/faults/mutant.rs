//! A kernel with an edit in its source, and what it does on the simulator.

use super::mistakes::Edit;
use warpwright::{Error, Launch};
use warpwright_runtime::definition::{DeviceItem, KernelDefinition, SourceText};
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

/// The definition of a kernel with an edit of its text. It lives as long as the program, as definitions do.
pub fn mutated(definition: &KernelDefinition, edit: &Edit) -> &'static KernelDefinition {
    with_text(definition, edit.apply(definition.item.source.text))
}

/// The same with any other text.
pub fn with_text(definition: &KernelDefinition, text: String) -> &'static KernelDefinition {
    let text: &'static str = Box::leak(text.into_boxed_str());
    let source = SourceText { text, ..definition.item.source };
    Box::leak(Box::new(KernelDefinition { item: DeviceItem { source, ..definition.item }, ..*definition }))
}

/// Runs a kernel on the simulator as it is launched here, or another definition in its place, on copies of its buffers.
pub fn run(launch: &Launch<'_>, definition: Option<&'static KernelDefinition>) -> Ran {
    match launch.simulated_memory(definition) {
        Ok(memory) => Ran::Ended(memory),
        Err(Error::Simulated(fault)) => Ran::Faulted(fault),
        Err(other) => Ran::Refused(other.to_string()),
    }
}
