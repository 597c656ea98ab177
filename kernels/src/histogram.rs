//! Histograms, counted in shared memory first and then added to the result: of bytes in that of a block, of more bins than that holds in that of a cluster.

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

/// Adds the counts of `values`, all below `C * OWN`, to as many `bins`. The blocks of a cluster have `OWN` of them each, in 4 · `OWN` bytes of shared memory, and count wherever a value
/// belongs. 65,536 bins are 256 KiB, which no block has; atomics in global memory are what is left without clusters.
#[kernel(block = 256, cluster = C, targets = [sm_90], allow(low_occupancy), variants((C, OWN) in [(1, 8192), (2, 32768), (4, 16384), (8, 8192)]))]
pub fn histogram_in_cluster<const C: usize, const OWN: usize>(values: &Global<u16>, bins: &mut Global<u32>) {
    #[shared]
    let mut own: [u32; OWN];
    let t = thread_idx().x;
    for i in (t..OWN).step_by(block_dim().x) {
        own[i] = 0;
    }
    cluster_sync();
    for i in (global_id().x..values.len()).step_by(grid_dim().x * block_dim().x) {
        let bin = values[i] as usize;
        shared_of_mut(&mut own, bin / OWN).atomic_add(bin % OWN, 1);
    }
    cluster_sync();
    for i in (t..OWN).step_by(block_dim().x) {
        if own[i] > 0 {
            bins.atomic_add(cluster_rank() * OWN + i, own[i]);
        }
    }
}

/// Reference of [`histogram_in_cluster`].
pub fn reference_of_words(values: &[u16], bins: usize) -> Vec<u32> {
    let mut counts = vec![0; bins];
    for value in values {
        counts[usize::from(*value)] += 1;
    }
    counts
}

/// Reference of [`histogram`].
pub fn reference(values: &[u8]) -> Vec<u32> {
    let mut bins = vec![0; BINS];
    for value in values {
        bins[usize::from(*value)] += 1;
    }
    bins
}
