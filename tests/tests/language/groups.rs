//! Warps and blocks: geometry, shuffles, votes, reductions, barriers, fences.

use crate::bench::{Bench, cases, small, tame, words};
use warpwright::Num;
use warpwright::prelude::*;
use warpwright::warp::{all, any, ballot, match_any, shuffle, shuffle_down, shuffle_up, shuffle_xor};

cases!(
    geometry,
    shuffles,
    shuffles_of_types,
    votes,
    matches,
    warp_reductions,
    warp_reductions_of_types,
    block_reductions,
    block_reductions_of_types,
    barriers_that_count,
    fences,
    scan_of_a_warp,
    butterflies,
    uneven_blocks,
    reductions_in_loops,
    free_blocks,
    lanes_in_branches,
);

#[kernel(block = (8, 4, 2))]
fn where_am_i(y: &mut Global<u32>) {
    let t = thread_idx();
    let Dim3 { x, y: row, z } = block_idx();
    let d = block_dim();
    let g = grid_dim();
    let id = global_id();
    let width = g.x * d.x;
    let height = g.y * d.y;
    let i = (id.z * height + id.y) * width + id.x;
    let at = i * 4;
    y[at] = (t.x + t.y * 100 + t.z * 10000) as u32;
    y[at + 1] = (x + row * 100 + z * 10000) as u32;
    y[at + 2] = (d.x * d.y * d.z + g.x * 1000 + g.y * 100 * 1000 + g.z * 10_000_000) as u32;
    y[at + 3] = (lane_id() + warp_id() * 1000) as u32;
}

fn geometry(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let mut y = b.device.zeros::<u32>(64 * 2 * 3 * 2 * 4)?;
    b.go(where_am_i(&mut y).grid((2, 3, 2)))?;
    b.keep(&y)?;
    let mut y = b.device.zeros::<u32>(64 * 2 * 2 * 4)?;
    b.go(where_am_i(&mut y).cover((9, 5, 2)))?;
    let found = b.keep(&y)?;
    // The thread (3, 2, 1) of block (1, 0, 0).
    b.expect("geometry", &found[((8 + 2) * 16 + 11) * 4..][..4], [10203, 1, 64 + 2000 + 200_000 + 10_000_000, 1000 + 19]);
    Ok(())
}

#[kernel(block = 64)]
fn shuffling(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let v = x[i];
    let lane = lane_id();
    let n = (i % 64) as u32;
    let mut r = shuffle(v, 5);
    r = r * 31 + shuffle(v, (lane + 7) % 32);
    r = r * 31 + shuffle(v, v % 32);
    r = r * 31 + shuffle_up(v, 1);
    r = r * 31 + shuffle_up(v, 17);
    r = r * 31 + shuffle_down(v, 1);
    r = r * 31 + shuffle_down(v, 16);
    r = r * 31 + shuffle_xor(v, 1);
    r = r * 31 + shuffle_xor(v, 31);
    r = r * 31 + shuffle_down(n, lane % 4);
    sync_warp();
    y[i] = r;
}

fn shuffles(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(shuffling, &words(128), 1).map(drop)
}

#[kernel(block = 32)]
fn typed_shuffles(x: &Global<u32>, y: &mut Global<u64>) {
    let i = global_id().x;
    let v = x[i];
    let a = shuffle_xor(v as i8, 3) as u64;
    let b = shuffle_up(v as u16, 2) as u64;
    let c = shuffle(v as i64 * 0x1_0000_0003, 9) as u64;
    let d = shuffle_down((v & 0x7fff_ffff) as f32, 4).to_bits() as u64;
    let e = shuffle_xor(v as f64 * 0.1, 8).to_bits();
    let f = shuffle_xor((v % 1000) as f16, 16).to_bits() as u64;
    let g = shuffle(v > 100, 31) as u64;
    let h = shuffle_down(i, 3) as u64;
    let k = shuffle_up((v % 77) as bf16, 1).to_bits() as u64;
    let l = shuffle((v as u64) << 20, lane_id() ^ 2);
    y[i] = a ^ b << 8 ^ c.rotate_left(5) ^ d << 16 ^ e.rotate_left(9) ^ f << 32 ^ g << 50 ^ h << 51 ^ k << 11 ^ l;
}

fn shuffles_of_types(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(typed_shuffles, &words(64), 1).map(drop)
}

#[kernel(block = 96)]
fn voting(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let v = x[i];
    let mask = ballot(v > 7);
    let below = mask & ((1 << lane_id()) - 1);
    let rank = below.count_ones();
    let mut r = mask ^ rank << 3;
    if any(v == 15) {
        r ^= 1;
    }
    if all(v < 16) {
        r ^= 2;
    }
    if !all(v < 15) && any(v % 5 == 1) {
        r ^= 4;
    }
    let leader = ballot(true).trailing_zeros();
    y[i] = r + leader;
}

fn votes(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(voting, &small(192), 1).map(drop)
}

#[kernel(block = 64)]
fn matching(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let v = x[i];
    let same = match_any(v);
    let more = match_any((v % 3) as u64 * 0x1_0000_0000);
    let signs = match_any(v as i32 - 7 < 0);
    y[i] =
        same ^ more.rotate_left(7) ^ signs.rotate_left(15) ^ match_any((v / 2) as f32).rotate_left(3) ^ match_any(v as u8).rotate_left(4);
}

fn matches(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(matching, &small(128), 1).map(drop)
}

#[kernel(block = 64)]
fn warp_reducing(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let v = x[i];
    y[i] = warp_sum(v) ^ warp_min(v) << 3 ^ warp_max(v) ^ warp_sum(v as i32 as i64 as u64) as u32 ^ warp_max(v as i32) as u32;
}

fn warp_reductions(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let xs = words(128);
    let found = b.map(warp_reducing, &xs, 1)?;
    let expected = xs.chunks(32).flat_map(|w| {
        let sum = w.iter().fold(0u32, |s, v| s.wrapping_add(*v));
        let wide = w.iter().fold(0i64, |s, v| s + i64::from(*v as i32)) as u32;
        let most = w.iter().map(|&v| v as i32).max().unwrap() as u32;
        [sum ^ w.iter().min().unwrap() << 3 ^ w.iter().max().unwrap() ^ wide ^ most; 32]
    });
    b.expect("reductions", &found, expected);
    Ok(())
}

#[kernel(block = 64, contract = false)]
fn reduce_any<T: Num>(x: &Global<T>, y: &mut Global<T>) {
    let i = global_id().x;
    let v = x[i];
    y[i * 6] = warp_sum(v);
    y[i * 6 + 1] = warp_min(v);
    y[i * 6 + 2] = warp_max(v);
    y[i * 6 + 3] = block_sum(v);
    y[i * 6 + 4] = block_min(v);
    y[i * 6 + 5] = block_max(v);
}

fn reduce<T: Num + crate::bench::Bits>(b: &mut Bench<'_>, xs: &[T]) -> warpwright::Result<()> {
    b.map(reduce_any::<T>, xs, 6).map(drop)
}

fn warp_reductions_of_types(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let f = tame(128);
    reduce(b, &f)?;
    reduce(b, &f.iter().map(|&f| f as f64 * 1.1).collect::<Vec<_>>())?;
    reduce(b, &f.iter().map(|&f| f16::from_f32(f)).collect::<Vec<_>>())?;
    reduce(b, &f.iter().map(|&f| bf16::from_f32(f)).collect::<Vec<_>>())
}

fn block_reductions_of_types(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let w = words(128);
    reduce(b, &w.iter().map(|&w| w as i8).collect::<Vec<_>>())?;
    reduce(b, &w.iter().map(|&w| w as u8).collect::<Vec<_>>())?;
    reduce(b, &w.iter().map(|&w| w as i16).collect::<Vec<_>>())?;
    reduce(b, &w.iter().map(|&w| w as u16).collect::<Vec<_>>())?;
    reduce(b, &w.iter().map(|&w| w as i32).collect::<Vec<_>>())?;
    reduce(b, &w)?;
    reduce(b, &w.iter().map(|&w| (w as i64) << 30).collect::<Vec<_>>())?;
    reduce(b, &w.iter().map(|&w| (w as u64) << 31).collect::<Vec<_>>())
}

#[kernel(block = 128)]
fn block_reducing(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let v = if i < x.len() { x[i] } else { 0 };
    let sum = block_sum(v);
    let most = block_max(v);
    let least = block_min(if i < x.len() { v } else { u32::MAX });
    if thread_idx().x == 0 {
        y[block_idx().x * 3] = sum;
        y[block_idx().x * 3 + 1] = most;
        y[block_idx().x * 3 + 2] = least;
    }
}

fn block_reductions(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let xs = words(300);
    let x = b.device.upload(&xs)?;
    let mut y = b.device.zeros::<u32>(9)?;
    b.go(block_reducing(&x, &mut y).cover(300))?;
    let found = b.keep(&y)?;
    let expected =
        xs.chunks(128).flat_map(|c| [c.iter().fold(0u32, |s, v| s.wrapping_add(*v)), *c.iter().max().unwrap(), *c.iter().min().unwrap()]);
    b.expect("blocks", &found, expected);
    Ok(())
}

#[kernel(block = 64)]
fn counting(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let v = x[i];
    let many = sync_threads_count(v > 7);
    let every = sync_threads_and(v < 16);
    let some = sync_threads_or(v == 3);
    let none = sync_threads_or(v > 99);
    let mut rounds = 0;
    let mut left = v;
    while sync_threads_or(left > 0) {
        left = left.saturating_sub(3);
        rounds += 1;
    }
    y[i] = many + (every as u32) * 100 + (some as u32) * 1000 + (none as u32) * 10000 + rounds * 100000;
}

fn barriers_that_count(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(counting, &small(128), 1).map(drop)
}

#[kernel(block = 32)]
fn fencing(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    y[i] = x[i];
    fence_block();
    y[i] += 1;
    fence_device();
    y[i] *= 2;
    fence_system();
    sync_threads();
}

fn fences(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(fencing, &words(64), 1).map(drop)
}

#[device]
fn inclusive(mut v: u32) -> u32 {
    let mut d = 1;
    while d < 32 {
        let below = shuffle_up(v, d);
        if lane_id() >= d {
            v += below;
        }
        d *= 2;
    }
    v
}

#[kernel(block = 128)]
fn scan(x: &Global<u32>, y: &mut Global<u32>) {
    #[shared]
    let mut sums: [u32; 32];
    let i = global_id().x;
    let v = inclusive(x[i]);
    let warp = warp_id() as usize;
    if lane_id() == 31 {
        sums[warp] = v;
    }
    sync_threads();
    let mut before = 0;
    for k in 0..warp {
        before += sums[k];
    }
    y[i] = v + before;
}

fn scan_of_a_warp(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let xs = words(256);
    let found = b.map(scan, &xs, 1)?;
    let expected = xs.chunks(128).flat_map(|c| {
        let mut s = 0u32;
        c.iter()
            .map(|v| {
                s = s.wrapping_add(*v);
                s
            })
            .collect::<Vec<_>>()
    });
    b.expect("scan", &found, expected);
    Ok(())
}

#[kernel(block = 32, contract = false)]
fn butterfly(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut v = x[i];
    for k in 0..5 {
        let other = shuffle_xor(v, 1 << k);
        v = if lane_id() & (1 << k) != 0 { other - v } else { v + other };
    }
    let (lo, hi) = (shuffle_up(v, 1), shuffle_down(v, 1));
    y[i] = v * 0.5 + (lo + hi) * 0.25;
}

fn butterflies(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(butterfly, &tame(64), 1).map(drop)
}

#[kernel(block = 40, contract = false)]
fn uneven(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let v = x[i];
    y[i] = warp_sum(v) + block_max(v) * 2.0 + block_sum(v) + warp_id() as f32 + ballot(v > 0.0).count_ones() as f32;
}

fn uneven_blocks(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(uneven, &tame(120), 1).map(drop)
}

#[kernel(block = 64)]
fn repeated(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let mut v = x[i];
    let mut r = 0;
    for k in 0..4 {
        r = r * 3 + block_sum(v);
        v = block_max(v + k) ^ warp_min(v);
        r += sync_threads_count(v > 5);
    }
    y[i] = r;
}

fn reductions_in_loops(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(repeated, &small(128), 1).map(drop)
}

#[kernel]
fn free(x: &Global<u32>, y: &mut Global<u32>) {
    let d = block_dim();
    let t = thread_idx();
    let block = block_idx().x + block_idx().y * grid_dim().x;
    let i = (block * d.z + t.z) * d.x * d.y + t.y * d.x + t.x;
    if i < x.len() {
        y[i] = x[i] + (d.x * 100 + d.y * 10 + d.z + warp_id() * 1000) as u32;
    }
}

fn free_blocks(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let x = b.device.upload(&small(192))?;
    for block in [(32u32, 1u32, 1u32), (8, 8, 1), (4, 4, 4), (96, 2, 1), (3, 5, 2)] {
        let mut y = b.device.zeros::<u32>(192)?;
        b.go(free(&x, &mut y).grid((3, 3)).block(block))?;
        b.keep(&y)?;
    }
    Ok(())
}

#[kernel(block = 64)]
fn branching(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let v = x[i];
    // Whole warps take each side.
    let r = if warp_id() == 0 { warp_sum(v) } else { shuffle(v, 3) + warp_max(v) };
    let mut s = 0;
    for k in 0..=warp_id() as u32 {
        s += shuffle_xor(v + k, 2);
    }
    y[i] = r + s * 1000;
}

fn lanes_in_branches(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(branching, &small(128), 1).map(drop)
}
