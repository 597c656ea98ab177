//! What is known while the crate compiles: the attributes and the subset always; types, launch limits and all that
//! `warpwright_review` says of every instance whose values are all known here (`crate::review`).
//!
//! An instance is known if the kernel has no generics, or declares its variants, and if the files of the crate show what it names. What is not
//! known here is checked at the first launch. What `rustc` reports about the twin is left to `rustc`.

use crate::diagnostics::{compile_errors, warnings};
use crate::manifest;
use crate::review::{absent, review_unit};
use proc_macro2::TokenStream;
use quote::quote;
use warpwright_codegen::diagnostic::{Diagnostic, Diagnostics, Level};
use warpwright_codegen::syntax::{AbsentName, Unit, absent_names, check_subset};
use warpwright_review::manifest::Manifest;

/// What is found in a unit.
pub(super) struct Findings {
    /// What is wrong: kernels that cannot be compiled.
    pub(super) errors: Diagnostics,
    /// What lints find, with the name of the kernel that each is about.
    lints: Vec<(String, Diagnostic)>,
    /// Names that there are not, of which nothing is to be asked; `None`: that is not known.
    pub(super) absent: Option<Vec<AbsentName>>,
    /// Items that make cargo compile the crate again when what was read changes.
    depends_on: TokenStream,
}

impl Findings {
    /// Statements for a kernel's function that make `rustc` warn.
    pub(super) fn warnings_of(&self, kernel: &syn::Ident) -> TokenStream {
        let own = self.lints.iter().filter(|(name, _)| kernel == name).map(|(_, finding)| finding);
        let warnings = warnings(own);
        let depends_on = &self.depends_on;
        quote!(#warnings #depends_on)
    }

    /// Items that make `rustc` report what lints find that are denied. The kernels are right all the same.
    pub(super) fn denied(&self) -> TokenStream {
        let mut denied = Diagnostics::new();
        denied.extend(self.lints.iter().map(|(_, finding)| finding).filter(|finding| finding.level == Level::Error).cloned());
        compile_errors(&denied)
    }
}

/// Checks the items of a unit: kernels, device functions, types. `as_written` is the unit's item as its file shows it.
pub(super) fn check_items(items: &[syn::Item], as_written: &syn::Item) -> Findings {
    let mut findings = Findings { errors: Diagnostics::new(), lints: Vec::new(), absent: None, depends_on: TokenStream::new() };
    check_subset(items, &mut findings.errors);
    findings.absent = absent(as_written);
    // What syntax alone shows is said already.
    let is_new = |error: Diagnostic| findings.errors.iter().all(|known| known.span.start() != error.span.start()).then_some(error);
    let more = absent_names(items, findings.absent.as_deref().unwrap_or_default()).filter_map(is_new);
    findings.errors.append(more);
    if !findings.errors.has_errors() {
        check_kernels(items, &mut findings);
    }
    findings
}

/// Reviews every known instance of every kernel.
fn check_kernels(items: &[syn::Item], findings: &mut Findings) {
    let unit = Unit::from_items(String::new(), items.to_vec());
    let kernels = unit.kernels();
    let Some((_, first)) = kernels.first() else { return };
    let (manifest, has_manifest) = manifest::read().unwrap_or_else(|(message, help)| {
        findings.errors.push(Diagnostic::error(first.sig.ident.span(), message).help(help));
        (Manifest::default(), true)
    });
    findings.depends_on = manifest::dependency(has_manifest);
    for (kernel, finding) in review_unit(items, &manifest) {
        if finding.level == Level::Error && finding.lint.is_none() {
            findings.errors.push(finding);
        } else {
            findings.lints.push((kernel, finding));
        }
    }
}
