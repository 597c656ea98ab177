//! What the table's kernels compile to, before other people's judges.
//!
//! Targets of a kernel that differ in nothing but their name are one text, for the first of them, and for another one that goes round from kernel to kernel. Each text is asked of one
//! `ptxas` of those that know its target, in turn. All instructions, each for all targets, are in `ptx_accepted`.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use warpwright::{Device, Launch};
use warpwright_codegen::target::{TARGETS, Target};
use warpwright_tests::ptxas::{Counts, found_or_skip, reads};
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
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    for case in CASES {
        let mut inspect = |launch: &Launch<'_>| {
            // Programs launch a kernel again and again.
            if !seen.insert(launch.instance_key()) {
                return;
            }
            let texts = launch.ptx_of_each(&names).unwrap_or_else(|error| panic!("{}: {error}", case.name));
            let mut bodies = HashSet::new();
            for (n, (target, ptx)) in TARGETS.iter().zip(texts).enumerate() {
                let ptx = ptx.unwrap_or_else(|error| panic!("{} for {}: {error}", case.name, target.name));
                let body =
                    ptx.lines().filter(|line| !line.starts_with(".version") && !line.starts_with(".target")).collect::<Vec<_>>().join("\n");
                // Kernels take turns in which other target is asked, too.
                if bodies.insert(body) || (seen.len() + n).is_multiple_of(TARGETS.len()) {
                    all.push(Text { case: case.name, target, ptx });
                }
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
fn a_ptxas_takes_every_kernel_for_every_target() {
    let Some(assemblers) = found_or_skip("a_ptxas_takes_every_kernel_for_every_target") else { return };
    let (texts, counts, next) = (texts(), Counts::default(), AtomicUsize::new(0));
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(Text { case, target, ptx }) = texts.get(number) else { break };
            let able: Vec<_> = assemblers.iter().filter(|assembler| reads(assembler, ptx, target.capability)).collect();
            // One that none can be asked about is counted as that.
            let judge = if able.is_empty() { &assemblers[0] } else { able[number % able.len()] };
            counts.ask(judge, ptx, case, target.capability);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    counts.report("a_ptxas_takes_every_kernel_for_every_target");
}
