//! The PTX that a source or an IR becomes, without a device and without a crate.

use warpwright_codegen::backend::ptx::emit_ptx;
use warpwright_codegen::diagnostic::Diagnostics;
use warpwright_codegen::ir::{Kernel, Scalar, Stage};
use warpwright_codegen::syntax::{ConstValue, GenericValue, Instance, Program, Unit};
use warpwright_codegen::target::Target;
use warpwright_codegen::{hir, passes, schedule};

/// The PTX of a kernel in a source for a target. `generics`: a number, `true`, `false` or a type for each of the kernel's, in order.
///
/// # Errors
///
/// What is wrong with the source, or with an annotation.
pub fn ptx(source: &str, kernel: &str, generics: &[&str], target: &str) -> Result<String, String> {
    let mut program = Program::default();
    let unit = program.add(Unit::parse("kernel.rs", 1, 1, source).map_err(messages)?);
    let generics = generics.iter().map(|text| generic(text)).collect();
    let mut lowered = hir::lower_kernel(&program, unit, kernel, &Instance { generics }).map_err(messages)?;
    schedule::schedule(&mut lowered).map_err(messages)?;
    passes::run(&mut lowered.kernel, Stage::Addressed, &mut passes::PassOptions::default()).map_err(|error| error.to_string())?;
    let target = Target::find(target).map_err(|error| error.to_string())?;
    emit_ptx(&lowered.kernel, target, &|loc| lowered.span(loc)).map(|emitted| emitted.text).map_err(messages)
}

/// The PTX of a kernel in the text form of the IR, of any stage.
///
/// # Errors
///
/// What cannot be printed for the target.
pub fn ptx_of_kernel(kernel: &Kernel, target: &str) -> Result<String, String> {
    let mut kernel = kernel.clone();
    passes::run(&mut kernel, Stage::Addressed, &mut passes::PassOptions::default()).map_err(|error| error.to_string())?;
    let target = Target::find(target).map_err(|error| error.to_string())?;
    emit_ptx(&kernel, target, &|_| proc_macro2::Span::call_site()).map(|emitted| emitted.text).map_err(messages)
}

fn generic(text: &str) -> GenericValue {
    match (text.parse::<bool>(), text.parse()) {
        (Ok(value), _) => GenericValue::Const(ConstValue::Scalar(Scalar::bool(value))),
        (_, Ok(number)) => GenericValue::Const(ConstValue::Index(number, false)),
        _ => GenericValue::Type(text.to_owned()),
    }
}

fn messages(found: Diagnostics) -> String {
    found.iter().map(|finding| finding.message.clone()).collect::<Vec<_>>().join("; ")
}
