//! One launch where there would be two: the block that is done last goes on with what the others left. Blocks take tickets, which count on from launch to launch.

use super::word::{combine, identity, over_block};
use warpwright::Int;
use warpwright::prelude::*;

/// Whether all other blocks of the launch are done: then what they wrote before they asked is there to read. One thread of each block asks, once.
#[device]
pub fn is_last_block(before: u32, tickets: &mut Global<u32>) -> bool {
    fence_device();
    let ticket = tickets.atomic_add(0, 1u32);
    fence_device();
    ticket.wrapping_sub(before) as usize + 1 == grid_dim().x
}

/// `out[0]` ← ⊕ of all threads' values of the grid, with blocks of `B` threads: the last block to finish combines the blocks' `partials`.
#[device]
pub fn over_grid<W: Int, const KIND: u32, const OP: u32, const B: usize>(
    v: W,
    before: u32,
    partials: &mut Global<W>,
    tickets: &mut Global<u32>,
    out: &mut Global<W>,
    room: &mut [W; 32],
    is_last: &mut [bool; 1],
) {
    let (t, blocks) = (thread_idx().x, grid_dim().x);
    let whole = over_block::<W, KIND, OP, B>(v, room);
    if t == 0 {
        partials[block_idx().x] = whole;
        is_last[0] = is_last_block(before, tickets);
    }
    sync_threads();
    if is_last[0] {
        let mut rest = identity::<W, KIND, OP>();
        for b in (t..blocks).step_by(B) {
            rest = combine::<W, KIND, OP>(rest, partials[b]);
        }
        let all = over_block::<W, KIND, OP, B>(rest, room);
        if t == 0 {
            out[0] = all;
        }
    }
}
