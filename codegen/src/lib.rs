//! The warpwright compiler: Rust syntax in; PTX, OpenCL C and diagnostics out.
//!
//! A pure library: no I/O, no environment, no global state. The macro, the command-line tool and the runtime call the same
//! functions. `syntax` reads, `hir` types, `ir` is structured SSA, `schedule` keeps the annotations' promises, `passes`
//! optimise, `backend` prints;
//! `estimate` knows what a kernel will cost, and `lint` says what is worth changing. `ARCHITECTURE.md` at the root of the repository is the map.

pub mod analysis;
pub mod backend;
mod collections;
pub mod crates;
pub mod diagnostic;
pub mod estimate;
pub mod hir;
pub mod intrinsics;
pub mod ir;
pub mod lint;
pub mod manifest;
pub mod math;
mod parallel;
pub mod passes;
pub mod report;
pub mod require;
pub mod review;
pub mod schedule;
pub mod syntax;
pub mod target;
pub mod verify;

/// The version, and a number of the compiler's own source: builds that may find different things in a kernel have different ones.
pub const BUILD: &str = env!("WARPWRIGHT_BUILD");
