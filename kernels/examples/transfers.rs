//! What transfers between host and device take, from pageable and from pinned memory, whether copies and kernels overlap, and a kernel's effective bandwidth.
//!
//! `cargo run --release -p warpwright-kernels --example transfers [MIB]`: on the best device there is, with so many MiB of numbers; 256 without a
//! figure, and one on the simulator, where the figures mean nothing.

use warpwright::prelude::*;
use warpwright_kernels::experiments::transfers::measure;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::best();
    let is_simulated = matches!(device.kind(), warpwright::DeviceKind::Simulator);
    let mib: usize = match std::env::args().nth(1) {
        Some(argument) => argument.parse().map_err(|_| format!("`{argument}` is no number of MiB"))?,
        None if is_simulated => 1,
        None => 256,
    };
    print!("{}", measure(&device, mib << 18, if is_simulated { 1 } else { 9 })?);
    Ok(())
}
