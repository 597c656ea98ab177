//! The functions as a GPU computes them: every `f32` there is against our own `f64`, and samples against the processor, bit for bit.

use super::{Case, doubles, partner, single_arguments, singles};
use warpwright::Float;
use warpwright::prelude::*;
use warpwright::{Device, DeviceKind, Element};
use warpwright_kernels::functions::{NAMES, function};
use warpwright_tests::random::Random;

/// Thousandths of an ulp that function `F` is off by, at most, for the arguments whose bits begin at `first`.
#[kernel(block = 256, allow(unchecked))]
fn worst_error<const F: usize>(first: u32, worst: &mut Global<u32>) {
    let x = f32::from_bits(first + global_id().x as u32);
    let found = function::<f32, F>(x) as f64;
    let exact = function::<f64, F>(x as f64);
    // Beyond the largest `f32` by half an ulp is infinite.
    let limit = 3.402_823_669_209_385e38f64;
    let off = (found.clamp(-limit, limit) - exact.clamp(-limit, limit)).abs();
    let exponent = ((exact.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    let ulp = f64::from_bits(((exponent.max(-126) - 23 + 1023) as u64) << 52);
    let both = found.is_nan() && exact.is_nan();
    let thousandths = if both { 0.0 } else { (off / ulp * 1000.0).min(1e9) };
    // A NaN on one side only is the greatest error.
    let one = found.is_nan() != exact.is_nan();
    let error = block_max(if one { u32::MAX } else { thousandths as u32 });
    if thread_idx().x == 0 {
        worst.atomic_max(0, error);
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

fn worst<const F: usize>(device: &Device) -> warpwright::Result<f64> {
    let mut worst = device.zeros::<u32>(1)?;
    // 2³² threads in parts: a length is less.
    for part in 0..16u32 {
        worst_error::<F>(part << 28, &mut worst).cover(1 << 28).launch(device)?;
    }
    Ok(f64::from(worst.download()?[0]) / 1000.0)
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
        println!("ran: every_single_is_within_bounds ({count} functions on {}); ulp: {}", device.name(), text.trim_end_matches(", "));
    }
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
