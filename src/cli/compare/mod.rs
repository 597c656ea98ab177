//! `warpwright compare`: the variants of a kernel side by side, straight from its source.

mod columns;
mod device;
mod json;
mod page;
mod pareto;
mod revision;
mod table;
mod tail;
mod variant;
mod words;
mod yardstick;

use super::axes::{AxisArguments, Chosen};
use super::json::document;
use super::launch::LaunchArguments;
use super::source::{Source, split};
use super::{OUTPUT, Stop, print, targets};
use clap::ValueHint;
pub(super) use device::Failures;
use std::path::PathBuf;
pub(super) use variant::{Variant, nothing_compiles};
use warpwright_codegen::diagnostic::Diagnostics;
use warpwright_codegen::syntax::{KernelAttributes, Setting};
use warpwright_codegen::target::{Family, Target};
use warpwright_review::estimate::weights::{Certainty, DATA_TRIPS, UNKNOWN_TRIPS};
pub(super) use yardstick::agree;

/// The variants of one kernel.
struct Comparison {
    file: String,
    kernel: String,
    targets: Vec<&'static Target>,
    variants: Vec<Variant>,
    /// Whether wave tails are noted: the kernel may allow the lint.
    tells_tails: bool,
    /// What is to be said below the table.
    notes: Vec<String>,
}

impl Comparison {
    /// The target that differences are told of: the one that has times, else the last, which is the newest.
    fn foremost(&self) -> usize {
        let timed = self.variants.iter().find_map(|variant| variant.compiled()?.timed.as_ref());
        timed.map_or(self.targets.len().saturating_sub(1), |timed| timed.target)
    }
}

/// Compare the variants of a kernel: registers, occupancy, memory, predicted speed; and, if asked, what the simulator counts and a device's clock says.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  warpwright compare src/copy.rs\n  warpwright compare src/copy.rs::copy --set ILP=1,4,8 -D B=256 --targets sm_80,sm_90\n  warpwright compare src/copy.rs::copy --cover 65536 --simulate\n  warpwright compare src/sum.rs::sum --grid '65536/(B*T)' --args 'x=random(65536)' 'y=zeros(1024)' --simulate\n  warpwright compare src/copy.rs::copy --cover 268435456 --time 10\n  warpwright compare src/copy.rs::copy --against HEAD~1\n  warpwright compare src/copy.rs::copy --html copy.html"
)]
pub(super) struct Compare {
    /// `FILE.rs` for all its kernels, or `FILE.rs::kernel`.
    #[arg(value_name = "FILE[::kernel]", value_hint = ValueHint::FilePath)]
    file: String,
    #[command(flatten)]
    axes: AxisArguments,
    /// Targets, instead of those of the kernel or the crate's `Cargo.toml`.
    #[arg(long, value_name = "TARGET,…", value_delimiter = ',')]
    targets: Vec<String>,
    /// Compare with the same file at another revision of its repository.
    #[arg(long, value_name = "GIT-REV")]
    against: Option<String>,
    /// Run every variant on the simulator and show its counters; needs `--cover` or `--grid`, and small sizes.
    #[arg(long)]
    simulate: bool,
    /// Time every variant on the best device, in turn, this many runs each; results are compared with the first variant's.
    #[arg(long, value_name = "RUNS", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    time: Option<u32>,
    #[command(flatten)]
    launch: LaunchArguments,
    /// Print everything as JSON.
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
    /// Also write an HTML page: figures, texts side by side, occupancy, charts; one file that needs no network.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    html: Option<PathBuf>,
}

impl Compare {
    /// Reads what can be read of it without a file.
    pub(super) fn read(&self) -> Result<(), String> {
        targets::named(&self.targets).map_err(|stop| stop.message)?;
        self.launch.read()
    }

    pub(super) fn run(self) -> Result<(), Stop> {
        let (path, chosen) = split(&self.file);
        let asked = targets::named(&self.targets)?;
        let source = Source::read(path, &self.axes.define)?;
        let kernels = source.kernels(chosen)?;
        if kernels.is_empty() {
            return Err(source.no_kernels());
        }
        source.refuse_syntax(&kernels, &self.axes.define)?;
        let all = self.axes.choose(&source, &kernels)?;
        let earlier = self.against.as_deref().map(|revision| revision::source(path, revision, &self.axes.define)).transpose()?;
        let of_crate = targets::of_crate(path)?;
        let mut comparisons = Vec::new();
        let dynamic_shared = self.launch.dynamic_shared();
        for Chosen { kernel, axes, instances } in all {
            self.launch.check_names(&source, &kernel)?;
            let attributes =
                source.item(&kernel).and_then(|item| KernelAttributes::find(&item.attrs, &mut Diagnostics::new())).unwrap_or_default();
            let targets = if asked.is_empty() { attributes.targets_or(of_crate.as_ref()) } else { asked.clone() };
            let targets = targets::with_figures(targets, &kernel)?;
            let mut variants: Vec<Variant> = Vec::new();
            for instance in &instances {
                variants.push(Variant::compile(&source, &kernel, &axes, instance, &targets, dynamic_shared));
                if let (Some(earlier), Some(revision)) = (&earlier, &self.against) {
                    variants.push(Variant::compile(earlier, &kernel, &axes, instance, &targets, dynamic_shared).of_revision(revision));
                }
            }
            if let Some(stop) = nothing_compiles(&source, &kernel, &variants) {
                return Err(stop);
            }
            // What the simulator is given is small, and stands for a launch that is not.
            let stands_for_another = self.simulate && self.time.is_none();
            for variant in variants.iter_mut().filter(|_| !stands_for_another) {
                let source = earlier.as_ref().filter(|_| variant.is_earlier).unwrap_or(&source);
                variant.foresee(source, &kernel, &targets.gpus, &self.launch)?;
            }
            agree(&mut variants);
            let has = |certainty: Certainty| {
                variants.iter().filter_map(|variant| variant.compiled()).any(|compiled| compiled.known.threads.mix.certainty == certainty)
            };
            let open = format!("instructions: a loop whose trips the launch decides counts {UNKNOWN_TRIPS}; such figures are not compared");
            let guessed = format!(
                "instructions: a loop whose trips data decides counts as many as the buffers that it walks along have for it, or {DATA_TRIPS}; \
                 times are as good as that"
            );
            let mut notes = Vec::new();
            notes.extend(has(Certainty::Open).then_some(open));
            notes.extend(has(Certainty::Guessed).then_some(guessed));
            notes.extend(targets.families.iter().map(|Family { name, devices }| {
                format!("{name}: every variant with figures runs there, too; nothing is estimated for {devices}")
            }));
            let tells_tails = attributes.levels.of("wave_tail") != Some(Setting::Allow);
            comparisons.push(Comparison { file: path.to_owned(), kernel, targets: targets.gpus, variants, tells_tails, notes });
        }
        let mut failures = Vec::new();
        for comparison in &mut comparisons {
            comparison.measure();
            if self.simulate {
                failures.push(comparison.simulate([Some(&source), earlier.as_ref()], &self.launch)?);
            }
            if let Some(runs) = self.time {
                failures.push(comparison.time([Some(&source), earlier.as_ref()], &self.launch, runs as usize)?);
            }
        }
        comparisons.iter_mut().for_each(Comparison::note_tails);
        if let Some(path) = &self.html {
            page::write(path, &comparisons, [Some(&source), earlier.as_ref()])?;
        }
        if self.json {
            document(json::all(&comparisons))?;
        } else {
            print(&comparisons.iter().map(table::text).collect::<Vec<_>>().join("\n"))?;
        }
        // What failed is said last: what did not is there to read.
        failures.into_iter().try_for_each(Failures::outcome)
    }
}
