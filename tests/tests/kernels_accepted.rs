//! What the table's kernels compile to, before other people's judges: every `ptxas`, for every target.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use warpwright::{Device, Launch};
use warpwright_codegen::target::{TARGETS, Target};
use warpwright_tests::ptxas::{Counts, found_or_skip};
use warpwright_tests::random::Random;
use warpwright_tests::table::{Bench, CASES};

/// A kernel of the table for a target.
struct Text {
    case: &'static str,
    target: &'static Target,
    ptx: String,
}

/// Every kernel that the table launches, once for each target.
fn texts() -> Vec<Text> {
    let device = Device::host();
    let (mut seen, mut all) = (HashSet::new(), Vec::new());
    for case in CASES {
        let mut inspect = |launch: &Launch<'_>| {
            let ptx =
                |target: &Target| launch.ptx(target.name).unwrap_or_else(|error| panic!("{} for {}: {error}", case.name, target.name));
            // Programs launch a kernel again and again.
            if seen.insert(ptx(&TARGETS[0])) {
                all.extend(TARGETS.iter().map(|target| Text { case: case.name, target, ptx: ptx(target) }));
            }
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
    let (texts, counts, next) = (texts(), Counts::default(), AtomicUsize::new(0));
    let work = || {
        while let Some(Text { case, target, ptx }) = texts.get(next.fetch_add(1, Ordering::Relaxed)) {
            assemblers.iter().for_each(|assembler| counts.ask(assembler, ptx, case, target.capability));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    counts.report("every_ptxas_takes_every_kernel_for_every_target");
}
