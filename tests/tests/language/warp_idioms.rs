//! What programs do with exchanges where the warps of a block go different ways: a warp for a row, scans, histograms, aggregated atomics, the
//! best of a row; also from device functions.

use crate::bench::{Bench, cases, words};
use warpwright::prelude::*;
use warpwright::warp::{any, ballot, match_any, shuffle, shuffle_up, shuffle_xor};

cases!(sparse_rows, softmax_of_segments, aggregated_atomics, guarded_scans, merged_histograms, device_functions, aggregates,);

/// Rows of 0 to 99 elements: where each begins, and where the last ends.
fn rows(count: usize) -> Vec<u32> {
    let mut begins = vec![0];
    for row in 0..count as u32 {
        begins.push(begins[row as usize] + (row * 37 + 11) % 100 * u32::from(row % 7 != 3));
    }
    begins
}

#[kernel(block = 128, contract = false)]
fn multiply_rows(rows: usize, begins: &Global<u32>, columns: &Global<u32>, values: &Global<f32>, x: &Global<f32>, y: &mut Global<f32>) {
    let row = global_id().x / 32;
    if row < rows {
        let end = begins[row + 1] as usize;
        let mut k = begins[row] as usize + lane_id();
        let mut sum = 0.0;
        while k < end {
            sum += values[k] * x[columns[k] as usize];
            k += 32;
        }
        let total = warp_sum(sum);
        if lane_id() == 0 {
            y[row] = total;
        }
    }
}

fn sparse_rows(b: &mut Bench<'_>) -> warpwright::Result<()> {
    for count in [1, 6, 53] {
        let begins = rows(count);
        let n = begins[count] as usize;
        let columns: Vec<u32> = (0..n as u32).map(|k| k * 31 % 64).collect();
        let values: Vec<f32> = (0..n).map(|k| (k % 17) as f32 * 0.25 - 2.0).collect();
        let x: Vec<f32> = (0..64).map(|k| 1.0 / (k + 1) as f32).collect();
        let begins = b.device.upload(&begins)?;
        let columns = b.device.upload(&columns)?;
        let values = b.device.upload(&values)?;
        let x = b.device.upload(&x)?;
        let mut y = b.device.zeros::<f32>(count)?;
        b.go(multiply_rows(count, &begins, &columns, &values, &x, &mut y).cover(count * 32))?;
        b.keep(&y)?;
    }
    Ok(())
}

#[kernel(block = (32, 3))]
fn softmax(begins: &Global<u32>, x: &Global<f32>, y: &mut Global<f32>) {
    let row = block_idx().x * 3 + thread_idx().y;
    if row + 1 >= begins.len() {
        return;
    }
    let begin = begins[row] as usize;
    let end = begins[row + 1] as usize;
    let mut greatest = f32::NEG_INFINITY;
    for k in (begin + lane_id()..end).step_by(32) {
        greatest = greatest.max(x[k]);
    }
    greatest = warp_max(greatest);
    let mut sum = 0.0;
    for k in (begin + lane_id()..end).step_by(32) {
        sum += (x[k] - greatest).exp();
    }
    sum = warp_sum(sum);
    for k in (begin + lane_id()..end).step_by(32) {
        y[k] = (x[k] - greatest).exp() / sum;
    }
}

fn softmax_of_segments(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let begins = rows(22);
    let n = begins[22] as usize;
    let x: Vec<f32> = (0..n).map(|k| (k * 29 % 41) as f32 * 0.2 - 3.0).collect();
    let begins = b.device.upload(&begins)?;
    let x = b.device.upload(&x)?;
    let mut y = b.device.zeros::<f32>(n)?;
    b.go(softmax(&begins, &x, &mut y).grid(8))?;
    // Two exponentials and a quotient of each device's own.
    b.keep_close(&y, 1e-5).map(drop)
}

#[kernel(block = 96)]
fn aggregate(x: &Global<u32>, counts: &mut Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let wanted = x[i] % 5 == 0;
    if any(wanted) {
        let votes = ballot(wanted);
        let leader = votes.trailing_zeros();
        let mut base = 0;
        if lane_id() as u32 == leader {
            counts.atomic_add(0, votes.count_ones());
            base = counts.atomic_add(1 + i / 32, votes.count_ones());
        }
        base = shuffle(base, leader);
        if wanted {
            y[i] = 1 + base + (votes & ((1 << lane_id()) - 1)).count_ones();
        }
    }
}

fn aggregated_atomics(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let mut xs = words(288);
    xs[64..128].iter_mut().for_each(|x| *x = 1);
    let x = b.device.upload(&xs)?;
    let mut counts = b.device.zeros::<u32>(10)?;
    let mut y = b.device.zeros::<u32>(288)?;
    b.go(aggregate(&x, &mut counts, &mut y).cover(288))?;
    let counted = b.keep(&counts)?;
    b.expect("aggregated_atomics", &counted[..1], [xs.iter().filter(|x| **x % 5 == 0).count() as u32]);
    b.keep(&y).map(drop)
}

#[kernel(block = 256)]
fn scan(x: &Global<u32>, y: &mut Global<u32>) {
    #[shared]
    let mut totals: [u32; 8];
    let i = global_id().x;
    let first = i - lane_id();
    let mut sum = 0;
    if first >= x.len() {
        if lane_id() == 0 {
            totals[warp_id()] = 0;
        }
    } else {
        if i < x.len() {
            sum = x[i];
        }
        let mut d = 1;
        while d < 32 {
            let below = shuffle_up(sum, d);
            if lane_id() >= d {
                sum += below;
            }
            d *= 2;
        }
        if lane_id() == 31 {
            totals[warp_id()] = sum;
        }
    }
    sync_threads();
    if first < x.len() {
        let mut before = 0;
        for warp in 0..warp_id() {
            before += totals[warp];
        }
        if i < y.len() {
            y[i] = sum + before;
        }
    }
}

fn guarded_scans(b: &mut Bench<'_>) -> warpwright::Result<()> {
    for n in [1, 33, 200, 300] {
        let xs = words(n);
        let found = b.map(scan, &xs, 1)?;
        let sums = xs.chunks(256).flat_map(|block| {
            block.iter().scan(0u32, |sum, x| {
                *sum = sum.wrapping_add(*x);
                Some(*sum)
            })
        });
        b.expect("guarded_scans", &found, sums);
    }
    Ok(())
}

#[kernel(block = 128)]
fn histogram(x: &Global<u32>, y: &mut Global<u32>) {
    #[shared]
    let mut parts: [[u32; 8]; 4];
    let warp = warp_id();
    let first = block_idx().x * 128 + warp * 32;
    if lane_id() < 8 {
        parts[warp][lane_id()] = 0;
    }
    sync_warp();
    if first < x.len() {
        let i = first + lane_id();
        // Lanes beyond the end come along, with a class of their own.
        let class = if i < x.len() { x[i] % 8 } else { 8 };
        let same = match_any(class);
        if class < 8 && same.trailing_zeros() == lane_id() as u32 {
            parts[warp][class as usize] += same.count_ones();
        }
        sync_warp();
        if lane_id() < 8 {
            let count = parts[warp][lane_id()];
            if count != 0 {
                y.atomic_add(lane_id(), count);
            }
        }
    }
}

fn merged_histograms(b: &mut Bench<'_>) -> warpwright::Result<()> {
    for n in [5, 64, 333] {
        let xs = words(n);
        let x = b.device.upload(&xs)?;
        let mut y = b.device.zeros::<u32>(8)?;
        b.go(histogram(&x, &mut y).cover(n))?;
        let found = b.keep(&y)?;
        let counts = (0..8).map(|class| xs.iter().filter(|x| **x % 8 == class).count() as u32);
        b.expect("merged_histograms", &found, counts);
    }
    Ok(())
}

#[device]
fn sum_of_row(begins: &Global<u32>, x: &Global<u32>, row: usize) -> u32 {
    if row + 1 >= begins.len() {
        return 0;
    }
    let (begin, end) = (begins[row] as usize, begins[row + 1] as usize);
    if begin == end {
        return 77;
    }
    let mut sum = 0;
    let mut k = begin;
    loop {
        let mine = if k + lane_id() < end { x[k + lane_id()] % 9 } else { 0 };
        sum += warp_sum(mine);
        k += 32;
        if k >= end {
            return sum;
        }
    }
}

#[kernel(block = 64)]
fn sums_of_rows(begins: &Global<u32>, x: &Global<u32>, y: &mut Global<u32>) {
    let row = global_id().x / 32;
    let mut sum = 0;
    if row % 3 != 1 {
        sum = sum_of_row(begins, x, row) + 1000 * sum_of_row(begins, x, row + 1);
    }
    y[global_id().x] = sum;
}

fn device_functions(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let begins = rows(19);
    let xs = words(begins[19] as usize);
    let begins = b.device.upload(&begins)?;
    let x = b.device.upload(&xs)?;
    let mut y = b.device.zeros::<u32>(20 * 32)?;
    b.go(sums_of_rows(&begins, &x, &mut y).cover(20 * 32))?;
    b.keep(&y).map(drop)
}

#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Best {
    value: f32,
    at: u32,
}

#[device]
fn best_of_warp(mine: Best) -> Best {
    let mut best = mine;
    let mut d = 16u32;
    while d > 0 {
        let other = Best { value: shuffle_xor(best.value, d), at: shuffle_xor(best.at, d) };
        if other.value > best.value || (other.value == best.value && other.at < best.at) {
            best = other;
        }
        d /= 2;
    }
    best
}

#[kernel(block = 128)]
fn best_of_rows(rows: usize, x: &Global<f32>, y: &mut Global<Best>) {
    let row = global_id().x / 32;
    let width = x.len() / rows;
    if row < rows {
        let mut best = Best { value: f32::NEG_INFINITY, at: u32::MAX };
        let mut history = [0.0f32; 3];
        for k in (lane_id()..width).step_by(32) {
            let v = x[row * width + k];
            history[k / 32 % 3] += v;
            if v > best.value {
                best = Best { value: v, at: k as u32 };
            }
        }
        let best = best_of_warp(best);
        let sums = (warp_sum(history[0]), warp_sum(history[lane_id() % 3]));
        if lane_id() == 0 {
            y[row] = Best { value: best.value + sums.0 + sums.1, at: best.at };
        }
    }
}

fn aggregates(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let x: Vec<f32> = words(7 * 83).iter().map(|w| (w % 1024) as f32 * 0.5).collect();
    let x = b.device.upload(&x)?;
    let mut y = b.device.upload(&[Best { value: 0.0, at: 0 }; 7])?;
    b.go(best_of_rows(7, &x, &mut y).cover(7 * 32))?;
    let found = y.download()?;
    let flat = b.device.upload(&found.iter().flat_map(|best| [best.value.to_bits(), best.at]).collect::<Vec<u32>>())?;
    b.keep(&flat).map(drop)
}
