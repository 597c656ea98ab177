//! `rsqrt`, bit for bit where it is ours to compute: on the simulator, the host twin and executed PTX. GPUs and OpenCL devices have an instruction of their own, which `devices.rs` holds to its bound.
//!
//! Seeds 993024952 and 993029196 of `warpwright-fuzz` found that the simulator rounded `rsqrt` of `f32` twice, the root and its reciprocal: `rsqrt(6.0)` was one unit of the last place off.

use warpwright::prelude::*;
use warpwright::{DeviceKind, Element, Float};
use warpwright_tests::devices::on_all;
use warpwright_tests::ptx_interpreter::{executed, is_here};
use warpwright_tests::random::Random;

#[kernel(block = 64)]
fn reciprocal_roots<T: Float>(x: &Global<T>, y: &mut Global<T>) {
    let i = global_id().x;
    if i < x.len() {
        y[i] = x[i].rsqrt();
    }
}

fn results<T: Float + Element>(device: &Device, x: &[T]) -> Vec<T> {
    let mut y = device.zeros::<T>(x.len()).expect("memory");
    reciprocal_roots::<T>(&device.upload(x).expect("memory"), &mut y)
        .cover(x.len())
        .launch(device)
        .unwrap_or_else(|error| panic!("{error}"));
    y.download().expect("memory")
}

/// The number of `f32` next to 1 / √x, of an `x` that is finite and above 0. No intermediate result is rounded that decides it.
fn nearest_reciprocal_root(x: f32) -> f32 {
    let mut near = (1.0 / f64::from(x).sqrt()) as f32;
    // Whether the middle between two neighbours is above 1 / √x: whether its square times x is above 1. The square of 25 bits is exact, the product's error is known.
    let is_above = |low: f32| {
        let middle = f64::midpoint(f64::from(low), f64::from(low.next_up()));
        let (square, x) = (middle * middle, f64::from(x));
        let product = square * x;
        (product - 1.0) + square.mul_add(x, -product) > 0.0
    };
    while is_above(near.next_down()) {
        near = near.next_down();
    }
    while !is_above(near) {
        near = near.next_up();
    }
    near
}

/// Zeros, infinities, NaN, negative numbers, subnormals, powers of two with their neighbours; and random numbers of all sizes.
fn singles() -> Vec<f32> {
    let powers = (-149..128).map(|n| 2f64.powi(n) as f32).flat_map(|power| [power.next_down(), power, power.next_up()]);
    let special = [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -1.0, -1e-45, f32::MAX, 6.0, 3.0, 10.0];
    let mut random = Random::new(993_024_952);
    let drawn = (0..8192).map(|_| f32::from_bits(random.next() as u32 & 0x7fff_ffff));
    special.into_iter().chain(powers).chain(drawn).collect()
}

#[test]
fn rsqrt_of_singles_is_rounded_once() {
    let x = singles();
    let expected: Vec<f32> =
        x.iter().map(|&x| if x > 0.0 && x.is_finite() { nearest_reciprocal_root(x) } else { 1.0 / x.sqrt() }).collect();
    assert_eq!(expected[8], 0.408_248_3);
    // Enough of them would show that the root is rounded, too.
    let twice = x.iter().zip(&expected).filter(|(x, expected)| !expected.is_nan() && 1.0 / x.sqrt() != **expected).count();
    assert!(twice > 1000 && 1.0 / 6f32.sqrt() != expected[8], "{twice} of {}", x.len());
    on_all("rsqrt of f32", |device| {
        if device.kind() == DeviceKind::OpenCl || device.kind() == DeviceKind::Cuda && !is_here() {
            return;
        }
        let found = results(device, &x);
        let wrong: Vec<String> = x
            .iter()
            .zip(found.iter().zip(&expected))
            .filter(|(_, (found, expected))| found.to_bits() != expected.to_bits() && !(found.is_nan() && expected.is_nan()))
            .map(|(x, (found, expected))| format!("rsqrt({x:e}) = {found:e}, not {expected:e}"))
            .collect();
        assert!(wrong.is_empty(), "{} of {} on {}:\n{}", wrong.len(), x.len(), device.name(), wrong[..wrong.len().min(20)].join("\n"));
        println!("{}: {} numbers, of which {twice} differ where both are rounded", device.name(), x.len());
    });
}

/// Of `f64` the row says that both are rounded: `sqrt.rn` and `rcp.rn`, by a GPU, too.
#[test]
fn rsqrt_of_doubles_is_a_rounded_root_and_its_rounded_reciprocal() {
    let mut random = Random::new(993_029_196);
    let special = [0.0, -0.0, f64::INFINITY, f64::NAN, -1.0, 5e-324, f64::MIN_POSITIVE, f64::MAX, 6.0];
    let x: Vec<f64> = special.into_iter().chain((0..8192).map(|_| f64::from_bits(random.next() & (u64::MAX >> 1)))).collect();
    on_all("rsqrt of f64", |device| {
        if device.kind() == DeviceKind::OpenCl {
            return;
        }
        for (x, found) in x.iter().zip(results(device, &x)) {
            let expected = 1.0 / x.sqrt();
            let is_same = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
            assert!(is_same, "rsqrt({x:e}) = {found:e}, not {expected:e}, on {}", device.name());
        }
    });
}

#[test]
fn on_the_ptx_interpreter() {
    executed(
        "math",
        &["roots::rsqrt_of_singles_is_rounded_once", "roots::rsqrt_of_doubles_is_a_rounded_root_and_its_rounded_reciprocal"],
        "9.0",
    );
}
