//! From tokens to checked syntax: the attributes, the Rust subset, the names a kernel takes from outside.
//!
//! Everything here works on `syn` trees and knows no types. A refusal has a span and a way out, and all of them are collected.

mod attributes;
mod free_paths;
mod options;
mod program;
mod subset;

pub use attributes::{KernelAttributes, LetAttributes, LoopAttributes, SharedAttribute, Variants};
pub use free_paths::{FreePath, FreePathKind, free_paths};
pub use options::{Bounds, IndexWidth, KernelOptions, Math};
pub use program::{ConstValue, Extern, GenericValue, Instance, Program, Unit, UnitId};
pub use subset::check_subset;
