//! GPUVerify's cases (`testsuite`): a choice of those that are about races, divergence, bounds and assertions. docs/faults.md says how it was made, and which groups are left out.

mod cuda;
mod memory;
mod order;
mod places;

use super::Published;

/// The cases, file by file.
pub const GPUVERIFY: &[&[Published]] = &[cuda::CUDA, memory::MEMORY, order::ORDER, places::PLACES];
