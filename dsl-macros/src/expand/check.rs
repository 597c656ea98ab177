//! What is known while the crate compiles: the attributes and the subset always; types and launch limits of every instance whose
//! values are all known here.
//!
//! An instance is known if the kernel has no generics, or declares its variants by literals, and if nothing in its unit comes from
//! outside. What is not known here is checked at the first launch. What `rustc` reports about the twin is left to `rustc`.

use warpwright_codegen::diagnostic::{Diagnostic, Diagnostics};
use warpwright_codegen::hir::{self, Lowered};
use warpwright_codegen::ir::{ObjectData, ObjectKind, Scalar, Type};
use warpwright_codegen::syntax::{
    ConstValue, GenericValue, Instance, KernelAttributes, Program, Unit, UnitId, check_subset, free_paths, literal_int,
};

/// Checks the items of a unit: kernels, device functions, types.
pub(super) fn check_items(items: &[syn::Item]) -> Diagnostics {
    let mut findings = Diagnostics::new();
    check_subset(items, &mut findings);
    if !findings.has_errors() && free_paths(items).is_empty() {
        findings.append(check_instances(items));
    }
    findings
}

/// An instance with the words that tell it from its siblings: `B = 64, ILP = 4`.
struct Known {
    instance: Instance,
    words: String,
}

/// Lowers every known instance of every kernel.
fn check_instances(items: &[syn::Item]) -> Diagnostics {
    let mut findings = Diagnostics::new();
    let mut program = Program::default();
    let unit = program.add(Unit::from_items(String::new(), items.to_vec()));
    for (path, kernel) in program.units[unit.0].kernels() {
        let Some(attributes) = KernelAttributes::find(&kernel.attrs, &mut Diagnostics::new()) else { continue };
        for known in known_instances(&kernel.sig.generics, &attributes) {
            let found = check_instance(&program, unit, &path, &known, kernel.sig.ident.span());
            findings.append(found);
        }
    }
    findings
}

fn check_instance(program: &Program, unit: UnitId, path: &str, known: &Known, name: proc_macro2::Span) -> Diagnostics {
    let mut findings = Diagnostics::new();
    match hir::lower_kernel(program, unit, path, &known.instance) {
        Ok(lowered) => check_shared_memory(&lowered, &mut findings),
        Err(errors) => errors.into_iter().filter(|error| !error.by_rustc).for_each(|error| findings.push(error)),
    }
    let in_variant = |mut finding: Diagnostic| {
        if !known.words.is_empty() {
            finding.message = format!("{} (in the variant `{}`)", finding.message, known.words);
            finding.labels.push((name, "the kernel is here".to_owned()));
        }
        finding
    };
    let mut named = Diagnostics::new();
    findings.into_iter().map(in_variant).for_each(|finding| named.push(finding));
    named
}

/// Most static shared memory of a block, in bytes, on every target (CUDA C++ Programming Guide, "Technical Specifications per Compute
/// Capability": more is to be had dynamically only).
const MAX_STATIC_SHARED: u64 = 48 * 1024;

/// Refuses more static shared memory than any target has for a block.
fn check_shared_memory(lowered: &Lowered, findings: &mut Diagnostics) {
    let kernel = &lowered.kernel;
    let size = |object: &ObjectData| object.ty.size(&kernel.structs);
    let arrays: Vec<_> = kernel.objects.values().filter(|object| object.kind == ObjectKind::Shared).collect();
    let used = arrays.iter().fold(0u64, |used, object| used.saturating_add(size(object)));
    let Some(largest) = arrays.iter().max_by_key(|object| size(object)) else { return };
    if used > MAX_STATIC_SHARED {
        let message = format!("{used} bytes of static shared memory, and no target has more than {MAX_STATIC_SHARED} for a block");
        let error = Diagnostic::error(lowered.span(largest.loc), message);
        findings.push(error.help("make the array smaller, or take it from `#[shared(dynamic)]`: many devices have more of that"));
    }
}

/// The instances whose generics are known here: the one without generics, or each declared variant made of literals and types.
fn known_instances(generics: &syn::Generics, attributes: &KernelAttributes) -> Vec<Known> {
    let mut known = vec![Known { instance: Instance::default(), words: String::new() }];
    for param in &generics.params {
        let (name, ty) = match param {
            syn::GenericParam::Const(param) => (&param.ident, Some(&param.ty)),
            syn::GenericParam::Type(param) => (&param.ident, None),
            syn::GenericParam::Lifetime(_) => continue,
        };
        let Some((_, values)) = attributes.variants.axes.iter().find(|(axis, _)| axis == name) else { return Vec::new() };
        let values: Vec<_> = values.iter().filter_map(|value| Some((text(value), generic_value(ty, value)?))).collect();
        known = known.iter().flat_map(|before| values.iter().map(|value| before.with(name, value))).collect();
    }
    known
}

impl Known {
    /// The same with one more generic filled in.
    fn with(&self, name: &syn::Ident, (text, value): &(String, GenericValue)) -> Known {
        let mut generics = self.instance.generics.clone();
        generics.push(value.clone());
        let separator = if self.words.is_empty() { "" } else { ", " };
        Known { instance: Instance { generics }, words: format!("{}{separator}{name} = {text}", self.words) }
    }
}

fn text(expr: &syn::Expr) -> String {
    quote::ToTokens::to_token_stream(expr).to_string()
}

/// The value of a generic, if it can be read off the source. `ty` is a const generic's type.
fn generic_value(ty: Option<&syn::Type>, value: &syn::Expr) -> Option<GenericValue> {
    let Some(ty) = ty else { return Some(GenericValue::Type(text(value))) };
    let ty = quote::ToTokens::to_token_stream(ty).to_string();
    if let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Bool(value), .. }) = value {
        return Some(GenericValue::Const(ConstValue::Scalar(Scalar::bool(value.value))));
    }
    let value = literal_int(value)?;
    Some(GenericValue::Const(match ty.as_str() {
        "usize" => ConstValue::Index(value, false),
        "isize" => ConstValue::Index(value, true),
        ty => ConstValue::Scalar(Scalar::int(ty.parse::<Type>().ok()?, value)),
    }))
}
