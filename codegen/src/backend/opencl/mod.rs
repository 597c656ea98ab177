//! OpenCL C.

use super::Emitted;
use crate::diagnostic::Diagnostics;
use crate::ir::{Kernel, Loc};
use proc_macro2::Span;

/// Prints a `Legal` kernel as OpenCL C 1.2. `span` gives the source span behind a location, for refusals.
pub fn emit_opencl(_kernel: &Kernel, _span: &dyn Fn(Loc) -> Span) -> Result<Emitted, Diagnostics> {
    Err(Diagnostics::new())
}
