//! The kernels of the table under Oclgrind: this test runs itself again inside it, on the OpenCL device that Oclgrind pretends to be.

use warpwright::{Device, DeviceKind};
use warpwright_tests::opencl_tools::watch;
use warpwright_tests::random::Random;
use warpwright_tests::table::{Bench, CASES, Case};

/// Set in the run inside.
const INSIDE: &str = "WARPWRIGHT_INSIDE_OCLGRIND";
const NAME: &str = "table::kernels_of_the_table_run_under_oclgrind";

/// Cases that Oclgrind cannot run, by how their names begin, each with what it lacks.
const NOT_ON_OCLGRIND: &[(&str, &str)] = &[
    ("stencil of planes: one at a time", "clang makes `llvm.usub.sat` of a matrix's edge, which Oclgrind does not know"),
    ("stencil of planes: three ahead", "the same"),
    ("convolution of tiles", "the same"),
    ("sums of runs", "the same, of a buffer's end"),
];

fn is_left_out(case: &Case) -> bool {
    NOT_ON_OCLGRIND.iter().any(|(name, _)| case.name.starts_with(name))
}

#[test]
fn kernels_of_the_table_run_under_oclgrind() {
    if std::env::var_os(INSIDE).is_some() {
        return run_the_table();
    }
    let this = std::env::current_exe().expect("a test knows its program");
    let Some((answer, log)) = watch(NAME, &this, &["--exact", NAME, "--nocapture"], (INSIDE, "1")) else { return };
    assert!(answer.contains("test result: ok. 1 passed"), "{answer}");
    assert!(log.trim().is_empty(), "{log}");
    NOT_ON_OCLGRIND.iter().for_each(|(name, why)| println!("skipped: {name} on Oclgrind ({why})"));
    println!("ran: {NAME} ({} kernels on Oclgrind)", CASES.iter().filter(|case| !is_left_out(case)).count());
}

fn run_the_table() {
    let device = Device::all().into_iter().find(|device| device.kind() == DeviceKind::OpenCl).expect("Oclgrind is an OpenCL device");
    assert!(device.name().contains("Oclgrind"), "not `{}`", device.name());
    for case in CASES.iter().filter(|case| !is_left_out(case)) {
        let output = (case.run)(&mut Bench { device: &device, random: Random::new(1), inspect: &mut |_| {} });
        let output = output.unwrap_or_else(|error| panic!("{}: {error}", case.name));
        assert_eq!(output.complaint(), None, "{}", case.name);
    }
}
