//! What `emit --format rust` prints is a kernel again, and does the same: every kernel of the table, printed, compiled and run on the
//! simulator beside the original.

use warpwright::{Device, Launch};
use warpwright_kernels::saxpy;
use warpwright_tests::printed::{Outcome, compare, round_trip};
use warpwright_tests::random::Random;
use warpwright_tests::table::{Bench, CASES};

#[test]
fn printed_kernels_do_what_the_originals_do() {
    let device = Device::simulator();
    let (mut count, mut complaints) = (0, Vec::new());
    for case in CASES {
        let mut inspect = |launch: &Launch<'_>| {
            count += 1;
            if let Outcome::Wrong(why) = round_trip(launch) {
                complaints.push(format!("{}: {why}", case.name));
            }
        };
        let mut bench = Bench { device: &device, random: Random::new(7), inspect: &mut inspect };
        if let Err(error) = (case.run)(&mut bench) {
            panic!("{}: {error}", case.name);
        }
    }
    assert!(complaints.is_empty(), "{} of {count} launches:\n{}", complaints.len(), complaints.join("\n\n"));
    println!("ran: printed_rust ({count} kernels on the simulator)");
}

/// What is printed of a small kernel, and that another text is found out.
#[test]
fn saxpy_reads_as_it_was_written() {
    let device = Device::simulator();
    let x = device.upload(&[1.0f32, 2.0, 3.0]).expect("the simulator has room");
    let mut y = device.upload(&[10.0f32, 20.0, 30.0]).expect("the simulator has room");
    let launch = saxpy::saxpy(2.0, &x, &mut y).cover(3);
    let text = launch.rust().expect("the kernel compiles");
    let expected = "\
#[kernel(block = 256)]
fn saxpy(a: f32, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = a * x[i] + y[i];
    }
}
";
    assert_eq!(text, expected);
    assert_eq!(compare(&launch, &text), Outcome::Same);
    let is_wrong = |text: &str, why: &str| matches!(compare(&launch, text), Outcome::Wrong(said) if said.starts_with(why));
    assert!(is_wrong(&text.replace("x[i]", "x[0]"), "argument 2 differs from byte 6 on"), "the second element is another");
    assert!(is_wrong(&text.replace("global_id", "globe_id"), "the text does not run"), "no such function");
}
