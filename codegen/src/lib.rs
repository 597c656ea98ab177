//! The warpwright compiler: Rust syntax in; PTX, OpenCL C and diagnostics out.
//!
//! A pure library: no I/O, no environment, no global state. The macro, the command-line tool and the runtime call the same
//! functions. `syntax` reads, `hir` types, `ir` is structured SSA, `schedule` keeps the annotations' promises, `passes`
//! optimise, `backend` prints. What is known of a kernel before it runs is the crate `warpwright-review`'s. `ARCHITECTURE.md` at the root of
//! the repository is the map.

pub mod analysis;
pub mod annotations;
pub mod backend;
pub mod collections;
pub mod diagnostic;
pub mod hir;
pub mod intrinsics;
pub mod ir;
pub mod library;
pub mod math;
pub mod nearest;
pub mod parallel;
pub mod passes;
pub mod pipeline;
pub mod schedule;
pub mod syntax;
pub mod target;
pub mod text;
pub mod verify;
