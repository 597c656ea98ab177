//! What the simulator finds that devices do not: kernels through the macro that must be clean, and faults with their whole text.

#![allow(deprecated, reason = "what lints find of speed is not what is tested here")]

#[path = "simulated/calls.rs"]
mod calls;
#[path = "simulated/endless.rs"]
mod endless;
#[path = "simulated/lanes.rs"]
mod lanes;
#[path = "simulated/order.rs"]
mod order;
#[path = "simulated/ordered.rs"]
mod ordered;
#[path = "simulated/origins.rs"]
mod origins;
#[path = "simulated/put.rs"]
mod put;

use warpwright::{Device, Launch};

/// What a launch fails with on a device.
#[track_caller]
fn fault_on(device: &Device, launch: Launch<'_>) -> String {
    launch.launch(device).expect_err("the launch is at fault").to_string()
}

/// The error has all of these texts, in order.
#[track_caller]
fn says(error: &str, texts: &[&str]) {
    let mut rest = error;
    for text in texts {
        let (_, behind) = rest.split_once(text).unwrap_or_else(|| panic!("{text:?} is not in {rest:?} of {error:?}"));
        rest = behind;
    }
}
