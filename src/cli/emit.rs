//! `warpwright emit`: a kernel as PTX, OpenCL C, IR or Rust.

use super::source::{Define, Source, split};
use super::{Stop, print};
use std::fmt::Write;
use std::time::{Duration, Instant};
use warpwright_codegen::backend;
use warpwright_codegen::hir::{self, Lowered};
use warpwright_codegen::ir::Stage;
use warpwright_codegen::passes::{self, PassOptions};
use warpwright_codegen::target::Target;

/// Print what a kernel compiles to.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  warpwright emit src/main.rs::saxpy\n  warpwright emit src/main.rs::copy -D B=256 -D ILP=4 --target sm_80\n  warpwright emit src/main.rs::saxpy --format opencl\n  warpwright emit src/main.rs::saxpy --format ir --after fold --timings"
)]
pub(super) struct Emit {
    /// `FILE.rs` for all its kernels, or `FILE.rs::kernel`.
    #[arg(value_name = "FILE[::kernel]")]
    file: String,
    /// Give a const generic, a type generic or an outside constant its value.
    #[arg(short = 'D', value_name = "NAME=VALUE")]
    define: Vec<Define>,
    /// The device to compile for, by its compute capability.
    #[arg(long, default_value = "sm_80")]
    target: String,
    /// What to print.
    #[arg(long, value_enum, default_value = "ptx")]
    format: Format,
    /// Stop after this pass and print the IR (`built` for none).
    #[arg(long, value_name = "PASS")]
    after: Option<String>,
    /// Say on standard error how long each step took.
    #[arg(long)]
    timings: bool,
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

impl Emit {
    pub(super) fn run(self) -> Result<(), Stop> {
        let target = Target::find(&self.target).map_err(|error| Stop::usage(format!("{error}; {}", error.help())))?;
        let (path, chosen) = split(&self.file);
        let mut clock = Clock::default();
        let source = clock.time("parse", || Source::read(path, &self.define))?;
        let kernels = source.kernels(chosen)?;
        source.check_defines(&kernels, &self.define)?;
        // Everything is compiled before anything is printed: an error leaves no half a file in a pipe.
        let mut text = String::new();
        for kernel in &kernels {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&self.emit(&source, kernel, target, &mut clock)?);
        }
        print(&text);
        if self.timings {
            eprint!("{}", clock.table());
        }
        Ok(())
    }

    fn emit(&self, source: &Source, kernel: &str, target: &Target, clock: &mut Clock) -> Result<String, Stop> {
        let instance = source.instance(kernel, &self.define)?;
        let lowered = clock.time("lower", || hir::lower_kernel(&source.program, source.unit, kernel, &instance));
        let mut lowered = lowered.map_err(|found| source.findings(&found))?;
        if let Some(after) = &self.after {
            if after != "built" {
                self.run_passes(&mut lowered, Stage::Addressed, clock)?;
            }
            return Ok(lowered.kernel.to_string());
        }
        if self.format == Format::Rust {
            return Ok(backend::rust::emit_rust(&lowered.kernel));
        }
        let stage = if self.format == Format::Ptx { Stage::Addressed } else { Stage::Legal };
        self.run_passes(&mut lowered, stage, clock)?;
        let lowered = &lowered;
        let span = |loc| lowered.span(loc);
        let emitted = clock.time("print", || match self.format {
            Format::Ptx => backend::ptx::emit_ptx(&lowered.kernel, target, &span).map(|emitted| emitted.text),
            Format::Opencl => backend::opencl::emit_opencl(&lowered.kernel, &span).map(|emitted| emitted.text),
            Format::Ir | Format::Rust => Ok(lowered.kernel.to_string()),
        });
        emitted.map_err(|found| source.findings(&found))
    }

    fn run_passes(&self, lowered: &mut Lowered, stage: Stage, clock: &mut Clock) -> Result<(), Stop> {
        let mut timings = passes::Timings::new();
        let mut options = PassOptions { after: self.after.as_deref(), timings: Some(&mut timings) };
        passes::run(&mut lowered.kernel, stage, &mut options).map_err(|error| Stop::usage(error.to_string()))?;
        clock.steps.extend(timings.into_iter().map(|(pass, time)| (format!("  {pass}"), time)));
        Ok(())
    }
}
