//! Annotations of loops, as people write them who have read the page: every annotation here must be kept, and changes nothing.

use crate::bench::{Bench, cases, small};
use warpwright::prelude::*;

cases!(accumulators, kinds_of_accumulators, unrolled, guards, ahead, vectors, strides, elements);

/// Elements that each thread has of its own.
const ROW: usize = 64;
const THREADS: usize = 40;

type Rows = for<'l> fn(usize, &'l Buffer<u32>, &'l mut Buffer<u32>) -> Launch<'l>;

/// Lengths around every factor below.
const LENGTHS: [usize; 9] = [0, 1, 2, 3, 4, 5, 8, 17, 32];

fn rows(b: &mut Bench<'_>, kernels: &[Rows]) -> warpwright::Result<()> {
    let x = b.device.upload(&small(THREADS * ROW))?;
    for kernel in kernels {
        for n in LENGTHS {
            let mut y = b.device.zeros::<u32>(THREADS * ROW)?;
            b.go(kernel(n, &x, &mut y).grid(2))?;
            b.keep(&y)?;
        }
    }
    Ok(())
}

#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Moments {
    sum: f32,
    bits: u32,
}

#[kernel(block = 20)]
fn by_methods(n: usize, x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x * 64;
    let (mut least, mut most, mut sum, mut product) = (99, 0, 0u32, 1u32);
    #[ilp(4)]
    for k in 0..n {
        least = least.min(x[i + k]);
        most = x[i + k].max(most);
        sum = sum.wrapping_add(x[i + k]);
        product = product.wrapping_mul(x[i + k] | 1);
    }
    y[i] = least * 100 + most;
    y[i + 1] = sum;
    y[i + 2] = product;
}

#[kernel(block = 20)]
fn by_operators(n: usize, x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x * 64;
    let (mut left, mut right, mut less, mut both) = (0.0f32, 0.0f32, 1000.0f32, 0.0f32);
    #[ilp(3)]
    #[batch_loads]
    for k in 0..n {
        left += x[i + k] as f32;
        right = x[i + k] as f32 + right;
        less = less - x[i + k] as f32;
        both = both + x[i + k] as f32 + 2.0 * x[i + k + 1] as f32;
    }
    y[i] = left as u32;
    y[i + 1] = right as u32;
    y[i + 2] = less as u32;
    y[i + 3] = both as u32;
}

fn accumulators(b: &mut Bench<'_>) -> warpwright::Result<()> {
    rows(b, &[by_methods, by_operators])
}

#[kernel(block = 20)]
fn in_aggregates(n: usize, x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x * 64;
    let mut pair = (0, 1.0f32);
    let mut moments = Moments { sum: 0.0, bits: 7 };
    let mut lanes = [0u32; 3];
    #[ilp(4)]
    for k in 0..n {
        pair.0 += x[i + k];
        pair.1 += x[i + k] as f32;
        moments.sum += x[i + k] as f32;
        moments.bits ^= x[i + k] << 2;
        #[unroll]
        for j in 0..3 {
            lanes[j] += x[i + k + j];
        }
    }
    y[i] = pair.0;
    y[i + 1] = pair.1 as u32;
    y[i + 2] = moments.sum as u32;
    y[i + 3] = moments.bits;
    y[i + 4] = lanes[0] + 1000 * lanes[1];
    y[i + 5] = lanes[2];
}

#[kernel(block = 20)]
fn of_bools(n: usize, x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x * 64;
    let (mut found, mut all, mut odd, mut count) = (false, true, false, 0);
    #[ilp(4)]
    for k in 0..n {
        found |= x[i + k] == 3;
        all &= x[i + k] < 15;
        odd ^= x[i + k] % 2 == 1;
        if x[i + k] > 7 {
            count += 1;
        }
    }
    y[i] = found as u32 + 2 * all as u32 + 4 * odd as u32 + 8 * count;
}

#[kernel(block = 20)]
fn through_inner_loops(n: usize, x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x * 64;
    let mut total = 0;
    let mut last = 0;
    #[ilp(2)]
    for k in 0..n {
        for j in 0..k % 3 {
            total += x[i + k + j];
        }
        let mut chain = 0u32;
        for j in 0..4 {
            chain = chain * 3 + x[i + k + j];
        }
        total += chain;
        last = chain;
    }
    y[i] = total;
    y[i + 1] = last;
}

fn kinds_of_accumulators(b: &mut Bench<'_>) -> warpwright::Result<()> {
    rows(b, &[in_aggregates, of_bools, through_inner_loops])
}

#[kernel(block = 20)]
fn fully<const N: usize>(n: usize, x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x * 64;
    let mut square = [[0u32; N]; N];
    #[unroll]
    for row in 0..N {
        #[unroll]
        for column in 0..N {
            square[row][column] = x[i + row * N + column];
        }
    }
    #[unroll]
    for row in (0..N).rev() {
        #[unroll]
        for column in 0..=row {
            y[i + row * N + column] = square[column][row] + n as u32;
        }
    }
    #[unroll]
    for k in (0..N).step_by(2) {
        if square[0][k] == 5 {
            break;
        }
        y[i + 40 + k] = square[0][k];
    }
}

#[kernel(block = 20)]
fn in_part(n: usize, x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x * 64;
    let mut sum = 0;
    #[unroll(4)]
    'rows: for k in (0..n).rev() {
        for j in 0..3 {
            if x[i + k + j] == 0 {
                continue 'rows;
            }
            sum += x[i + j];
        }
        y[i + k] = sum;
        if sum > 300 {
            return;
        }
    }
    y[i + 40] = sum;
}

fn unrolled(b: &mut Bench<'_>) -> warpwright::Result<()> {
    rows(b, &[fully::<4>, fully::<1>, in_part])
}

#[kernel(block = 20)]
fn under_conditions(n: usize, x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x * 64;
    let mut sum = 0;
    #[ilp(4)]
    #[batch_loads]
    for k in 0..n {
        if i + 7 * k < x.len() && k != 2 {
            sum += x[i + 7 * k];
        } else {
            sum += 1000;
        }
    }
    #[unroll(4)]
    #[batch_loads]
    for k in 0..n {
        if x[i + k] < 4 {
            continue;
        }
        y[i + k] = x[i + k + 1];
    }
    let mut k = 0;
    #[batch_loads]
    while k < n {
        sum += x[i + k] * x[i + k + 1];
        k += 2;
    }
    y[i + 50] = sum;
}

fn guards(b: &mut Bench<'_>) -> warpwright::Result<()> {
    rows(b, &[under_conditions])
}

#[kernel(block = 20)]
fn prefetched(n: usize, x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x * 64;
    let mut mixed = 1u32;
    #[prefetch]
    for k in (0..n).step_by(3) {
        mixed = mixed.wrapping_mul(31) ^ x[i + k];
    }
    #[prefetch]
    for k in (0..n).rev() {
        mixed = mixed.wrapping_mul(31) ^ if k % 5 == 1 { x[i + 2 * k] } else { 9 };
    }
    #[prefetch]
    #[unroll(2)]
    for k in 1..=n {
        #[unroll]
        for j in 0..2 {
            mixed = mixed.wrapping_mul(31) ^ x[i + k + j];
        }
    }
    // In place: the next element is another one.
    #[prefetch]
    for k in 0..n {
        y[i + k] = y[i + k] + x[i + k];
    }
    y[i + 50] = mixed;
}

fn ahead(b: &mut Bench<'_>) -> warpwright::Result<()> {
    rows(b, &[prefetched])
}

#[kernel(block = 20)]
fn vectorized(n: usize, x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x * 64;
    #[vectorize(4)]
    for k in 0..n {
        y[i + k] = x[i + k] * 2;
    }
    let mut scan = 0;
    #[vectorize(4)]
    #[ilp(2)]
    for k in 0..n {
        scan += x[i + k] * x[i + k + 4];
    }
    y[i + 40] = scan;
}

#[kernel(block = 20)]
fn vectors_of_a_tile(n: usize, x: &Global<u32>, y: &mut Global<u32>) {
    #[shared]
    let mut tile: [[u32; 32]; 20];
    let t = thread_idx().x;
    let i = global_id().x * 64;
    #[vectorize(4)]
    for k in 0..32 {
        tile[t][k] = x[i + k];
    }
    sync_threads();
    let mut sum = 0;
    #[vectorize(2)]
    for k in 4..32 {
        sum += tile[19 - t][k];
    }
    y[i] = sum + n as u32;
}

#[kernel(block = 20)]
fn narrow_and_short(x: &Global<u8>, h: &Global<f16>, y: &mut Global<u8>, g: &mut Global<f16>) {
    let i = global_id().x * 64;
    #[vectorize(8)]
    for k in 0u32..64 {
        y[i + k as usize] = x[i + k as usize] ^ 5;
    }
    #[vectorize(8)]
    for k in 0..64 {
        g[i + k] = h[i + k] + h[i + k];
    }
}

fn vectors(b: &mut Bench<'_>) -> warpwright::Result<()> {
    rows(b, &[vectorized, vectors_of_a_tile])?;
    let xs: Vec<u8> = small(THREADS * ROW).into_iter().map(|v| v as u8).collect();
    let hs: Vec<f16> = xs.iter().map(|v| f16::from_f32(f32::from(*v))).collect();
    let (x, h) = (b.device.upload(&xs)?, b.device.upload(&hs)?);
    let (mut y, mut g) = (b.device.zeros::<u8>(xs.len())?, b.device.zeros::<f16>(xs.len())?);
    b.go(narrow_and_short(&x, &h, &mut y, &mut g).grid(2))?;
    let (found, doubled) = (b.keep(&y)?, b.keep(&g)?);
    b.expect("bytes", &found, xs.iter().map(|v| v ^ 5));
    b.expect("halves", &doubled, hs.iter().map(|v| *v + *v));
    Ok(())
}

/// A loop over the grid, in place: neighbouring iterations are far apart.
#[kernel(block = 20)]
fn over_the_grid(n: usize, x: &Global<u32>, y: &mut Global<u32>) {
    let step = grid_dim().x * block_dim().x;
    #[ilp(4)]
    #[batch_loads]
    for k in (global_id().x..y.len()).step_by(step) {
        y[k] = y[k] * 3 + x[k] + n as u32;
    }
}

fn strides(b: &mut Bench<'_>) -> warpwright::Result<()> {
    rows(b, &[over_the_grid])
}

/// A guard that returns, for several elements of a thread.
#[kernel(block = 32, ilp = 2, vectorize = 4, batch_loads)]
fn returning(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    if i >= y.len() || i >= x.len() {
        return;
    }
    y[i] = x[i] * 2;
}

fn elements(b: &mut Bench<'_>) -> warpwright::Result<()> {
    for n in [1, 3, 4, 7, 8, 255, 256, 257, 1000] {
        let xs = small(n);
        let x = b.device.upload(&xs)?;
        let mut y = b.device.zeros::<u32>(n)?;
        b.go(returning(&x, &mut y).cover(n))?;
        let found = b.keep(&y)?;
        b.expect("doubled", &found, xs.iter().map(|x| x * 2));
    }
    Ok(())
}
