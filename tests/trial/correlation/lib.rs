//! Histograms of the distances between points on a sphere: bins found by a binary search in constant memory, a histogram for each warp in shared memory, merged by a few
//! threads at the end; points as a structure of arrays.

pub mod bins;

use bins::{BINS, WARPS, bin_of};
use warpwright::prelude::*;

pub const POINTS: usize = 256;

/// A block takes 256 points and walks all, a tile at a time.
#[kernel(block = 256)]
pub fn correlate(edges: &Constant<[f32; BINS]>, x: &Global<f32>, y: &Global<f32>, z: &Global<f32>, counts: &mut Global<u32>) {
    #[shared]
    let mut histograms: [[u32; BINS]; WARPS];
    #[shared]
    let mut tile: [[f32; POINTS]; 3];
    let t = thread_idx().x;
    let mut k = t;
    while k < BINS * WARPS {
        histograms[k / BINS][k % BINS] = 0;
        k += POINTS;
    }
    let i = global_id().x;
    let (px, py, pz) = (x[i], y[i], z[i]);
    for first in (0..x.len()).step_by(POINTS) {
        sync_threads();
        tile[0][t] = x[first + t];
        tile[1][t] = y[first + t];
        tile[2][t] = z[first + t];
        sync_threads();
        for j in 0..POINTS {
            let dot = px * tile[0][j] + py * tile[1][j] + pz * tile[2][j];
            let bin = bin_of(edges, dot);
            histograms[warp_id()].atomic_add(bin, 1);
        }
    }
    sync_threads();
    if t < BINS {
        let mut sum = 0;
        for w in 0..WARPS {
            sum += histograms[w][t];
        }
        counts.atomic_add(t, sum);
    }
}
