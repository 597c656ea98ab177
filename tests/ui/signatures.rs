//! Functions that cannot be kernels.

use warpwright::prelude::*;

#[kernel]
async fn waits() {}

#[kernel]
unsafe fn is_unsafe() {}

#[kernel]
extern "C" fn is_foreign() {}

#[kernel]
const fn is_const() {}

#[kernel]
fn returns(x: &Global<f32>) -> f32 {
    x[0]
}

#[kernel]
fn borrows<'a>(_x: &'a Global<f32>) {}

#[kernel]
fn takes_apart((_a, _b): (f32, f32)) {}

#[kernel]
fn unbound<T>(_x: &Global<T>) {}

#[kernel]
fn unknown_bound<T: Flot>(_x: &Global<T>) {}

#[kernel]
fn letters<const C: char>() {}

fn main() {}
