//! Where a thread stands is `usize` in the source, also where `index = 64` makes that wider than what the device says.
// test rust
use warpwright::prelude::*;

#[kernel(index = 64)]
pub fn positions_in_64_bits(n: u32, x: &mut Global<u32>) {
    let i = global_id().x;
    if i < x.len() {
        x[i] = n % ((block_idx().x as u32 & 15) + 1) + lane_id() as u32 * warp_id() as u32;
    }
}
