//! What `emit --format rust` prints is a kernel again, and does the same: every kernel of the table, printed, compiled and run on the
//! simulator beside the original. What file tests print is compiled again, too.

use std::fs;
use std::path::Path;
use warpwright::{Device, Launch};
use warpwright_codegen::diagnostic::{Diagnostics, Level};
use warpwright_codegen::pipeline::compile;
use warpwright_codegen::syntax::{Instance, Program, Unit, check_subset};
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

/// Texts of file tests that are of a form for one target are comments in part, for reading alone; all others are kernels.
#[test]
fn printed_file_tests_are_read_again() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("filetests");
    let (mut count, mut complaints) = (0, Vec::new());
    for folder in fs::read_dir(&root).expect("the file tests").flatten() {
        for file in fs::read_dir(folder.path()).expect("a folder of file tests").flatten() {
            let name = file.file_name().to_string_lossy().into_owned();
            if name.strip_suffix(".rust.txt").is_none_or(|stem| stem.contains('.')) {
                continue;
            }
            count += 1;
            let text = fs::read_to_string(file.path()).expect("a text");
            if let Err(said) = read_again(&text) {
                complaints.push(format!("{name}: {said}\n{text}"));
            }
        }
    }
    assert!(complaints.is_empty(), "{} of {count} texts:\n{}", complaints.len(), complaints.join("\n\n"));
    assert!(count >= 44, "{count} texts");
    println!("ran: printed_rust ({count} texts of file tests)");
    assert!(read_again("#[kernel]\nfn k(x: &mut Global<u32>) {\n    x[0] = 1u64;\n}\n").is_err(), "a wrong type");
}

/// Compiles every kernel of a printed text.
fn read_again(text: &str) -> Result<(), String> {
    let said = |found: Diagnostics| {
        let errors = found.iter().filter(|one| one.level == Level::Error);
        errors.map(|one| one.message.clone()).collect::<Vec<_>>().join("; ")
    };
    let text = format!("use warpwright::prelude::*;\n{text}");
    let unit = Unit::parse("printed.rs", 1, 1, &text).map_err(said)?;
    let mut found = Diagnostics::new();
    check_subset(&unit.items, &mut found);
    if found.has_errors() {
        return Err(said(found));
    }
    let mut program = Program::default();
    let unit = program.add(unit);
    let kernels: Vec<String> = program.units[unit.0].kernels().into_iter().map(|(path, _)| path).collect();
    if kernels.is_empty() {
        return Err("there is no kernel".to_owned());
    }
    for kernel in kernels {
        compile(&program, unit, &kernel, &Instance { generics: Vec::new() }).map_err(said)?;
    }
    Ok(())
}
