//! The devices of this machine, for tests that run on all of them.

use crate::ptx_interpreter::is_here;
use warpwright::{Device, DeviceKind};

/// Runs on every device there is, of which the simulator and the host twin always are; where tests run once more on the PTX interpreter, on that alone.
pub fn on_all(name: &str, run: impl Fn(&Device)) {
    let is_wanted = |device: &Device| !is_here() || device.kind() == DeviceKind::Cuda;
    let devices: Vec<Device> = Device::all().into_iter().filter(is_wanted).collect();
    devices.iter().for_each(run);
    println!("ran: {name} ({} devices)", devices.len());
}
