//! PTX.

use super::Emitted;
use crate::diagnostic::Diagnostics;
use crate::ir::{Kernel, Loc};
use crate::target::Target;
use proc_macro2::Span;

/// Prints an `Addressed` kernel for `target`. `span` gives the source span behind a location, for refusals.
pub fn emit_ptx(_kernel: &Kernel, _target: &Target, _span: &dyn Fn(Loc) -> Span) -> Result<Emitted, Diagnostics> {
    Err(Diagnostics::new())
}
