//! Kernels that mistakes are made in, for what the tree's kernels have little of: order between blocks, exchanges within a warp, vectors, buffers that take
//! turns, pipelines, clusters. Each is launched with sizes that fit nothing, and its result is held to plain Rust.

#![allow(deprecated, reason = "what lints find of speed is not what these are for")]

mod blocks;
mod copies;
mod tiles;
mod warps;

use warpwright::{Device, Launch, Result};

/// What is done with a launch.
pub type Show<'s> = &'s mut dyn FnMut(&Launch<'_>);

/// A kernel with a launch.
pub struct Specimen {
    /// Its name.
    pub name: &'static str,
    /// Shows the launch, runs it, and holds the result to what it should be.
    pub run: fn(Show<'_>) -> Result<()>,
}

/// Every one.
pub const SPECIMENS: &[Specimen] = &[
    Specimen { name: "last_block", run: blocks::last_block_run },
    Specimen { name: "message", run: blocks::message_run },
    Specimen { name: "look_back", run: blocks::look_back_run },
    Specimen { name: "tickets", run: blocks::tickets_run },
    Specimen { name: "locked", run: blocks::locked_run },
    Specimen { name: "warp_totals", run: warps::warp_totals_run },
    Specimen { name: "compacted", run: warps::compacted_run },
    Specimen { name: "through_shared", run: warps::through_shared_run },
    Specimen { name: "block_scan", run: warps::block_scan_run },
    Specimen { name: "quads", run: tiles::quads_run },
    Specimen { name: "neighbours", run: tiles::neighbours_run },
    Specimen { name: "turned", run: tiles::turned_run },
    Specimen { name: "bins", run: tiles::bins_run },
    Specimen { name: "two_buffers", run: tiles::two_buffers_run },
    Specimen { name: "rows_of_launch", run: tiles::rows_of_launch_run },
    Specimen { name: "run_sums", run: copies::run_sums_run },
    Specimen { name: "tile_sums", run: copies::tile_sums_run },
    Specimen { name: "strips", run: copies::strips_run },
    Specimen { name: "cluster_sums", run: copies::cluster_sums_run },
];

/// The simulator.
fn device() -> Device {
    Device::simulator()
}

/// Numbers that differ from each other.
fn numbers(n: usize) -> Vec<u32> {
    (0..n as u32).map(|i| (i + 1).wrapping_mul(2_654_435_761) >> 12).collect()
}

/// Floats that sums of a few thousand are exact for.
fn floats(n: usize) -> Vec<f32> {
    (0..n).map(|i| ((i * 37 + 11) % 61) as f32).collect()
}
