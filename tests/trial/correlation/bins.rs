//! Bins of a histogram whose edges fall.

use warpwright::prelude::*;

pub const BINS: usize = 20;
pub const WARPS: usize = 8;

/// The bin of a cosine: edges fall, the first is 1.
#[device]
pub fn bin_of(edges: &Constant<[f32; BINS]>, dot: f32) -> usize {
    let (mut low, mut high) = (0, BINS);
    while high > low + 1 {
        let middle = (low + high) / 2;
        if dot >= edges[middle] {
            high = middle;
        } else {
            low = middle;
        }
    }
    low
}
