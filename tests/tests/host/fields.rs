//! Kernels that say little of their floats: fields, constants and results of functions that are `f16` where the kernel does not name it, and structs with names of capitals, as constants have.

use warpwright::prelude::*;

#[device]
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Sample {
    weight: f16,
    count: u16,
}

#[device]
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(clippy::upper_case_acronyms, reason = "such a name is what is tested")]
struct RGB {
    r: u8,
    g: u8,
}

#[device]
fn weight_of(sample: Sample) -> u32 {
    sample.weight as u32 + (sample.count as u32 >> 1)
}

#[kernel(block = 64)]
fn weights(samples: &Global<Sample>, colours: &Global<RGB>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        let colour = colours[i];
        y[i] = samples[i].weight as f32 + weight_of(samples[i]) as f32 + (colour.r as u32 * 256 + colour.g as u32) as f32;
    }
}

#[test]
fn fields_are_cast_as_their_types_are() {
    for device in Device::all() {
        let samples: Vec<Sample> = (0..100u16).map(|n| Sample { weight: f16::from_f32(f32::from(n) + 0.5), count: 2 * n }).collect();
        let colours: Vec<RGB> = (0..100u8).map(|n| RGB { r: n % 7, g: n }).collect();
        let (samples, colours) = (device.upload(&samples).unwrap(), device.upload(&colours).unwrap());
        let mut y = device.zeros::<f32>(100).unwrap();
        weights(&samples, &colours, &mut y).cover(100).launch(&device).unwrap();
        let expected: Vec<f32> = (0..100).map(|n| (n as f32 + 0.5) + (2 * n) as f32 + (n % 7 * 256 + n) as f32).collect();
        assert_eq!(y.download().unwrap(), expected, "{device:?}");
        println!("ran: fields_are_cast_as_their_types_are (1 kernels on {})", device.name());
    }
}

const SHIFT: f16 = f16::ONE;

#[device]
fn half_of(n: u32) -> f16 {
    f16::from_f32(n as f32 / 2.0)
}

#[device]
fn floor_of_half(n: u32) -> i64 {
    let half = half_of(n);
    half as i64
}

#[kernel(block = 64)]
fn halves(y: &mut Global<i64>) {
    let i = global_id().x;
    if i < y.len() {
        let half = half_of(i as u32);
        y[i] = half as i64 * 1000 + floor_of_half(i as u32 + 1) * 10 + SHIFT as i64;
    }
}

#[test]
fn what_is_named_elsewhere_is_cast_as_its_type_is() {
    for device in Device::all() {
        let mut y = device.zeros::<i64>(100).unwrap();
        halves(&mut y).cover(100).launch(&device).unwrap();
        let expected: Vec<i64> = (0..100).map(|n| n / 2 * 1000 + (n + 1) / 2 * 10 + 1).collect();
        assert_eq!(y.download().unwrap(), expected, "{device:?}");
        println!("ran: what_is_named_elsewhere_is_cast_as_its_type_is (1 kernels on {})", device.name());
    }
}
