//! `require(registers <= 64, …)`: whether it holds.
//!
//! A clause that does not hold is an error at the clause, by how much, where, and because of what; one that cannot be decided is said to be
//! undecided. Registers, and occupancy that follows from them, are *estimates*, and texts say so with their interval; the estimate decides.

mod judge;
mod quantity;

pub use judge::judge;

use warpwright_codegen::ir::Loc;

/// What is known of a quantity on a target.
#[derive(Clone, Debug, PartialEq)]
struct Figure {
    /// The least it can be; for an estimate, the estimate.
    least: f64,
    /// The most it can be; for an estimate, the estimate.
    most: f64,
    /// It in words: `72 registers (estimated, 64 to 80)`.
    text: String,
    /// What makes it so.
    causes: Vec<(Loc, String)>,
    /// Whether it is of the target; else it is the same on all.
    of_target: bool,
}

/// Why nothing can be said.
#[derive(Clone, Debug, PartialEq)]
struct Open {
    reason: String,
    place: Option<(Loc, String)>,
    help: String,
}
