//! The language page, sentence by sentence: kernels as people write them who have read nothing else, on every device, bit for bit what
//! the host twin (`rustc`'s own compilation of the same text) computes, and through every `ptxas`.

#![allow(
    clippy::all,
    clippy::pedantic,
    clippy::uninlined_format_args,
    clippy::allow_attributes_without_reason,
    clippy::semicolon_if_nothing_returned,
    // What lints find here is slow; these kernels are about what they mean.
    deprecated,
    dead_code,
    deprecated,
    unused,
    unused_qualifications,
    unreachable_pub,
    missing_docs,
    reason = "kernels as other people write them: their style is part of what is tested"
)]

#[path = "language/annotations.rs"]
mod annotations;
#[path = "language/arguments.rs"]
mod arguments;
#[path = "language/atomics.rs"]
mod atomics;
#[path = "language/bench.rs"]
mod bench;
#[path = "language/casts.rs"]
mod casts;
#[path = "language/control.rs"]
mod control;
#[path = "language/equality.rs"]
mod equality;
#[path = "language/every_type.rs"]
mod every_type;
#[path = "language/exits.rs"]
mod exits;
#[path = "language/expressions.rs"]
mod expressions;
#[path = "language/flow.rs"]
mod flow;
#[path = "language/generics.rs"]
mod generics;
#[path = "language/groups.rs"]
mod groups;
#[path = "language/loops.rs"]
mod loops;
#[path = "language/matches.rs"]
mod matches;
#[path = "language/memory.rs"]
mod memory;
#[path = "language/methods.rs"]
mod methods;
#[path = "language/modules.rs"]
mod modules;
#[path = "language/numbers.rs"]
mod numbers;
#[path = "language/opaque.rs"]
mod opaque;
#[path = "language/ordered.rs"]
mod ordered;
#[path = "language/programs.rs"]
mod programs;
#[path = "language/ranges.rs"]
mod ranges;
#[path = "language/reductions.rs"]
mod reductions;
#[path = "language/scans.rs"]
mod scans;
#[path = "language/short_floats.rs"]
mod short_floats;
#[path = "language/short_integers.rs"]
mod short_integers;
#[path = "language/structs.rs"]
mod structs;
#[path = "language/sub_groups.rs"]
mod sub_groups;
#[path = "language/textures.rs"]
mod textures;
#[path = "language/types.rs"]
mod types;
#[path = "language/vectors.rs"]
mod vectors;
#[path = "language/warp_idioms.rs"]
mod warp_idioms;
#[path = "language/warps.rs"]
mod warps;

use bench::{Bench, Case, Kept};
use std::collections::HashSet;
use warpwright::{Device, DeviceKind, Launch};
use warpwright_codegen::target::Target;
use warpwright_tests::opencl_tools::{INTEL, again_on_intel};
use warpwright_tests::printed::{Outcome, round_trip};
use warpwright_tests::ptxas::{Counts, found_or_skip, reads};

/// Which cases an OpenCL device is asked about, besides those about warps. Compilers of OpenCL C for processors take up to a second for each.
#[derive(Clone, Copy, PartialEq)]
enum Share {
    All,
    /// A third, for Intel's driver.
    Intels,
    /// What Intel's driver is not asked about.
    Others,
}

/// Cases with a remainder that Intel's `fmod` gets wrong: of a number and a divisor below 1e-42, of which it leaves the divisor itself.
const WRONG_ON_INTEL: [&str; 2] = ["random_bits_of_floats", "euclid_of_all_types"];

/// A kernel whose eleven types under a branch take Intel's compiler 16 s: `warp_reductions_of_types` asks it about the types, and many others about branches.
const SLOW_ON_INTEL: &str = "types_under_guards";

/// Every kernel.
fn cases() -> impl Iterator<Item = &'static Case> {
    shared_cases(Share::All)
}

fn shared_cases(share: Share) -> impl Iterator<Item = &'static Case> {
    let all = [
        annotations::CASES,
        arguments::CASES,
        atomics::CASES,
        casts::CASES,
        control::CASES,
        equality::CASES,
        every_type::CASES,
        exits::CASES,
        expressions::CASES,
        flow::CASES,
        generics::CASES,
        groups::CASES,
        loops::CASES,
        matches::CASES,
        memory::CASES,
        methods::CASES,
        modules::CASES,
        numbers::CASES,
        opaque::CASES,
        ordered::CASES,
        programs::CASES,
        ranges::CASES,
        reductions::CASES,
        scans::CASES,
        short_floats::CASES,
        short_integers::CASES,
        structs::CASES,
        sub_groups::CASES,
        textures::CASES,
        types::CASES,
        vectors::CASES,
        warp_idioms::CASES,
        warps::CASES,
    ];
    // One case alone, while it is being looked into.
    let only = std::env::var("WARPWRIGHT_CASE").ok();
    let share = if only.is_some() { Share::All } else { share };
    // What is about warps is there for the device that has them.
    let of_warps = |case: &Case| {
        [sub_groups::CASES, warp_idioms::CASES, warps::CASES, groups::CASES, scans::CASES]
            .into_iter()
            .flatten()
            .any(|other| other.name == case.name)
    };
    let cases = all.into_iter().flatten().enumerate().filter(move |(n, case)| {
        let is_intels = n % 3 == 0 && !WRONG_ON_INTEL.contains(&case.name);
        match share {
            Share::All => true,
            Share::Intels => (of_warps(case) || is_intels) && case.name != SLOW_ON_INTEL,
            Share::Others => of_warps(case) || !is_intels,
        }
    });
    cases.map(|(_, case)| case).filter(move |case| only.as_ref().is_none_or(|only| case.name.contains(only.as_str())))
}

/// A variable, set where this program runs on Intel's driver.
const ON_INTEL: &str = "WARPWRIGHT_LANGUAGE_ON_INTEL";

/// What a case leaves on a device. Counts the launches whose warps are sub-groups there.
fn kept(case: &Case, device: &Device, in_sub_groups: &mut usize) -> Result<Vec<Kept>, String> {
    let is_opencl = device.kind() == DeviceKind::OpenCl;
    // A launch that fails is counted as nothing here, and complained of below.
    let mut inspect = |launch: &Launch<'_>| *in_sub_groups += usize::from(is_opencl && launch.has_warps(device).unwrap_or(false));
    let mut bench = Bench::new(device, &mut inspect);
    (case.run)(&mut bench).map_err(|error| format!("{} on {}: {error}", case.name, device.name()))?;
    bench.finish().map_err(|complaint| format!("{} on {}: {complaint}", case.name, device.name()))
}

/// Every case on a device, against the host twin.
fn check(device: &Device, share: Share) {
    let host = Device::host();
    let mut complaints = Vec::new();
    let (mut count, mut in_sub_groups) = (0, 0);
    for case in shared_cases(share) {
        count += 1;
        match (kept(case, &host, &mut 0), kept(case, device, &mut in_sub_groups)) {
            (Ok(expected), Ok(found)) => {
                let differ = expected.iter().zip(&found).filter_map(|(e, f)| e.differs(f));
                complaints.extend(differ.map(|text| format!("{} on {}: {text}", case.name, device.name())));
            }
            (expected, found) => complaints.extend([expected.err(), found.err()].into_iter().flatten()),
        }
    }
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
    println!("ran: language ({count} cases on {})", device.name());
    if in_sub_groups > 0 {
        println!("ran: language ({in_sub_groups} launches with warps on {})", device.name());
    }
}

#[test]
fn simulator() {
    check(&Device::simulator(), Share::All);
}

fn check_kind(kind: DeviceKind, name: &str, share: Share) {
    let devices: Vec<Device> = Device::all().into_iter().filter(|device| device.kind() == kind).collect();
    if devices.is_empty() {
        println!("skipped: language on {name} (no {name} device)");
    }
    devices.iter().for_each(|device| check(device, share));
}

#[test]
fn opencl() {
    let share = match (std::env::var_os(ON_INTEL), std::env::var_os(INTEL)) {
        (Some(_), _) => Share::Intels,
        (None, Some(_)) => Share::Others,
        (None, None) => Share::All,
    };
    check_kind(DeviceKind::OpenCl, "OpenCL", share);
}

/// On a device with sub-groups.
#[test]
fn opencl_with_sub_groups() {
    let Some(answer) = again_on_intel("language", "opencl", &[(ON_INTEL, "1")]) else { return };
    let count = |line: &str| line.strip_prefix("ran: language (")?.split_once(" launches with warps")?.0.parse::<u32>().ok();
    let all = std::env::var_os("WARPWRIGHT_CASE").is_none();
    assert!(!all || answer.lines().find_map(count).is_some_and(|count| count >= 60), "{answer}");
}

#[test]
fn cuda() {
    check_kind(DeviceKind::Cuda, "CUDA", Share::All);
}

/// Prints what the cases compile to, for people: `WARPWRIGHT_CASE=swaps cargo test … -- --nocapture show`.
#[test]
fn show() {
    if std::env::var_os("WARPWRIGHT_CASE").is_none() {
        return;
    }
    let device = Device::host();
    for case in cases() {
        let mut inspect = |launch: &Launch<'_>| {
            for text in [launch.ir(), launch.opencl_c(), launch.ptx("sm_90")] {
                println!("{}", text.unwrap_or_else(|error| error.to_string()));
            }
        };
        let mut bench = Bench::new(&device, &mut inspect);
        let _ = (case.run)(&mut bench);
    }
}

/// The oldest target, and one of each generation whose instructions differ.
const TARGETS: [&str; 4] = ["sm_50", "sm_75", "sm_90", "sm_120"];

#[test]
fn ptxas_takes_every_kernel() {
    let Some(assemblers) = found_or_skip("language") else { return };
    let (counts, mut asked, mut seen) = (Counts::default(), 0, HashSet::new());
    let device = Device::host();
    for case in cases() {
        let mut texts = Vec::new();
        let mut inspect = |launch: &Launch<'_>| {
            if seen.insert(launch.instance_key()) {
                let each = launch.ptx_of_each(&TARGETS).unwrap_or_else(|error| panic!("{}: {error}", case.name));
                texts.extend(TARGETS.into_iter().zip(each.into_iter().map(|text| text.map_err(|error| error.to_string()))));
            }
        };
        let mut bench = Bench::new(&device, &mut inspect);
        if let Err(error) = (case.run)(&mut bench) {
            panic!("{}: {error}", case.name);
        }
        for (name, text) in texts {
            let text = text.unwrap_or_else(|error| panic!("{} for {name}: {error}", case.name));
            let capability = Target::find(name).map(|target| target.capability).expect("the target is known");
            // The assemblers that know the target take turns; one that none of them knows is counted as skipped.
            let able: Vec<_> = assemblers.iter().filter(|assembler| reads(assembler, &text, capability)).collect();
            asked += 1;
            counts.ask(able.get(asked % able.len().max(1)).copied().unwrap_or(&assemblers[0]), &text, case.name, capability);
        }
    }
    counts.report("language");
}

/// What `emit --format rust` prints is a kernel again that does the same.
#[test]
fn printed_rust_does_the_same() {
    let device = Device::simulator();
    let (mut count, mut complaints) = (0, Vec::new());
    for case in cases() {
        let mut inspect = |launch: &Launch<'_>| {
            count += 1;
            if let Outcome::Wrong(why) = round_trip(launch) {
                complaints.push(format!("{}: {why}", case.name));
            }
        };
        let mut bench = Bench::new(&device, &mut inspect);
        let result = (case.run)(&mut bench);
        if let Err(error) = result {
            complaints.push(format!("{}: {error}", case.name));
        }
    }
    assert!(complaints.is_empty(), "{} of {count} launches:\n{}", complaints.len(), complaints.join("\n\n"));
    println!("ran: language ({count} printed kernels on the simulator)");
}
