// test ptx sm_90
// test ptx sm_80
//! Bands of clusters, in rounds: blocks are numbered cluster after cluster, and the device starts them in a row.
use warpwright::prelude::*;

#[kernel(block = 64, cluster = (2, 3), persistent, raster(rows = 6))]
pub fn placed(y: &mut Global<u32>) {
    y[(block_idx().y * grid_dim().x + block_idx().x) * 64 + thread_idx().x] = cluster_rank() as u32;
}
