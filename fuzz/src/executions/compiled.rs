//! A generated kernel through the front end, as a file goes.

use crate::source::{Form, Generic, Kernel, USES};
use warpwright_codegen::diagnostic::{Diagnostics, Level};
use warpwright_codegen::hir::Lowered;
use warpwright_codegen::ir::{self, IndexWidth, Scalar};
use warpwright_codegen::pipeline::{self, Built, Scheduled};
use warpwright_codegen::syntax::{ConstValue, GenericValue, Instance, Program, Unit, UnitId, check_subset};

/// The text of all errors.
fn said(found: Diagnostics) -> String {
    let errors = found.iter().filter(|finding| finding.level == Level::Error);
    let place = |finding: &warpwright_codegen::diagnostic::Diagnostic| finding.span.source_text().unwrap_or_default();
    errors.map(|finding| format!("{} (at `{}`)", finding.message, place(finding))).collect::<Vec<_>>().join("\n")
}

/// The generics of its instance.
pub fn instance(kernel: &Kernel) -> Instance {
    let value = |generic: &Generic| match generic {
        Generic::Width(width) => GenericValue::Const(ConstValue::Index(*width as i128, false)),
        Generic::Flag(flag) => GenericValue::Const(ConstValue::Scalar(Scalar::bool(*flag))),
        Generic::Type(_) => GenericValue::Type(generic.value()),
    };
    Instance { generics: kernel.generics.iter().map(value).collect() }
}

/// A program of the kernel's file, and the file's place in it.
///
/// # Errors
/// What the compiler says of its syntax.
pub fn program(kernel: &Kernel, form: Form) -> Result<(Program, UnitId), String> {
    parsed("generated.rs", &kernel.file(form))
}

/// The program of a text, if its syntax is that of kernels.
fn parsed(file: &str, text: &str) -> Result<(Program, UnitId), String> {
    let unit = Unit::parse(file, 1, 1, text).map_err(said)?;
    let mut found = Diagnostics::new();
    check_subset(&unit.items, &mut found);
    if found.has_errors() {
        return Err(said(found));
    }
    let mut program = Program::default();
    let unit = program.add(unit);
    Ok((program, unit))
}

/// Typed and lowered, annotations still to be kept.
///
/// # Errors
/// What the compiler says.
pub fn lowered(kernel: &Kernel, form: Form) -> Result<Lowered<Built>, String> {
    let (program, unit) = program(kernel, form)?;
    pipeline::lower(&program, unit, kernel.path(), &instance(kernel)).map_err(said)
}

/// The same with its annotations kept.
///
/// # Errors
/// What the compiler says.
pub fn scheduled(kernel: &Kernel, form: Form) -> Result<Lowered<Scheduled>, String> {
    lowered(kernel, form)?.schedule().map_err(said)
}

/// A kernel that the compiler printed as Rust, read again.
///
/// # Errors
/// What the compiler says.
pub fn printed(text: &str) -> Result<Lowered<Scheduled>, String> {
    let (program, unit) = parsed("printed.rs", &format!("{USES}{text}"))?;
    pipeline::compile(&program, unit, "k", &Instance { generics: Vec::new() }).map_err(said)
}

/// The same, and the program that it is of.
///
/// # Errors
/// What the compiler says.
pub fn with_program(kernel: &Kernel, form: Form) -> Result<(Program, Lowered<Scheduled>), String> {
    let (program, unit) = program(kernel, form)?;
    let lowered = pipeline::compile(&program, unit, kernel.path(), &instance(kernel)).map_err(said)?;
    Ok((program, lowered))
}

/// Bytes of a kernel's `usize`.
pub fn index_bytes(kernel: &ir::Kernel) -> usize {
    match kernel.options.index {
        IndexWidth::Bits32 => 4,
        IndexWidth::Bits64 => 8,
    }
}
