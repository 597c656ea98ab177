//! The devices of this machine, for tests that run on all of them.

use crate::ptx_interpreter::is_here;
use warpwright::{Device, DeviceKind};

/// Asks for CUDA devices alone, as `tests/sanitize` does: what the simulator computes beside them is not compute-sanitizer's to look at, and takes most of the time.
const CUDA_ALONE: &str = "WARPWRIGHT_TEST_CUDA_ALONE";

/// Every device there is, of which the simulator and the host twin always are; where tests run once more on the PTX interpreter, or on CUDA alone, its devices.
pub fn all() -> Vec<Device> {
    let is_cuda_alone = is_here() || std::env::var_os(CUDA_ALONE).is_some();
    let devices: Vec<Device> = Device::all().into_iter().filter(|device| !is_cuda_alone || device.kind() == DeviceKind::Cuda).collect();
    assert!(!devices.is_empty(), "a CUDA device is asked for, and there is none");
    devices
}

/// Runs on [every device](all).
pub fn on_all(name: &str, run: impl Fn(&Device)) {
    let devices = all();
    devices.iter().for_each(run);
    println!("ran: {name} ({} devices)", devices.len());
}
