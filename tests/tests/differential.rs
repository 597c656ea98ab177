//! Every kernel of the table on every device there is: the simulator and the host twin always, OpenCL and CUDA where they are.

use warpwright::{Device, DeviceKind, Launch};
use warpwright_tests::opencl_tools::again_on_intel;
use warpwright_tests::random::Random;
use warpwright_tests::table::{Bench, CASES, Case};

/// Set where cases with long texts are left out.
const ONLY_SHORT: &str = "WARPWRIGHT_ONLY_SHORT";

/// Bytes of a text that Intel's compiler takes in seconds. It takes minutes for motion estimation, 100 KB and more of what is unrolled.
const LONGEST: usize = 64 << 10;

/// Cases that Intel's driver does not do right, each with what is known of it. They are right on PoCL, on NVIDIA's OpenCL and on CUDA.
const NOT_ON_INTEL: &[(&str, &str)] = &[
    ("waves: fast", "native functions are the device's own, and Intel's are farther off than the bound, which is NVIDIA's"),
    ("pns: in registers", "its vectoriser lets threads go on that have left a loop; right with CL_CONFIG_CPU_VECTORIZER_MODE=1"),
];

/// The table, or the cases of it with a word in their name, or those whose kernels are not too long for Intel's compiler.
fn cases() -> Vec<&'static Case> {
    let is_short = |case: &&Case| {
        let mut longest = 0;
        let mut inspect = |launch: &Launch<'_>| longest = longest.max(launch.opencl_c().map_or(0, |text| text.len()));
        // What goes wrong on the host is complained of elsewhere.
        let _ = (case.run)(&mut Bench { device: &Device::host(), random: Random::new(1), inspect: &mut inspect });
        longest <= LONGEST
    };
    if let Ok(word) = std::env::var("WARPWRIGHT_CASE") {
        let named: Vec<&Case> = CASES.iter().filter(|case| case.name.contains(&word)).collect();
        assert!(!named.is_empty(), "no case has `{word}` in its name");
        return named;
    }
    let only_short = std::env::var_os(ONLY_SHORT).is_some();
    let is_left_out = |case: &Case| NOT_ON_INTEL.iter().any(|(name, _)| case.name.starts_with(name));
    if only_short {
        NOT_ON_INTEL.iter().for_each(|(name, why)| println!("skipped: {name} on Intel OpenCL ({why})"));
    }
    CASES.iter().filter(|case| !only_short || !is_left_out(case) && is_short(case)).collect()
}

/// Runs cases on one device; gives the complaints.
fn complaints(cases: &[&Case], device: &Device, seed: u64) -> Vec<String> {
    let mut all = Vec::new();
    for case in cases {
        match (case.run)(&mut Bench { device, random: Random::new(seed), inspect: &mut |_| {} }) {
            Ok(output) => all.extend(output.complaint().map(|text| format!("{} on {}: {text} (seed {seed})", case.name, device.name()))),
            Err(error) => all.push(format!("{} on {}: {error} (seed {seed})", case.name, device.name())),
        }
    }
    all
}

fn check(device: &Device) {
    let (cases, mut all) = (cases(), Vec::new());
    for round in 0..3 {
        all.extend(complaints(&cases, device, Random::fresh_seed().wrapping_add(round)));
    }
    assert!(all.is_empty(), "{} complaints:\n{}", all.len(), all.join("\n"));
    println!("ran: differential ({} kernels on {})", cases.len(), device.name());
}

#[test]
fn simulator() {
    check(&Device::simulator());
}

#[test]
fn host_twin() {
    check(&Device::host());
}

#[test]
fn opencl() {
    let devices: Vec<Device> = Device::all().into_iter().filter(|device| device.kind() == DeviceKind::OpenCl).collect();
    if devices.is_empty() {
        println!("skipped: differential on OpenCL (no OpenCL device)");
    }
    devices.iter().for_each(check);
}

/// All but what is too long for Intel's compiler.
#[test]
fn opencl_with_sub_groups() {
    let Some(answer) = again_on_intel("differential", "opencl", &[(ONLY_SHORT, "1")]) else { return };
    let count = |line: &str| line.strip_prefix("ran: differential (")?.split_once(" kernels on")?.0.parse::<usize>().ok();
    assert!(answer.lines().find_map(count).is_some_and(|count| count + 12 >= CASES.len()), "{answer}");
}

#[test]
fn cuda() {
    let devices: Vec<Device> = Device::all().into_iter().filter(|device| device.kind() == DeviceKind::Cuda).collect();
    if devices.is_empty() {
        println!("skipped: differential on CUDA (no CUDA device)");
    }
    devices.iter().for_each(check);
}
