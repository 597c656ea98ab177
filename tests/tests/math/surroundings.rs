//! A kernel computes the same with the library's functions in the place of its calls, whatever surrounds them, and also once what is in place has been
//! through all passes again.

use super::single_arguments;
use warpwright_codegen::ir::{Kernel, Stage};
use warpwright_codegen::schedule::schedule;
use warpwright_codegen::syntax::{Instance, Program, Unit};
use warpwright_codegen::{hir, passes};
use warpwright_runtime::sim::{SimArgument, SimLaunch, SimProgram};

const SOURCE: &str = include_str!("kernels.rs");

/// Threads, of blocks of 64, and elements.
const COUNT: usize = 512;

/// The bits of what a kernel makes of `x`, those of any NaN as those of one.
fn results(kernel: &Kernel, x: &[f32]) -> Vec<u64> {
    let is_wide = SOURCE.contains(&format!("fn {}(x: &Global<f64>", kernel.name));
    let bytes = |x: &f32| if is_wide { f64::from(*x).to_le_bytes().to_vec() } else { x.to_le_bytes().to_vec() };
    let mut x: Vec<u8> = x.iter().flat_map(bytes).collect();
    let mut y = vec![0; x.len()];
    let mut arguments = [SimArgument::GlobalReadOnly { bytes: &mut x }, SimArgument::Global { bytes: &mut y }];
    let launch = SimLaunch { grid: [(COUNT / 64) as u32, 1, 1], block: [64, 1, 1], shared_bytes: 0 };
    let program = SimProgram::compile(kernel).expect("the simulator takes it");
    program.run(&launch, &mut arguments).unwrap_or_else(|error| panic!("{}: {error}", kernel.name));
    let wide = |b: &[u8]| f64::from_le_bytes(b.try_into().expect("8 bytes"));
    let single = |b: &[u8]| f64::from(f32::from_le_bytes(b.try_into().expect("4 bytes")));
    let values: Vec<f64> = if is_wide { y.chunks_exact(8).map(wide).collect() } else { y.chunks_exact(4).map(single).collect() };
    values.iter().map(|value| if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() }).collect()
}

#[test]
fn surroundings_keep_results() {
    let names: Vec<&str> =
        SOURCE.lines().filter_map(|line| line.strip_prefix("fn ")?.split_once("(x: &Global").map(|(name, _)| name)).collect();
    let x: Vec<f32> = single_arguments(COUNT as u32 / 2, 31).collect();
    for name in &names {
        let mut program = Program::default();
        let unit = program.add(Unit::parse("kernels.rs", 1, 1, SOURCE).expect("it parses"));
        let mut lowered = hir::lower_kernel(&program, unit, name, &Instance::default()).unwrap_or_else(|found| panic!("{name}: {found:?}"));
        schedule(&mut lowered).unwrap_or_else(|found| panic!("{name}: {found:?}"));
        let mut kernel = lowered.kernel;
        passes::optimize(&mut kernel);
        let expected = results(&kernel, &x);
        let size = kernel.insts.len();
        passes::library(&mut kernel);
        assert!(kernel.insts.len() > size, "`{name}` calls a function of the library");
        assert_eq!(results(&kernel, &x), expected, "`{name}` with the library in place");
        // All passes, but for the one that may change what floats compute.
        (kernel.stage, kernel.options.contract) = (Stage::Scheduled, false);
        passes::optimize(&mut kernel);
        assert_eq!(results(&kernel, &x), expected, "`{name}` with the library in place, optimised");
        passes::address(&mut kernel);
    }
    assert!(names.len() > 14, "all kernels were found, not only {names:?}");
    println!("ran: surroundings_keep_results ({} kernels on the simulator)", names.len());
}
