//! What one of a kernel's targets does not have.

use std::sync::atomic::Ordering;
use warpwright::prelude::*;

#[kernel(block = 64, targets = [sm_50, sm_90])]
fn system_atomics(y: &mut Global<u32>) {
    y.atomic_add_ordered(0, 1, Ordering::Relaxed, ThreadScope::System);
}

#[kernel(block = 64, targets = [sm_50, sm_60])]
fn many_parameters(a: [[f64; 16]; 40], y: &mut Global<f64>) {
    y[0] = a[1][2];
}

fn main() {}
