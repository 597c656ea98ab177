//! The application suite: every program's variants against their twins in CUDA C++, and against one core of the processor.
//!
//! `warpwright-bench LIBTWINS.so --applications [--only NAME]… [--quick] [--runs N] [--csv PATH] [--chart PATH.svg]`. `--alone` instead of the library times ours
//! only; `--declared` all variants that the kernels declare, alone; `--simulate` checks the same cases at tiny sizes on the simulator, and times nothing.
//!
//! Inputs are drawn on the host with fixed seeds. Of each variant, ours and the twin run twice from the input; both are compared with what is expected of two runs, and
//! with each other. Then come the rounds: two runs of ours, the second timed, two of the twin's, the second timed, from an event before the first launch of a run to one
//! behind its last. In the table are medians. One core runs the same work, or a stated part of it, in the same process.
//!
//! * `application.rs`: what a program has to say of itself. One file for each program, named as its kernels are.
//! * `check.rs`: results, what is expected of them, how far they may be off.
//! * `rounds.rs`, `one_core.rs`: who is timed how, on the device and on a core.
//! * `work.rs`: what a run moves and computes, counted, and how long the device needs for it at least.
//! * `numbers.rs`: a time, a time scaled from a part, a figure of the document: a type each.
//! * `table.rs`, `chart.rs`: what comes out.

mod application;
mod chart;
mod check;
mod coulomb;
mod fdtd;
mod fem;
mod lbm;
mod mri;
mod numbers;
mod one_core;
mod pns;
mod rc5;
mod rounds;
mod rpes;
mod sad;
mod saxpy;
mod table;
mod tpacf;
mod work;

use crate::twins::Twins;
use crate::{Outcome, Size};
use application::Application;
use rounds::Program;
use std::time::Instant;
use warpwright::{Device, DeviceKind};

/// What programs run with.
pub(crate) struct Bench {
    pub(crate) device: Device,
    pub(crate) twins: Option<Twins>,
    pub(crate) size: Size,
    /// The variants that the kernels declare, instead of those that have twins.
    pub(crate) declared: bool,
    /// Rounds of a variant.
    pub(crate) runs: usize,
    /// After so much device time a variant ends, if it has had a few rounds.
    pub(crate) seconds_per_variant: f64,
}

impl Bench {
    /// On a device, full or small, with the twins or without.
    pub(crate) fn new(device: Device, twins: Option<Twins>, size: Size, runs: Option<usize>) -> Bench {
        let (default, seconds_per_variant) = size.pick((10, 1.5), (5, 0.3), (1, 0.0));
        Bench { device, twins, size, declared: false, runs: runs.unwrap_or(default), seconds_per_variant }
    }

    /// Whether times say anything of a device.
    fn is_timed(&self) -> bool {
        self.device.kind() != DeviceKind::Simulator
    }
}

/// A program of the suite.
struct Entry {
    name: &'static str,
    run: fn(&Bench) -> Outcome<Program>,
}

const fn entry<A: Application>() -> Entry {
    Entry { name: A::NAME, run: rounds::run::<A> }
}

/// Every program, in the order of the document's table.
const PROGRAMS: &[Entry] = &[
    entry::<sad::Sad>(),
    entry::<lbm::Lbm>(),
    entry::<rc5::Rc5>(),
    entry::<fem::Fem>(),
    entry::<rpes::Rpes>(),
    entry::<pns::Pns>(),
    entry::<saxpy::Saxpy>(),
    entry::<tpacf::Tpacf>(),
    entry::<fdtd::Fdtd>(),
    entry::<mri::Mri<mri::Q>>(),
    entry::<mri::Mri<mri::Fhd>>(),
    entry::<coulomb::Coulomb>(),
];

/// Their names.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    PROGRAMS.iter().map(|entry| entry.name)
}

/// Where results go beside the terminal.
#[derive(Default)]
pub(crate) struct Files {
    pub(crate) csv: Option<String>,
    pub(crate) chart: Option<String>,
}

/// Runs the programs of these names, all if there are none.
pub(crate) fn run(bench: &Bench, only: &[String], files: &Files) -> Outcome<()> {
    println!("device: {} ({}); one core: {}", bench.device.name(), bench.device.target(), one_core::name());
    let mut programs = Vec::new();
    for entry in PROGRAMS.iter().filter(|entry| only.is_empty() || only.iter().any(|name| name == entry.name)) {
        let start = Instant::now();
        let program = (entry.run)(bench).map_err(|error| format!("{}: {error}", entry.name))?;
        print!("\n{}", table::of_program(&program));
        println!("  ({:.1} s)", start.elapsed().as_secs_f64());
        programs.push(program);
    }
    println!("\n{}", table::summary(&programs));
    let write = |path: &Option<String>, text: String| match path {
        Some(path) => std::fs::write(path, text).map_err(|error| format!("`{path}`: {error}")),
        None => Ok(()),
    };
    write(&files.csv, table::csv(&programs))?;
    if files.chart.is_some() {
        write(&files.chart, chart::svg(&programs)?)?;
    }
    let rows: usize = programs.iter().map(|program| program.rows.len()).sum();
    match programs.iter().flat_map(Program::complaints).count() {
        0 => Ok(()),
        failed => Err(format!("{failed} of {rows} variants failed").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every variant of every program, at tiny sizes on the simulator, against what is expected of it.
    #[test]
    fn every_program_is_right_on_the_simulator() {
        let bench = Bench::new(Device::simulator(), None, Size::Tiny, None);
        for entry in PROGRAMS {
            let program = (entry.run)(&bench).unwrap_or_else(|error| panic!("{}: {error}", entry.name));
            let complaints: Vec<String> = program.complaints().collect();
            assert!(complaints.is_empty(), "{}", complaints.join("\n"));
            assert!(program.rows.len() > 2, "{} has {} variants", program.name, program.rows.len());
        }
    }

    /// Every variant that kernels declare, at tiny sizes as a program of the host's.
    #[test]
    fn every_declared_variant_is_right_on_the_host() {
        let bench = Bench { declared: true, ..Bench::new(Device::host(), None, Size::Tiny, Some(1)) };
        for entry in PROGRAMS {
            let program = (entry.run)(&bench).unwrap_or_else(|error| panic!("{}: {error}", entry.name));
            let complaints: Vec<String> = program.complaints().collect();
            assert!(complaints.is_empty(), "{}", complaints.join("\n"));
            assert!(program.rows.len() > 2, "{} declares {} variants", program.name, program.rows.len());
        }
    }

    #[test]
    fn every_program_of_the_document_is_there_once() {
        let mut ours: Vec<&str> = names().collect();
        ours.sort_unstable();
        let mut document: Vec<&str> = numbers::DOCUMENT.iter().map(|(name, ..)| *name).collect();
        document.sort_unstable();
        assert_eq!(ours, document);
    }
}
