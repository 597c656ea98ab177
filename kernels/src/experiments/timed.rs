//! All experiments on a device, timed: `cargo run --release -p warpwright-kernels --example experiments` prints the table.
//!
//! Every form of an experiment has the same sizes, so that what differs is the form.

use super::{brake, cliff, constants, divergence, instructions, walks};
use std::fmt;
use std::time::Duration;
use warpwright::prelude::*;
use warpwright::{Clock, Launch, Result};

/// One row of the table.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Which experiment.
    pub experiment: &'static str,
    /// Which form of it.
    pub form: String,
    /// The median time of a launch.
    pub time: Duration,
}

/// How large the experiments are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Threads, and numbers.
    pub n: usize,
    /// Rounds of a thread.
    pub steps: usize,
    /// The side of the matrix that is walked over.
    pub side: usize,
    /// Timed launches of each.
    pub runs: usize,
}

impl Sizes {
    /// For a GPU: half a millisecond and more.
    pub const FULL: Sizes = Sizes { n: 1 << 24, steps: 256, side: 8_192, runs: 9 };
    /// To see that all of it runs.
    pub const TINY: Sizes = Sizes { n: 512, steps: 4, side: 64, runs: 1 };
}

/// What was measured on a device.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The device's name.
    pub device: String,
    /// By which clock.
    pub clock: Clock,
    /// The sizes.
    pub sizes: Sizes,
    /// The measurements.
    pub rows: Vec<Row>,
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sizes { n, steps, side, runs } = self.sizes;
        writeln!(f, "{}: {n} threads of {steps} rounds, a matrix of {side} × {side}; median of {runs}", self.device)?;
        if self.clock == Clock::Host {
            writeln!(f, "no GPU: everything runs, but the figures mean nothing")?;
        }
        writeln!(f, "\n| experiment | form | µs |\n|---|---|---|")?;
        for Row { experiment, form, time } in &self.rows {
            writeln!(f, "| {experiment} | {form} | {:.1} |", time.as_secs_f64() * 1e6)?;
        }
        Ok(())
    }
}

/// Times all experiments.
///
/// # Errors
/// Those of the device.
pub fn measure(device: &Device, sizes: Sizes) -> Result<Measured> {
    let Sizes { n, steps, side, runs } = sizes;
    let mut rows = Vec::new();
    let mut clock = Clock::Host;
    let mut time = |experiment, form: &str, launch: Launch<'_>| -> Result<()> {
        let timing = launch.time(device, runs)?;
        clock = timing.clock;
        rows.push(Row { experiment, form: form.to_owned(), time: timing.median });
        Ok(())
    };
    let words: Vec<u32> = (0..n as u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
    let (x, mut y) = (device.upload(&words)?, device.zeros::<u32>(n)?);
    let points: Vec<f32> = words.iter().map(|word| *word as f32 / (1u64 << 31) as f32 - 1.0).collect();
    let (singles, mut results) = (device.upload(&points)?, device.zeros::<f32>(n)?);

    time("branch", "by thread", divergence::split_by_thread(steps, &mut y).cover(n))?;
    time("branch", "by warp", divergence::split_by_warp(steps, &mut y).cover(n))?;

    let (matrix, mut sums) = (device.zeros::<f32>(side * side)?, device.zeros::<f32>(side)?);
    time("walk", "a thread a row", walks::along_rows(side, &matrix, &mut sums).cover(side))?;
    time("walk", "a thread a column", walks::along_columns(side, &matrix, &mut sums).cover(side))?;

    let blocks = n.div_ceil(cliff::THREADS);
    time("values in registers", "16", cliff::held::<16, 255>(steps, &x, &mut y).grid(blocks))?;
    time("values in registers", "32", cliff::held::<32, 255>(steps, &x, &mut y).grid(blocks))?;
    time("values in registers", "64", cliff::held::<64, 255>(steps, &x, &mut y).grid(blocks))?;
    time("values in registers", "64 in 64 registers", cliff::held::<64, 64>(steps, &x, &mut y).grid(blocks))?;
    time("values in registers", "64 in 32 registers", cliff::held::<64, 32>(steps, &x, &mut y).grid(blocks))?;

    // Where no capability tells what leaves room for so many blocks, nothing is taken.
    let capability = device.properties().compute_capability.map_or(String::new(), |(major, minor)| format!("{major}.{minor}"));
    for blocks in [8, 4, 2, 1] {
        let shared = brake::bytes_for(&capability, blocks).unwrap_or(0);
        let form = |what| format!("{what}, at most {blocks} to a multiprocessor");
        time("brake", &form("memory"), brake::streamed(&x, &mut y).cover(n).shared_bytes(shared))?;
        time("brake", &form("arithmetic"), brake::computed(steps / 4, &x, &mut y).cover(n).shared_bytes(shared))?;
    }

    time("waves", "precise", instructions::waves::<false>(steps / 4, &singles, &mut results).cover(n))?;
    time("waves", "native", instructions::waves::<true>(steps / 4, &singles, &mut results).cover(n))?;
    time("products of indices", "`*`", instructions::indices::<false>(steps, 1_000, &mut y).cover(n))?;
    time("products of indices", "`mul24`", instructions::indices::<true>(steps, 1_000, &mut y).cover(n))?;
    time("division by 2¹⁰", "unknown", instructions::halves::<{ instructions::dividing::UNKNOWN }>(steps, 10, &mut y).cover(n))?;
    time("division by 2¹⁰", "shifts", instructions::halves::<{ instructions::dividing::SHIFTS }>(steps, 10, &mut y).cover(n))?;
    time("division by 2¹⁰", "known", instructions::halves::<{ instructions::dividing::KNOWN }>(steps, 10, &mut y).cover(n))?;
    time("constants", "of `f32`", instructions::scaled::<false>(steps, &singles, &mut results).cover(n))?;
    time("constants", "of `f64`", instructions::scaled::<true>(steps, &singles, &mut results).cover(n))?;

    let table: [u32; constants::TABLE] = std::array::from_fn(|i| i as u32);
    let (constant, global) = (device.constant(table)?, device.upload(&table)?);
    time("table in constant memory", "one element", constants::from_constant::<false>(steps, &constant, &mut y).cover(n))?;
    time("table in constant memory", "an element a lane", constants::from_constant::<true>(steps, &constant, &mut y).cover(n))?;
    time("table in global memory", "one element", constants::from_global::<false>(steps, &global, &mut y).cover(n))?;
    time("table in global memory", "an element a lane", constants::from_global::<true>(steps, &global, &mut y).cover(n))?;
    Ok(Measured { device: device.name().to_owned(), clock, sizes, rows })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_it_runs_without_a_gpu_and_says_so() {
        let measured = measure(&Device::simulator(), Sizes::TINY).expect("it runs");
        let text = measured.to_string();
        assert!(text.contains("the figures mean nothing"), "{text}");
        for (i, row) in measured.rows.iter().enumerate() {
            assert!(row.time > Duration::ZERO, "{row:?}");
            let others = &measured.rows[..i];
            assert!(
                others.iter().all(|other| (other.experiment, &other.form) != (row.experiment, &row.form)),
                "{row:?} stands there twice"
            );
            // No experiment has one form only: there is nothing to compare it with.
            assert!(measured.rows.iter().filter(|other| other.experiment == row.experiment).count() > 1, "{row:?}");
        }
    }
}
