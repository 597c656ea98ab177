//! One variant: compiled, and what is known of it.

use super::yardstick::Yardstick;
use crate::cli::Stop;
use crate::cli::json::words;
use crate::cli::launch::LaunchArguments;
use crate::cli::source::{Source, word};
use warpwright::sim::Counters;
use warpwright_codegen::backend::{self, ptx::code::Module};
use warpwright_codegen::diagnostic::Diagnostics;
use warpwright_codegen::hir::{Axis, Lowered};
use warpwright_codegen::pipeline::Scheduled;
use warpwright_codegen::syntax::Instance;
use warpwright_codegen::target::{Target, Targets};
use warpwright_review::estimate::{Known, Launched, estimate_launched};
use warpwright_runtime::ptxas::Measured;

/// One variant.
pub(in crate::cli) struct Variant {
    /// What tells it from the others: `B = 64, ILP = 4`.
    pub(in crate::cli) words: String,
    /// The same by generic: name and value.
    pub(in crate::cli) values: Vec<(String, String)>,
    pub(in crate::cli) instance: Instance,
    /// Whether it is of the file at another revision.
    pub(in crate::cli) is_earlier: bool,
    /// What is known of it, or why it does not compile.
    pub(in crate::cli) outcome: Result<Compiled, String>,
}

/// A variant that compiles.
pub(in crate::cli) struct Compiled {
    pub(in crate::cli) kernel: Scheduled,
    pub(in crate::cli) known: Known,
    /// By target: the PTX.
    pub(in crate::cli) ptx: Vec<Option<Module>>,
    /// By target: what `ptxas` measured of it.
    pub(in crate::cli) measured: Vec<Option<Measured>>,
    /// Blocks of the launch, if one is given.
    pub(in crate::cli) blocks: Option<u64>,
    /// What its predicted speed is compared with the other variants' by.
    pub(in crate::cli) yardstick: Yardstick,
    /// What the simulator counted.
    pub(in crate::cli) counters: Option<Counters>,
    /// What a device's clock said.
    pub(in crate::cli) timed: Option<super::device::Timed>,
}

impl Variant {
    /// Compiles an instance and looks at it, in launches with so many bytes of dynamic shared memory. One that does not compile is a row all
    /// the same.
    pub(in crate::cli) fn compile(
        source: &Source,
        kernel: &str,
        axes: &[Axis],
        instance: &Instance,
        targets: &Targets,
        dynamic_shared: u32,
    ) -> Variant {
        let varied =
            axes.iter().zip(&instance.generics).filter(|(axis, _)| axis.values.iter().any(|value| Some(value) != axis.values.first()));
        let values: Vec<(String, String)> = varied.map(|(axis, value)| (axis.name.clone(), word(value))).collect();
        let words = words(&values);
        let outcome = match source.compile(kernel, instance) {
            Ok(lowered) => look(source, lowered, targets, dynamic_shared),
            Err(found) => Err(first_error(source, &found)),
        };
        Variant { words, values, instance: instance.clone(), is_earlier: false, outcome }
    }

    /// Estimates it for a launch, if one is given.
    ///
    /// # Errors
    /// What is wrong with the launch as it was written.
    pub(in crate::cli) fn foresee(
        &mut self,
        source: &Source,
        kernel: &str,
        targets: &[&'static Target],
        launch: &LaunchArguments,
    ) -> Result<(), Stop> {
        let Ok(compiled) = &mut self.outcome else { return Ok(()) };
        if let Some(foreseen) = launch.foresee(source, kernel, &self.instance, &compiled.known.legal)? {
            compiled.known = estimate_launched(&compiled.known.legal, targets, &foreseen.launched);
            compiled.blocks = Some(foreseen.blocks);
        }
        Ok(())
    }

    /// The same at another revision of the file.
    pub(in crate::cli) fn of_revision(mut self, revision: &str) -> Variant {
        self.is_earlier = true;
        self.values.push(("revision".to_owned(), revision.to_owned()));
        self.words = if self.words.is_empty() { format!("at {revision}") } else { format!("{} at {revision}", self.words) };
        self
    }

    /// What it is called: its words, or the kernel's name where it is the only one.
    pub(in crate::cli) fn name<'v>(&'v self, kernel: &'v str) -> &'v str {
        if self.words.is_empty() { kernel } else { &self.words }
    }

    /// Its value of a generic that varies.
    pub(in crate::cli) fn value(&self, name: &str) -> Option<&str> {
        self.values.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// What is known, if it compiles.
    pub(in crate::cli) fn compiled(&self) -> Option<&Compiled> {
        self.outcome.as_ref().ok()
    }
}

/// Where not one of a kernel's variants compiles, what is wrong with the first is printed as `check` would.
pub(in crate::cli) fn nothing_compiles(source: &Source, kernel: &str, variants: &[Variant]) -> Option<Stop> {
    let mut own = variants.iter().filter(|variant| !variant.is_earlier);
    let first = own.next()?;
    if first.outcome.is_ok() || own.any(|variant| variant.outcome.is_ok()) {
        return None;
    }
    let shown = source.compile(kernel, &first.instance).err().map(|found| source.findings(&found));
    // What compiles but for PTX has said why itself.
    Some(shown.unwrap_or_else(|| Stop::found(first.outcome.as_ref().err().map_or("", String::as_str))))
}

/// What is known of a variant; an error where PTX has no form of it for any of the targets, or where OpenCL devices are a target and cannot run it.
fn look(source: &Source, lowered: Lowered<Scheduled>, targets: &Targets, dynamic_shared: u32) -> Result<Compiled, String> {
    let legal = lowered.kernel.legal();
    let known = estimate_launched(legal, &targets.gpus, &Launched { dynamic_shared, ..Launched::default() });
    let ptx: Vec<Result<Module, Diagnostics>> = targets.gpus.iter().map(|target| lowered.ptx(target)).collect();
    if let (false, Some(Err(found))) = (ptx.iter().any(Result::is_ok), ptx.first()) {
        return Err(first_error(source, found));
    }
    for backend in backend::of_targets(targets) {
        let refused = backend.refusals(&lowered.kernel, targets, &|loc| lowered.span(loc));
        if !refused.is_empty() {
            return Err(first_error(source, &refused));
        }
    }
    Ok(Compiled {
        kernel: lowered.kernel,
        known,
        measured: vec![None; ptx.len()],
        ptx: ptx.into_iter().map(Result::ok).collect(),
        blocks: None,
        yardstick: Yardstick::Operations,
        counters: None,
        timed: None,
    })
}

fn first_error(source: &Source, found: &Diagnostics) -> String {
    let first = found.iter().next();
    let place = first.and_then(|finding| source.place(finding.span)).map_or_else(String::new, |place| format!("{place}: "));
    let more = found.iter().count().saturating_sub(1);
    let more = if more > 0 { format!(" (and {more} more)") } else { String::new() };
    format!("{place}{}{more}", first.map_or("it does not compile", |finding| &finding.message))
}
