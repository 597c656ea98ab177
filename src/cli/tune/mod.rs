//! `warpwright tune`: the fastest variant of a kernel for one device and one size, without trying all of them.

mod measure;
mod prune;
mod record;
mod report;
mod search;

use super::axes::{AxisArguments, Chosen};
use super::compare::{Variant, agree, nothing_compiles};
use super::json::document;
use super::launch::{LaunchArguments, Runner};
use super::source::{Source, split};
use super::{OUTPUT, Stop, complain, print};
use clap::ValueHint;
use record::{About, Record};
use report::Outcome;
use std::path::{Path, PathBuf};
use warpwright::{Device, DeviceKind};
use warpwright_codegen::target::{Target, Targets};

/// Find the fastest variant: prune by what is known before anything runs, measure the most promising, write the result for a program to load.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  warpwright tune src/copy.rs::copy --cover 268435456\n  warpwright tune src/matmul.rs::tiled --set T=8,16,32 --cover 3072x3072 --args n=3072 'a=random(3072*3072)' 'b=random(3072*3072)' 'c=zeros(3072*3072)'\n\nWithout a GPU it ranks by prediction and says so. An interrupted run goes on where it stopped."
)]
pub(super) struct Tune {
    /// `FILE.rs::kernel`.
    #[arg(value_name = "FILE::kernel", value_hint = ValueHint::FilePath)]
    file: String,
    #[command(flatten)]
    axes: AxisArguments,
    #[command(flatten)]
    pub(super) launch: LaunchArguments,
    /// The share of variants to measure, at most, in per cent.
    #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(u32).range(1..=100))]
    share: u32,
    /// Timed runs of each variant.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    runs: u32,
    /// The target to rank for if there is no device.
    #[arg(long, default_value = "sm_90")]
    target: String,
    /// Rank by prediction only; measure nothing.
    #[arg(long)]
    predict: bool,
    /// The file for the result; default: `KERNEL.tuned.toml`. It is updated after each measurement; one about another size or device is not replaced.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    out: Option<PathBuf>,
    /// Measure again the variants that an interrupted run has measured, and replace what the file holds of other sizes or devices.
    #[arg(long)]
    afresh: bool,
    /// Print the ranking and the result as JSON.
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
}

impl Tune {
    pub(super) fn run(self) -> Result<(), Stop> {
        let (path, chosen) = split(&self.file);
        let source = Source::read(path, &self.axes.define)?;
        let kernels = source.kernels(chosen)?;
        let [kernel] = &kernels[..] else {
            return Err(match kernels.len() {
                0 => source.no_kernels(),
                _ => Stop::usage(format!("`{path}` has several kernels: name one, `{path}::{}`", kernels[0])),
            });
        };
        source.refuse_syntax(&kernels, &self.axes.define)?;
        let mut chosen = self.axes.choose(&source, std::slice::from_ref(kernel))?;
        let Some(Chosen { axes, instances, .. }) = chosen.pop() else { return Err(source.no_kernels()) };
        self.launch.check_names(&source, kernel)?;
        let device = (!self.predict).then(Device::best);
        let device = device.filter(|device| device.kind() == DeviceKind::Cuda || device.kind() == DeviceKind::OpenCl);
        let name = device
            .as_ref()
            .map_or(self.target.as_str(), |device| if device.kind() == DeviceKind::Cuda { device.target() } else { &self.target });
        let target = Target::find(name).map_err(|error| Stop::usage(format!("{error}; {}", error.help())))?;
        let targets = Targets { gpus: vec![target], families: Vec::new() };
        let mut variants: Vec<Variant> = instances
            .iter()
            .map(|instance| Variant::compile(&source, kernel, &axes, instance, &targets, self.launch.dynamic_shared()))
            .collect();
        if let Some(stop) = nothing_compiles(&source, kernel, &variants) {
            return Err(stop);
        }
        for variant in &mut variants {
            variant.foresee(&source, kernel, &targets.gpus, &self.launch)?;
        }
        agree(&mut variants);
        let plan = prune::plan(&variants, self.share);
        let outcome = Outcome { file: path, kernel, target, variants: &variants, plan: &plan, measured: None };
        let Some(device) = device else {
            self.show(&outcome, None)?;
            let why = if self.predict { "as asked for" } else { "no device was found" };
            complain(&format!("note: {why}: nothing was measured, this ranking is predicted"));
            return Ok(());
        };
        let out = self.out.clone().unwrap_or_else(|| PathBuf::from(format!("{}.tuned.toml", kernel.replace("::", "."))));
        let about = About { file: path, kernel, device: &device, target, launch: &self.launch };
        let mut record = Record::open(&out, &about, self.afresh)?;
        let mut runner = Runner::new(&device, &self.launch);
        let failures =
            measure::all(&variants, &plan, &mut record, |variant| measure::one(&source, &about, self.runs, &mut runner, variant))?;
        if record.best().is_none() {
            return failures.outcome();
        }
        self.show(&Outcome { measured: Some((&device, &record)), ..outcome }, Some(&out))?;
        if let Err(stop) = failures.outcome() {
            let kept = format!("`{}` has the measurements so far; the same command continues from there", out.display());
            return Err(Stop { message: format!("{}\n{kept}", stop.message), ..stop });
        }
        record.finish(&axes, &variants)?;
        complain(&format!("note: the result is in `{}`; a program reads it with `warpwright::Tuned::load`", out.display()));
        Ok(())
    }

    fn show(&self, outcome: &Outcome<'_>, out: Option<&Path>) -> Result<(), Stop> {
        if self.json { document(outcome.json(out)) } else { print(&outcome.text()) }
    }
}
