//! `warpwright devices`: what kernels can run on here.

use super::json::document;
use super::{OUTPUT, Stop, complain, print};
use serde_json::{Value, json};
use warpwright::{Device, DeviceKind};

/// List the devices that kernels can run on, the best first.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  warpwright devices\n  warpwright devices --json\n\nStandard error says why there is no CUDA or OpenCL device, where there is none."
)]
pub(super) struct Devices {
    /// Print them as JSON, with why others are missing.
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
}

impl Devices {
    pub(super) fn run(self) -> Result<(), Stop> {
        let devices = Device::all();
        let looked_for = [(DeviceKind::Cuda, Device::cuda(0).err()), (DeviceKind::OpenCl, Device::opencl(0).err())];
        let missing = looked_for.iter().filter_map(|(kind, error)| Some((*kind, error.as_ref()?.to_string())));
        if self.json {
            let one = |device: &Device| json!({ "kind": word(device.kind()), "target": device.target(), "name": device.name() });
            let missing: Vec<Value> = missing.map(|(kind, reason)| json!({ "kind": word(kind), "reason": reason })).collect();
            return document(json!({ "devices": devices.iter().map(one).collect::<Vec<_>>(), "missing": missing }));
        }
        let lines: Vec<String> = devices.iter().map(|device| format!("{:<12} {}\n", device.target(), device.name())).collect();
        print(&lines.concat())?;
        for (kind, reason) in missing {
            let name = if kind == DeviceKind::Cuda { "CUDA" } else { "OpenCL" };
            complain(&format!("note: no {name} device: {reason}"));
        }
        Ok(())
    }
}

fn word(kind: DeviceKind) -> &'static str {
    match kind {
        DeviceKind::Cuda => "cuda",
        DeviceKind::OpenCl => "opencl",
        DeviceKind::Simulator => "simulator",
        DeviceKind::Host => "host",
        _ => "other",
    }
}
