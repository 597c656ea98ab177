//! What a launch costs the host.

use crate::Outcome;
use std::time::{Duration, Instant};
use warpwright::Device;
use warpwright::prelude::bf16;
use warpwright_kernels::saxpy::saxpy;
use warpwright_kernels::staples::Workspace;
use warpwright_kernels::staples::product::{self, Product};

/// Host time of a repeated launch of a kernel with almost no work.
pub(crate) fn print(device: &Device) -> Outcome<()> {
    let x = device.upload(&[1.0f32; 32])?;
    let mut y = device.upload(&[1.0f32; 32])?;
    let mut best = Duration::MAX;
    let launches = 500;
    for _ in 0..20 {
        let start = Instant::now();
        for _ in 0..launches {
            saxpy(1.0, &x, &mut y).cover(32).launch(device)?;
        }
        best = best.min(start.elapsed() / launches);
        device.synchronize()?;
    }
    println!("host time of a repeated launch: {:.2} us (best of 20 rounds of {launches})", best.as_secs_f64() * 1e6);
    print_first(device)
}

/// Host time of a product's first launch, which compiles the kernel and has the driver assemble it, and of the next. The driver keeps what it assembled in a folder, if `CUDA_CACHE_DISABLE=1` does not
/// forbid it.
fn print_first(device: &Device) -> Outcome<()> {
    let side = 1024;
    let x = device.zeros::<bf16>(side * side)?;
    let mut z = device.zeros::<bf16>(side * side)?;
    let (stream, mut workspace) = (device.default_stream(), Workspace::new(device)?);
    let product = Product::new(device.matrix(&x, side, side)?, device.matrix(&x, side, side)?).transposed(false, true);
    let mut timed = || -> Outcome<f64> {
        device.synchronize()?;
        let start = Instant::now();
        product::multiply(&stream, &product, device.matrix_mut(&mut z, side, side)?, &mut workspace)?;
        device.synchronize()?;
        Ok(start.elapsed().as_secs_f64())
    };
    let (first, next) = (timed()?, timed()?);
    println!("a product's first launch: {:.1} ms; the next: {:.1} us, with the wait for it", first * 1e3, next * 1e6);
    Ok(())
}
