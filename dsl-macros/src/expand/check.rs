//! What is known while the crate compiles: the attributes and the subset always; types and launch limits of every instance whose
//! values are all known here.
//!
//! An instance is known if the kernel has no generics, or declares its variants, and if nothing in its unit comes from outside. What is not known here is checked at the first launch. What `rustc` reports about the twin is left to `rustc`.

use crate::diagnostics::warnings;
use proc_macro2::TokenStream;
use warpwright_codegen::diagnostic::{Diagnostic, Diagnostics, Level};
use warpwright_codegen::hir::{self, Lowered};
use warpwright_codegen::ir::{ObjectData, ObjectKind};
use warpwright_codegen::schedule;
use warpwright_codegen::syntax::{ConstValue, GenericValue, Instance, Program, Unit, UnitId, check_subset, free_paths};
use warpwright_codegen::target::TARGETS;

/// What is found in a unit.
pub(super) struct Findings {
    pub(super) errors: Diagnostics,
    /// With the name of the kernel that each is about.
    warnings: Vec<(String, Diagnostic)>,
}

impl Findings {
    /// Statements for a kernel's function that make `rustc` warn.
    pub(super) fn warnings_of(&self, kernel: &syn::Ident) -> TokenStream {
        warnings(self.warnings.iter().filter(|(name, _)| kernel == name).map(|(_, finding)| finding))
    }
}

/// Checks the items of a unit: kernels, device functions, types.
pub(super) fn check_items(items: &[syn::Item]) -> Findings {
    let mut findings = Findings { errors: Diagnostics::new(), warnings: Vec::new() };
    check_subset(items, &mut findings.errors);
    if !findings.errors.has_errors() && free_paths(items).is_empty() {
        check_instances(items, &mut findings);
    }
    findings
}

/// Lowers every known instance of every kernel.
fn check_instances(items: &[syn::Item], findings: &mut Findings) {
    let mut program = Program::default();
    let unit = program.add(Unit::from_items(String::new(), items.to_vec()));
    for (path, kernel) in program.units[unit.0].kernels() {
        match hir::declared_instances(&program, unit, &path) {
            Ok(instances) => {
                let mut found = OfVariants { count: instances.len(), list: Vec::new() };
                for instance in &instances {
                    found.add(check_instance(&program, unit, &path, instance), &words(&kernel.sig.generics, instance));
                }
                let name = kernel.sig.ident.to_string();
                let (errors, warnings): (Vec<_>, Vec<_>) = found.join().into_iter().partition(|finding| finding.level == Level::Error);
                findings.errors.extend(errors);
                findings.warnings.extend(warnings.into_iter().map(|warning| (name.clone(), warning)));
            }
            Err(errors) => findings.errors.append(errors),
        }
    }
}

/// The findings of a kernel's variants: what several have in common is said once.
struct OfVariants {
    /// Variants.
    count: usize,
    /// Each finding with the first variant that has it, and how many do.
    list: Vec<(Diagnostic, String, usize)>,
}

impl OfVariants {
    fn add(&mut self, findings: Diagnostics, words: &str) {
        for finding in findings {
            let place = |finding: &Diagnostic| (finding.span.start().line, finding.span.start().column);
            let is_same = |known: &Diagnostic| known.message == finding.message && place(known) == place(&finding);
            match self.list.iter_mut().find(|(known, ..)| is_same(known)) {
                Some((.., count)) => *count += 1,
                None => self.list.push((finding, words.to_owned(), 1)),
            }
        }
    }

    /// The findings, saying which variants they are about unless it is all.
    fn join(self) -> Diagnostics {
        let mut findings = Diagnostics::new();
        for (mut finding, words, count) in self.list {
            if count < self.count {
                let which = match count {
                    1 => format!("the variant `{words}`"),
                    _ => format!("{count} of {} variants, `{words}` the first", self.count),
                };
                finding.message = format!("{} (in {which})", finding.message);
            }
            findings.push(finding);
        }
        findings
    }
}

fn check_instance(program: &Program, unit: UnitId, path: &str, instance: &Instance) -> Diagnostics {
    let mut findings = Diagnostics::new();
    match hir::lower_kernel(program, unit, path, instance) {
        Ok(mut lowered) => {
            check_shared_memory(&lowered, &mut findings);
            match schedule::schedule(&mut lowered) {
                Ok(found) | Err(found) => findings.append(found),
            }
        }
        Err(errors) => findings.extend(errors.into_iter().filter(|error| !error.by_rustc)),
    }
    findings
}

/// What tells a variant from its siblings: `B = 64, ILP = 4`.
fn words(generics: &syn::Generics, instance: &Instance) -> String {
    let names = generics.params.iter().filter_map(|param| match param {
        syn::GenericParam::Type(param) => Some(&param.ident),
        syn::GenericParam::Const(param) => Some(&param.ident),
        syn::GenericParam::Lifetime(_) => None,
    });
    let words = names.zip(&instance.generics).map(|(name, value)| match value {
        GenericValue::Type(text) => format!("{name} = {text}"),
        GenericValue::Const(ConstValue::Scalar(value)) => format!("{name} = {value}"),
        GenericValue::Const(ConstValue::Index(value, _)) => format!("{name} = {value}"),
        GenericValue::Const(ConstValue::Aggregate(_)) => format!("{name} = …"),
    });
    words.collect::<Vec<_>>().join(", ")
}

/// Refuses more static shared memory than any target has for a block.
fn check_shared_memory(lowered: &Lowered, findings: &mut Diagnostics) {
    let kernel = &lowered.kernel;
    let size = |object: &ObjectData| object.ty.size(&kernel.structs);
    let arrays: Vec<_> = kernel.objects.values().filter(|object| object.kind == ObjectKind::Shared).collect();
    let used = arrays.iter().fold(0u64, |used, object| used.saturating_add(size(object)));
    let most = TARGETS.iter().map(|target| u64::from(target.limits.shared_per_block)).max().unwrap_or(0);
    let Some(largest) = arrays.iter().max_by_key(|object| size(object)) else { return };
    if used > most {
        let message = format!("{used} bytes of static shared memory, and no target has more than {most} for a block");
        let error = Diagnostic::error(lowered.span(largest.loc), message);
        findings.push(error.help("make the array smaller, or take it from `#[shared(dynamic)]`: many devices have more of that"));
    }
}
