//! The kernels of sorts: one that counts the digits of all passes, one for a pass.

use crate::staples::word::upto_lane;
use warpwright::Int;
use warpwright::prelude::*;
use warpwright::warp::{ballot, match_any};

/// A key's bits so that unsigned order is the order of the sort.
#[device]
pub fn ordered<W: Int, const KIND: u32, const DOWN: bool>(key: W) -> W {
    let sign = W::ONE << (W::BITS - 1);
    let up = if KIND == 1 {
        key ^ sign
    } else if KIND == 2 {
        if key & sign != W::ZERO { !key } else { key ^ sign }
    } else {
        key
    };
    if DOWN { !up } else { up }
}

/// The key that no other comes behind.
#[device]
pub fn last_key<W: Int, const KIND: u32, const DOWN: bool>() -> W {
    let low = W::MAX >> 1;
    if KIND == 0 {
        if DOWN { W::ZERO } else { W::MAX }
    } else if DOWN && KIND == 2 {
        W::MAX
    } else if DOWN {
        !low
    } else {
        low
    }
}

/// Digit number `pass`, 8 bits, of a key.
#[device]
pub fn digit<W: Int, const KIND: u32, const DOWN: bool>(key: W, pass: u32) -> usize {
    ((ordered::<W, KIND, DOWN>(key) >> (8 * pass)) as usize) & 255
}

/// The lanes that have the same digit. `MATCH`: by the instruction for it, or by a vote on each bit.
#[device]
pub fn peers<const MATCH: bool>(digit: u32) -> u32 {
    if MATCH {
        match_any(digit)
    } else {
        let mut same = 0xffff_ffffu32;
        #[unroll]
        for bit in 0..8u32 {
            let is_set = digit & (1u32 << bit) != 0;
            let votes = ballot(is_set);
            same &= if is_set { votes } else { !votes };
        }
        same
    }
}

/// Adds the counts of the digits of all passes to `counts`, 256 a pass. `R` counters for each in neighbouring banks: lane l takes l % R. Dynamic shared memory:
/// `PASSES · 256 · R` words.
#[kernel(block = B)]
pub fn count_digits<W: Int, const KIND: u32, const DOWN: bool, const PASSES: usize, const V: usize, const B: usize, const R: usize>(
    x: &Global<W>,
    counts: &mut Global<u32>,
) {
    #[shared(dynamic)]
    let mut local: [u32];
    let t = thread_idx().x;
    for k in (t..PASSES * 256 * R).step_by(B) {
        local[k] = 0;
    }
    sync_threads();
    let replica = lane_id() % R;
    let vectors = x.len() / V;
    #[unroll(2)]
    #[batch_loads]
    for v in (global_id().x..vectors).step_by(grid_dim().x * B) {
        let q = x.load::<V>(V * v);
        #[unroll]
        for j in 0..V {
            #[unroll]
            for pass in 0..PASSES {
                local.atomic_add((pass * 256 + digit::<W, KIND, DOWN>(q[j], pass as u32)) * R + replica, 1u32);
            }
        }
    }
    let rest = vectors * V + global_id().x;
    if rest < x.len() {
        #[unroll]
        for pass in 0..PASSES {
            local.atomic_add((pass * 256 + digit::<W, KIND, DOWN>(x[rest], pass as u32)) * R + replica, 1u32);
        }
    }
    sync_threads();
    for at in (t..PASSES * 256).step_by(B) {
        let mut all = 0u32;
        #[unroll]
        for r in 0..R {
            // Lanes begin at different replicas: different banks.
            all += local[at * R + (r + lane_id()) % R];
        }
        if all > 0 {
            counts.atomic_add(at, all);
        }
    }
}

/// What stands before thread t's of the first 256 threads' counts. `room` has a word for each warp. A barrier for all threads of the block.
#[device]
pub fn before_digit(count: u32, room: &mut [u32; 32]) -> u32 {
    let upto = upto_lane::<u32, 0, 0>(count);
    if lane_id() == 31 {
        room[warp_id()] = upto;
    }
    sync_threads();
    let mut front = upto - count;
    let own = warp_id();
    #[unroll]
    for w in 1..9usize {
        if w <= own {
            front += room[w - 1];
        }
    }
    front
}

/// A pass: `sorted` ← `keys` in the order of digit number `pass`, and values with them (`PAIRS`). A tile of `32 · WARPS · K` keys a block, 8 warps or more; dynamic shared memory: as many
/// words. `counts` has how many keys have each digit; the first tile leaves it zero. A cell of `digits` is a flag of 2 bits and a count: 1 a tile's own, 2 that of all
/// tiles up to it, of which `LOOK` are looked at at a time; in odd passes 3 and 0. So all cells are as good as zero behind the last pass, and nothing is cleared.
#[allow(clippy::too_many_arguments, reason = "keys, values, places of both, and what tiles tell each other are buffers of their own")]
#[kernel(block = 32 * WARPS, min_blocks = MB)]
pub fn sort_pass<
    W: Int,
    const KIND: u32,
    const DOWN: bool,
    const PAIRS: bool,
    const WARPS: usize,
    const K: usize,
    const MATCH: bool,
    const LOOK: usize,
    const MB: usize,
>(
    before: u32,
    pass: u32,
    n: usize,
    keys: &Global<W>,
    values: &Global<W>,
    sorted: &mut Global<W>,
    sorted_values: &mut Global<W>,
    counts: &mut Global<u32>,
    digits: &mut Global<u32>,
    tickets: &mut Global<u32>,
) {
    #[shared]
    let mut chosen: [u32; 1];
    #[shared]
    let mut room: [u32; 32];
    #[shared]
    let mut more_room: [u32; 32];
    #[shared]
    let mut local: [[u32; 256]; WARPS];
    #[shared]
    let mut offsets: [u32; 256];
    #[shared(dynamic)]
    let mut staged: [W];
    let (t, lane, warp) = (thread_idx().x, lane_id(), warp_id());
    if t == 0 {
        chosen[0] = tickets.atomic_add(0, 1u32).wrapping_sub(before);
    }
    #[unroll]
    for k in 0..8usize {
        local[warp][k * 32 + lane] = 0;
    }
    sync_threads();
    let tile = chosen[0] as usize;
    let first = tile * (32 * WARPS * K);
    let is_whole = first + 32 * WARPS * K <= n;
    let base = first + warp * (32 * K) + lane;
    let mut key = [last_key::<W, KIND, DOWN>(); K];
    if is_whole {
        #[unroll]
        #[batch_loads]
        for k in 0..K {
            key[k] = keys[base + k * 32];
        }
    } else {
        #[unroll]
        for k in 0..K {
            if base + k * 32 < n {
                key[k] = keys[base + k * 32];
            }
        }
    }
    // A key's place among those of its digit in the warp: those of earlier rounds, which `local` counts, and those of lanes below.
    let below = (1u32 << lane) - 1;
    let mut place = [0u32; K];
    #[unroll]
    for k in 0..K {
        let d = digit::<W, KIND, DOWN>(key[k], pass);
        let same = peers::<MATCH>(d as u32);
        let ahead = (same & below).count_ones();
        // All read before one writes, and it writes before any reads for the next round.
        let earlier = local[warp][d];
        sync_warp();
        if ahead == 0 {
            local[warp][d] = earlier + same.count_ones();
        }
        sync_warp();
        // With the digit above it: the compiler would keep that in registers of its own.
        place[k] = ((d as u32) << 16) + earlier + ahead;
    }
    sync_threads();
    let own_flag = (1 + 2 * (pass & 1)) << 30;
    let all_flag = (2 + 2 * (pass & 1)) << 30;
    let cell = tile * 256 + t;
    let mut total = 0u32;
    if t < 256 {
        #[unroll]
        for w in 0..WARPS {
            total += local[w][t];
        }
        if tile > 0 {
            digits.atomic_exchange(cell, own_flag | total);
        }
    }
    let start = before_digit(total, &mut room);
    if t < 256 {
        let mut run = start;
        #[unroll]
        for w in 0..WARPS {
            let count = local[w][t];
            local[w][t] = run;
            run += count;
        }
    }
    let mut front = 0u32;
    if tile == 0 {
        let mut all = 0u32;
        if t < 256 {
            all = counts[(pass as usize) * 256 + t];
            counts[(pass as usize) * 256 + t] = 0;
        }
        front = before_digit(all, &mut more_room);
        if t < 256 {
            digits.atomic_exchange(cell, all_flag | (front + total));
        }
    }
    sync_threads();
    let mut value = [W::ZERO; K];
    if PAIRS {
        if is_whole {
            #[unroll]
            #[batch_loads]
            for k in 0..K {
                value[k] = values[base + k * 32];
            }
        } else {
            #[unroll]
            for k in 0..K {
                if base + k * 32 < n {
                    value[k] = values[base + k * 32];
                }
            }
        }
    }
    #[unroll]
    for k in 0..K {
        place[k] = (place[k] & 0xffff) + local[warp][(place[k] >> 16) as usize];
        staged[place[k] as usize] = key[k];
    }
    if t < 256 {
        if tile > 0 {
            // `LOOK` tiles at a time; those before the first count as all, with nothing in them.
            let mut tiles = tile;
            let mut is_done = false;
            while !is_done {
                let mut words = [all_flag; LOOK];
                #[unroll]
                for q in 0..LOOK {
                    if tiles > q {
                        words[q] = digits.atomic_or((tiles - 1 - q) * 256 + t, 0u32);
                    }
                }
                #[unroll]
                for q in 0..LOOK {
                    if !is_done {
                        let mut word = words[q];
                        // Flags count from the pass's own: 0 the tile's own count, 1 that of all, others are of earlier passes.
                        while (word.wrapping_sub(own_flag) >> 30) > 1 {
                            word = digits.atomic_or((tiles - 1 - q) * 256 + t, 0u32);
                        }
                        front += word & 0x3fff_ffff;
                        is_done = (word.wrapping_sub(own_flag) >> 30) == 1;
                    }
                }
                tiles = tiles.wrapping_sub(LOOK);
            }
            digits.atomic_exchange(cell, all_flag | (front + total));
        }
        offsets[t] = front.wrapping_sub(start);
    }
    sync_threads();
    let mut to = [0u32; K];
    #[unroll]
    for k in 0..K {
        let i = k * (32 * WARPS) + t;
        if is_whole || first + i < n {
            let moved = staged[i];
            to[k] = offsets[digit::<W, KIND, DOWN>(moved, pass)].wrapping_add(i as u32);
            sorted[to[k] as usize] = moved;
        }
    }
    if PAIRS {
        sync_threads();
        #[unroll]
        for k in 0..K {
            staged[place[k] as usize] = value[k];
        }
        sync_threads();
        #[unroll]
        for k in 0..K {
            let i = k * (32 * WARPS) + t;
            if is_whole || first + i < n {
                sorted_values[to[k] as usize] = staged[i];
            }
        }
    }
}
