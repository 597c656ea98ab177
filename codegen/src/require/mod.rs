//! Contracts: `require(registers <= 64, …)`. What can be asked for, and whether it holds.
//!
//! One row of [`QUANTITIES`] for each quantity: what it is, which way a bound makes sense, and what is known of it on a target. A clause that
//! does not hold is an error at the clause, by how much, where, and because of what; one that cannot be decided is said to be undecided.
//! Registers, and occupancy that follows from them, are *estimates*, and texts say so with their interval; the estimate decides.

mod judge;
mod quantity;

pub use judge::judge;
pub use quantity::QUANTITIES;

use crate::estimate::{Estimate, Known};
use crate::ir::Loc;
use proc_macro2::Span;

/// Something that a contract can be about.
pub struct Quantity {
    /// Its name in `require(…)`.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Which way a bound makes sense.
    pub sense: Sense,
    /// A clause as an example.
    pub example: &'static str,
    /// The edit that helps where a clause does not hold.
    help: &'static str,
    /// What is known of it.
    figure: fn(&Known, &Estimate) -> Result<Figure, Open>,
    /// A distance to a bound in words: `8 too many`.
    distance: fn(f64) -> String,
}

/// Which way a bound makes sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sense {
    /// The more, the better.
    AtLeast,
    /// The fewer, the better.
    AtMost,
}

/// How a quantity is compared with its bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `>=`
    AtLeast,
    /// `>`
    Above,
    /// `<=`
    AtMost,
    /// `<`
    Below,
    /// `==`
    Equal,
}

impl Comparison {
    /// As it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            Comparison::AtLeast => ">=",
            Comparison::Above => ">",
            Comparison::AtMost => "<=",
            Comparison::Below => "<",
            Comparison::Equal => "==",
        }
    }

    /// Whether it fits a quantity of this sense.
    pub fn fits(self, sense: Sense) -> bool {
        match self {
            Comparison::AtLeast | Comparison::Above => sense == Sense::AtLeast,
            Comparison::AtMost | Comparison::Below => sense == Sense::AtMost,
            Comparison::Equal => true,
        }
    }

    fn holds(self, value: f64, bound: f64) -> bool {
        match self {
            Comparison::AtLeast => value >= bound,
            Comparison::Above => value > bound,
            Comparison::AtMost => value <= bound,
            Comparison::Below => value < bound,
            Comparison::Equal => value == bound,
        }
    }
}

/// A clause of a contract with its bound filled in.
#[derive(Clone, Copy)]
pub struct Clause {
    /// What it is about.
    pub quantity: &'static Quantity,
    /// How it is compared.
    pub comparison: Comparison,
    /// With what.
    pub bound: f64,
    /// The quantity's name in the source: where findings are shown.
    pub span: Span,
}

impl std::fmt::Display for Clause {
    /// `registers <= 64`
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {}", self.quantity.name, self.comparison.symbol(), self.bound)
    }
}

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
