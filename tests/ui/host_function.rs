//! A kernel that calls a function of the host. The device's items have a type of their name; `rustc` misses it.

use warpwright::prelude::*;

fn on_the_host(x: f32) -> f32 {
    x
}

#[kernel(block = 64)]
fn calls(y: &mut Global<f32>) {
    y[0] = on_the_host(1.0);
}

fn main() {}
