//! `warpwright compare`: the variants of a kernel side by side, straight from its source.

mod columns;
mod device;
mod json;
mod pareto;
mod revision;
mod table;
mod variant;
mod words;

use super::launch::LaunchArguments;
use super::source::{Define, Source, check_defines, split};
use super::{Stop, manifest, print};
use variant::Variant;
use warpwright_codegen::diagnostic::Diagnostics;
use warpwright_codegen::hir::{self, Axis};
use warpwright_codegen::syntax::{KernelAttributes, nearest};
use warpwright_codegen::target::{self, Target};

/// The variants of one kernel.
struct Comparison {
    file: String,
    kernel: String,
    targets: Vec<&'static Target>,
    variants: Vec<Variant>,
    /// What is to be said below the table.
    notes: Vec<String>,
}

/// Compare the variants of a kernel: registers, occupancy, memory, predicted speed; and, if asked, what the simulator counts and a device's clock says.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  warpwright compare src/copy.rs\n  warpwright compare src/copy.rs::copy --set ILP=1,4,8 -D B=256 --targets sm_80,sm_90\n  warpwright compare src/copy.rs::copy --cover 65536 --simulate\n  warpwright compare src/copy.rs::copy --cover 268435456 --time 10\n  warpwright compare src/copy.rs::copy --against HEAD~1"
)]
pub(super) struct Compare {
    /// `FILE.rs` for all its kernels, or `FILE.rs::kernel`.
    #[arg(value_name = "FILE[::kernel]")]
    file: String,
    /// The values of a generic, instead of those that the kernel declares.
    #[arg(long, value_name = "NAME=V1,V2,…")]
    set: Vec<Define>,
    /// Give a generic or an outside constant one value.
    #[arg(short = 'D', value_name = "NAME=VALUE")]
    define: Vec<Define>,
    /// The targets, instead of what the kernel or the crate's `Cargo.toml` names.
    #[arg(long, value_name = "TARGET,…", value_delimiter = ',')]
    targets: Vec<String>,
    /// Compare with the same file at another revision of its repository.
    #[arg(long, value_name = "GIT-REV")]
    against: Option<String>,
    /// Run every variant on the simulator and count; needs `--cover` or `--grid`, and small sizes.
    #[arg(long)]
    simulate: bool,
    /// Time every variant on the best device there is, this many runs each, in turn; results are held against the first variant's.
    #[arg(long, value_name = "RUNS")]
    time: Option<usize>,
    #[command(flatten)]
    launch: LaunchArguments,
    /// Print everything as JSON.
    #[arg(long)]
    json: bool,
}

impl Compare {
    pub(super) fn run(self) -> Result<(), Stop> {
        let (path, chosen) = split(&self.file);
        let find = |name: &String| Target::find(name).map_err(|error| Stop::usage(format!("{error}; {}", error.help())));
        let asked = self.targets.iter().map(find).collect::<Result<Vec<_>, _>>()?;
        let source = Source::read(path, &self.define)?;
        let kernels = source.kernels(chosen)?;
        if kernels.is_empty() {
            return Err(source.no_kernels());
        }
        check_defines(&source.definable(&kernels), &self.define)?;
        let earlier = self.against.as_deref().map(|revision| revision::source(path, revision, &self.define)).transpose()?;
        let of_crate = manifest::targets(path)?;
        let mut comparisons = Vec::new();
        let mut unknown: Vec<&Define> = self.set.iter().collect();
        for kernel in &kernels {
            let axes = self.axes(&source, kernel, &mut unknown)?;
            let instances = hir::instances(&axes).map_err(|total| {
                Stop::usage(format!("`{kernel}` would have {total} variants: choose some with `--set NAME=V1,V2` or `-D NAME=VALUE`"))
            })?;
            let item = source.program().units[source.unit.0].kernel(kernel);
            let attributes = item.ok().and_then(|item| KernelAttributes::find(&item.attrs, &mut Diagnostics::new())).unwrap_or_default();
            let targets = if asked.is_empty() { target::chosen(&attributes, of_crate.as_deref()) } else { asked.clone() };
            let mut variants: Vec<Variant> = Vec::new();
            for instance in &instances {
                variants.push(Variant::compile(&source, kernel, &axes, instance, &targets));
                if let (Some(earlier), Some(revision)) = (&earlier, &self.against) {
                    variants.push(Variant::compile(earlier, kernel, &axes, instance, &targets).of_revision(revision));
                }
            }
            comparisons.push(Comparison { file: path.to_owned(), kernel: kernel.clone(), targets, variants, notes: Vec::new() });
        }
        if let Some(define) = unknown.first() {
            return Err(self.unknown_generic(&source, &kernels, define));
        }
        for comparison in &mut comparisons {
            comparison.measure();
            if self.simulate {
                comparison.simulate([Some(&source), earlier.as_ref()], &self.launch)?;
            }
            if let Some(runs) = self.time {
                comparison.time([Some(&source), earlier.as_ref()], &self.launch, runs)?;
            }
        }
        let texts: Vec<String> = comparisons.iter().map(table::text).collect();
        print(&if self.json { format!("{:#}\n", json::all(&comparisons)) } else { texts.join("\n") })
    }

    /// The values of each generic: those of `--set`, of `-D`, else those that the kernel declares.
    fn axes<'s>(&'s self, source: &Source, kernel: &str, unknown: &mut Vec<&'s Define>) -> Result<Vec<Axis>, Stop> {
        let mut axes = hir::declared_axes(source.program(), source.unit, kernel).map_err(|found| source.findings(&found))?;
        let mut wrong = Vec::new();
        for axis in &mut axes {
            let set = self.set.iter().find(|define| define.name == axis.name);
            let texts: Vec<&str> = match (set, self.define.iter().find(|define| define.name == axis.name)) {
                (Some(set), _) => set.value.split(',').map(str::trim).collect(),
                (None, Some(define)) => vec![&define.value],
                (None, None) => Vec::new(),
            };
            unknown.retain(|define| define.name != axis.name);
            if texts.is_empty() {
                if axis.values.is_empty() {
                    wrong.push(format!("`{kernel}` is generic in `{0}` and declares no values of it: give `--set {0}=…`", axis.name));
                }
                continue;
            }
            axis.values.clear();
            for text in texts {
                match hir::parse_generic(source.program(), source.unit, kernel, &axis.name, text) {
                    Ok(value) => axis.values.push(value),
                    Err(found) => {
                        let why: Vec<String> = found.iter().map(|finding| finding.message.clone()).collect();
                        wrong.push(format!("`{}={text}` does not fit `{kernel}`: {}", axis.name, why.join("; ")));
                    }
                }
            }
        }
        if wrong.is_empty() { Ok(axes) } else { Err(Stop::usage(wrong.join("\nerror: "))) }
    }

    fn unknown_generic(&self, source: &Source, kernels: &[String], define: &Define) -> Stop {
        let generics = |kernel: &String| hir::generics(source.program(), source.unit, kernel).unwrap_or_default();
        let names: Vec<String> = kernels.iter().flat_map(generics).map(|(name, _)| name).collect();
        let hint = match nearest(&define.name, names.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None if names.is_empty() => "there are no generics".to_owned(),
            None => format!("there are {}", names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")),
        };
        Stop::usage(format!("`--set {}=…` names no generic of the kernel; {hint}", define.name))
    }
}
