//! The functions as a GPU computes them: every `f32` there is against our own `f64`, and samples against the processor, bit for bit.

use super::approximate::{self, OF_ONE};
use super::{Case, doubles, partner, single_arguments, singles};
use warpwright::Float;
use warpwright::prelude::*;
use warpwright::{Device, DeviceKind, Element};
use warpwright_codegen::ir::Type;
use warpwright_kernels::functions::{NAMES, function};
use warpwright_tests::ptx_interpreter::{executed, is_here};
use warpwright_tests::random::Random;

/// Thousandths of an ulp that function `F` is off by, at most, for each `step`th argument from the bits `first` on.
#[kernel(block = 256, allow(unchecked))]
fn worst_error<const F: usize>(first: u32, step: u32, worst: &mut Global<u32>) {
    let x = f32::from_bits(first + global_id().x as u32 * step);
    let found = function::<f32, F>(x) as f64;
    let exact = function::<f64, F>(x as f64);
    let error = block_max(thousandths(found, exact, approximate::ulp(exact)));
    if thread_idx().x == 0 {
        worst.atomic_max(0, error);
    }
}

/// The same of `rsqrt`, which is no function of the library.
#[kernel(block = 256, allow(unchecked))]
fn worst_root(first: u32, step: u32, worst: &mut Global<u32>) {
    let x = f32::from_bits(first + global_id().x as u32 * step);
    let exact = 1.0 / (x as f64).sqrt();
    let error = block_max(thousandths(x.rsqrt() as f64, exact, approximate::ulp(exact)));
    if thread_idx().x == 0 {
        worst.atomic_max(0, error);
    }
}

/// Thousandths of what is allowed that a row of [`approximate`] is off by, at most.
#[kernel(block = 256, math = fast, allow(unchecked))]
fn worst_approximation<const F: usize>(first: u32, step: u32, worst: &mut Global<u32>) {
    let x = f32::from_bits(first + global_id().x as u32 * step);
    let wide = x as f64;
    let exact = approximate::exact::<F>(wide, 1.0);
    let is_promised = approximate::is_promised::<F>(wide, 1.0);
    let off = thousandths(approximate::found::<F>(x, 1.0) as f64, exact, approximate::allowed::<F>(wide, 1.0, exact));
    let error = block_max(if is_promised { off } else { 0 });
    if thread_idx().x == 0 {
        worst.atomic_max(0, error);
    }
}

/// The distance in thousandths of what is allowed, rounded up. A NaN on one side only is the greatest error.
#[device]
fn thousandths(found: f64, exact: f64, allowed: f64) -> u32 {
    // Beyond the largest `f32` by half an ulp is infinite.
    let limit = 3.402_823_669_209_385e38f64;
    let off = (found.clamp(-limit, limit) - exact.clamp(-limit, limit)).abs();
    if found.is_nan() != exact.is_nan() {
        u32::MAX
    } else if found.is_nan() || off == 0.0 {
        0
    } else {
        (off / allowed * 1000.0).min(1e9).ceil() as u32
    }
}

/// What is correctly rounded, by number.
const ROUNDED: [&str; 8] = ["sqrt", "recip", "floor", "ceil", "trunc", "round", "round_ties_even", "fract"];

#[device]
fn rounded<T: Float, const F: usize>(x: T) -> T {
    match F {
        0 => x.sqrt(),
        1 => x.recip(),
        2 => x.floor(),
        3 => x.ceil(),
        4 => x.trunc(),
        5 => x.round(),
        6 => x.round_ties_even(),
        _ => x.fract(),
    }
}

/// How many results have other bits than the result of `f64`, rounded: `f64` has more than twice the digits, so nothing is rounded twice that matters.
#[kernel(block = 256, allow(unchecked))]
fn misrounded<const F: usize>(first: u32, step: u32, count: &mut Global<u32>) {
    let x = f32::from_bits(first + global_id().x as u32 * step);
    let (found, exact) = (rounded::<f32, F>(x), rounded::<f64, F>(x as f64) as f32);
    let is_right = found.to_bits() == exact.to_bits() || found.is_nan() && exact.is_nan();
    let wrong = block_sum(!is_right as u32);
    if thread_idx().x == 0 {
        count.atomic_add(0, wrong);
    }
}

#[kernel(block = 256, allow(unchecked))]
fn apply<T: Float, const F: usize>(x: &Global<T>, y: &mut Global<T>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = function::<T, F>(x[i]);
    }
}

macro_rules! of_each {
    ($make:ident: $($f:literal)*) => { [$($make::<$f>),*] };
    ($make:ident of $t:ty: $($f:literal)*) => { [$($make::<$t, $f>),*] };
}

/// What launches of every `f32` leave in one word: each is given its first bits, and the distance of its arguments. On the PTX interpreter a few thousand stand for all.
fn swept(device: &Device, launch: impl for<'l> Fn(u32, u32, &'l mut Buffer<u32>) -> Launch<'l>) -> warpwright::Result<u32> {
    let mut word = device.zeros::<u32>(1)?;
    // 2³² threads in parts: a length is less.
    let (parts, threads, step) = if is_here() { (1, 1 << 12, (1 << 20) - 3) } else { (16u32, 1 << 28, 1) };
    for part in 0..parts {
        launch(part << 28, step, &mut word).cover(threads).launch(device)?;
    }
    Ok(word.download()?[0])
}

fn worst<const F: usize>(device: &Device) -> warpwright::Result<f64> {
    swept(device, worst_error::<F>).map(|thousandths| f64::from(thousandths) / 1000.0)
}

fn worst_of_approximation<const F: usize>(device: &Device) -> warpwright::Result<f64> {
    swept(device, worst_approximation::<F>).map(|thousandths| f64::from(thousandths) / 1000.0)
}

fn wrong<const F: usize>(device: &Device) -> warpwright::Result<u32> {
    swept(device, misrounded::<F>)
}

/// What a device makes of some arguments.
fn applied<T: Float + Element, const F: usize>(device: &Device, xs: &[T]) -> warpwright::Result<Vec<T>> {
    let x = device.upload(xs)?;
    let mut y = device.zeros::<T>(xs.len())?;
    apply::<T, F>(&x, &mut y).cover(xs.len()).launch(device)?;
    y.download()
}

fn devices(test: &str) -> Vec<Device> {
    let found: Vec<Device> = Device::all().into_iter().filter(|device| device.kind() == DeviceKind::Cuda).collect();
    if found.is_empty() {
        println!("skipped: {test} (no CUDA device)");
    }
    found
}

/// The case that stands for function `F` of the kernels, if it is of one argument.
fn case<T>(cases: &'static [Case<T>], name: &str) -> Option<&'static Case<T>> {
    cases.iter().find(|case| case.name == name && case.arguments == 1)
}

#[test]
fn every_single_is_within_bounds() {
    for device in devices("math") {
        let (mut text, mut count) = (String::new(), 0);
        for (name, worst) in NAMES.iter().zip(of_each!(worst: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18)) {
            let worst = worst(&device).unwrap_or_else(|error| panic!("{name}: {error}"));
            let bound = case(singles::CASES, name).expect("a case").bound;
            assert!(worst <= bound, "{name}: {worst} ulp on {}, where {bound} are promised", device.name());
            text.push_str(&format!("{name} {worst:.2}, "));
            count += 1;
        }
        let worst =
            swept(&device, worst_root).map(|thousandths| f64::from(thousandths) / 1000.0).unwrap_or_else(|error| panic!("rsqrt: {error}"));
        let bound = super::devices::bound("rsqrt", Type::F32, &device);
        assert!(worst <= bound, "rsqrt: {worst} ulp on {}, where {bound} are promised", device.name());
        text.push_str(&format!("rsqrt {worst:.2}, "));
        count += 1;
        println!("ran: every_single_is_within_bounds ({count} functions on {}); ulp: {}", device.name(), text.trim_end_matches(", "));
    }
}

#[test]
fn every_single_is_approximated_within_bounds() {
    for device in devices("approximations of all singles") {
        let all = of_each!(worst_of_approximation: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21);
        assert_eq!(all.len(), OF_ONE);
        let (mut text, mut complaints) = (String::new(), Vec::new());
        for (name, worst) in approximate::NAMES.iter().zip(all) {
            let worst = worst(&device).unwrap_or_else(|error| panic!("{name}: {error}"));
            text.push_str(&format!("{name} {worst:.3}, "));
            if worst > 1.0 {
                complaints.push(format!("{name}: {worst} of what is allowed"));
            }
        }
        println!("of what is allowed on {}: {}", device.name(), text.trim_end_matches(", "));
        assert!(complaints.is_empty(), "{}", complaints.join("\n"));
        println!("ran: every_single_is_approximated_within_bounds ({OF_ONE} functions on {})", device.name());
    }
}

#[test]
fn every_single_is_rounded_right() {
    for device in devices("rounding of all singles") {
        for (name, wrong) in ROUNDED.iter().zip(of_each!(wrong: 0 1 2 3 4 5 6 7)) {
            let wrong = wrong(&device).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(wrong, 0, "results of `{name}` with other bits on {}", device.name());
        }
        println!("ran: every_single_is_rounded_right ({} functions on {})", ROUNDED.len(), device.name());
    }
}

/// A few thousand arguments, as PTX that is executed without a GPU.
#[test]
fn on_the_ptx_interpreter() {
    let tests =
        ["cuda::every_single_is_within_bounds", "cuda::every_single_is_approximated_within_bounds", "cuda::every_single_is_rounded_right"];
    executed("math of all singles", &tests, "9.0");
}

#[test]
fn a_gpu_gives_the_processors_bits() {
    for device in devices("math") {
        let mut random = Random::new(23);
        let xs: Vec<f32> = single_arguments(1 << 16, 29).collect();
        let wide: Vec<f64> = xs.iter().map(|x| f64::from(*x) * (1.0 + f64::from(partner(*x, &mut random).fract()) * 1e-9)).collect();
        let single = of_each!(applied of f32: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21);
        let double = of_each!(applied of f64: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21);
        for (n, name) in NAMES.iter().enumerate() {
            // The kernels give functions of two arguments `x + 1` as the other.
            let library = singles::CASES.iter().find(|case| case.name == *name).expect("a case").library;
            for (x, found) in xs.iter().zip(single[n](&device, &xs).expect("it runs")) {
                let expected = library(*x, x + 1.0);
                assert!(
                    found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan(),
                    "{name}({x:e}): {found:e}, {expected:e}"
                );
            }
            let library = doubles::CASES.iter().find(|case| case.name == *name).expect("a case").library;
            for (x, found) in wide.iter().zip(double[n](&device, &wide).expect("it runs")) {
                let expected = library(*x, x + 1.0);
                assert!(
                    found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan(),
                    "{name}({x:e}): {found:e}, {expected:e}"
                );
            }
        }
        println!("ran: a_gpu_gives_the_processors_bits ({} functions on {})", 2 * NAMES.len(), device.name());
    }
}
