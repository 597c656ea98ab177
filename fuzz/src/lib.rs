//! Random kernels over the whole language, and who runs them.
//!
//! `random` is what all generators draw from, and what makes failing cases smaller; `random_kernels` makes kernels of IR; `source` makes kernels as people write them.
//! `executions` answers what a kernel's buffers hold after a launch, one file for each who says so; `campaign` asks them about many.

pub mod campaign;
pub mod check;
pub mod executions;
pub mod mutations;
pub mod random;
pub mod random_kernels;
pub mod source;
