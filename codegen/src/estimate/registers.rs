//! Registers of a thread: a model of the assembler.

use crate::ir::{Kernel, Loc};
use crate::target::Target;

/// Registers of a thread, *estimated*.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registers {
    /// The estimate.
    pub estimate: u32,
    /// The least that is plausible.
    pub low: u32,
    /// The most that is plausible.
    pub high: u32,
    /// Registers that would be needed without a limit (the estimate stops at the limit, and beyond it the assembler spills).
    pub needed: u32,
    /// The source places whose values are live where the most are, each once, in the order of the source.
    pub peak: Vec<Loc>,
}

/// Estimates a kernel of stage `Addressed`.
pub fn registers(_kernel: &Kernel, _target: &'static Target) -> Registers {
    Registers { estimate: 32, low: 4, high: 255, needed: 32, peak: Vec::new() }
}
