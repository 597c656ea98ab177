//! Figures that several pages have.

use super::library::{Library, Looked, Named};
use warpwright_codegen::target::Target;
use warpwright_codegen::target::limits::Limits;
use warpwright_codegen::target::occupancy::{Demand, Occupancy, Options, occupancy};
use warpwright_review::report::Estimated;
use warpwright_tests::ptxas::Ptxas;

/// What today's figures are for.
pub(super) fn today() -> &'static Target {
    Target::find("sm_90").expect("a target")
}

/// What a compute capability has.
pub(super) fn limits(capability: &str) -> &'static Limits {
    Limits::find(capability).unwrap_or_else(|_| panic!("{capability} is no capability"))
}

/// Blocks of this demand on a multiprocessor of this capability.
pub(super) fn resident(capability: &str, threads: u32, registers: u32, shared: u32) -> Occupancy {
    occupancy(limits(capability), &Demand { threads, registers, shared, ..Demand::default() }, &Options::default())
}

/// What a report says bounds a variant.
pub(super) fn bound(looked: &Looked) -> &'static str {
    looked.known.targets[0].prediction.as_ref().map_or("not known", |prediction| prediction.bound.word())
}

/// Registers that an assembler gives a variant for today's target.
pub(super) fn measured(looked: &Looked, ptxas: &Ptxas) -> u32 {
    let measured = ptxas.measure(&looked.ptx, today().capability);
    measured.unwrap_or_else(|error| panic!("{}: {error}", looked.known.legal.name)).registers
}

/// What a table that an assembler measured begins with: the page that has it names the release.
pub(super) fn release(ptxas: &Ptxas) -> String {
    format!("Measured by ptxas {} for {}", ptxas.release, today().name)
}

/// The lints that find something in a variant, in code.
pub(super) fn lints(strict: &mut Library, named: Named) -> String {
    let found: Vec<String> = strict.lints(named).iter().map(|name| format!("`{name}`")).collect();
    if found.is_empty() { "none".to_owned() } else { found.join(", ") }
}

/// What is known of a variant, as people read it.
pub(super) fn report(looked: &Looked) -> Estimated {
    Estimated::all("", &looked.known).swap_remove(0)
}
