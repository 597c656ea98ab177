//! y ← a·x + y on the best device there is: the smallest whole program.

use warpwright::prelude::*;

/// y ← a·x + y
#[kernel(block = 256)]
fn saxpy(a: f32, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = a * x[i] + y[i];
    }
}

fn main() -> warpwright::Result<()> {
    let device = Device::best();
    let n = 1_000_000;
    let xs: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let x = device.upload(&xs)?;
    let mut y = device.upload(&vec![1.0; n])?;
    saxpy(2.0, &x, &mut y).cover(n).launch(&device)?;
    let ys = y.download()?;
    println!("{}: y[0..4] = {:?}, y[{}] = {}", device.name(), &ys[..4], n - 1, ys[n - 1]);
    Ok(())
}
