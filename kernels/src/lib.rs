//! [`staples`] is a library to be called: reductions, scans, selections, sorts, histograms, transposes, softmax, norms, products, as functions on buffers.
//!
//! All other modules are kernels that show warpwright at work. Each file holds one kernel or family: the source, and a plain-Rust reference it is tested
//! against on every device.

pub mod aat;
pub mod ab;
pub mod access;
pub mod ahead;
pub mod apps;
pub mod automaton;
pub mod complex;
pub mod copy;
pub mod dot;
pub mod experiments;
pub mod functions;
pub mod halo;
pub mod histogram;
pub mod life;
pub mod mandelbrot;
pub mod matmul;
pub mod reduce;
pub mod rows;
pub mod saxpy;
pub mod shortcut;
// Tested from outside, in `tests/tests/staples`: the unit tests here would have all of it compiled once more.
#[cfg(not(test))]
pub mod staples;
pub mod stencil;
pub mod structures;
pub mod throughput;
pub mod tiles;
pub mod transpose;

// What macros of this crate name where they are used.
#[doc(hidden)]
pub use warpwright;
