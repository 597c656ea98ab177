//! `warpwright check`: every error of every kernel and all that its lints find, as `rustc` would show it.

use super::source::{Define, Findings, InstanceError, Source, check_defines, split};
use super::{Stop, complain, manifest, print};
use warpwright_codegen::diagnostic::Diagnostics;
use warpwright_codegen::hir;
use warpwright_codegen::review::{Scope, required_is_open, review};
use warpwright_codegen::syntax::{Instance, KernelAttributes};
use warpwright_codegen::target::{self, Target};

/// Check kernels: all errors of all files, shown like rustc's.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  warpwright check src/kernels.rs\n  warpwright check src/*.rs\n  warpwright check src/main.rs::copy -D B=256 -D T=f32"
)]
pub(super) struct Check {
    /// Source files, each `FILE.rs` or `FILE.rs::kernel`.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// Give a generic or an outside constant its value, where the kernel declares no variants.
    #[arg(short = 'D', value_name = "NAME=VALUE")]
    define: Vec<Define>,
    /// Check for these instead of what the kernels or the crate's `Cargo.toml` name.
    #[arg(long, value_name = "TARGET,…", value_delimiter = ',')]
    targets: Vec<String>,
}

impl Check {
    pub(super) fn run(self) -> Result<(), Stop> {
        let find = |name: &String| Target::find(name).map_err(|error| Stop::usage(format!("{error}; {}", error.help())));
        let targets = self.targets.iter().map(find).collect::<Result<Vec<_>, _>>()?;
        let mut worst = None;
        let mut known = Vec::new();
        for argument in &self.files {
            // One bad file does not hide the others.
            if let Err(error) = check_file(argument, self.files.len() == 1, &self.define, &targets, &mut known) {
                if !error.message.is_empty() {
                    complain(&format!("error: {}", error.message));
                }
                worst = worst.max(Some(error.code));
            }
        }
        if worst.is_none() {
            check_defines(&known, &self.define)?;
        }
        match worst {
            None => Ok(()),
            Some(code) => Err(Stop { message: String::new(), code }),
        }
    }
}

fn check_file(argument: &str, is_only: bool, defines: &[Define], asked: &[&'static Target], known: &mut Vec<String>) -> Result<(), Stop> {
    let (path, chosen) = split(argument);
    let source = Source::read(path, defines)?;
    let kernels = source.kernels(chosen)?;
    if kernels.is_empty() && is_only {
        return Err(source.no_kernels());
    }
    known.extend(source.definable(&kernels));
    let mut findings = source.check_syntax();
    let of_crate = if asked.is_empty() { manifest::targets(path)? } else { None };
    let mut checked = Vec::new();
    for kernel in &kernels {
        let instances = instances(&source, kernel, defines, &mut findings)?;
        let item = source.program().units[source.unit.0].kernel(kernel).ok();
        if let (Some(item), None) = (item, &instances) {
            let help = "give its generics values with `-D NAME=VALUE`, or declare variants";
            findings.add(required_is_open(item, "the kernel is generic, and declares no variants", help).into_iter().collect());
        }
        let attributes = item.and_then(|item| KernelAttributes::find(&item.attrs, &mut Diagnostics::new())).unwrap_or_default();
        let targets = if asked.is_empty() { target::chosen(&attributes, of_crate.as_deref()) } else { asked.to_vec() };
        let scope = Scope { targets: &targets, most: usize::MAX };
        findings.add(review(source.program(), source.unit, kernel, instances.as_deref().unwrap_or_default(), scope, |_| {}));
        let how = match &instances {
            Some(instances) => count(instances.len(), "instance"),
            None => "generic without declared variants: its types are checked with `-D NAME=VALUE` only".to_owned(),
        };
        checked.push(format!("{kernel} ({how})"));
    }
    let found = findings.finish();
    if found.has_errors() {
        return Err(source.findings(&found));
    }
    if !found.is_empty() {
        source.findings(&found);
    }
    if kernels.is_empty() {
        return print(&format!("{path}: no kernels\n"));
    }
    print(&format!("{path}: {} without errors: {}\n", count(kernels.len(), "kernel"), checked.join(", ")))
}

/// What to check of a kernel: what it declares, else what the defines make of it. `None`: they leave a generic open.
fn instances(source: &Source, kernel: &str, defines: &[Define], findings: &mut Findings) -> Result<Option<Vec<Instance>>, Stop> {
    let generics = hir::generics(source.program(), source.unit, kernel).unwrap_or_default();
    let wrong = |found: Diagnostics| {
        findings.add(found);
        source.bare_instance(kernel).into_iter().collect()
    };
    let declared = hir::declared_instances(source.program(), source.unit, kernel).unwrap_or_else(wrong);
    if !declared.is_empty() {
        return Ok(Some(declared));
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
