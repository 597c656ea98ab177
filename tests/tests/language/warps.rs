//! Exchanges where control flow is the same in a warp and differs between the warps of a block: nested conditions, loops with a trip count for
//! each warp, early returns of whole warps, labels, arms.

use crate::bench::{Bench, cases, small, words};
use warpwright::Num;
use warpwright::prelude::*;
use warpwright::warp::{all, any, ballot, match_any, shuffle, shuffle_down, shuffle_up, shuffle_xor};

cases!(
    nested_conditions,
    conditions_that_exchange,
    early_returns,
    returns_from_loops,
    labels,
    arms,
    types_under_guards,
    partial_warps,
    free_blocks,
    trapped_bounds,
    trapped_tiles,
    asserted_before_barriers,
    traps_that_barriers_follow,
    counted_loops,
    values_of_loops,
    barriers_after_returns,
    ordered_by_the_warp,
    divisions_stay_guarded,
    counted_loops_in_loops_that_warps_leave,
);

#[kernel(block = 160)]
fn nest(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let v = x[i];
    let w = warp_id() as u32;
    let mut r = 0;
    if w != 2 {
        r += warp_sum(v % 100);
        if w % 2 == 0 {
            r ^= shuffle_xor(v, 3);
            if all(v < 1000) {
                r += 7;
            } else if w == 4 && any(v % 2 == 0) {
                r += ballot(v % 3 == 1);
            }
        } else {
            if lane_id() < 9 {
                r += v / 3;
            }
            r += warp_max(r % 1000);
        }
        r += shuffle(r, 31);
    } else {
        y[i] = 5;
    }
    y[i] += r;
}

fn nested_conditions(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(nest, &small(320), 1).map(drop)
}

#[kernel(block = 96)]
fn until_all_are_done(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let mut v = x[i] % 50 * (warp_id() as u32 + 1);
    let mut rounds = 0u32;
    while any(v > 7) {
        v = if v > 7 { v - v / 3 - 1 } else { v };
        rounds += 1;
    }
    let mut w = x[i];
    let turns = loop {
        let others = shuffle_down(w, 1);
        w = (w >> 1) ^ (others & 1);
        rounds += 100;
        if all(w < 4) || rounds > 10_000 {
            break rounds / 100;
        }
    };
    y[i] = v + rounds * 64 + turns;
}

fn conditions_that_exchange(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(until_all_are_done, &words(288), 1).map(drop)
}

#[kernel(block = 128)]
fn leave_early(n: u32, x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let warp = (i / 32) as u32;
    if warp >= n {
        return;
    }
    let mut r = warp_min(x[i]);
    if warp % 3 == 2 {
        y[i] = r;
        return;
    }
    r += ballot(x[i] % 2 == 1).count_ones();
    if r == u32::MAX {
        return;
    }
    y[i] = shuffle_up(r + x[i], 1);
}

fn early_returns(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let x = b.device.upload(&words(256))?;
    for n in [0, 1, 5, 8] {
        let mut y = b.device.zeros::<u32>(256)?;
        b.go(leave_early(n, &x, &mut y).cover(256))?;
        b.keep(&y)?;
    }
    Ok(())
}

#[kernel(block = 128)]
fn search(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let mut k = 0u32;
    y[i] = 999;
    while k < 20 {
        let v = x[(i + 32 * k as usize) % x.len()];
        for bit in 0..=warp_id() as u32 {
            let votes = ballot(v >> bit & 1 == 1);
            if votes.count_ones() > 21 {
                y[i] = k * 100 + bit;
                return;
            }
            if votes.count_ones() == 16 {
                break;
            }
        }
        k += 1;
    }
    y[i] += warp_max(k);
}

fn returns_from_loops(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(search, &words(384), 1).map(drop)
}

#[kernel(block = 96)]
fn leave_by_labels(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let w = warp_id() as u32;
    let mut r = x[i] % 1000;
    let mut steps = 0;
    'rows: for row in 0..6u32 {
        let found = 'found: {
            if row == w {
                break 'found 3;
            }
            let sum = warp_sum(r % 16);
            if sum % 5 == 0 {
                break 'found sum;
            }
            let mut k = 0;
            while k < row + w {
                k += 1;
                r += shuffle_xor(r, k) % 7;
                if all(r % 2 == 0) {
                    continue 'rows;
                }
                if any(r % 61 == 60) {
                    break 'rows;
                }
                if w == 1 && k == 2 {
                    break 'found r;
                }
            }
            sum + 1
        };
        r = r % 500 + found;
        steps += 1;
    }
    y[i] = r * 16 + steps;
}

fn labels(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(leave_by_labels, &words(288), 1).map(drop)
}

#[kernel(block = 160)]
fn by_arm(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let v = x[i];
    y[i] = match warp_id() {
        0 => warp_sum(v),
        1 | 2 => shuffle(v, warp_id() * 3) + 1,
        w if all(v > 3 + w as u32) => ballot(v % 2 == 0),
        3 => {
            let m = warp_max(v);
            m - warp_min(v)
        }
        _ => v,
    };
}

fn arms(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(by_arm, &small(320), 1).map(drop)
}

#[device]
fn folded<T: Num>(v: T, w: T) -> T {
    warp_max(v) + warp_min(w) + shuffle_xor(v, 5) + warp_sum(w)
}

#[kernel(block = 64, contract = false)]
fn of_types(x: &Global<u32>, y: &mut Global<u64>) {
    let i = global_id().x;
    let v = (x[i] % 16) as u8;
    if i / 32 % 2 == 0 {
        let mut at = 11 * i;
        y[at] = folded(v as i8 % 2, 1 - v as i8 % 3) as u64;
        y[at + 1] = folded(v, v / 4) as u64;
        y[at + 2] = folded(v as i16 * 9, v as i16 - 4) as u64;
        y[at + 3] = folded(v as u16 * 9, v as u16) as u64;
        y[at + 4] = folded(v as i32 - 8, v as i32 * -3) as u64;
        y[at + 5] = folded((v as i64) << 33, -(v as i64) << 40) as u64;
        y[at + 6] = folded((v as u64) << 55, (v as u64) << 31);
        at += 7;
        y[at] = folded(v as f16, f16::ONE).to_bits() as u64;
        y[at + 1] = folded(v as bf16, v as bf16).to_bits() as u64;
        y[at + 2] = folded(v as f32 * 0.5, -(v as f32)).to_bits() as u64;
        y[at + 3] = folded(v as f64 * 0.125, v as f64 * 1e9).to_bits();
    }
}

fn types_under_guards(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(of_types, &words(128), 11).map(drop)
}

#[kernel(block = 72)]
fn with_a_rest(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    if warp_id() != 1 {
        // The last warp has eight lanes.
        let sum = warp_sum(x[i] % 64);
        let votes = ballot(x[i] % 2 == 0) + match_any(x[i] % 3);
        let up = shuffle_up(x[i], 2);
        y[i] = sum + votes + up + all(x[i] < u32::MAX) as u32;
    }
}

fn partial_warps(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(with_a_rest, &words(144), 1).map(drop)
}

#[kernel]
fn any_block(limit: u32, x: &Global<u32>, y: &mut Global<u32>) {
    let t = thread_idx();
    let d = block_dim();
    let i = (block_idx().x * d.y + t.y) * d.x + t.x;
    let warp = (t.y * d.x + t.x) as u32 / 32;
    if warp < limit {
        y[i] = warp_sum(x[i] % 32) + warp_max(x[i] % 77);
    }
}

fn free_blocks(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let x = b.device.upload(&words(256))?;
    for (block, limit) in [((64u32, 2u32), 3), ((40, 1), 1), ((16, 8), 2), ((50, 2), 4)] {
        let mut y = b.device.zeros::<u32>(256)?;
        b.go(any_block(limit, &x, &mut y).grid(2).block(block))?;
        b.keep(&y)?;
    }
    Ok(())
}

#[kernel(block = 64, bounds = trap)]
fn trapped(n: usize, x: &Global<u32>, y: &mut Global<u32>) {
    let row = global_id().x / 32;
    if row < n {
        let mut sum = 0;
        for k in 0..row {
            let v = x[k * 32 + lane_id()];
            assert!(v != 12345, "never");
            sum += warp_sum(v % 10);
        }
        y[row * 32 + lane_id()] = sum;
    }
}

fn trapped_bounds(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let x = b.device.upload(&small(160))?;
    let mut y = b.device.zeros::<u32>(160)?;
    b.go(trapped(5, &x, &mut y).grid(4))?;
    b.keep(&y).map(drop)
}

#[kernel(block = 64, bounds = trap)]
fn tiles(n: usize, x: &Global<u32>, y: &mut Global<u32>) {
    #[shared]
    let mut tile: [u32; 64];
    let t = thread_idx().x;
    let mut sum = 0;
    for part in 0..n {
        tile[t] = x[part * 64 + t];
        sync_threads();
        for k in 0..t % 5 {
            sum = sum * 3 + tile[(t + k) % 64];
        }
        sync_threads();
        if t >= 32 {
            sum += warp_max(tile[t] % 7);
        }
    }
    y[global_id().x] = sum;
}

fn trapped_tiles(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let x = b.device.upload(&words(192))?;
    for n in [0, 1, 3] {
        let mut y = b.device.zeros::<u32>(128)?;
        b.go(tiles(n, &x, &mut y).grid(2))?;
        b.keep(&y)?;
    }
    Ok(())
}

#[kernel(block = 64)]
fn checked_first(limit: u32, x: &Global<u32>, y: &mut Global<u32>) {
    #[shared]
    let mut tile: [u32; 64];
    let t = thread_idx().x;
    let i = global_id().x;
    let v = x[i];
    assert!(v <= limit, "too large");
    tile[t] = v;
    sync_threads();
    let other = tile[t ^ 1];
    if t >= 32 {
        y[i] = other;
        assert!(other <= limit);
    }
}

fn asserted_before_barriers(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let x = b.device.upload(&words(128))?;
    let mut y = b.device.zeros::<u32>(128)?;
    b.go(checked_first(u32::MAX, &x, &mut y).cover(128))?;
    b.keep(&y)?;
    // Some threads stop before the barrier: the launch fails, and ends.
    b.stops(checked_first(1000, &x, &mut y).cover(128), "too large");
    Ok(())
}

#[kernel(block = 64)]
fn chosen(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let v = match x[i] % 3 {
        0 => 10,
        1 => x[i] / 2,
        2 => 7,
        _ => panic!("never"),
    };
    let count = sync_threads_count(v > 9);
    if i % 64 >= 32 {
        y[i] = warp_sum(v % 100) + count;
    } else {
        y[i] = count;
    }
}

fn traps_that_barriers_follow(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(chosen, &words(128), 1).map(drop)
}

#[kernel(block = 128)]
fn count(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let w = warp_id();
    let mut r = x[i] % 100;
    if w > 0 {
        // The same rounds in all warps.
        for k in 0..5u32 {
            r += shuffle_xor(r, 1 << k) % 9;
        }
        // Rounds by the warp: up, down, in steps, to the end of a type.
        for k in 0..w {
            r += shuffle(r, k) % 5;
        }
        for k in (0..=w as i8).rev().step_by(2) {
            r += warp_max(r % 50) + k as u32;
        }
        for k in 250 + w as u8..=255 {
            r += ballot(r % 2 == 0).count_ones() + k as u32;
        }
        for k in (i64::MAX - 3 * w as i64..i64::MAX).step_by(2) {
            r = r % 10_000 + shuffle_down(r, 3) % 3 + (k % 7) as u32;
        }
        for k in w..2 {
            if k == 1 && all(r > 0) {
                continue;
            }
            r += 3;
        }
    }
    y[i] = r;
}

fn counted_loops(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(count, &words(256), 1).map(drop)
}

#[kernel(block = 96)]
fn carry(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let w = warp_id() as u32;
    let (mut a, mut b) = (x[i] % 97, w);
    let mut k = 0;
    // Swapped round by round, and left with what they are then.
    let (last, kind) = loop {
        (a, b) = (b + 1, a);
        if any(b == 40 + w) {
            break (a + b, 1u32);
        }
        let sum = warp_sum(a % 4);
        if sum % 11 == 10 {
            break (sum, 2);
        }
        k += 1;
        if k > 3 + w {
            break (a, 3);
        }
    };
    y[i] = last * 1000 + kind * 100 + k + a + b;
}

fn values_of_loops(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(carry, &words(192), 1).map(drop)
}

#[kernel(block = 128)]
fn go_on_without(n: usize, x: &Global<u32>, y: &mut Global<u32>) {
    #[shared]
    let mut sums: [u32; 4];
    let i = global_id().x;
    let w = warp_id();
    if w >= n {
        return;
    }
    let sum = warp_sum(x[i] % 128);
    if lane_id() == 0 {
        sums[w] = sum;
    }
    sync_threads();
    let mut all_of_them = 0;
    for k in 0..n {
        all_of_them += sums[k];
    }
    y[i] = all_of_them + sync_threads_count(x[i] % 2 == 0) + sync_threads_and(x[i] < 5) as u32;
}

fn barriers_after_returns(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let x = b.device.upload(&small(256))?;
    for n in [1, 3, 4] {
        let mut y = b.device.zeros::<u32>(256)?;
        b.go(go_on_without(n, &x, &mut y).grid(2))?;
        b.keep(&y)?;
    }
    Ok(())
}

#[kernel(block = 96)]
fn through_shared(x: &Global<u32>, y: &mut Global<u32>) {
    #[shared]
    let mut rows: [[u32; 32]; 3];
    let i = global_id().x;
    let (w, lane) = (warp_id(), lane_id());
    if w != 1 {
        for round in 0..=w {
            rows[w][lane] = x[i] + round as u32;
            sync_warp();
            let other = rows[w][31 - lane];
            sync_warp();
            y[i] += other;
        }
    }
}

fn ordered_by_the_warp(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(through_shared, &small(192), 1).map(drop)
}

#[kernel(block = 64)]
fn divide(x: &Global<u32>, at: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let d = x[i / 32];
    // Where the divisor is zero and the place is none, nobody divides or reads.
    if d != 0 {
        let part = 1000 / d;
        let there = at[d as usize + part as usize % 2];
        y[i] = warp_sum(part) + shuffle_xor(there, 1) % d;
    }
}

fn divisions_stay_guarded(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let x = b.device.upload(&[3u32, 0, 7, 0, 0, 1])?;
    let at = b.device.upload(&words(9))?;
    let mut y = b.device.zeros::<u32>(192)?;
    b.go(divide(&x, &at, &mut y).grid(3))?;
    b.keep(&y).map(drop)
}

/// The `for` is the same for all, what stands around it and in it is not: warps that have left the outer loop are still known behind it.
#[kernel(block = 160)]
fn counted_inside(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let w = warp_id() as u32;
    let v = x[i] % 100;
    let mut left = w + 1;
    let mut r = 0;
    let out = loop {
        r += warp_sum(v + left);
        if left == 3 && w == 3 {
            break r ^ 5;
        }
        #[unroll(1)]
        for k in 0..3u32 {
            let mut n = w % 3 + k;
            while n > 0 {
                r = r * 3 + warp_max(v ^ n);
                n -= 1;
            }
        }
        left -= 1;
        if left == 0 {
            break r;
        }
        r ^= ballot(v % 2 == left % 2);
    };
    y[i] = out;
}

fn counted_loops_in_loops_that_warps_leave(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(counted_inside, &small(320), 1).map(drop)
}
