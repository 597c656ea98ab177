//! Numbers of two types: the error stands at the one to cast, and says how. Each edit compiles as it is written.

use warpwright::prelude::*;

#[kernel(block = 256)]
fn operators(n: u32, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut count = 0u32;
    if n < i || n - 1 >= i {
        count += i;
    }
    y[i * n + 1] = x[i] * i + x[i] / 2;
    y[0] = -1 * x[i];
}

#[kernel(block = 256)]
fn values(n: u32, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let j: u32 = i + 1;
    for k in i..n {
        y[k] = 1;
    }
    let [a, b] = x.load::<2>(n);
    y.store::<2>(n, [a, b]);
    y.atomic_add(j, 2.0);
    y[i] = twice(i);
}

#[device]
fn twice(a: f32) -> f32 {
    a * 2.0
}

#[device]
fn narrow(a: f64) -> f32 {
    a
}

#[kernel(block = 256)]
fn of_two_widths(y: &mut Global<f32>) {
    y[0] = narrow(1.0);
}

fn main() {}
