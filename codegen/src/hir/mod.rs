//! The typed tree of a kernel and its lowering to the IR.

use crate::diagnostic::Diagnostics;
use crate::ir::{Kernel, Loc};
use crate::syntax::{Instance, Program, UnitId};
use proc_macro2::Span;

/// A kernel in the IR (stage `Built`), with the spans behind its locations.
pub struct Lowered {
    /// The kernel.
    pub kernel: Kernel,
    /// For each location of the kernel, the span it was made from.
    pub spans: Vec<Span>,
}

impl Lowered {
    /// The span behind a location.
    pub fn span(&self, loc: Loc) -> Span {
        self.spans.get(loc.0 as usize).copied().unwrap_or_else(Span::call_site)
    }
}

/// Types and lowers one instance of the kernel `name` of `unit`.
pub fn lower_kernel(_program: &Program, _unit: UnitId, _name: &str, _instance: &Instance) -> Result<Lowered, Diagnostics> {
    Err(Diagnostics::new())
}
