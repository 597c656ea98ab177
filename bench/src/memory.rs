//! Inputs and checks that stay on the device: buffers are filled by a kernel from a formula the host knows, too, results are compared by
//! another, and only samples come back.

use crate::Outcome;
use warpwright::prelude::*;
use warpwright::{Element, Launch};
use warpwright::{Float, Int};

/// The `i`-th number of a sequence, uniform in −1 … 1 in steps of 2⁻²³: the finaliser of MurmurHash3 over a Weyl sequence.
#[device]
pub(crate) fn uniform(seed: u32, i: u32) -> f32 {
    let mut bits = i.wrapping_mul(0x9e37_79b9).wrapping_add(seed.wrapping_mul(0x85eb_ca6b)).wrapping_add(1);
    bits = (bits ^ (bits >> 16)).wrapping_mul(0x85eb_ca6b);
    bits = (bits ^ (bits >> 13)).wrapping_mul(0xc2b2_ae35);
    bits = bits ^ (bits >> 16);
    (bits >> 8) as f32 / 8_388_608.0 - 1.0
}

/// The `i`-th integer of a sequence, from 0 to below `below`.
#[device]
pub(crate) fn integer(seed: u32, i: u32, below: u32) -> u32 {
    (uniform(seed, i).abs() * below as f32) as u32 % below
}

/// Fills with random numbers.
#[kernel(block = 256)]
fn fill_single(seed: u32, out: &mut Global<f32>) {
    let i = global_id().x;
    if i < out.len() {
        out[i] = uniform(seed, i as u32);
    }
}

/// The same in double precision, with low bits that single precision does not have.
#[kernel(block = 256)]
fn fill_double(seed: u32, out: &mut Global<f64>) {
    let i = global_id().x;
    if i < out.len() {
        out[i] = uniform(seed, i as u32) as f64 / 3.0;
    }
}

/// Fills with random integers from 0 to below `below`.
#[kernel(block = 256)]
fn fill_integers<T: Int>(seed: u32, below: u32, out: &mut Global<T>) {
    let i = global_id().x;
    if i < out.len() {
        out[i] = integer(seed, i as u32, below) as T;
    }
}

/// Fills with one value.
#[kernel(block = 256)]
fn fill_same<T: Element>(value: T, out: &mut Global<T>) {
    let i = global_id().x;
    if i < out.len() {
        out[i] = value;
    }
}

/// Counts the elements that are not within `bound` of each other; what is not a number is within no bound.
#[kernel(block = 256)]
fn count_apart<T: Float>(bound: T, left: &Global<T>, right: &Global<T>, count: &mut Global<u32>) {
    let i = global_id().x;
    if i < left.len() {
        let near = (left[i] - right[i]).abs() <= bound;
        if !near {
            count.atomic_add(0, 1u32);
        }
    }
}

/// Takes samples.
#[kernel(block = 256)]
fn gather<T: Element>(places: &Global<u32>, from: &Global<T>, to: &mut Global<T>) {
    let i = global_id().x;
    if i < places.len() {
        to[i] = from[places[i] as usize];
    }
}

/// What the formula gives for an element of a buffer filled by [`Number::fill`].
pub(crate) trait Number: Float {
    /// The value that says "not written".
    const UNWRITTEN: Self;
    /// The `i`-th input of a sequence.
    fn input(seed: u32, i: usize) -> Self;
    /// Fills a buffer with the inputs of a sequence.
    fn fill(seed: u32, buffer: &mut Buffer<Self>) -> Launch<'_>;
    /// Rounds.
    fn narrow(value: f64) -> Self;
    /// Exactly.
    fn wide(self) -> f64;
}

impl Number for f32 {
    const UNWRITTEN: f32 = f32::NAN;

    fn input(seed: u32, i: usize) -> f32 {
        uniform(seed, i as u32)
    }

    fn fill(seed: u32, buffer: &mut Buffer<f32>) -> Launch<'_> {
        let n = buffer.len();
        fill_single(seed, buffer).cover(n)
    }

    fn narrow(value: f64) -> f32 {
        value as f32
    }

    fn wide(self) -> f64 {
        f64::from(self)
    }
}

impl Number for f64 {
    const UNWRITTEN: f64 = f64::NAN;

    fn input(seed: u32, i: usize) -> f64 {
        f64::from(uniform(seed, i as u32)) / 3.0
    }

    fn fill(seed: u32, buffer: &mut Buffer<f64>) -> Launch<'_> {
        let n = buffer.len();
        fill_double(seed, buffer).cover(n)
    }

    fn narrow(value: f64) -> f64 {
        value
    }

    fn wide(self) -> f64 {
        self
    }
}

/// A buffer of random numbers.
pub(crate) fn random<T: Number>(device: &Device, seed: u32, n: usize) -> Outcome<Buffer<T>> {
    let mut buffer = device.zeros::<T>(n)?;
    T::fill(seed, &mut buffer).launch(device)?;
    Ok(buffer)
}

/// A buffer of random integers from 0 to below `below`.
pub(crate) fn random_integers<T: Int>(device: &Device, seed: u32, below: u32, n: usize) -> Outcome<Buffer<T>> {
    let mut buffer = device.zeros::<T>(n)?;
    fill_integers(seed, below, &mut buffer).cover(n).launch(device)?;
    Ok(buffer)
}

/// Fills a buffer with one value.
pub(crate) fn set<T: Element>(device: &Device, value: T, buffer: &mut Buffer<T>) -> Outcome<()> {
    let n = buffer.len();
    fill_same(value, buffer).cover(n).launch(device)?;
    Ok(())
}

/// How many elements of two buffers are further than `bound` apart.
pub(crate) fn apart<T: Number>(device: &Device, bound: f64, left: &Buffer<T>, right: &Buffer<T>) -> Outcome<u32> {
    let mut count = device.zeros::<u32>(1)?;
    count_apart(T::narrow(bound), left, right, &mut count).cover(left.len()).launch(device)?;
    Ok(count.download()?[0])
}

/// The elements at these places.
pub(crate) fn samples<T: Element>(device: &Device, places: &[u32], buffer: &Buffer<T>) -> Outcome<Vec<T>> {
    let places = device.upload(places)?;
    let mut found = device.zeros::<T>(places.len())?;
    gather(&places, buffer, &mut found).cover(places.len()).launch(device)?;
    Ok(found.download()?)
}
