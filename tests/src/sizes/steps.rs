//! Everything that is done with a source, step by step, and what each step takes.

use std::time::{Duration, Instant};
use warpwright_codegen::backend::BACKENDS;
use warpwright_codegen::diagnostic::Diagnostics;
use warpwright_codegen::hir;
use warpwright_codegen::pipeline;
use warpwright_codegen::syntax::{Program, Unit, check_subset};
use warpwright_codegen::target::{OPENCL, Target, Targets};
use warpwright_review::{ReviewScope, review};

/// What became of a source.
#[derive(Debug, Default)]
pub struct Steps {
    /// What each step took, in the order they ran; those of several kernels are added.
    pub times: Vec<(&'static str, Duration)>,
    /// Instructions that the kernels have in the end, before PTX.
    pub instructions: usize,
    /// Bytes of PTX.
    pub ptx: usize,
    /// What was refused.
    pub errors: Vec<String>,
    /// Findings of the review.
    pub findings: usize,
    /// Time of the processor for all of it: of this thread alone where the system tells, else what the clock says.
    pub cpu: Duration,
}

/// Time of the processor that this thread has had, if the system tells (Linux does).
fn of_this_thread() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

impl Steps {
    fn time<T>(&mut self, name: &'static str, run: impl FnOnce() -> T) -> T {
        let (start, before) = (Instant::now(), of_this_thread());
        let result = run();
        self.add(name, since(start, before));
        result
    }

    fn add(&mut self, name: &'static str, time: Duration) {
        match self.times.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sum)) => *sum += time,
            None => self.times.push((name, time)),
        }
    }

    /// All of it.
    pub fn total(&self) -> Duration {
        self.times.iter().map(|(_, time)| *time).sum()
    }

    fn refused(&mut self, found: &Diagnostics) {
        self.errors.extend(found.iter().map(|finding| finding.message.clone()));
    }
}

/// Takes every step with every variant of every kernel of a source.
pub fn run(source: &str) -> Steps {
    let (start, before) = (Instant::now(), of_this_thread());
    let mut steps = all(source);
    steps.cpu = since(start, before);
    steps
}

/// What keeping the annotations of a source's one kernel `k` takes, by the clock.
///
/// # Panics
/// If one cannot be kept.
pub fn of_schedule(source: &str) -> Duration {
    let mut program = Program::default();
    let unit = program.add(Unit::parse("kernel.rs", 1, 1, source).expect("Rust"));
    let instance = hir::declared_instances(&program, unit, "k").expect("a kernel").remove(0);
    let built = pipeline::lower(&program, unit, "k", &instance).expect("a kernel");
    let start = Instant::now();
    let kept = built.schedule();
    let time = start.elapsed();
    assert!(kept.is_ok(), "{:?}", kept.err());
    time
}

/// What the processor has had since then.
fn since(start: Instant, before: Option<Duration>) -> Duration {
    before.zip(of_this_thread()).map_or_else(|| start.elapsed(), |(before, after)| after.saturating_sub(before))
}

fn all(source: &str) -> Steps {
    let mut steps = Steps::default();
    let unit = match steps.time("parse", || Unit::parse("kernel.rs", 1, 1, source)) {
        Ok(unit) => unit,
        Err(found) => {
            steps.refused(&found);
            return steps;
        }
    };
    let mut findings = Diagnostics::new();
    steps.time("subset", || check_subset(&unit.items, &mut findings));
    steps.refused(&findings);
    let kernels: Vec<String> = unit.kernels().into_iter().map(|(path, _)| path).collect();
    let mut program = Program::default();
    let unit = program.add(unit);
    let target = Target::find("sm_90").expect("a target");
    for kernel in kernels {
        let instances = match hir::declared_instances(&program, unit, &kernel) {
            Ok(instances) => instances,
            Err(found) => {
                steps.refused(&found);
                continue;
            }
        };
        for instance in &instances {
            let built = match steps.time("lower", || pipeline::lower(&program, unit, &kernel, instance)) {
                Ok(built) => built,
                Err(found) => {
                    steps.refused(&found);
                    continue;
                }
            };
            let lowered = match steps.time("schedule", || built.schedule()) {
                Ok(lowered) => lowered,
                Err(found) => {
                    steps.refused(&found);
                    continue;
                }
            };
            for backend in BACKENDS {
                let mut timings = Vec::new();
                lowered.kernel.make(backend.language().stage, &mut timings);
                timings.into_iter().for_each(|(pass, time)| steps.add(pass, time));
                match steps.time(backend.language().name, || lowered.emit(*backend, Some(target))) {
                    // A text for people may lack what devices have.
                    Err(found) if backend.language().is_for_devices => steps.refused(&found),
                    Err(_) => {}
                    Ok(emitted) if backend.language().is_per_target => steps.ptx += emitted.text.len(),
                    Ok(_) => {}
                }
            }
            lowered.kernel.legal().addressed().for_each_inst(|_, _, _| steps.instructions += 1);
        }
        let targets = Targets { gpus: vec![target], families: vec![&OPENCL] };
        let scope = ReviewScope { targets: &targets, findings: None, most: usize::MAX };
        let found = steps.time("review", || review(&program, unit, &kernel, &instances, scope, None));
        steps.findings += found.iter().count();
    }
    steps
}
