//! What is known while the crate compiles: the attributes and the subset always; types, launch limits and all that
//! `warpwright_codegen::review` says of every instance whose values are all known here.
//!
//! An instance is known if the kernel has no generics, or declares its variants, and if nothing in its unit comes from outside. What is not
//! known here is checked at the first launch. What `rustc` reports about the twin is left to `rustc`.

use crate::diagnostics::{compile_errors, warnings};
use crate::manifest;
use proc_macro2::TokenStream;
use quote::quote;
use warpwright_codegen::diagnostic::{Diagnostic, Diagnostics, Level};
use warpwright_codegen::hir;
use warpwright_codegen::review::{Scope, required_is_open, review};
use warpwright_codegen::syntax::{KernelAttributes, Program, Unit, check_subset, free_paths};
use warpwright_codegen::target::chosen;

/// Most variants times targets that are estimated while a crate compiles: some two seconds of a macro that is not optimised.
const MOST_ESTIMATED: usize = 192;

/// What is found in a unit.
pub(super) struct Findings {
    /// What is wrong: kernels that cannot be compiled.
    pub(super) errors: Diagnostics,
    /// What lints find, with the name of the kernel that each is about.
    lints: Vec<(String, Diagnostic)>,
    /// Whether the crate's manifest was read.
    uses_manifest: bool,
}

impl Findings {
    /// Statements for a kernel's function that make `rustc` warn.
    pub(super) fn warnings_of(&self, kernel: &syn::Ident) -> TokenStream {
        let own = self.lints.iter().filter(|(name, _)| kernel == name).map(|(_, finding)| finding);
        let warnings = warnings(own);
        let manifest = self.uses_manifest.then(manifest::dependency);
        quote!(#warnings #manifest)
    }

    /// Says of a kernel's contract, if it has one, that it is not checked.
    fn leave_open(&mut self, kernel: &syn::ItemFn, reason: &str, help: &str) {
        let finding = required_is_open(kernel, reason, help);
        self.lints.extend(finding.map(|finding| (kernel.sig.ident.to_string(), finding)));
    }

    /// Items that make `rustc` report what lints find that are denied. The kernels are right all the same.
    pub(super) fn denied(&self) -> TokenStream {
        let mut denied = Diagnostics::new();
        denied.extend(self.lints.iter().map(|(_, finding)| finding).filter(|finding| finding.level == Level::Error).cloned());
        compile_errors(&denied)
    }
}

/// Checks the items of a unit: kernels, device functions, types.
pub(super) fn check_items(items: &[syn::Item]) -> Findings {
    let mut findings = Findings { errors: Diagnostics::new(), lints: Vec::new(), uses_manifest: false };
    check_subset(items, &mut findings.errors);
    if !findings.errors.has_errors() {
        match free_paths(items).first() {
            None => check_instances(items, &mut findings),
            Some(outside) => {
                let unit = Unit::from_items(String::new(), items.to_vec());
                let reason = format!("`{}` comes from outside, and the macro cannot see it", outside.key);
                unit.kernels().iter().for_each(|(_, kernel)| findings.leave_open(kernel, &reason, ASK_THE_COMMAND));
            }
        }
    }
    findings
}

/// Where more is known than here.
const ASK_THE_COMMAND: &str = "`warpwright check` on this file checks it, given what is open with `-D NAME=VALUE`";

/// Reviews every known instance of every kernel.
fn check_instances(items: &[syn::Item], findings: &mut Findings) {
    let mut program = Program::default();
    let unit = program.add(Unit::from_items(String::new(), items.to_vec()));
    for (path, kernel) in program.units[unit.0].kernels() {
        let instances = match hir::declared_instances(&program, unit, &path) {
            Ok(instances) => instances,
            Err(errors) => {
                findings.errors.append(errors);
                continue;
            }
        };
        if instances.is_empty() {
            let help = "declare the variants that matter: `variants(N in [1, 2, 4])`";
            findings.leave_open(kernel, "the kernel is generic, and declares no variants", help);
            continue;
        }
        let attributes = KernelAttributes::find(&kernel.attrs, &mut Diagnostics::new()).unwrap_or_default();
        let of_crate = if attributes.targets.is_empty() { manifest::targets() } else { Ok(None) };
        findings.uses_manifest |= !matches!(of_crate, Ok(None));
        let of_crate = of_crate.unwrap_or_else(|error| {
            findings.errors.push(Diagnostic::error(kernel.sig.ident.span(), error.to_string()).help(error.help));
            None
        });
        let targets = chosen(&attributes, of_crate.as_ref().and_then(Option::as_deref));
        let scope = Scope { targets: &targets, most: MOST_ESTIMATED };
        let found = review(&program, unit, &path, &instances, scope, |_| {});
        let name = kernel.sig.ident.to_string();
        for finding in found.into_iter().filter(|finding| !finding.by_rustc) {
            if finding.level == Level::Error && finding.lint.is_none() {
                findings.errors.push(finding);
            } else {
                findings.lints.push((name.clone(), finding));
            }
        }
    }
}
