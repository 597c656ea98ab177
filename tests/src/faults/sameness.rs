//! Why a mutant leaves what the kernel leaves: what can be told of it without a person.

use super::mistakes::Edit;
use super::mutant::{Ran, run_with};
use super::site::Site;
use warpwright::Launch;
use warpwright_runtime::definition::KernelDefinition;
use warpwright_runtime::sim::FaultKind;

/// Why a mutant and its kernel do the same in a launch; those that say least come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Same {
    /// Nothing tells: a person has to say why.
    Untold,
    /// What is edited is computed, and has the value that it has in the kernel, in every thread and every time.
    Value,
    /// No thread comes to what is edited.
    NotReached,
    /// The compiler makes the same code of both.
    Code,
}

/// Tells why a mutant did the same, which left `memory` as the kernel does.
pub fn told(launch: &Launch<'_>, site: &Site, edit: &Edit, mutant: &'static KernelDefinition, memory: &[Vec<u8>]) -> Same {
    let text = site.source.text;
    if without_places(launch.ir_of(mutant)) == without_places(launch.ir()) {
        return Same::Code;
    }
    let holds = |probed: String| assertion_holds(launch, site, probed, memory);
    if holds(edit.probe.where_reached(text)) {
        Same::NotReached
    } else if edit.probe.where_different(text).is_some_and(holds) {
        Same::Value
    } else {
        Same::Untold
    }
}

/// Whether no thread breaks the assertion that is put in.
fn assertion_holds(launch: &Launch<'_>, site: &Site, probed: String, memory: &[Vec<u8>]) -> bool {
    let name = launch.definition().name;
    match run_with(launch, site, probed.clone()) {
        Ran::Ended(left) => {
            assert!(left == memory, "an assertion changes what `{name}` computes:\n{probed}");
            true
        }
        Ran::Faulted(fault) => {
            // The assertion may read an element beyond an array, which the mutant computes the place of and does not read.
            let is_told = matches!(fault.kind, FaultKind::Assertion { .. } | FaultKind::OutOfBounds { .. });
            assert!(is_told, "an assertion leads `{name}` to another fault: {fault}\n{probed}");
            false
        }
        // What is referred to, `&a[i]`, cannot be a block with an assertion.
        Ran::Refused(why) if why.contains("a reference to a local") => false,
        Ran::Refused(why) => panic!("`{name}` with an assertion: {why}\n{probed}"),
    }
}

/// A kernel's text without where its instructions come from, which an edit moves.
fn without_places(ir: warpwright::Result<String>) -> Vec<String> {
    let text = ir.unwrap_or_default();
    text.lines().map(|line| line.split(" @").next().unwrap_or(line).trim_end().to_owned()).collect()
}
