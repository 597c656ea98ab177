//! A kernel, a device function and a struct with mistakes are still there for the rest of the crate: no error follows from another.

use warpwright::prelude::*;

/// Scaled by hand.
#[kernel(block = 64, unrol = 2)]
pub fn scale(a: f32, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = twice(a) * x[i];
}

#[device]
pub fn twice(a: f32) -> f32 {
    let f = |v: f32| v * 2.0;
    f(a)
}

#[device]
#[derive(Clone, Copy)]
pub struct Pair {
    /// First.
    pub a: f32,
}

fn main() -> warpwright::Result<()> {
    let device = Device::simulator();
    let x = device.upload(&[1.0f32])?;
    let mut y = device.zeros::<f32>(1)?;
    scale(twice(1.0), &x, &mut y).cover(1).launch(&device)?;
    let pairs = device.upload(&[Pair { a: 1.0 }])?;
    assert_eq!(pairs.len(), 1);
    Ok(())
}
