//! Scans and reductions over warps and blocks: of every type, in blocks of every shape, in loops, under conditions, and floats in the order that the
//! language's page gives.

use crate::bench::{Bench, Bits, cases, small, tame, words};
use warpwright::Num;
use warpwright::prelude::*;

cases!(scans_of_types, scans_of_short_floats, extents_in_order, orders_of_floats, blocks_of_every_size, scans_by_turns, compaction);

#[kernel(block = (8, 4, 3), contract = false)]
fn scan_any<T: Num>(x: &Global<T>, y: &mut Global<T>) {
    let t = thread_idx();
    let i = (block_idx().x * 12 + t.z * 4 + t.y) * 8 + t.x;
    let v = x[i];
    y[i * 10] = warp_inclusive_sum(v);
    y[i * 10 + 1] = warp_inclusive_min(v);
    y[i * 10 + 2] = warp_inclusive_max(v);
    y[i * 10 + 3] = warp_exclusive_sum(v);
    y[i * 10 + 4] = block_inclusive_sum(v);
    y[i * 10 + 5] = block_inclusive_min(v);
    y[i * 10 + 6] = block_inclusive_max(v);
    y[i * 10 + 7] = block_exclusive_sum(v);
    let (before, total) = block_exclusive_sum_and_total(v);
    y[i * 10 + 8] = before;
    y[i * 10 + 9] = total;
}

/// Joins in plain order; what is before the first is `zero`.
fn prefixes<T: Copy>(xs: &[T], zero: T, add: impl Fn(T, T) -> T) -> Vec<(T, T)> {
    let mut sum = zero;
    xs.iter()
        .map(|x| {
            let before = sum;
            sum = add(sum, *x);
            (before, sum)
        })
        .collect()
}

/// Of sums that are exact: whatever the order.
fn scan<T: Num + Bits + PartialOrd>(b: &mut Bench<'_>, xs: &[T], zero: T, add: fn(T, T) -> T) -> warpwright::Result<()> {
    let x = b.device.upload(xs)?;
    let mut y = b.device.zeros::<T>(xs.len() * 10)?;
    b.go(scan_any::<T>(&x, &mut y).grid((xs.len() / 96) as u32))?;
    let found = b.keep(&y)?;
    let least = |a: T, b: T| if b < a { b } else { a };
    let most = |a: T, b: T| if b > a { b } else { a };
    let mut expected = vec![zero; xs.len() * 10];
    for (at, group) in xs.chunks(32).enumerate().map(|(n, group)| (n * 32, group)) {
        for (k, (before, upto)) in prefixes(group, zero, add).into_iter().enumerate() {
            let row = &mut expected[(at + k) * 10..][..4];
            row[0] = upto;
            row[1] = group[..=k].iter().copied().reduce(least).unwrap();
            row[2] = group[..=k].iter().copied().reduce(most).unwrap();
            row[3] = before;
        }
    }
    for (at, group) in xs.chunks(96).enumerate().map(|(n, group)| (n * 96, group)) {
        let all = prefixes(group, zero, add);
        for (k, (before, upto)) in all.iter().enumerate() {
            let row = &mut expected[(at + k) * 10 + 4..][..6];
            row[0] = *upto;
            row[1] = group[..=k].iter().copied().reduce(least).unwrap();
            row[2] = group[..=k].iter().copied().reduce(most).unwrap();
            row[3] = *before;
            row[4] = *before;
            row[5] = all[95].1;
        }
    }
    b.expect(std::any::type_name::<T>(), &found, expected);
    Ok(())
}

fn scans_of_types(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let w = words(192);
    scan(b, &w.iter().map(|&w| w as i8).collect::<Vec<_>>(), 0, i8::wrapping_add)?;
    scan(b, &w.iter().map(|&w| w as u8).collect::<Vec<_>>(), 0, u8::wrapping_add)?;
    scan(b, &w.iter().map(|&w| w as i16).collect::<Vec<_>>(), 0, i16::wrapping_add)?;
    scan(b, &w.iter().map(|&w| w as u16).collect::<Vec<_>>(), 0, u16::wrapping_add)?;
    scan(b, &w.iter().map(|&w| w as i32).collect::<Vec<_>>(), 0, i32::wrapping_add)?;
    scan(b, &w, 0, u32::wrapping_add)?;
    scan(b, &w.iter().map(|&w| (w as i64) << 31).collect::<Vec<_>>(), 0, i64::wrapping_add)?;
    scan(b, &w.iter().map(|&w| (w as u64) << 33).collect::<Vec<_>>(), 0, u64::wrapping_add)?;
    scan(b, &w.iter().map(|&w| w as f64 - 2e9).collect::<Vec<_>>(), 0.0, |a, b| a + b)?;
    scan(b, &small(192).iter().map(|&w| w as f32 - 8.5).collect::<Vec<_>>(), 0.0, |a, b| a + b)
}

fn scans_of_short_floats(b: &mut Bench<'_>) -> warpwright::Result<()> {
    // Sums of up to 96 of them are exact in 8 bits.
    let bits = small(192).iter().map(|&w| if w > 9 { 1.0 } else { 0.0 }).collect::<Vec<f32>>();
    scan(b, &bits.iter().map(|&v| f16::from_f32(v)).collect::<Vec<_>>(), f16::ZERO, |a, b| a + b)?;
    scan(b, &bits.iter().map(|&v| bf16::from_f32(v)).collect::<Vec<_>>(), bf16::ZERO, |a, b| a + b)
}

#[kernel(contract = false)]
fn extents(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let v = x[i];
    y[i * 4] = block_inclusive_min(v);
    y[i * 4 + 1] = block_inclusive_max(v);
    y[i * 4 + 2] = warp_inclusive_min(v);
    y[i * 4 + 3] = block_max(v);
}

/// NaN counts as missing.
fn extents_in_order(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let mut xs = tame(120);
    (xs[0], xs[7], xs[33], xs[64]) = (f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::NAN);
    (0..32).for_each(|k| xs[80 + k] = f32::NAN);
    let x = b.device.upload(&xs)?;
    let mut y = b.device.zeros::<f32>(480)?;
    b.go(extents(&x, &mut y).grid(3).block(40))?;
    let found = b.keep(&y)?;
    let expected = (0..120).flat_map(|i| {
        let block = &xs[i / 40 * 40..][..40];
        let (upto, warp) = (&block[..=i % 40], i % 40 / 32 * 32);
        let joined = |group: &[f32], join: fn(f32, f32) -> f32| group.iter().copied().reduce(join).unwrap();
        [joined(upto, f32::min), joined(upto, f32::max), joined(&upto[warp..], f32::min), joined(block, f32::max)]
    });
    b.expect("extents", &found, expected);
    Ok(())
}

#[kernel(contract = false)]
fn ordered(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let v = x[i];
    y[i * 4] = block_sum(v);
    y[i * 4 + 1] = block_inclusive_sum(v);
    let (before, total) = block_exclusive_sum_and_total(v);
    y[i * 4 + 2] = before;
    y[i * 4 + 3] = total;
}

/// As the page says it: lanes 16 apart, then 8, 4, 2, 1.
fn butterfly(warp: &[f32]) -> f32 {
    let mut slots: Vec<Option<f32>> = (0..32).map(|lane| warp.get(lane).copied()).collect();
    for distance in [16, 8, 4, 2, 1] {
        for lane in 0..distance {
            slots[lane] = match (slots[lane], slots[lane + distance]) {
                (Some(a), Some(b)) => Some(a + b),
                (a, b) => a.or(b),
            };
        }
    }
    slots[0].unwrap()
}

/// As the page says it: with the lane 1 below, then 2, 4, 8, 16.
fn steps(warp: &[f32]) -> Vec<f32> {
    let mut sums = warp.to_vec();
    for distance in [1, 2, 4, 8, 16] {
        for lane in (distance..sums.len()).rev() {
            sums[lane] += sums[lane - distance];
        }
    }
    sums
}

fn orders_of_floats(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let xs = tame(3840);
    let x = b.device.upload(&xs)?;
    for block in [1usize, 30, 32, 40, 64, 96, 120, 320, 480, 960] {
        let mut y = b.device.zeros::<f32>(xs.len() * 4)?;
        b.go(ordered(&x, &mut y).grid((xs.len() / block) as u32).block(block as u32))?;
        let found = b.keep(&y)?;
        let expected = xs.chunks(block).flat_map(|block| {
            let sum = block.chunks(32).map(butterfly).reduce(|a, b| a + b).unwrap();
            let warps: Vec<Vec<f32>> = block.chunks(32).map(steps).collect();
            let mut rows = Vec::new();
            let mut before: Option<f32> = None;
            for warp in &warps {
                for lane in 0..warp.len() {
                    let own = if lane == 0 { 0.0 } else { warp[lane - 1] };
                    let join = |own: f32| before.map_or(own, |before| before + own);
                    rows.push([sum, join(warp[lane]), join(own), 0.0]);
                }
                let total = *warp.last().unwrap();
                before = Some(before.map_or(total, |before| before + total));
            }
            rows.iter_mut().for_each(|row| row[3] = before.unwrap());
            rows.into_iter().flatten()
        });
        b.expect(&format!("blocks of {block}"), &found, expected);
    }
    Ok(())
}

#[kernel(block = B)]
fn sized<const B: usize>(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let v = x[i];
    y[i] = block_sum(v) ^ block_inclusive_sum(v).rotate_left(9) ^ block_max(v % 1000) ^ block_exclusive_sum(v);
}

fn blocks_of_every_size(b: &mut Bench<'_>) -> warpwright::Result<()> {
    fn sized_as<const B: usize>(b: &mut Bench<'_>) -> warpwright::Result<()> {
        let xs = words(2 * B);
        let found = b.map(sized::<B>, &xs, 1)?;
        let expected = xs.chunks(B).flat_map(|block| {
            let all = block.iter().fold(0u32, |sum, v| sum.wrapping_add(*v));
            let most = block.iter().map(|v| v % 1000).max().unwrap();
            prefixes(block, 0, u32::wrapping_add).into_iter().map(move |(before, upto)| all ^ upto.rotate_left(9) ^ most ^ before)
        });
        b.expect(&format!("blocks of {B}"), &found, expected);
        Ok(())
    }
    sized_as::<1>(b)?;
    sized_as::<31>(b)?;
    sized_as::<32>(b)?;
    sized_as::<33>(b)?;
    sized_as::<65>(b)?;
    sized_as::<224>(b)?;
    sized_as::<1000>(b)?;
    sized_as::<1024>(b)
}

/// One after the other, in loops that may not be run and under conditions: each finds the shared memory that it writes read by all.
#[kernel(block = 96)]
fn by_turns(rounds: u32, x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let mut v = x[i];
    v = v * 3 + block_sum(v);
    v = v * 3 + block_inclusive_sum(v);
    for k in 0..rounds {
        v ^= block_sum(v + k);
        if k % 2 == 0 {
            v += block_exclusive_sum(v);
        }
        v = v * 5 + block_max(v);
    }
    v = v * 3 + block_exclusive_sum(v);
    if rounds > 1 {
        v ^= block_min(v);
    }
    v = v * 7 + block_sum(v);
    v = v * 7 + block_sum(v);
    y[i] = v * 7 + block_inclusive_max(v);
}

fn scans_by_turns(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let x = b.device.upload(&words(192))?;
    for rounds in [0, 1, 4] {
        let mut y = b.device.zeros::<u32>(192)?;
        b.go(by_turns(rounds, &x, &mut y).grid(2))?;
        b.keep(&y)?;
    }
    Ok(())
}

/// What is odd of each block's part, moved together.
#[kernel(block = 128)]
fn compact(x: &Global<u32>, y: &mut Global<u32>, counts: &mut Global<u32>) {
    let i = global_id().x;
    let keep = i < x.len() && x[i] % 2 == 1;
    let (at, count) = block_exclusive_sum_and_total(keep as u32);
    if keep {
        y[block_idx().x * 128 + at as usize] = x[i];
    }
    if thread_idx().x == 0 {
        counts[block_idx().x] = count;
    }
}

fn compaction(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let xs = words(300);
    let x = b.device.upload(&xs)?;
    let (mut y, mut counts) = (b.device.zeros::<u32>(384)?, b.device.zeros::<u32>(3)?);
    b.go(compact(&x, &mut y, &mut counts).cover(300))?;
    let (found, counts) = (b.keep(&y)?, b.keep(&counts)?);
    let odd: Vec<Vec<u32>> = xs.chunks(128).map(|c| c.iter().copied().filter(|v| v % 2 == 1).collect()).collect();
    b.expect("counts", &counts, odd.iter().map(|c| c.len() as u32));
    b.expect("what is odd", &found, odd.iter().flat_map(|c| (0..128).map(|k| c.get(k).copied().unwrap_or(0))));
    Ok(())
}
