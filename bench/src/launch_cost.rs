//! What a launch costs the host.

use crate::Outcome;
use std::time::{Duration, Instant};
use warpwright::Device;
use warpwright_kernels::saxpy::saxpy;

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
    Ok(())
}
