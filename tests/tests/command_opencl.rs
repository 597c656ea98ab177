//! `compare` and `tune` where the best device is one of OpenCL: what does not tell of bad accesses itself, and has a compiler of its own.

use warpwright::{Device, DeviceKind};
use warpwright_tests::command::Folder;

const KERNELS: &[u8] = b"use warpwright::prelude::*;
#[kernel(block = 64, variants(BY in [2, 3]))]
pub fn scaled<const BY: usize>(far: u32, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i + far as usize] = BY as f32 * x[i];
}
";

/// The arguments of a launch that writes so far behind the start of 64 elements.
fn arguments(far: &str) -> [String; 3] {
    [format!("far={far}"), "x=random(64)".to_owned(), "y=zeros(64)".to_owned()]
}

/// Runs a subcommand on the kernel with variables set, unless there is no such device.
fn run(test: &str, variables: &[(&str, &str)], subcommand: &[&str], far: &str, check: impl FnOnce(&warpwright_tests::command::Outcome)) {
    if Device::best().kind() != DeviceKind::OpenCl {
        println!("skipped: {test} (the best device is none of OpenCL)");
        return;
    }
    let folder = Folder::new(test, &[("k.rs", KERNELS)]);
    let arguments = arguments(far);
    let launch = ["k.rs::scaled", "--cover", "64", "--args"].into_iter().chain(arguments.iter().map(String::as_str));
    let line: Vec<&str> = subcommand[..1].iter().copied().chain(launch).chain(subcommand[1..].iter().copied()).collect();
    check(&folder.run_with(variables, &line));
    println!("ran: {test} (1 commands on {})", Device::best().name());
}

/// Four gigabytes behind the array: the store itself would end the program.
#[test]
fn an_access_beyond_an_array_is_an_error_with_its_place() {
    let texts = ["kernel `scaled` faulted on ", "is out of range for `y`", " at k.rs:5, thread 0 of the grid"];
    run("compare-beyond", &[], &["compare", "--time", "2"], "1000000000", |run| run.refuses(2, &texts));
    run("tune-beyond", &[], &["tune"], "1000000000", |run| run.refuses(2, &texts));
}

#[test]
fn what_stays_in_its_array_is_timed() {
    run("compare-within", &[], &["compare", "--time", "2"], "0", |run| {
        assert_eq!(run.code, Some(0), "{}", run.err);
        assert!(run.out.contains("2 runs of each variant in turn"), "{}", run.out);
    });
}

#[test]
fn options_for_the_compiler_come_from_the_environment() {
    let variable = |options| [("WARPWRIGHT_OPENCL_OPTIONS", options)];
    run("options-known", &variable("-cl-opt-disable  -DUNUSED=1"), &["compare", "--time", "2"], "0", |run| {
        assert_eq!(run.code, Some(0), "{}", run.err);
    });
    run("options-unknown", &variable("-no-such-option"), &["compare", "--time", "2"], "0", |run| {
        run.refuses(2, &["`WARPWRIGHT_OPENCL_OPTIONS` adds `-no-such-option`"]);
    });
}
