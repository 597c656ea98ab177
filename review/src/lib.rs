//! What is known of a kernel before it runs, and what is worth changing in it: estimates, requirements, lints.
//!
//! The macro and the command call this crate; a program that only launches kernels does without it. It reads files through a function
//! that is handed in, and has no other I/O, no environment and no global state. [`review()`] is where the macro and the command come in: a kernel with
//! all its variants on all its targets. `crates` finds what the kernel's source names elsewhere, `estimate` says what a variant will cost, `require` whether what the source
//! requires holds, `lint` what is worth changing, `report` all that is known of it. `ARCHITECTURE.md` at the root of the repository is the map.

pub mod crates;
pub mod estimate;
pub mod lint;
pub mod machine;
pub mod manifest;
pub mod report;
pub mod require;
mod review;

pub use review::{Look, OfLaunch, ReviewScope, ReviewedVariant, required_is_open, review, review_launched};

/// The version, and a number of the source of this crate and the compiler: builds that may find different things in a kernel have different ones.
pub const BUILD: &str = env!("WARPWRIGHT_BUILD");
