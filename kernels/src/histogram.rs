//! Histogram of bytes: counted in shared memory first, then added to the result once per block.

use warpwright::prelude::*;

/// Number of bins.
pub const BINS: usize = 256;

/// Adds the counts of `values` to `bins`. Blocks of 256 threads, one per bin when the block's counts are added up.
#[kernel(block = BINS)]
pub fn histogram(values: &Global<u8>, bins: &mut Global<u32>) {
    #[shared]
    let mut local: [u32; BINS];
    let t = thread_idx().x;
    local[t] = 0;
    sync_threads();
    for i in (global_id().x..values.len()).step_by(grid_dim().x * block_dim().x) {
        local.atomic_add(values[i] as usize, 1);
    }
    sync_threads();
    if local[t] > 0 {
        bins.atomic_add(t, local[t]);
    }
}

/// Reference.
pub fn reference(values: &[u8]) -> Vec<u32> {
    let mut bins = vec![0; BINS];
    for value in values {
        bins[usize::from(*value)] += 1;
    }
    bins
}
