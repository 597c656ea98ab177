//! The passes, in the order they run.

use crate::ir::Kernel;

/// A pass: its name (the file's, the dump's, `--after`'s) and what runs it. Returns whether it changed anything.
pub struct Pass {
    /// One name everywhere.
    pub name: &'static str,
    /// Runs it.
    pub run: fn(&mut Kernel) -> bool,
}

/// From `Scheduled` to `Legal`: for every back end.
pub const OPTIMIZE: &[Pass] = &[];

/// From `Legal` to `Addressed`: for PTX.
pub const ADDRESS: &[Pass] = &[];
