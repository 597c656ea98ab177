//! `warpwright emit`: a kernel as PTX, OpenCL C, IR or Rust.

mod json;

use super::json::document;
use super::source::{Define, InstanceError, Source, check_defines, split};
use super::{OUTPUT, Stop, VARIANTS, complain, print, targets};
use clap::ValueHint;
use serde_json::Value as Json;
use std::fmt::Write;
use std::time::{Duration, Instant};
use warpwright_codegen::backend::{self, Emitted};
use warpwright_codegen::diagnostic::Diagnostics;
use warpwright_codegen::hir::Lowered;
use warpwright_codegen::ir::Stage;
use warpwright_codegen::passes::{self, PassOptions};
use warpwright_codegen::schedule;
use warpwright_codegen::target::{OPENCL, Target};

/// Print what a kernel compiles to.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  warpwright emit src/main.rs::saxpy\n  warpwright emit src/main.rs::copy -D B=256 -D ILP=4 --target sm_80\n  warpwright emit src/main.rs::saxpy --format opencl\n  warpwright emit src/main.rs::saxpy --format ir --after fold --timings"
)]
pub(super) struct Emit {
    /// `FILE.rs` for all its kernels, or `FILE.rs::kernel`.
    #[arg(value_name = "FILE[::kernel]", value_hint = ValueHint::FilePath)]
    file: String,
    /// Give a const generic, a type generic or an outside constant its value.
    #[arg(short = 'D', value_name = "NAME=VALUE", help_heading = VARIANTS)]
    define: Vec<Define>,
    /// The target to compile for; without it, the first that the crate's `Cargo.toml` names, else `sm_80`.
    #[arg(long)]
    target: Option<String>,
    /// What to print: PTX if nothing else is said.
    #[arg(long, value_enum, help_heading = OUTPUT)]
    format: Option<Format>,
    /// Stop after this pass and print the IR (`built` for none, `scheduled` for those of annotations).
    #[arg(long, value_name = "PASS", help_heading = OUTPUT)]
    after: Option<String>,
    /// Say on standard error how long each step took.
    #[arg(long, help_heading = OUTPUT)]
    timings: bool,
    /// Print texts and entry points as JSON.
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
}

/// A kernel as it is printed.
struct Printed {
    name: String,
    /// Name and value.
    generics: Vec<(String, String)>,
    /// Where the text depends on it.
    target: Option<&'static Target>,
    format: Format,
    text: String,
    /// What a launch needs to know of PTX and OpenCL C.
    entry: Option<Json>,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For NVIDIA's driver and `ptxas`.
    Ptx,
    /// OpenCL C 1.2.
    Opencl,
    /// The compiler's intermediate representation.
    Ir,
    /// The kernel as readable Rust, after its annotations.
    Rust,
}

impl Format {
    /// As the command line has it.
    fn word(self) -> &'static str {
        match self {
            Format::Ptx => "ptx",
            Format::Opencl => "opencl",
            Format::Ir => "ir",
            Format::Rust => "rust",
        }
    }
}

/// How long each step took.
#[derive(Default)]
struct Clock {
    steps: Vec<(String, Duration)>,
}

impl Clock {
    fn time<R>(&mut self, step: &str, f: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let result = f();
        self.steps.push((step.to_owned(), start.elapsed()));
        result
    }

    fn table(&self) -> String {
        let mut text = String::new();
        for (step, time) in &self.steps {
            let _ = writeln!(text, "{step:<20} {:>9.3} ms", time.as_secs_f64() * 1e3);
        }
        let total: Duration = self.steps.iter().map(|(_, time)| *time).sum();
        let _ = writeln!(text, "{:<20} {:>9.3} ms", "total", total.as_secs_f64() * 1e3);
        text
    }
}

/// A kernel with its name and its generics.
type Named = (String, Vec<(String, String)>, Lowered);
/// What is printed, and what a launch of it needs to know.
type Text = (String, Option<Json>);

impl Emit {
    pub(super) fn run(self) -> Result<(), Stop> {
        let format = match (self.format, &self.after) {
            (None, None) => Format::Ptx,
            (None | Some(Format::Ir), Some(_)) => Format::Ir,
            (Some(_), Some(after)) => {
                let message = format!("`--after {after}` stops before anything but the IR can be printed; use `--format ir`");
                return Err(Stop::usage(message));
            }
            (Some(format), None) => format,
        };
        let (path, chosen) = split(&self.file);
        if self.target.as_deref() == Some(OPENCL) {
            return Err(Stop::usage(format!(
                "`{OPENCL}` is not a target of PTX; for OpenCL C leave out `--target` and write `--format opencl`"
            )));
        }
        let target = targets::one(self.target.as_deref(), path)?;
        let mut clock = Clock::default();
        let source = clock.time("parse", || Source::read(path, &self.define))?;
        let kernels = source.kernels(chosen)?;
        if kernels.is_empty() {
            return Err(source.no_kernels());
        }
        check_defines(&source.definable(&kernels), &self.define)?;
        let mut lowered = self.lower(&source, &kernels, &mut clock)?;
        // Everything is compiled before anything is printed: an error leaves no half a file in a pipe.
        let mut all = Vec::new();
        let mut findings = source.no_findings();
        for (name, generics, lowered) in &mut lowered {
            match self.emit(lowered, format, target, &mut clock)? {
                Ok((text, entry)) => {
                    let target = (format == Format::Ptx).then_some(target);
                    all.push(Printed { name: std::mem::take(name), generics: std::mem::take(generics), target, format, text, entry });
                }
                Err(found) => findings.add(found),
            }
        }
        let found = findings.finish();
        if found.has_errors() {
            return Err(source.findings(&found));
        }
        if self.json {
            document(json::document(path, &all))?;
        } else {
            all.iter().for_each(|printed| source.name_first(&printed.name, &printed.generics, &self.define, "printed"));
            print(&all.iter().map(|printed| printed.text.as_str()).collect::<Vec<_>>().join("\n"))?;
        }
        if self.timings {
            complain(clock.table().trim_end());
        }
        Ok(())
    }

    /// Every kernel as IR, or all that is wrong with any of them.
    fn lower(&self, source: &Source, kernels: &[String], clock: &mut Clock) -> Result<Vec<Named>, Stop> {
        let mut findings = source.check_syntax();
        let mut all = Vec::new();
        let mut stop = None;
        for kernel in kernels {
            let instance = match source.instance(kernel, &self.define) {
                Ok(instance) => instance,
                Err(InstanceError::Source(found)) => {
                    findings.add(found);
                    match source.bare_instance(kernel) {
                        Some(instance) => instance,
                        None => continue,
                    }
                }
                Err(InstanceError::Usage(message)) => {
                    stop = stop.or(Some(Stop::usage(message)));
                    continue;
                }
            };
            let named = |lowered| (kernel.clone(), source.words(kernel, &instance), lowered);
            match clock.time("lower", || source.lower_built(kernel, &instance)) {
                Ok(mut lowered) if self.after.as_deref() != Some("built") => {
                    match clock.time("schedule", || schedule::schedule(&mut lowered)) {
                        Ok(warnings) => {
                            findings.add(warnings);
                            all.push(named(lowered));
                        }
                        Err(found) => findings.add(found),
                    }
                }
                Ok(lowered) => all.push(named(lowered)),
                Err(found) => findings.add(found),
            }
        }
        let found = findings.finish();
        if !found.is_empty() {
            let shown = source.findings(&found);
            stop = if found.has_errors() { Some(shown) } else { stop };
        }
        stop.map_or(Ok(all), Err)
    }

    fn emit(&self, lowered: &mut Lowered, format: Format, target: &Target, clock: &mut Clock) -> Result<Result<Text, Diagnostics>, Stop> {
        let stage = match format {
            // Rust shows what the annotations did: no later stage.
            Format::Rust => {
                passes::tidy(&mut lowered.kernel);
                return Ok(Ok((backend::rust::emit_rust(&lowered.kernel), None)));
            }
            Format::Opencl => Stage::Legal,
            Format::Ir if self.after.is_none() => Stage::Legal,
            Format::Ptx | Format::Ir => Stage::Addressed,
        };
        if !matches!(self.after.as_deref(), Some("built" | "scheduled")) {
            self.run_passes(lowered, stage, clock)?;
        }
        let lowered = &*lowered;
        let span = |loc| lowered.span(loc);
        let with_entry = |emitted: Emitted| {
            let entry = json::entry(&lowered.kernel, &emitted);
            (emitted.text, Some(entry))
        };
        Ok(clock.time("print", || match format {
            Format::Ptx => backend::ptx::emit_ptx(&lowered.kernel, target, &span).map(with_entry),
            Format::Opencl => backend::opencl::emit_opencl(&lowered.kernel, &span).map(with_entry),
            Format::Ir | Format::Rust => Ok((lowered.kernel.to_string(), None)),
        }))
    }

    fn run_passes(&self, lowered: &mut Lowered, stage: Stage, clock: &mut Clock) -> Result<(), Stop> {
        let mut timings = passes::Timings::new();
        let mut options = PassOptions { after: self.after.as_deref(), timings: Some(&mut timings) };
        passes::run(&mut lowered.kernel, stage, &mut options).map_err(|error| Stop::usage(error.to_string()))?;
        clock.steps.extend(timings.into_iter().map(|(pass, time)| (format!("  {pass}"), time)));
        Ok(())
    }
}
