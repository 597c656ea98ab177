//! Variants whose generics take their values together, `(A, B) in [(1, 2), (3, 4)]`: as instances, as values of a program, and on the command line.

#![allow(deprecated, reason = "what lints find of speed is not what is tested here")]

use warpwright::Float;
use warpwright::prelude::*;
use warpwright_codegen::hir::declared_instances;
use warpwright_codegen::syntax::{ConstValue, GenericValue, Program, Unit};
use warpwright_tests::command::Folder;

#[kernel(block = B, variants((B, N) in [(32, 1), (64, 1), (64, 3)], FLIP in [false, true]))]
fn fill<const B: usize, const FLIP: bool, const N: usize>(y: &mut Global<u32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = (B * 100 + N * 10) as u32 + if FLIP { 1 } else { 0 };
    }
}

/// What the arguments fix chooses among the rows.
#[kernel(block = B, variants((T, B) in [(f32, 32), (f64, 64), (f32, 128)]))]
fn blocks<const B: usize, T: Float>(y: &mut Global<T>) {
    if thread_idx().x == 0 {
        y[block_idx().x] = T::ONE;
    }
}

#[test]
fn a_program_has_the_rows_and_no_others() {
    let device = Device::simulator();
    let mut found = Vec::new();
    for variant in fill_variants() {
        let mut y = device.zeros::<u32>(1).unwrap();
        variant.kernel()(&mut y).grid(1).launch(&device).unwrap();
        found.push((variant.to_string(), y.download().unwrap()[0]));
    }
    let expected = [
        ("B = 32, FLIP = false, N = 1", 3210),
        ("B = 32, FLIP = true, N = 1", 3211),
        ("B = 64, FLIP = false, N = 1", 6410),
        ("B = 64, FLIP = false, N = 3", 6430),
        ("B = 64, FLIP = true, N = 1", 6411),
        ("B = 64, FLIP = true, N = 3", 6431),
    ];
    let mut sorted = found.clone();
    sorted.sort();
    assert_eq!(sorted, expected.map(|(name, value)| (name.to_owned(), value)));
    // In the order written.
    let rows: Vec<u32> = found.iter().map(|(_, value)| *value).collect();
    assert_eq!(rows, [3210, 3211, 6410, 6411, 6430, 6431]);
    assert!(fill_variants().find("B = 32, N = 3").is_none() && fill_variants().find("B = 64, N = 3").is_some());
}

#[test]
fn types_that_the_arguments_fix_choose_rows() {
    let names = |list: Vec<String>| list.join("; ");
    assert_eq!(
        names(blocks_variants::<f32>().into_iter().map(|variant| variant.to_string()).collect()),
        "B = 32, T = f32; B = 128, T = f32"
    );
    assert_eq!(names(blocks_variants::<f64>().into_iter().map(|variant| variant.to_string()).collect()), "B = 64, T = f64");
}

const SOURCE: &str = "use warpwright::prelude::*;
#[kernel(block = B, variants((B, N) in [(32, 1), (64, 1), (64, 3)], FLIP in [false, true]))]
pub fn fill<const B: usize, const FLIP: bool, const N: usize>(y: &mut Global<u32>) {
    y[global_id().x] = if FLIP { N as u32 } else { 1 };
}
";

#[test]
fn instances_are_those_of_the_rows() {
    let mut program = Program::default();
    let unit = program.add(Unit::parse("k.rs", 1, 1, SOURCE).unwrap());
    let number = |value: &GenericValue| match value {
        GenericValue::Const(ConstValue::Index(value, _)) => *value,
        GenericValue::Const(ConstValue::Scalar(scalar)) => scalar.bits as i128,
        other => panic!("{other:?}"),
    };
    let found: Vec<Vec<i128>> =
        declared_instances(&program, unit, "fill").unwrap().iter().map(|instance| instance.generics.iter().map(number).collect()).collect();
    assert_eq!(found, [[32, 0, 1], [32, 1, 1], [64, 0, 1], [64, 1, 1], [64, 0, 3], [64, 1, 3]]);
}

#[test]
fn the_command_line_chooses_rows() {
    let folder = Folder::new("tied", &[("k.rs", SOURCE.as_bytes())]);
    let rows = |more: &[&str]| -> Vec<String> {
        let run = folder.run(&[&["compare", "k.rs::fill", "--targets", "sm_90", "--json"], more].concat());
        let json: serde_json::Value = serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {} {}", run.out, run.err));
        let variants = json["comparisons"][0]["variants"].as_array().expect("variants").clone();
        variants.iter().map(|variant| variant["variant"].as_str().expect("a name").to_owned()).collect()
    };
    assert_eq!(rows(&["-D", "FLIP=true"]), ["B = 32, N = 1", "B = 64, N = 1", "B = 64, N = 3"]);
    // A value that is declared keeps what goes with it.
    assert_eq!(rows(&["-D", "B=64"]), ["FLIP = false, N = 1", "FLIP = true, N = 1", "FLIP = false, N = 3", "FLIP = true, N = 3"]);
    assert_eq!(rows(&["-D", "FLIP=true", "--set", "N=3"]), [""]);
    // One that is not goes with all values of the others.
    assert_eq!(rows(&["-D", "FLIP=true", "-D", "B=96"]), ["N = 1", "N = 3"]);
    assert_eq!(rows(&["-D", "FLIP=true", "-D", "B=32", "-D", "N=3"]), [""]);
    let run = folder.run(&["emit", "k.rs::fill", "--format", "rust", "-D", "N=3", "-D", "FLIP=true"]);
    assert!(run.out.contains("block = 64") && run.out.contains("3"), "{} {}", run.out, run.err);
}
