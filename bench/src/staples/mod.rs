//! The library of staples against what a CUDA user would call: CUB, cuBLAS, `cudaMemcpy`. Three sizes each, 10⁴, 10⁷ and the largest; matrices of the
//! sizes that people ask of.
//!
//! Results are checked against the host first. Then come rounds, ours and the incumbent's in turn, both by one protocol (`bench/cuda/timing.cuh` has theirs): a
//! call that is not counted, and behind it in the stream, between two events, as many calls as take a millisecond, 50 at most. A round's time is that of a call,
//! so what it costs to launch counts where that is more than the work. Rates are of what must be moved or computed, whatever a function moves.

mod cases;
mod chart;
mod check;
mod products;
mod table;
mod tiles;
mod torch;
pub(crate) mod tune;

use crate::report::Spread;
use crate::twins::Twins;
use crate::{Outcome, Size};
use std::time::{Duration, Instant};
use warpwright::{Device, DeviceKind, Stream};
use warpwright_kernels::staples::{self, Workspace};

/// What a rate counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Bytes,
    Items,
    Operations,
}

impl Unit {
    fn name(self) -> &'static str {
        match self {
            Unit::Bytes => "GB/s",
            Unit::Items => "Gitems/s",
            Unit::Operations => "TFLOP/s",
        }
    }

    fn rate(self, work: f64, seconds: f64) -> f64 {
        work / seconds / if self == Unit::Operations { 1e12 } else { 1e9 }
    }
}

/// A function at a size.
struct Line {
    work: &'static str,
    size: String,
    amount: f64,
    unit: Unit,
    ours: Option<Spread>,
    theirs: Option<(&'static str, Spread)>,
    torch: Option<Spread>,
    failure: Option<String>,
}

/// What the cases run with.
pub(crate) struct Bench {
    device: Device,
    stream: Stream,
    workspace: Workspace,
    twins: Option<Twins>,
    size: Size,
    runs: usize,
    /// For how long a contestant runs by itself before each of its rounds, so that the device's power limit has set the clock.
    pub(crate) settle: Option<Duration>,
    only: Vec<String>,
    lines: Vec<Line>,
}

/// What does the same for a CUDA user: its name, and so many timed calls, which gives the seconds of one.
type Incumbent<'c> = Option<(&'static str, &'c dyn Fn(&Twins, u32) -> Outcome<f64>)>;

/// Rounds that are not counted.
const WARM: usize = 2;
/// What a round's calls take together, in seconds, and how many they are at most.
const ROUND: (f64, u32) = (1e-3, 50);
/// The same where contestants settle before: of what they settle for.
const SETTLED_ROUND: (f64, u32) = (0.2, 20_000);

impl Bench {
    pub(crate) fn new(device: Device, twins: Option<Twins>, size: Size, runs: Option<usize>) -> Outcome<Bench> {
        let (stream, workspace) = (device.default_stream(), Workspace::new(&device)?);
        let runs = runs.unwrap_or(size.pick(20, 10, 1));
        Ok(Bench { device, stream, workspace, twins, size, runs, settle: None, only: Vec::new(), lines: Vec::new() })
    }

    /// Lengths: 10⁴, 10⁷, 2²⁸.
    fn lengths(&self) -> Vec<usize> {
        match self.size {
            Size::Full => vec![10_000, 10_000_000, 1 << 28],
            Size::Small => vec![10_000, 10_000_000, 1 << 26],
            Size::Tiny => vec![1000, 2311],
        }
    }

    fn is_timed(&self) -> bool {
        self.device.kind() != DeviceKind::Simulator
    }

    fn is_wanted(&self, work: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| work.starts_with(only.as_str()))
    }

    /// The seconds of a call, of so many one after the other, behind one that is not counted.
    fn round(&mut self, calls: u32, call: &mut impl FnMut(&Stream, &mut Workspace) -> staples::Result<()>) -> Outcome<f64> {
        let start = Instant::now();
        while self.settle.is_some_and(|settle| start.elapsed() < settle) {
            (0..calls).try_for_each(|_| call(&self.stream, &mut self.workspace))?;
            self.stream.synchronize()?;
        }
        call(&self.stream, &mut self.workspace)?;
        let start = self.stream.record()?;
        (0..calls).try_for_each(|_| call(&self.stream, &mut self.workspace))?;
        Ok(self.stream.record()?.since(&start)?.as_secs_f64() / f64::from(calls))
    }

    /// How many calls a round has.
    fn calls(&mut self, call: &mut impl FnMut(&Stream, &mut Workspace) -> staples::Result<()>) -> Outcome<u32> {
        let (seconds, most) = self.settle.map_or(ROUND, |settle| (SETTLED_ROUND.0 * settle.as_secs_f64(), SETTLED_ROUND.1));
        Ok((seconds / self.round(1, call)?).ceil().clamp(1.0, f64::from(most)) as u32)
    }

    /// Calls, checks, times, ours and the incumbent's rounds in turn. Keeps the line.
    fn line(
        &mut self,
        (work, size, amount, unit): (&'static str, String, f64, Unit),
        mut call: impl FnMut(&Stream, &mut Workspace) -> staples::Result<()>,
        check: impl FnOnce() -> Outcome<()>,
        theirs: Incumbent<'_>,
    ) {
        let mut line = Line { work, size, amount, unit, ours: None, theirs: None, torch: None, failure: None };
        let attempt = || -> Outcome<()> {
            call(&self.stream, &mut self.workspace)?;
            check()?;
            if !self.is_timed() {
                return Ok(());
            }
            let calls = self.calls(&mut call)?;
            let (mut times, mut their_times) = (Vec::new(), Vec::new());
            for run in 0..WARM + self.runs {
                let time = self.round(calls, &mut call)?;
                let their_time = match (&self.twins, &theirs) {
                    (Some(twins), Some((_, theirs))) => {
                        let start = Instant::now();
                        while self.settle.is_some_and(|settle| start.elapsed() < settle) {
                            theirs(twins, calls)?;
                        }
                        Some(theirs(twins, calls)?)
                    }
                    _ => None,
                };
                if run >= WARM {
                    times.push(time);
                    their_times.extend(their_time);
                }
            }
            line.ours = Some(Spread::of(&times));
            line.theirs = theirs.filter(|_| !their_times.is_empty()).map(|(name, _)| (name, Spread::of(&their_times)));
            Ok(())
        };
        line.failure = attempt().err().map(|error| error.to_string());
        println!("{}", table::text_of(&line));
        self.lines.push(line);
    }
}

/// What a run takes beside the cases, and where its results go beside the terminal.
#[derive(Default)]
pub(crate) struct Asked<'a> {
    /// Functions whose names begin so; all if there are none.
    pub(crate) only: &'a [String],
    /// The Python that has torch.
    pub(crate) torch: Option<&'a str>,
    pub(crate) csv: Option<&'a str>,
    pub(crate) chart: Option<&'a str>,
}

/// Runs the cases; an `Err` if one fails.
pub(crate) fn run(bench: &mut Bench, asked: &Asked<'_>) -> Outcome<()> {
    println!("device: {} ({})", bench.device.name(), bench.device.target());
    bench.only = asked.only.to_vec();
    for case in cases::CASES {
        case(bench)?;
    }
    if let Some(python) = asked.torch {
        torch::add_to(&mut bench.lines, python, bench.size != Size::Full)?;
    }
    if bench.is_timed() {
        println!("\n{}", table::markdown(&bench.lines));
    }
    let write = |path: &str, text: String| std::fs::write(path, text).map_err(|error| format!("`{path}`: {error}"));
    asked.csv.map_or(Ok(()), |path| write(path, table::csv(&bench.lines)))?;
    if let Some(path) = asked.chart {
        write(path, chart::svg(&bench.lines)?)?;
    }
    let failed = bench.lines.iter().filter(|line| line.failure.is_some()).count();
    if failed > 0 { Err(format!("{failed} of {} cases failed", bench.lines.len()).into()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_staple_is_right_on_the_simulator() {
        let mut bench = Bench::new(Device::simulator(), None, Size::Tiny, None).expect("a simulator");
        run(&mut bench, &Asked::default()).expect("all are right");
        assert!(bench.lines.len() > 20, "{} lines", bench.lines.len());
    }
}
