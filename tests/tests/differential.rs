//! Every kernel of the table on every device there is: the simulator and the host twin always, OpenCL and CUDA where they are.

use warpwright::{Device, DeviceKind};
use warpwright_tests::opencl_tools::again_on_intel;
use warpwright_tests::random::Random;
use warpwright_tests::table::{Bench, CASES};

/// Runs the whole table on one device; gives the complaints.
fn complaints(device: &Device, seed: u64) -> Vec<String> {
    let mut all = Vec::new();
    for case in CASES {
        match (case.run)(&mut Bench { device, random: Random::new(seed), inspect: &mut |_| {} }) {
            Ok(output) => all.extend(output.complaint().map(|text| format!("{} on {}: {text} (seed {seed})", case.name, device.name()))),
            Err(error) => all.push(format!("{} on {}: {error} (seed {seed})", case.name, device.name())),
        }
    }
    all
}

fn check(device: &Device) {
    let mut all = Vec::new();
    for round in 0..3 {
        all.extend(complaints(device, Random::fresh_seed().wrapping_add(round)));
    }
    assert!(all.is_empty(), "{} complaints:\n{}", all.len(), all.join("\n"));
    println!("ran: differential ({} kernels on {})", CASES.len(), device.name());
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
        println!("skipped: differential on OpenCL (no OpenCL device, or built without the feature `opencl`)");
    }
    devices.iter().for_each(check);
}

#[test]
fn opencl_with_sub_groups() {
    let Some(answer) = again_on_intel("differential", "opencl", &[]) else { return };
    assert!(answer.contains(&format!("({} kernels on", CASES.len())), "{answer}");
}

#[test]
fn cuda() {
    let devices: Vec<Device> = Device::all().into_iter().filter(|device| device.kind() == DeviceKind::Cuda).collect();
    if devices.is_empty() {
        println!("skipped: differential on CUDA (no CUDA device)");
    }
    devices.iter().for_each(check);
}
