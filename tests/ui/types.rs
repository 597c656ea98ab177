//! What `rustc` says of the host twin: once, at the user's own text.

use warpwright::prelude::*;

#[kernel(block = 64)]
fn mismatched(n: u32, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = n;
    x[i] = 1.0;
    undefined(i);
}

#[kernel(block = LIMIT)]
fn unknown_block() {}

fn main() {
    let device = Device::simulator();
    let x = device.upload(&[1.0f64]).unwrap();
    let mut y = device.zeros::<f32>(1).unwrap();
    let _ = mismatched(1, &x, &mut y);
}
