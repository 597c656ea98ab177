//! The experiments of VSCSE 2009, lecture 5, and of NVIDIA's OpenCL best practices guide 1.0, timed: each form beside those that it is set against.
//!
//! `cargo run --release -p warpwright-kernels --example experiments [tiny]`: on the best device there is; with sizes that mean nothing on the simulator, and if `tiny`
//! asks for them.

use warpwright::prelude::*;
use warpwright_kernels::experiments::timed::{Sizes, measure};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::best();
    let is_tiny = match std::env::args().nth(1) {
        Some(argument) if argument == "tiny" => true,
        Some(argument) => return Err(format!("`{argument}` is no size: write `tiny` or nothing").into()),
        None => matches!(device.kind(), warpwright::DeviceKind::Simulator),
    };
    print!("{}", measure(&device, if is_tiny { Sizes::TINY } else { Sizes::FULL })?);
    Ok(())
}
