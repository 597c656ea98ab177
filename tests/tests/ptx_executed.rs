//! PTX as it is executed where there is no GPU, by an interpreter that shares no code with what prints it: the whole table through the project's own CUDA
//! runtime, and whether mistakes in texts are seen.

#[path = "ptx_executed/mutants.rs"]
mod mutants;

use warpwright::{Device, DeviceKind};
use warpwright_tests::ptx_interpreter::{again, is_here};
use warpwright_tests::random::Random;
use warpwright_tests::table::{Bench, CASES};

/// The table on the device that there is in a child, which the parent starts with the stand-in for the driver.
fn table(name: &str, capability: &str) {
    if is_here() {
        return on_the_interpreter();
    }
    let Some(answer) = again("ptx_executed", &[name], capability) else { return };
    let target = capability.replace('.', "");
    let ran = answer.lines().find_map(|line| line.strip_prefix("executed: ")?.parse::<usize>().ok());
    assert_eq!(ran, Some(CASES.len()), "{answer}");
    println!("ran: ptx_executed ({} kernels on PTX interpreter sm_{target})", CASES.len());
}

fn on_the_interpreter() {
    let devices: Vec<Device> = Device::all().into_iter().filter(|device| device.kind() == DeviceKind::Cuda).collect();
    let [device] = &devices[..] else { panic!("{} CUDA devices, and one is expected", devices.len()) };
    assert!(device.name().starts_with("PTX interpreter"), "{}", device.name());
    let seed = Random::fresh_seed();
    let mut complaints = Vec::new();
    for case in CASES {
        match (case.run)(&mut Bench { device, random: Random::new(seed), inspect: &mut |_| {} }) {
            Ok(output) => complaints.extend(output.complaint().map(|text| format!("{}: {text} (seed {seed})", case.name))),
            Err(error) => complaints.push(format!("{}: {error} (seed {seed})", case.name)),
        }
    }
    assert!(complaints.is_empty(), "{} complaints on {}:\n{}", complaints.len(), device.name(), complaints.join("\n"));
    println!("executed: {}", CASES.len());
}

#[test]
fn table_on_sm_70() {
    table("table_on_sm_70", "7.0");
}

#[test]
fn table_on_sm_80() {
    table("table_on_sm_80", "8.0");
}

#[test]
fn table_on_sm_90() {
    table("table_on_sm_90", "9.0");
}
