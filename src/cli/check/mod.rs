//! `warpwright check`: every error of every kernel and all that its lints find, as `rustc` would show it; and what is known of each variant on
//! each target.

mod deprecated;
mod json;
mod table;

use super::axes::AxisArguments;
use super::json::document;
use super::launch::LaunchArguments;
use super::source::{Define, Findings, InstanceError, Source, check_defines, split};
use super::{OUTPUT, Stop, VARIANTS, complain, print, targets};
use warpwright::issue_order::IssueOrder;
use warpwright::nvdisasm::Nvdisasm;
use warpwright::operand_reads::OperandReads;
use warpwright::ptxas::{Measured, Ptxas, PtxasError};
use warpwright_codegen::diagnostic::{Diagnostic, Diagnostics};
use warpwright_codegen::ir::{Kernel, Loc};
use warpwright_codegen::syntax::{Instance, KernelAttributes};
use warpwright_codegen::target::{FAMILIES, Family, Targets};
use warpwright_review::estimate::Launched;
use warpwright_review::lint::register_banks::{self, Waiting};
use warpwright_review::lint::undone_by_assembler::{self, Undone};
use warpwright_review::machine::{Machine, Pipe};
use warpwright_review::report::Estimated;
use warpwright_review::{ReviewScope, ReviewedVariant, required_is_open};

/// Check kernels: all errors and findings of all files, shown like rustc's, and what is known of each variant on each target.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  warpwright check src/kernels.rs\n  warpwright check src/*.rs --targets sm_80,sm_90\n  warpwright check src/main.rs::copy -D B=256 -D T=f32 --json\n  warpwright check src/main.rs::tiles --grid 352\n\nExit code: 0 if nothing is wrong, 1 for errors and denied findings, 2 if the command could not be carried out."
)]
pub(super) struct Check {
    /// Source files, each `FILE.rs` or `FILE.rs::kernel`.
    #[arg(required = true, value_name = "FILE[::kernel]", value_hint = clap::ValueHint::FilePath)]
    files: Vec<String>,
    /// Set a generic or an outside constant, if the kernel declares no variants.
    #[arg(short = 'D', value_name = "NAME=VALUE", help_heading = VARIANTS)]
    define: Vec<Define>,
    /// Targets to check for, instead of those of the kernels or the crate's `Cargo.toml`.
    #[arg(long, value_name = "TARGET,…", value_delimiter = ',')]
    targets: Vec<String>,
    #[command(flatten)]
    launch: LaunchArguments,
    /// Print everything as JSON: findings, and all figures of every variant on every target.
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
    /// Omit the table of figures.
    #[arg(short, long, conflicts_with = "json", help_heading = OUTPUT)]
    quiet: bool,
}

/// What is known of a kernel.
struct Checked {
    kernel: String,
    how: How,
    /// The families among its targets.
    families: Vec<&'static Family>,
    reports: Vec<Row>,
}

/// What of a kernel was looked at.
enum How {
    /// So many instances.
    Instances(usize),
    /// None: the defines leave a generic open.
    Open,
    /// None: it names something that no file of its crate explains.
    Unchecked,
}

/// A variant on a target.
struct Row {
    estimated: Estimated,
    /// By the assembler, if there is one that takes the kernel.
    measured: Option<Measured>,
    /// Why there is one and no figures.
    not_measured: Option<PtxasError>,
    /// What became of the loads that annotations moved ahead, if there is a disassembler, too.
    order: Vec<IssueOrder>,
    /// From which registers products read, if there is one.
    reads: Vec<OperandReads>,
}

/// What measures.
struct Assembler {
    ptxas: Ptxas,
    nvdisasm: Option<Nvdisasm>,
}

/// A file that was checked.
struct CheckedFile<'s> {
    path: &'s str,
    source: Source,
    kernels: Vec<Checked>,
    findings: Diagnostics,
}

impl Check {
    /// Reads what can be read of it without a file.
    pub(super) fn read(&self) -> Result<(), String> {
        targets::named(&self.targets).map_err(|stop| stop.message)?;
        self.launch.read()
    }

    pub(super) fn run(self) -> Result<(), Stop> {
        let targets = targets::named(&self.targets)?;
        let assembler = self.ptxas().map(|ptxas| Assembler { nvdisasm: Nvdisasm::find(&ptxas), ptxas });
        let ptxas = assembler.as_ref().map(|assembler| &assembler.ptxas);
        let mut worst = None;
        let mut known = Vec::new();
        let mut documents = Vec::new();
        for argument in &self.files {
            // One bad file does not hide the others.
            let checked = self.check_file(argument, &targets, assembler.as_ref(), &mut known);
            let shown = checked.and_then(|file| {
                documents.push(json::file(&file));
                if self.json { file.outcome() } else { file.show(self.quiet, ptxas) }
            });
            if let Err(error) = shown {
                if !error.message.is_empty() {
                    complain(&format!("error: {}", error.message));
                }
                worst = worst.max(Some(error.code));
            }
        }
        if self.json {
            document(json::all(documents, ptxas))?;
        }
        if worst.is_none() {
            check_defines(&known, &self.define)?;
        }
        match worst {
            None => Ok(()),
            Some(code) => Err(Stop { message: String::new(), code }),
        }
    }

    /// The assembler, where the figures are asked for; one that does not work is said to, once.
    fn ptxas(&self) -> Option<Ptxas> {
        if self.quiet {
            return None;
        }
        let found = Ptxas::find().unwrap_or_else(|error| {
            complain(&format!("note: registers are estimated only: {error}"));
            None
        });
        if let Some(ptxas) = found.as_ref().filter(|ptxas| !ptxas.is_known_release()) {
            complain(&format!("note: ptxas {} is of a release that its figures were never compared with", ptxas.release));
        }
        found
    }

    fn check_file<'s>(
        &self,
        argument: &'s str,
        asked: &Targets,
        assembler: Option<&Assembler>,
        known: &mut Vec<String>,
    ) -> Result<CheckedFile<'s>, Stop> {
        let (path, chosen) = split(argument);
        let source = Source::read(path, &self.define)?;
        let kernels = source.kernels(chosen)?;
        if kernels.is_empty() && self.files.len() == 1 {
            return Err(source.no_kernels());
        }
        known.extend(source.definable(&kernels));
        let mut findings = source.check_syntax();
        let of_crate = targets::manifest(path)?;
        let mut checked = Vec::new();
        for kernel in &kernels {
            let Ok(reached) = source.reached(kernel) else { continue };
            if !reached.unknown.is_empty() {
                let found = Diagnostics::from_iter(reached.unchecked(of_crate.findings));
                findings.add(deprecated::apply(found, source.items(), kernel));
                checked.push(Checked { kernel: kernel.clone(), how: How::Unchecked, families: Vec::new(), reports: Vec::new() });
                continue;
            }
            let item = reached.item();
            let instances = instances(&source, kernel, &self.define, &mut findings)?;
            let attributes = KernelAttributes::find(&item.attrs, &mut Diagnostics::new()).unwrap_or_default();
            let targets = if asked.is_empty() { attributes.targets_or(of_crate.targets.as_ref()) } else { asked.clone() };
            let scope = ReviewScope { targets: &targets, findings: of_crate.findings, most: usize::MAX };
            let mut reports = Vec::new();
            let look = |variant: &ReviewedVariant<'_>| {
                let rows = rows(variant, assembler);
                let found =
                    rows.iter().flat_map(|row| [undone(variant, row, assembler), waiting(variant, row, assembler)].concat()).collect();
                reports.extend(rows);
                found
            };
            self.launch.check_names(&source, kernel)?;
            let mut wrong = None;
            let mut launch = |instance: &Instance, legal: &Kernel| {
                let foreseen = self.launch.foresee(&source, kernel, instance, legal).unwrap_or_else(|stop| {
                    wrong = Some(stop);
                    None
                });
                foreseen.map_or_else(Launched::default, |foreseen| foreseen.launched)
            };
            let mut found = source.review(kernel, instances.as_deref().unwrap_or_default(), scope, (&mut launch, look));
            if let Some(stop) = wrong {
                return Err(stop);
            }
            if instances.is_none() {
                let help = "give its generics values with `-D NAME=VALUE`, or declare variants";
                found.extend(required_is_open(item, "the kernel is generic, and declares no variants", help, of_crate.findings));
            }
            findings.add(deprecated::apply(found, source.items(), kernel));
            let how = instances.map_or(How::Open, |all| How::Instances(all.len()));
            checked.push(Checked { kernel: kernel.clone(), families: targets.families, how, reports });
        }
        Ok(CheckedFile { path, source, kernels: checked, findings: findings.finish() })
    }
}

/// What is known of a variant, target by target.
fn rows(variant: &ReviewedVariant<'_>, assembler: Option<&Assembler>) -> Vec<Row> {
    let row = |estimated: Estimated| {
        let module = variant.lowered.ptx(estimated.target).ok();
        let mut row = Row { estimated, measured: None, not_measured: None, order: Vec::new(), reads: Vec::new() };
        if let Some((assembler, module)) = assembler.zip(module) {
            let capability = row.estimated.target.capability;
            let measured = assembler.ptxas.measure(&module.to_string(), capability).map(|measured| row.measured = Some(measured));
            let nvdisasm = assembler.nvdisasm.as_ref().filter(|_| measured.is_ok());
            let order = nvdisasm.map_or_else(|| Ok(Vec::new()), |nvdisasm| assembler.ptxas.issue_order(nvdisasm, &module, capability));
            let order = order.map(|order| row.order = order);
            let reads = nvdisasm.map_or_else(|| Ok(Vec::new()), |nvdisasm| assembler.ptxas.operand_reads(nvdisasm, &module, capability));
            let reads = reads.map(|reads| row.reads = reads);
            row.not_measured = measured.and(order).and(reads).err();
        }
        row
    };
    Estimated::all(variant.words, variant.known).into_iter().map(row).collect()
}

/// The annotations whose order of loads an assembler undid.
fn undone(variant: &ReviewedVariant<'_>, row: &Row, assembler: Option<&Assembler>) -> Vec<Diagnostic> {
    let Some(assembler) = assembler else { return Vec::new() };
    let by = format!("ptxas {} for {}", assembler.ptxas.release, row.estimated.target.name);
    let lost = row.order.iter().filter(|order| !order.measured.is_kept());
    let finding = |order: &IssueOrder| {
        let figures = order.measured.sentence();
        let undone = Undone { annotation: order.annotation, by: &by, figures: &figures };
        undone_by_assembler::finding(undone, &variant.lowered.kernel.legal().options, variant.lowered.span(order.place))
    };
    lost.map(finding).collect()
}

/// The lanes of `f32` of a multiprocessor from which on a product leaves no cycle free.
const BUSY_LANES: f64 = 128.0;

/// The loops whose products wait for registers in what an assembler made.
fn waiting(variant: &ReviewedVariant<'_>, row: &Row, assembler: Option<&Assembler>) -> Vec<Diagnostic> {
    let target = row.estimated.target;
    let is_busy = Machine::of(target.capability).is_some_and(|machine| machine.lanes(Pipe::Single) >= BUSY_LANES);
    let Some(assembler) = assembler.filter(|_| is_busy) else { return Vec::new() };
    let by = format!("ptxas {} for {}", assembler.ptxas.release, target.name);
    let locations = &variant.lowered.kernel.legal().locations;
    let finding = |reads: &OperandReads| {
        let OperandReads { place: [_, line, column], products, of_three, waits } = *reads;
        let at = locations.iter().find(|(_, location)| (location.line, location.column) == (line, column)).map(|(loc, _)| loc);
        register_banks::finding(Waiting { by: &by, products, of_three, waits }, variant.lowered.span(at.unwrap_or(Loc(0))))
    };
    row.reads.iter().filter_map(finding).collect()
}

impl CheckedFile<'_> {
    /// Whether something is wrong.
    fn outcome(&self) -> Result<(), Stop> {
        if self.findings.has_errors() { Err(Stop::findings()) } else { Ok(()) }
    }

    /// Prints what was found, and what is known.
    fn show(&self, quiet: bool, ptxas: Option<&Ptxas>) -> Result<(), Stop> {
        if !self.findings.is_empty() {
            self.source.findings(&self.findings);
        }
        self.outcome()?;
        if self.kernels.is_empty() {
            return print(&format!("{}: no kernels\n", self.path));
        }
        let how = |checked: &Checked| match checked.how {
            How::Instances(instances) => format!("{} ({})", checked.kernel, count(instances, "instance")),
            How::Unchecked => format!("{} (not checked)", checked.kernel),
            How::Open => {
                let open = "generic without declared variants: its types are checked with `-D NAME=VALUE` only";
                format!("{} ({open})", checked.kernel)
            }
        };
        let all: Vec<String> = self.kernels.iter().map(how).collect();
        let mut text = format!("{}: {} without errors: {}\n", self.path, count(all.len(), "kernel"), all.join(", "));
        self.explain_missing();
        for family in FAMILIES {
            let kernels = self.kernels.iter().filter(|checked| checked.families.contains(family));
            let kernels: Vec<&str> = kernels.map(|checked| checked.kernel.as_str()).collect();
            if let (Family { name, devices }, false) = (family, kernels.is_empty()) {
                text.push_str(&format!("{name}: nothing is refused of {}; nothing is estimated for {devices}\n", kernels.join(", ")));
            }
        }
        if !quiet {
            text.push_str(&table::of(&self.kernels, ptxas));
        }
        print(&text)
    }
}

impl CheckedFile<'_> {
    /// Says why an assembler that is there has no figures, each reason once.
    fn explain_missing(&self) {
        let rows = self.kernels.iter().flat_map(|checked| &checked.reports);
        let mut said: Vec<String> = Vec::new();
        for error in rows.filter_map(|row| row.not_measured.as_ref()) {
            let reason = error.to_string();
            if !said.contains(&reason) {
                complain(&format!("note: registers are estimated only: {reason}"));
                said.push(reason);
            }
        }
    }
}

/// What to check of a kernel: what it declares, as far as the defines leave it, else what the defines make of it. `None`: they leave a generic
/// open.
fn instances(source: &Source, kernel: &str, defines: &[Define], findings: &mut Findings) -> Result<Option<Vec<Instance>>, Stop> {
    let generics = source.generics(kernel).unwrap_or_default();
    let wrong = |found: Diagnostics| {
        findings.add(found);
        source.bare_instance(kernel).into_iter().collect()
    };
    let declared = source.declared_instances(kernel).unwrap_or_else(wrong);
    if !declared.is_empty() {
        let is_defined = |(name, _): &(String, bool)| defines.iter().any(|define| define.name == *name);
        if !generics.iter().any(is_defined) {
            return Ok(Some(declared));
        }
        return AxisArguments::of_defines(defines).instances(source, kernel).map(Some);
    }
    let is_given = |(name, _): &(String, bool)| defines.iter().any(|define| define.name == *name);
    if !generics.iter().all(is_given) {
        return Ok(None);
    }
    match source.instance(kernel, defines) {
        Ok(instance) => Ok(Some(vec![instance])),
        Err(InstanceError::Usage(message)) => Err(Stop::usage(message)),
        Err(InstanceError::Source(found)) => {
            findings.add(found);
            Ok(Some(Vec::new()))
        }
    }
}

fn count(n: usize, thing: &str) -> String {
    format!("{n} {thing}{}", if n == 1 { "" } else { "s" })
}
