//! The PTX that a source or an IR becomes, without a device and without a crate.

use warpwright_codegen::backend::ptx::code::Module;
use warpwright_codegen::backend::ptx::module;
use warpwright_codegen::diagnostic::Diagnostics;
use warpwright_codegen::ir::{Kernel, Scalar};
use warpwright_codegen::pipeline::{Addressed, compile_text};
use warpwright_codegen::syntax::{ConstValue, GenericValue, Instance};
use warpwright_codegen::target::Target;

/// The PTX of a kernel in a source for a target. `generics`: a number, `true`, `false` or a type for each of the kernel's, in order.
///
/// # Errors
///
/// What is wrong with the source, or with an annotation.
pub fn ptx(source: &str, kernel: &str, generics: &[&str], target: &str) -> Result<Module, String> {
    let generics = generics.iter().map(|text| generic(text)).collect();
    let lowered = compile_text("kernel.rs", source, kernel, &Instance { generics }).map_err(messages)?;
    let target = Target::find(target).map_err(|error| error.to_string())?;
    lowered.ptx(target).map_err(messages)
}

/// The text of a kernel in a file of tests, with its attribute.
///
/// # Panics
///
/// If the file has no such kernel.
pub fn kernel_of<'f>(file: &'f str, kernel: &str) -> &'f str {
    let name = [format!("fn {kernel}<"), format!("fn {kernel}(")].iter().find_map(|head| file.find(head));
    let start = name.and_then(|at| file[..at].rfind("#[kernel(")).expect("a kernel of this file");
    let end = file[start..].find("\n}\n").expect("its end");
    &file[start..start + end + 3]
}

/// The PTX of a kernel that has addresses.
///
/// # Errors
///
/// What the kernel violates of the invariants, or cannot be printed for the target.
pub fn ptx_of_kernel(kernel: Kernel, target: &str) -> Result<Module, String> {
    let kernel = Addressed::verified(kernel).map_err(|violations| format!("{violations:?}"))?;
    let target = Target::find(target).map_err(|error| error.to_string())?;
    module(&kernel, target, &|_| proc_macro2::Span::call_site()).map_err(messages)
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
