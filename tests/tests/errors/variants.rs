//! Which errors there are: the variants of enums in the runtime's sources.

use std::collections::BTreeSet;
use warpwright_tests::command::root;

/// The variants of an enum in a file.
fn of(file: &str, name: &str) -> BTreeSet<String> {
    let text = std::fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    let items = syn::parse_file(&text).unwrap_or_else(|error| panic!("{file}: {error}")).items;
    let found = items.into_iter().find_map(|item| match item {
        syn::Item::Enum(found) if found.ident == name => Some(found),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("{file} has no enum `{name}`")).variants.iter().map(|variant| variant.ident.to_string()).collect()
}

/// Every variant of `warpwright::Error`, of the library of staples' own, of results of tuning, of the simulator by itself, and of NVIDIA's assembler.
pub(super) fn of_errors() -> BTreeSet<String> {
    let mut all = of("runtime/src/error.rs", "Error");
    let of_simulator = of("runtime/src/sim/error.rs", "Error");
    // Faults have a list of their own.
    all.extend(of_simulator.iter().filter(|variant| *variant != "Fault").map(|variant| format!("sim::Error::{variant}")));
    all.extend(of("runtime/src/tuned.rs", "TunedError").iter().map(|variant| format!("TunedError::{variant}")));
    all.extend(of("runtime/src/ptxas.rs", "PtxasError").iter().map(|variant| format!("PtxasError::{variant}")));
    all.extend(of("kernels/src/staples/error.rs", "Error").iter().map(|variant| format!("staples::Error::{variant}")));
    all
}

/// Every kind of fault that the simulator finds, those of the copy engine's barriers each by itself.
pub(super) fn of_faults() -> BTreeSet<String> {
    let mut kinds = of("runtime/src/sim/error.rs", "FaultKind");
    assert!(kinds.remove("BarrierMisused"));
    kinds.extend(of("runtime/src/sim/engine.rs", "Misuse").iter().map(|misuse| format!("BarrierMisused::{misuse}")));
    kinds
}
