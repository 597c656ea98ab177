//! The devices of this machine, for tests that run on all of them.

use warpwright::Device;

/// Runs on every device there is, of which the simulator and the host twin always are.
pub fn on_all(name: &str, run: impl Fn(&Device)) {
    let devices = Device::all();
    devices.iter().for_each(run);
    println!("ran: {name} ({} devices)", devices.len());
}
