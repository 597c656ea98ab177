//! The experiments of VSCSE 2009, lecture 5 ("Performance tuning"), and of NVIDIA's OpenCL best practices guide 1.0 that are no program by themselves: one file each, with
//! the kernels that are set against each other and a reference in plain Rust. Where a document advises against a form, the lint that says so is allowed on it, and
//! fires without that. [`transfers`] is about the host's side; [`timed`] runs all others.
//!
//! Their integers are exact on every device, so that what differs between two forms is time alone.

pub mod brake;
pub mod cliff;
pub mod constants;
pub mod divergence;
pub mod instructions;
pub mod timed;
pub mod transfers;
pub mod walks;
