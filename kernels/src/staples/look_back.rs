//! Decoupled look-back (Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", 2016): what stands before a tile, found while other
//! tiles run.
//!
//! A tile tells its own sum, then looks back over the tiles before it: those whose own sum is known are added, up to one that knows the sum of all up to it.
//! A state is one `u64`: a sum of 32 bits low, a flag high, 2 · epoch + 1 for the tile's own sum, 2 · epoch + 2 for that of all tiles up to it. Flags of earlier
//! epochs say nothing, so that nothing is cleared between launches. A sum of 64 bits does not fit beside a flag: it lies in `sums`, the tile's own at 2 · tile, that
//! of all up to it at 2 · tile + 1, between two fences. States are read and written by atomics only. Tiles are numbered by tickets, so that a tile waits only for
//! blocks that have begun.

use super::word::{combine, identity, over_warp};
use warpwright::Int;
use warpwright::prelude::*;
use warpwright::warp::ballot;

/// The tile of a block: its ticket less those of launches before. One thread asks.
#[device]
pub fn take_tile(before: u32, tickets: &mut Global<u32>) -> u32 {
    tickets.atomic_add(0, 1u32).wrapping_sub(before)
}

/// Tells what a tile has: its `own` sum, or that of all `upto` it.
#[device]
pub fn tell<W: Int>(tile: usize, epoch: u32, is_all: bool, v: W, states: &mut Global<u64>, sums: &mut Global<W>) {
    let flag = if is_all { 2 * epoch + 2 } else { 2 * epoch + 1 };
    if W::BITS == 64 {
        sums[2 * tile + is_all as usize] = v;
        fence_device();
        states.atomic_exchange(tile, (flag as u64) << 32);
    } else {
        states.atomic_exchange(tile, ((flag as u64) << 32) | v as u64);
    }
}

/// ⊕ of all tiles before this one, which has told its `own` sum, or as good as all with it (`is_all`: the first tile, or one whose own sum is what those behind
/// it need); if not, tells that of all up to it. For all lanes of one warp, in every lane.
#[device]
pub fn look_back<W: Int, const KIND: u32, const OP: u32>(
    tile: usize,
    epoch: u32,
    own: W,
    is_all: bool,
    states: &mut Global<u64>,
    sums: &mut Global<W>,
) -> W {
    let lane = lane_id();
    let mut front = identity::<W, KIND, OP>();
    if tile > 0 {
        // Lane l looks at tile - 1 - l; those before the first tile count as finished, with nothing in them.
        let told = 2 * epoch + 1;
        let mut at = tile as i32 - 1 - lane as i32;
        loop {
            let mut flag = told + 1;
            let mut v = identity::<W, KIND, OP>();
            if at >= 0 {
                let mut word = states.atomic_or(at as usize, 0u64);
                while ((word >> 32) as u32) < told {
                    word = states.atomic_or(at as usize, 0u64);
                }
                flag = (word >> 32) as u32;
                if W::BITS == 64 {
                    fence_device();
                    v = sums[2 * at as usize + (flag - told) as usize];
                } else {
                    v = word as W;
                }
            }
            sync_warp();
            let finished = ballot(flag > told);
            let nearest = if finished == 0 { 31 } else { finished.trailing_zeros() };
            let part = if lane as u32 <= nearest { v } else { identity::<W, KIND, OP>() };
            front = combine::<W, KIND, OP>(over_warp::<W, KIND, OP>(part), front);
            if finished != 0 {
                break;
            }
            at -= 32;
        }
        if lane == 0 && !is_all {
            tell::<W>(tile, epoch, true, combine::<W, KIND, OP>(front, own), states, sums);
        }
    }
    front
}
