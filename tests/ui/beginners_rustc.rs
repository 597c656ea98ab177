//! What beginners write, and `rustc` answers as well as anybody: variables that are not `mut`, and launches.

use warpwright::prelude::*;

#[kernel(block = 256)]
fn not_mutable(x: &Global<f32>, y: &mut Global<f32>) {
    let s = 0.0;
    s += x[0];
    y[0] = s;
}

#[kernel(block = B)]
fn generic<const B: usize>(x: &Global<f32>, y: &mut Global<f32>) {
    y[0] = x[0];
}

fn main() -> warpwright::Result<()> {
    let device = Device::best();
    let (x, mut y) = (device.upload(&[1.0f32])?, device.zeros::<f32>(1)?);
    generic(&x, &mut y).cover(1).launch(&device)?;
    generic::<32>(&x, &y).cover(1).launch(&device)
}
