//! `warpwright devices`: what kernels can run on here.

use super::{Stop, complain, print};
use warpwright::Device;

/// List the devices that kernels can run on, the best first.
#[derive(clap::Args)]
pub(super) struct Devices {}

impl Devices {
    pub(super) fn run(self) -> Result<(), Stop> {
        let mut text = String::new();
        for device in Device::all() {
            text.push_str(&format!("{:<12} {}\n", device.target(), device.name()));
        }
        print(&text)?;
        if let Err(reason) = Device::cuda(0) {
            complain(&format!("no CUDA device: {reason}"));
        }
        if let Err(reason) = Device::opencl(0) {
            complain(&format!("no OpenCL device: {reason}"));
        }
        Ok(())
    }
}
