//! Times micro-kernels on a CUDA device: what the rates and latencies of its row in `review/src/machine.rs` are fitted on.
//!
//! `calibrate --csv PATH [--runs N] [--only GROUP]… [--multiprocessors N] [--shared KIB]`, with a few gigabytes of device memory and about a minute. `calibrate
//! --simulate` runs everything at tiny sizes on the simulator, `calibrate --tiny` on the device, for compute-sanitizer. `python3 bench/fit.py PATH` makes constants of the file. Each row of the file is a kernel,
//! its block, resident blocks (limited by shared memory taken), grid, independent operations or loads of a thread (`ilp`), elements of a
//! vector, steps of its loop, what a launch does (`work`: bytes read, bytes written, operations of a thread), and seconds.

mod arithmetic;
mod kernels;
mod memory;

use clap::Parser;
use std::fmt::Write;
use std::time::Instant;
use warpwright::{Device, Launch, Timing};

/// Anything that goes wrong, as text for a person.
type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// What is measured, and what came of it.
pub(crate) struct Run {
    device: Device,
    runs: usize,
    /// Sizes for the simulator.
    tiny: bool,
    multiprocessors: u32,
    /// Shared memory of a multiprocessor, bytes.
    shared: u32,
    rows: Vec<(Case, f64, f64, f64)>,
}

/// One launch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Case {
    pub(crate) kernel: &'static str,
    pub(crate) block: u32,
    /// Resident blocks of a multiprocessor, if shared memory is to limit them.
    pub(crate) resident: Option<u32>,
    pub(crate) grid: u64,
    pub(crate) ilp: u32,
    pub(crate) vector: u32,
    pub(crate) steps: u32,
    /// Bytes of the working set.
    pub(crate) footprint: f64,
    pub(crate) read: f64,
    pub(crate) written: f64,
    /// Operations of one thread.
    pub(crate) operations: f64,
}

impl Run {
    /// Dynamic shared memory with which just `blocks` fit. A block takes 1 KiB of its own since sm_80.
    fn shared_for(&self, blocks: u32) -> u32 {
        (self.shared / blocks - 1024) / 128 * 128
    }

    /// Times a case: a warming launch, then the median of some runs.
    pub(crate) fn time<'l>(&mut self, case: Case, launch: impl FnOnce() -> Launch<'l>) -> Outcome<()> {
        let mut launch = launch().grid(case.grid as u32);
        if let Some(blocks) = case.resident {
            launch = launch.shared_bytes(self.shared_for(blocks));
        }
        let timing: Timing = launch.time(&self.device, self.runs)?;
        self.rows.push((case, timing.min.as_secs_f64(), timing.median.as_secs_f64(), timing.max.as_secs_f64()));
        Ok(())
    }

    fn csv(&self) -> String {
        let mut text = String::from("kernel,block,resident,grid,ilp,vector,steps,footprint,read,written,operations,min,median,max\n");
        for (case, min, median, max) in &self.rows {
            let Case { kernel, block, resident, grid, ilp, vector, steps, footprint, read, written, operations } = case;
            let resident = resident.unwrap_or(0);
            // A string takes it without fail.
            let _ = writeln!(
                text,
                "{kernel},{block},{resident},{grid},{ilp},{vector},{steps},{footprint},{read},{written},{operations},{min:.9},{median:.9},{max:.9}"
            );
        }
        text
    }
}

/// Adds a group's rows.
type Group = fn(&mut Run) -> Outcome<()>;

const GROUPS: &[(&str, Group)] = &[
    ("blocks", memory::blocks),
    ("read", memory::read),
    ("walk", memory::walk),
    ("write", memory::write),
    ("triad", memory::triad),
    ("scale", memory::scale),
    ("small", memory::small),
    ("chase", memory::chase),
    ("strides", memory::strides),
    ("rows", memory::rows),
    ("common", memory::common),
    ("arithmetic", arithmetic::run),
    ("shared", arithmetic::shared),
    ("barriers", arithmetic::barriers),
    ("dispatch", arithmetic::dispatch),
];

/// Times micro-kernels on a CUDA device: what the rates and latencies of its row in `review/src/machine.rs` are fitted on.
#[derive(Parser)]
struct Arguments {
    /// Where the table goes.
    #[arg(long, value_name = "PATH")]
    csv: Option<String>,
    /// Runs everything at tiny sizes on the simulator.
    #[arg(long)]
    simulate: bool,
    /// The simulator's sizes on the device, for compute-sanitizer.
    #[arg(long)]
    tiny: bool,
    /// A group; may be given several times.
    #[arg(long, value_name = "GROUP", value_parser = clap::builder::PossibleValuesParser::new(GROUPS.iter().map(|(name, _)| *name)))]
    only: Vec<String>,
    #[arg(long, value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    runs: Option<usize>,
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    multiprocessors: Option<u32>,
    /// Shared memory of a multiprocessor.
    #[arg(long = "shared", value_name = "KIB", value_parser = clap::value_parser!(u32).range(1..))]
    shared_kib: Option<u32>,
}

fn main() {
    run(Arguments::parse()).unwrap_or_else(|error| {
        eprintln!("error: {error}");
        std::process::exit(1);
    });
}

fn run(arguments: Arguments) -> Outcome<()> {
    let device = if arguments.simulate { Device::simulator() } else { Device::cuda(0)? };
    let tiny = arguments.simulate || arguments.tiny;
    let mut run = Run {
        device,
        runs: arguments.runs.unwrap_or(if tiny { 1 } else { 5 }),
        tiny,
        // An H200's, unless it is said otherwise.
        multiprocessors: arguments.multiprocessors.unwrap_or(if tiny { 2 } else { 132 }),
        shared: arguments.shared_kib.unwrap_or(228) * 1024,
        rows: Vec::new(),
    };
    println!("device: {} ({})", run.device.name(), run.device.target());
    for (name, group) in GROUPS {
        if arguments.only.is_empty() || arguments.only.iter().any(|only| only == name) {
            let (start, before) = (Instant::now(), run.rows.len());
            let result = group(&mut run);
            println!("{name}: {} rows, {:.1} s", run.rows.len() - before, start.elapsed().as_secs_f64());
            // What was measured before it is worth keeping.
            if let Some(path) = &arguments.csv {
                std::fs::write(path, run.csv()).map_err(|error| format!("`{path}`: {error}"))?;
            }
            result.map_err(|error| format!("{name}: {error}"))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every kernel runs without a fault, and has a row.
    #[test]
    fn every_group_runs_on_the_simulator() {
        let device = Device::simulator();
        let mut run = Run { device, runs: 1, tiny: true, multiprocessors: 2, shared: 228 * 1024, rows: Vec::new() };
        for (name, group) in GROUPS {
            let before = run.rows.len();
            group(&mut run).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(run.rows.len() > before, "{name} has no row");
        }
        assert_eq!(run.csv().lines().count(), run.rows.len() + 1);
    }

    #[test]
    fn refuses_arguments_it_does_not_know() {
        for (text, expected) in [
            ("--cvs x", "unexpected argument '--cvs'"),
            ("--only raed", "[possible values: blocks, read, "),
            ("--runs 0", "0 is not in 1.."),
            ("--csv", "a value is required for '--csv <PATH>'"),
        ] {
            let words = ["calibrate"].into_iter().chain(text.split(' '));
            let error = Arguments::try_parse_from(words).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn shared_memory_leaves_room_for_so_many_blocks() {
        let run = Run { device: Device::simulator(), runs: 1, tiny: true, multiprocessors: 2, shared: 228 * 1024, rows: Vec::new() };
        for blocks in 1..=32 {
            let taken = run.shared_for(blocks) + 1024;
            assert_eq!(run.shared / taken, blocks);
        }
    }
}
