//! A kernel computes the same with the library's functions in the place of its calls, whatever surrounds them, and also once what is in place has been
//! through all passes again.

use super::single_arguments;
use warpwright_codegen::ir::Kernel;
use warpwright_codegen::passes;
use warpwright_codegen::pipeline::{Scheduled, compile_text};
use warpwright_codegen::syntax::Instance;
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
        let lowered = compile_text("kernels.rs", SOURCE, name, &Instance::default()).unwrap_or_else(|found| panic!("{name}: {found:?}"));
        let mut kernel = Kernel::clone(lowered.kernel.legal());
        let expected = results(&kernel, &x);
        let size = kernel.insts.len();
        passes::library(&mut kernel);
        assert!(kernel.insts.len() > size, "`{name}` calls a function of the library");
        assert_eq!(results(&kernel, &x), expected, "`{name}` with the library in place");
        // All passes, but for the one that may change what floats compute.
        kernel.options.contract = false;
        let again = Scheduled::verified(kernel).unwrap_or_else(|violations| panic!("`{name}`: {violations:?}"));
        assert_eq!(results(again.legal(), &x), expected, "`{name}` with the library in place, optimised");
        again.legal().addressed();
    }
    assert!(names.len() > 14, "all kernels were found, not only {names:?}");
    println!("ran: surroundings_keep_results ({} kernels on the simulator)", names.len());
}
