//! What the table's kernels compile to, before other people's judges: every `ptxas` for every target, and Oclgrind.

use std::collections::BTreeMap;
use warpwright::{Device, Launch};
use warpwright_codegen::target::TARGETS;
use warpwright_tests::ptxas::{Counts, found_or_skip};
use warpwright_tests::random::Random;
use warpwright_tests::table::{Bench, CASES};

/// What `text` makes of every launch of the table, by the kernel's name.
fn texts(text: impl Fn(&Launch<'_>) -> String) -> BTreeMap<&'static str, String> {
    let device = Device::host();
    let mut all = BTreeMap::new();
    for case in CASES {
        let mut inspect = |launch: &Launch<'_>| {
            all.insert(case.name, text(launch));
        };
        let mut bench = Bench { device: &device, random: Random::new(1), inspect: &mut inspect };
        if let Err(error) = (case.run)(&mut bench) {
            panic!("{}: {error}", case.name);
        }
    }
    all
}

#[test]
fn every_ptxas_takes_every_kernel_for_every_target() {
    let Some(assemblers) = found_or_skip("every_ptxas_takes_every_kernel_for_every_target") else { return };
    let counts = Counts::default();
    for target in TARGETS {
        for (name, ptx) in texts(|launch| launch.ptx(target.name).unwrap_or_else(|error| panic!("{error}"))) {
            for assembler in &assemblers {
                counts.ask(assembler, &ptx, name, target.capability);
            }
        }
    }
    counts.report("every_ptxas_takes_every_kernel_for_every_target");
}
