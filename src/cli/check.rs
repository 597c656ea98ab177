//! `warpwright check`: every error of every kernel, as `rustc` would show it.

use super::source::{Source, split};
use super::{Stop, print, render};
use warpwright_codegen::diagnostic::Diagnostics;
use warpwright_codegen::hir;
use warpwright_codegen::syntax::check_subset;

/// Check kernels: all errors of all files, shown like rustc's.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  warpwright check src/kernels.rs\n  warpwright check src/*.rs")]
pub(super) struct Check {
    /// Source files, each `FILE.rs` or `FILE.rs::kernel`.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
}

impl Check {
    pub(super) fn run(self) -> Result<(), Stop> {
        let mut stop = None;
        for argument in &self.files {
            // One bad file does not hide the others.
            if let Err(error) = check_file(argument) {
                if !error.message.is_empty() {
                    eprintln!("error: {}", error.message);
                }
                let worst = stop.map_or(error.code, |code: u8| code.max(error.code));
                stop = Some(worst);
            }
        }
        match stop {
            None => Ok(()),
            Some(code) => Err(Stop { message: String::new(), code }),
        }
    }
}

fn check_file(argument: &str) -> Result<(), Stop> {
    let (path, chosen) = split(argument);
    let source = Source::read(path, &[])?;
    let kernels = source.kernels(chosen)?;
    let mut found = Diagnostics::new();
    check_subset(&source.program.units[source.unit.0].items, &mut found);
    let mut checked = Vec::new();
    if !found.has_errors() {
        for kernel in &kernels {
            checked.push(format!("{kernel} ({})", check_kernel(&source, kernel, &mut found)));
        }
    }
    if !found.is_empty() {
        render::print(&found, path, &source.text);
    }
    if found.has_errors() {
        return Err(Stop::findings());
    }
    print(&format!("{path}: {} without errors: {}\n", count(kernels.len(), "kernel"), checked.join(", ")));
    Ok(())
}

/// Lowers every declared instance of a kernel; says how many there were.
fn check_kernel(source: &Source, kernel: &str, found: &mut Diagnostics) -> String {
    let instances = match hir::declared_instances(&source.program, source.unit, kernel) {
        Ok(instances) => instances,
        Err(errors) => {
            found.append(errors);
            return "not checked".to_owned();
        }
    };
    let mut seen = Vec::new();
    for instance in &instances {
        if let Err(errors) = hir::lower_kernel(&source.program, source.unit, kernel, instance) {
            for error in errors {
                // Variants share most of their errors.
                let key = (error.message.clone(), error.span.start().line, error.span.start().column);
                if !seen.contains(&key) {
                    seen.push(key);
                    found.push(error);
                }
            }
        }
    }
    match instances.len() {
        0 => "generic without declared variants: syntax only".to_owned(),
        n => count(n, "instance"),
    }
}

fn count(n: usize, thing: &str) -> String {
    format!("{n} {thing}{}", if n == 1 { "" } else { "s" })
}
