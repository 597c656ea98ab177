//! `warpwright devices`: what kernels can run on here.

use super::json::document;
use super::table::{Cell, Heading, NOTHING, Table};
use super::{OUTPUT, Stop, complain, print, units};
use serde_json::{Value, json};
use warpwright::{Device, DeviceKind, DeviceProperties};

/// List the devices that kernels can run on, the best first, and what each has.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  warpwright devices\n  warpwright devices --json\n\nIf there is no CUDA or no OpenCL device, standard error says why."
)]
pub(super) struct Devices {
    /// Print them as JSON, with the reasons why others are missing.
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
}

impl Devices {
    pub(super) fn run(self) -> Result<(), Stop> {
        let devices = Device::all();
        let looked_for = [(DeviceKind::Cuda, Device::cuda(0).err()), (DeviceKind::OpenCl, Device::opencl(0).err())];
        let missing = looked_for.iter().filter_map(|(kind, error)| Some((*kind, error.as_ref()?.to_string())));
        if self.json {
            let missing: Vec<Value> = missing.map(|(kind, reason)| json!({ "kind": word(kind), "reason": reason })).collect();
            return document(json!({ "devices": devices.iter().map(object).collect::<Vec<_>>(), "missing": missing }));
        }
        print(&table(&devices).print())?;
        missing.for_each(|(_, reason)| complain(&format!("note: {reason}")));
        Ok(())
    }
}

/// What the driver tells of each.
fn table(devices: &[Device]) -> Table {
    let figures = ["multiprocessors", "clock", "memory", "bandwidth", "L2", "shared / block", "threads / block"];
    // The name matters most; of the figures the first.
    let figures = figures.into_iter().zip(1..).map(|(title, rank)| Heading::figures(title).rank(rank).stays());
    let mut table = Table::new(["target", "name"].into_iter().map(Heading::words).chain(figures));
    for device in devices {
        let told = device.properties();
        let bytes = |figure: Option<u64>| figure.map(|bytes| units::bytes(bytes as f64));
        let figures = [
            told.multiprocessors.map(|count| count.to_string()),
            told.clock_hz.map(units::megahertz),
            bytes(told.memory_bytes),
            told.memory_bandwidth().map(|rate| format!("{:.0} GB/s", rate / 1e9)),
            bytes(told.l2_bytes),
            bytes(Some(told.shared_bytes_per_block)),
            Some(told.max_threads_per_block.to_string()),
        ];
        let words = [&told.target, &told.name].map(|word| Cell::new(word.split_whitespace().collect::<Vec<_>>().join(" ")));
        table.row(words.into_iter().chain(figures.into_iter().map(|figure| Cell::new(figure.unwrap_or_else(|| NOTHING.to_owned())))));
    }
    table
}

/// All of it.
fn object(device: &Device) -> Value {
    let told: &DeviceProperties = device.properties();
    json!({
        "kind": word(told.kind),
        "target": told.target,
        "name": told.name,
        "compute_capability": told.compute_capability.map(|(major, minor)| format!("{major}.{minor}")),
        "multiprocessors": told.multiprocessors,
        "warp_size": told.warp_size,
        "has_warps": told.has_warps,
        "max_threads_per_block": told.max_threads_per_block,
        "max_block": told.max_block,
        "max_grid": told.max_grid,
        "max_threads_per_multiprocessor": told.max_threads_per_multiprocessor,
        "registers_per_multiprocessor": told.registers_per_multiprocessor,
        "shared_bytes_per_block": told.shared_bytes_per_block,
        "shared_bytes_per_multiprocessor": told.shared_bytes_per_multiprocessor,
        "l2_bytes": told.l2_bytes,
        "memory_bytes": told.memory_bytes,
        // What another program takes meanwhile is no error of this one.
        "free_memory_bytes": device.free_memory().ok().flatten(),
        "clock_hz": told.clock_hz,
        "memory_clock_hz": told.memory_clock_hz,
        "memory_bus_bits": told.memory_bus_bits,
    })
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
