//! Variants measured: by `ptxas`, by the simulator's counters, by a device's clock. One that fails says so and leaves the others what they have.

use super::Comparison;
use super::variant::Compiled;
use crate::cli::Stop;
use crate::cli::launch::{Agreement, LaunchArguments, Launchable, Runner};
use crate::cli::progress::Progress;
use crate::cli::source::Source;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use warpwright::{Clock, Device, DeviceKind};
use warpwright_codegen::analysis::access::AccessKind;
use warpwright_codegen::ir::ObjectKind;
use warpwright_codegen::target::Target;
use warpwright_review::estimate::Known;
use warpwright_runtime::ptxas::Ptxas;

/// Runs on a device.
pub(in crate::cli) struct Timed {
    /// Sorted.
    pub(super) times: Vec<Duration>,
    pub(super) device: String,
    /// How far the results are from the first variant's.
    pub(super) agreement: Agreement,
    /// The number of the target that the device is of, or is nearest to: the one whose table has the times.
    pub(super) target: usize,
}

impl Timed {
    /// The middle run; of an even number, the later of the middle two.
    pub(super) fn median(&self) -> Duration {
        self.times.get(self.times.len() / 2).copied().unwrap_or_default()
    }
}

/// Variants that did not run to their end, by what was said of them.
#[derive(Default)]
pub(in crate::cli) struct Failures(Vec<(Stop, Vec<String>)>);

impl Failures {
    pub(in crate::cli) fn add(&mut self, variant: &str, stop: Stop) {
        match self.0.iter_mut().find(|(known, _)| known.message == stop.message) {
            Some((_, variants)) => variants.push(variant.to_owned()),
            None => self.0.push((stop, vec![variant.to_owned()])),
        }
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them, if there are any: each said once, with the first variant that it is about.
    pub(in crate::cli) fn outcome(self) -> Result<(), Stop> {
        self.joined(|variants| match variants {
            [first] if !first.is_empty() => format!(" (of `{first}`)"),
            [first, others @ ..] if !others.is_empty() => format!(" (of `{first}` and {} more)", others.len()),
            _ => String::new(),
        })
    }

    /// The same where no variant ran: what all of them say is about none of them.
    fn outcome_of_all(self) -> Result<(), Stop> {
        if self.0.len() == 1 { self.joined(|_| String::new()) } else { self.outcome() }
    }

    fn joined(self, which: impl Fn(&[String]) -> String) -> Result<(), Stop> {
        let Some(code) = self.0.iter().map(|(stop, _)| stop.code).max() else { return Ok(()) };
        let one = |(stop, variants): &(Stop, Vec<String>)| format!("{}{}", stop.message, which(variants));
        let messages: Vec<String> = self.0.iter().map(one).collect();
        Err(Stop { message: messages.join("\nerror: "), code })
    }
}

impl Comparison {
    /// Has `ptxas` measure every variant, if there is one.
    pub(super) fn measure(&mut self) {
        let assembler = match Ptxas::find() {
            Ok(Some(assembler)) => assembler,
            Ok(None) => return,
            Err(error) => return self.notes.push(format!("nothing is measured: {error}")),
        };
        let targets = &self.targets;
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        let left = Mutex::new(self.variants.iter_mut().filter_map(|variant| variant.outcome.as_mut().ok()));
        let errors = Mutex::new(BTreeSet::new());
        let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
        let measure = || {
            while let Some(compiled) = next() {
                for (n, target) in targets.iter().enumerate() {
                    match compiled.ptx[n].as_ref().map(|ptx| assembler.measure(&ptx.to_string(), target.capability)) {
                        Some(Ok(measured)) => compiled.measured[n] = Some(measured),
                        Some(Err(error)) => {
                            let said = format!("`{}` is not measured: {error}", target.name);
                            errors.lock().unwrap_or_else(PoisonError::into_inner).insert(said);
                        }
                        None => {}
                    }
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..workers {
                // Where the system gives no more threads, fewer do it.
                let _ = std::thread::Builder::new().spawn_scoped(scope, measure);
            }
            measure();
        });
        self.notes.push(format!("measured by ptxas {}", assembler.release));
        self.notes.extend(errors.into_inner().unwrap_or_else(PoisonError::into_inner));
    }

    /// How many variants there are to run.
    fn to_run(&self, sources: [Option<&Source>; 2]) -> usize {
        self.variants.iter().filter(|variant| variant.outcome.is_ok() && sources[usize::from(variant.is_earlier)].is_some()).count()
    }

    /// Runs every variant on the simulator. What failed is given back; if nothing ran, it is the error.
    pub(super) fn simulate(&mut self, sources: [Option<&Source>; 2], launch: &LaunchArguments) -> Result<Failures, Stop> {
        let device = Device::simulator();
        let mut runner = Runner::new(&device, launch);
        let mut failures = Failures::default();
        let mut ran = false;
        let progress = Progress::new(self.to_run(sources), "simulated");
        for variant in &mut self.variants {
            progress.begin(variant.name(&self.kernel));
            let (Ok(compiled), Some(source)) = (&mut variant.outcome, sources[usize::from(variant.is_earlier)]) else { continue };
            match Launchable::compile(source, &self.kernel, &variant.instance, &device).and_then(|kernel| runner.run(&kernel)) {
                Ok((counters, _)) => {
                    compiled.counters = counters;
                    ran = true;
                }
                Err(stop) => failures.add(&variant.words, stop),
            }
            progress.advance();
        }
        if ran { Ok(failures) } else { failures.outcome_of_all().map(|()| Failures::default()) }
    }

    /// Times every variant on the best device, in turn: a run of each, again and again. What failed is given back, and what was timed before
    /// is kept; if nothing ran, it is the error.
    pub(super) fn time(&mut self, sources: [Option<&Source>; 2], launch: &LaunchArguments, runs: usize) -> Result<Failures, Stop> {
        let device = Device::best();
        if device.kind() == DeviceKind::Simulator {
            return Err(Stop::usage(
                "there is no device to time on (`warpwright devices` lists all there are); write `--simulate` in place of `--time`, which counts without one",
            ));
        }
        let target = nearest(&self.targets, device.target());
        let mut runner = Runner::new(&device, launch);
        let mut failures = Failures::default();
        let mut kernels: Vec<Option<Launchable>> = Vec::new();
        let mut clock = Clock::Host;
        let progress = Progress::new(self.to_run(sources) * runs, "runs timed");
        for variant in &mut self.variants {
            progress.begin(variant.name(&self.kernel));
            let (Ok(compiled), Some(source)) = (&mut variant.outcome, sources[usize::from(variant.is_earlier)]) else {
                kernels.push(None);
                continue;
            };
            // The first run that counts comes at once: a variant that takes the device with it leaves those before it a figure.
            let ran = runner.run_first(source, &self.kernel, &variant.instance).and_then(|(kernel, agreement)| {
                let timing = runner.time(&kernel, rereads(&compiled.known), 1)?;
                Ok((kernel, agreement, timing))
            });
            kernels.push(match ran {
                Ok((kernel, agreement, timing)) => {
                    clock = timing.clock;
                    let device = device.name().to_owned();
                    compiled.timed = Some(Timed { times: vec![timing.median], device, agreement, target });
                    progress.advance();
                    Some(kernel)
                }
                Err(stop) => {
                    failures.add(&variant.words, stop);
                    progress.leave_out(runs);
                    None
                }
            });
        }
        if kernels.iter().all(Option::is_none) {
            return failures.outcome_of_all().map(|()| Failures::default());
        }
        'rounds: for _ in 1..runs {
            for (variant, kernel) in self.variants.iter_mut().zip(&kernels) {
                progress.begin(variant.name(&self.kernel));
                let (Ok(Compiled { timed: Some(timed), known, .. }), Some(kernel)) = (&mut variant.outcome, kernel) else { continue };
                match runner.time(kernel, rereads(known), 1) {
                    Ok(timing) => timed.times.push(timing.median),
                    // What has run before and does not now is no variant's fault: the device is lost, which has been said if one took it.
                    Err(stop) => {
                        if failures.is_empty() {
                            failures.add(&variant.words, stop);
                        }
                        break 'rounds;
                    }
                }
                progress.advance();
            }
        }
        for compiled in self.variants.iter_mut().filter_map(|variant| variant.outcome.as_mut().ok()) {
            if let Some(timed) = &mut compiled.timed {
                timed.times.sort_unstable();
            }
        }
        let clock = if clock == Clock::Host { "the host's clock" } else { "its own clock" };
        let note = format!(
            "timed on {device} by {clock}, {runs} runs of each variant in turn; results are those of the first variant unless marked"
        );
        self.notes.push(note);
        Ok(failures)
    }
}

/// The target that a device is of; else the newest that it runs, else the first.
fn nearest(targets: &[&'static Target], device: &str) -> usize {
    let own = Target::find(device).map(|target| target.capability);
    let runs = |target: &&&'static Target| own.as_ref().is_ok_and(|own| target.runs_on(*own));
    let best = targets.iter().filter(runs).max_by_key(|target| (target.capability, target.name == device));
    match best {
        Some(best) => targets.iter().position(|target| target.name == best.name).unwrap_or(0),
        // OpenCL devices say nothing of this kind.
        None if own.is_err() => targets.len().saturating_sub(1),
        None => 0,
    }
}

/// Whether it reads what it may have written: then a second run is other work than the first.
fn rereads(known: &Known) -> bool {
    let is_writable = |object| matches!(known.legal.objects[object].kind, ObjectKind::Global { writable: true });
    known.facts.accesses.iter().any(|access| access.kind != AccessKind::Store && is_writable(access.object))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_has_its_times_in_one_table() {
        let targets = |names: &[&str]| -> Vec<&'static Target> { names.iter().map(|name| Target::find(name).expect(name)).collect() };
        let all = targets(&["sm_80", "sm_89", "sm_90"]);
        assert_eq!([nearest(&all, "sm_90"), nearest(&all, "sm_86"), nearest(&all, "sm_100"), nearest(&all, "sm_75")], [2, 0, 2, 0]);
        assert_eq!(nearest(&all, "OpenCL 3.0"), 2);
        let variants = targets(&["sm_90", "sm_90a"]);
        assert_eq!([nearest(&variants, "sm_90"), nearest(&variants[1..], "sm_90"), nearest(&variants, "sm_100")], [0, 0, 0]);
    }

    #[test]
    fn what_several_variants_say_is_said_once() {
        let mut failures = Failures::default();
        failures.add("ILP = 1", Stop::found("out of range"));
        failures.add("ILP = 4", Stop::usage("out of memory"));
        failures.add("ILP = 8", Stop::usage("out of memory"));
        let stop = failures.outcome().expect_err("three failed");
        assert_eq!(stop.message, "out of range (of `ILP = 1`)\nerror: out of memory (of `ILP = 4` and 1 more)");
        assert_eq!(stop.code, Stop::usage("").code);
        assert!(Failures::default().outcome().is_ok());
    }
}
