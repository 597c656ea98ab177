//! `warpwright emit`: a kernel as PTX, OpenCL C, IR or Rust.

mod json;

use super::json::document;
use super::source::{Define, Findings, InstanceError, Source, check_defines, split};
use super::{OUTPUT, Stop, VARIANTS, complain, print, targets};
use clap::builder::PossibleValue;
use clap::{ValueEnum, ValueHint};
use serde_json::Value as Json;
use std::borrow::Cow;
use std::fmt::Write;
use std::sync::LazyLock;
use std::time::{Duration, Instant};
use warpwright_codegen::backend::ptx::Ptx;
use warpwright_codegen::backend::{BACKENDS, Backend};
use warpwright_codegen::diagnostic::Diagnostics;
use warpwright_codegen::hir::Lowered;
use warpwright_codegen::ir::Stage;
use warpwright_codegen::passes::Timings;
use warpwright_codegen::pipeline::{Built, Scheduled};
use warpwright_codegen::target::Target;

/// Print what a kernel compiles to.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  warpwright emit src/main.rs::saxpy\n  warpwright emit src/main.rs::copy -D B=256 -D ILP=4 --target sm_80\n  warpwright emit src/main.rs::saxpy --format opencl\n  warpwright emit src/main.rs::saxpy --format ir --after fold --timings"
)]
pub(super) struct Emit {
    /// `FILE.rs` for all its kernels, or `FILE.rs::kernel`.
    #[arg(value_name = "FILE[::kernel]", value_hint = ValueHint::FilePath)]
    file: String,
    /// Set a const generic, a type generic or an outside constant.
    #[arg(short = 'D', value_name = "NAME=VALUE", help_heading = VARIANTS)]
    define: Vec<Define>,
    /// The target to compile for; default: the first in the crate's `Cargo.toml`, or else `sm_80`.
    #[arg(long)]
    target: Option<String>,
    /// What to print; default: PTX.
    #[arg(long, value_enum, help_heading = OUTPUT)]
    format: Option<Format>,
    /// Stop after this pass and print the IR (`built`: before all passes; `scheduled`: after those of annotations).
    #[arg(long, value_name = "PASS", help_heading = OUTPUT)]
    after: Option<String>,
    /// Print the time of each step on standard error.
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

/// What is printed: what a back end makes of a kernel, or the IR.
#[derive(Clone, Copy)]
enum Format {
    Text(&'static dyn Backend),
    Ir,
}

impl Format {
    /// As the command line has it.
    fn word(self) -> &'static str {
        match self {
            Format::Text(backend) => backend.language().name,
            Format::Ir => "ir",
        }
    }
}

impl ValueEnum for Format {
    fn value_variants<'a>() -> &'a [Format] {
        static ALL: LazyLock<Vec<Format>> =
            LazyLock::new(|| BACKENDS.iter().map(|backend| Format::Text(*backend)).chain([Format::Ir]).collect());
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let purpose = match self {
            Format::Text(backend) => backend.language().purpose,
            Format::Ir => "The compiler's intermediate representation",
        };
        Some(PossibleValue::new(self.word()).help(purpose))
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
type Named = (String, Vec<(String, String)>, Taken);
/// A kernel as far as it is taken before it is printed.
enum Taken {
    Built(Built),
    Scheduled(Lowered<Scheduled>),
}
/// What is printed, and what a launch of it needs to know.
type Text = (String, Option<Json>);

impl Emit {
    pub(super) fn run(self) -> Result<(), Stop> {
        let format = match (self.format, &self.after) {
            (None, None) => Format::Text(&Ptx),
            (None | Some(Format::Ir), Some(_)) => Format::Ir,
            (Some(_), Some(after)) => {
                return Err(Stop::usage(format!("`--after {after}` stops before anything but the IR can be printed; use `--format ir`")));
            }
            (Some(format), None) => format,
        };
        let (path, chosen) = split(&self.file);
        if let Some(backend) =
            BACKENDS.iter().find(|backend| backend.language().family.is_some_and(|family| Some(family.name) == self.target.as_deref()))
        {
            let (name, title) = (backend.language().name, backend.language().title);
            return Err(Stop::usage(format!(
                "`{name}` is not a target of PTX; for {title} leave out `--target` and write `--format {name}`"
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
        let kernels = self.take(&source, &kernels, &mut clock)?;
        // Everything is compiled before anything is printed: an error leaves no half a file in a pipe.
        let mut all = Vec::new();
        let mut findings = Findings::default();
        for (name, generics, kernel) in kernels {
            match self.emit(&kernel, format, target, &mut clock)? {
                Ok((text, entry)) => {
                    let is_per_target = matches!(format, Format::Text(backend) if backend.language().is_per_target);
                    all.push(Printed { name, generics, target: is_per_target.then_some(target), format, text, entry });
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
    fn take(&self, source: &Source, kernels: &[String], clock: &mut Clock) -> Result<Vec<Named>, Stop> {
        let mut findings = source.check_syntax();
        let mut all = Vec::new();
        let mut stop = None;
        for name in kernels {
            let instance = match source.instance(name, &self.define) {
                Ok(instance) => instance,
                Err(InstanceError::Source(found)) => {
                    findings.add(found);
                    match source.bare_instance(name) {
                        Some(instance) => instance,
                        None => continue,
                    }
                }
                Err(InstanceError::Usage(message)) => {
                    stop = stop.or(Some(Stop::usage(message)));
                    continue;
                }
            };
            let named = |kernel| (name.clone(), source.words(name, &instance), kernel);
            match clock.time("lower", || source.lower(name, &instance)) {
                Ok(built) if self.after.as_deref() == Some("built") => all.push(named(Taken::Built(built.kernel))),
                Ok(built) => match clock.time("schedule", || built.schedule()) {
                    Ok(mut lowered) => {
                        findings.add(std::mem::take(&mut lowered.warnings));
                        all.push(named(Taken::Scheduled(lowered)));
                    }
                    Err(found) => findings.add(found),
                },
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

    fn emit(&self, kernel: &Taken, format: Format, target: &Target, clock: &mut Clock) -> Result<Result<Text, Diagnostics>, Stop> {
        let lowered = match kernel {
            Taken::Built(built) => return Ok(Ok((built.to_string(), None))),
            Taken::Scheduled(lowered) => lowered,
        };
        // PTX and the IR are those of the target, and Rust, which emitting sees to; other texts are for all devices.
        let is_of_target = match format {
            Format::Text(backend) => backend.language().stage == Stage::Addressed,
            Format::Ir => true,
        };
        let kernel = if is_of_target { lowered.kernel.for_target(target) } else { &lowered.kernel };
        let mut timings = Timings::new();
        let shown = match (format, self.after.as_deref()) {
            (Format::Text(backend), _) => {
                kernel.make(backend.language().stage, &mut timings);
                Cow::Borrowed(&**kernel)
            }
            (Format::Ir, None) => {
                kernel.make(Stage::Legal, &mut timings);
                Cow::Borrowed(&**kernel.legal())
            }
            (Format::Ir, Some("scheduled")) => Cow::Borrowed(&**kernel),
            (Format::Ir, Some(pass)) => Cow::Owned(kernel.after(pass, &mut timings).map_err(|error| Stop::usage(error.to_string()))?),
        };
        clock.steps.extend(timings.into_iter().map(|(pass, time)| (format!("  {pass}"), time)));
        Ok(clock.time("print", || match format {
            Format::Text(backend) => {
                let emitted = lowered.emit(backend, Some(target))?;
                let entry = backend.language().is_for_devices.then(|| json::entry(kernel, &emitted));
                Ok((emitted.text, entry))
            }
            Format::Ir => Ok((shown.to_string(), None)),
        }))
    }
}
