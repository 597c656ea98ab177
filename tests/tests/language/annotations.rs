//! Annotations of kernels and loops, which change nothing of what is computed.

use crate::bench::{Bench, cases, tame, words};
use warpwright::prelude::*;

cases!(
    copies,
    early_returns,
    afresh,
    planes,
    stepped,
    wide,
    loops,
    named_outside,
    in_device_functions,
    best_so_far,
    best_of_integers,
    guarded,
    indirect,
    quotients
);

#[kernel(block = B, ilp = ILP, vectorize = V, batch_loads = BATCH)]
fn copy<const B: usize, const ILP: usize, const V: usize, const BATCH: bool>(out: &mut Global<f32>, inp: &Global<f32>) {
    let i = global_id().x;
    if i < out.len() {
        out[i] = inp[i];
    }
}

fn copies(b: &mut Bench<'_>) -> warpwright::Result<()> {
    for n in [1, 31, 256, 257, 1000] {
        let xs = tame(n);
        let x = b.device.upload(&xs)?;
        macro_rules! check {
            ($($block:literal $ilp:literal $vectorize:literal $batch:literal;)*) => {$(
                let mut y = b.device.zeros::<f32>(n)?;
                b.go(copy::<$block, $ilp, $vectorize, $batch>(&mut y, &x).cover(n))?;
                let found = b.keep(&y)?;
                b.expect("a copy", &found, xs.iter().copied());
            )*};
        }
        check! { 32 1 1 false; 32 1 1 true; 64 4 1 false; 64 8 1 true; 32 1 4 false; 32 3 2 true; 128 2 4 true; }
    }
    Ok(())
}

/// A block known at the launch only, and `return` in the middle.
#[kernel(ilp = 3)]
fn halves(n: u32, y: &mut Global<u32>) {
    let i = global_id().x;
    if i >= y.len() {
        return;
    }
    let mut k = n;
    while k > 0 {
        if k as usize == i {
            y[i] = 1000 + k;
            return;
        }
        k -= 1;
    }
    y[i] = i as u32 / 2;
}

fn early_returns(b: &mut Bench<'_>) -> warpwright::Result<()> {
    for block in [32u32, 48] {
        let mut y = b.device.zeros::<u32>(500)?;
        b.go(halves(7, &mut y).block(block).cover(500))?;
        let found = b.keep(&y)?;
        b.expect("halves", &found, (0..500).map(|i| if (1..=7).contains(&i) { 1000 + i } else { i / 2 }));
    }
    Ok(())
}

/// What an element does to a parameter, the next does not see.
#[kernel(block = 32, ilp = 4, vectorize = 2)]
fn spoils(mut a: u32, mut c: [u32; 4], y: &mut Global<u32>) {
    let i = global_id().x;
    if i < y.len() {
        a += i as u32;
        c[i % 4] += 1;
        let mut seen = [0u32; 4];
        seen[i % 3] = 1;
        y[i] = a * 10_000 + c[0] * 1000 + c[1] * 100 + c[2] * 10 + c[3] + seen[0] + seen[1] + seen[2];
    }
}

fn afresh(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let mut y = b.device.zeros::<u32>(600)?;
    b.go(spoils(3, [1, 2, 3, 4], &mut y).cover(600))?;
    let found = b.keep(&y)?;
    let one = |i: u32| (3 + i) * 10_000 + 1234 + 10u32.pow(3 - i % 4) + 1;
    b.expect("parameters", &found, (0..600).map(one));
    Ok(())
}

/// Rows by y; only x has several elements per thread.
#[kernel(block = (16, 4), ilp = 2, batch_loads)]
fn transposed(w: usize, x: &Global<u32>, y: &mut Global<u32>) {
    let id = global_id();
    let h = x.len() / w;
    if id.x < w && id.y < h {
        y[id.x * h + id.y] = x[id.y * w + id.x] + block_idx().y as u32 * 0;
    }
}

fn planes(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let (w, h) = (70, 9);
    let xs: Vec<u32> = words(w * h);
    let x = b.device.upload(&xs)?;
    let mut y = b.device.zeros::<u32>(w * h)?;
    b.go(transposed(w, &x, &mut y).cover((w, h)))?;
    let found = b.keep(&y)?;
    b.expect("a transpose", &found, (0..w * h).map(|at| xs[at % h * w + at / h]));
    Ok(())
}

#[kernel(block = 64, ilp = 8, bounds = trap)]
fn every_third(y: &mut Global<u32>) {
    let i = global_id().x;
    if i % 3 == 0 && i < y.len() {
        y[i] += i as u32;
    }
}

fn stepped(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let mut y = b.device.upload(&[7u32; 1000])?;
    b.go(every_third(&mut y).cover(1000))?;
    let found = b.keep(&y)?;
    b.expect("thirds", &found, (0..1000).map(|i| if i % 3 == 0 { 7 + i } else { 7 }));
    Ok(())
}

#[kernel(block = 64, vectorize = 2, ilp = 4, batch_loads, index = 64)]
fn doubled(x: &Global<f64>, y: &mut Global<f64>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 2.0 * x[i];
    }
}

fn wide(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let xs: Vec<f64> = tame(777).into_iter().map(f64::from).collect();
    let x = b.device.upload(&xs)?;
    let mut y = b.device.zeros::<f64>(777)?;
    b.go(doubled(&x, &mut y).cover(777))?;
    let found = b.keep(&y)?;
    b.expect("doubles", &found, xs.iter().map(|x| 2.0 * x));
    Ok(())
}

/// One row for each thread, by loops that are told how to run.
#[kernel(block = 32)]
fn rows<const N: usize, const BATCH: bool>(w: usize, x: &Global<u32>, y: &mut Global<u32>) {
    let row = global_id().x;
    if row < y.len() {
        let mut total = 0u32;
        #[unroll(N)]
        for i in 0..w {
            total = total.wrapping_add(x[row * w + i]);
        }
        let mut bits = 0u32;
        #[ilp(N)]
        #[batch_loads(BATCH)]
        for i in 0..w {
            bits ^= x[row * w + i].rotate_left(3);
        }
        let mut least = u32::MAX;
        #[ilp(N, best_effort)]
        for i in (0..w).rev() {
            least = least.min(x[row * w + i]);
        }
        let mut last = 0u32;
        #[prefetch(BATCH)]
        for i in 0..w {
            last = last.wrapping_mul(31) ^ x[row * w + i];
        }
        #[unroll]
        for k in 0..4 {
            total = total.rotate_left(k) ^ k;
        }
        let mut k = 0;
        #[batch_loads(BATCH)]
        #[unroll(1)]
        while k < w {
            least = least.rotate_left(1) ^ x[row * w + k];
            k += 2;
        }
        y[row] = total ^ bits ^ least ^ last;
    }
}

fn loops(b: &mut Bench<'_>) -> warpwright::Result<()> {
    for w in [1usize, 2, 7, 16, 33] {
        let x = b.device.upload(&words(w * 40))?;
        let mut y = b.device.zeros::<u32>(40)?;
        b.go(rows::<1, false>(w, &x, &mut y).cover(40))?;
        let plain = b.keep(&y)?;
        b.go(rows::<2, true>(w, &x, &mut y).cover(40))?;
        let found = b.keep(&y)?;
        b.expect("by two", &found, plain.iter().copied());
        b.go(rows::<8, true>(w, &x, &mut y).cover(40))?;
        let found = b.keep(&y)?;
        b.expect("by eight", &found, plain.iter().copied());
    }
    Ok(())
}

mod figures {
    /// Named by annotations only.
    pub(super) const GROUPS: usize = 2;
    pub(super) const UNROLL: bool = true;
    pub(super) const STEPS: u32 = 4;
}

#[kernel(block = 32, ilp = figures::GROUPS * 2)]
fn outside_figures(y: &mut Global<u32>) {
    let i = global_id().x;
    if i < y.len() {
        let mut v = i as u32;
        #[unroll(figures::UNROLL)]
        for k in 0..3 {
            v = v * 3 + k;
        }
        #[unroll(figures::STEPS - 1)]
        for k in 0..10 {
            v = v ^ (v << 1) ^ k;
        }
        y[i] = v;
    }
}

fn named_outside(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let mut y = b.device.zeros::<u32>(300)?;
    b.go(outside_figures(&mut y).cover(300))?;
    let one = |i: u32| (0..10).fold((0..3).fold(i, |v, k| v * 3 + k), |v, k| v ^ (v << 1) ^ k);
    let found = b.keep(&y)?;
    b.expect("figures", &found, (0..300).map(one));
    Ok(())
}

#[device]
fn folded<const U: usize>(seed: u32) -> u32 {
    let mut v = seed;
    #[unroll(U)]
    for k in 0..6 {
        if v == 77 {
            return v;
        }
        v = v.wrapping_mul(5) + k;
    }
    v
}

#[kernel(block = 32, vectorize = 4)]
fn folds(y: &mut Global<u32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = folded::<1>(i as u32) ^ folded::<3>(i as u32 + 70);
    }
}

fn in_device_functions(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let mut y = b.device.zeros::<u32>(130)?;
    b.go(folds(&mut y).cover(130))?;
    b.keep(&y)?;
    Ok(())
}

/// The best so far, with what goes with it: the iteration that wins is the plain loop's, whatever is equal or a NaN.
#[kernel(block = 1)]
fn best_so_far_in<const N: usize>(n: usize, x: &Global<f32>, at: &mut Global<u32>, y: &mut Global<f32>) {
    let (mut least, mut first) = (x[0], 99usize);
    #[ilp(N)]
    for i in 0..n {
        if x[i] < least {
            least = x[i];
            first = i;
        }
    }
    let (mut most, mut last, mut of) = (0.5f32, 77u32, 0.25f32);
    #[ilp(N)]
    for i in (0..n).rev() {
        let v = x[i] * 2.0;
        if i % 3 != 1 && most <= v {
            of = x[i / 2];
            most = v;
            last = i as u32 * 10;
        }
    }
    // Several conditions, one inside the other, and no counter among what goes with it.
    let mut pair = (f32::NEG_INFINITY, -0.0f32);
    #[ilp(N)]
    for i in 0..n {
        if x[i] > -2.0 {
            if !(i == 4) && pair.0 < x[i] {
                pair = (x[i], x[n - 1 - i]);
            }
        }
    }
    at[0] = first as u32;
    at[1] = last;
    y[0] = least;
    y[1] = most;
    y[2] = of;
    y[3] = pair.0;
    y[4] = pair.1;
}

fn best_so_far(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let nan = f32::NAN;
    let inputs: [&[f32]; 9] = [
        &[3.0, 1.0, 2.0, 1.0, 1.0, 0.5, 7.0, 0.5, 7.0, 7.0, 0.25],
        &[0.0, -0.0, 0.0, -0.0, 1.0, -0.0, 1.0],
        &[nan, 1.0, 2.0, 0.0, 4.0],
        &[1.0, nan, 0.5, nan, 0.5, nan, 3.0, 3.0, nan],
        &[5.0],
        &[2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0],
        &[f32::INFINITY, f32::NEG_INFINITY, f32::INFINITY, f32::NEG_INFINITY],
        &[-1.0, -3.0, -3.0, -2.5, -3.0, -1.5],
        &[0.5, 0.25, 0.25, 0.1, 0.25, 0.0],
    ];
    for xs in inputs {
        let x = b.device.upload(xs)?;
        macro_rules! check {
            ($($n:literal)*) => {$(
                let (mut at, mut y) = (b.device.zeros::<u32>(2)?, b.device.zeros::<f32>(5)?);
                b.go(best_so_far_in::<$n>(xs.len(), &x, &mut at, &mut y).grid(1))?;
                let (found, values) = (b.keep(&at)?, b.keep(&y)?);
                let (mut least, mut first) = (xs[0], 99);
                for (i, v) in xs.iter().enumerate() {
                    if *v < least {
                        (least, first) = (*v, i as u32);
                    }
                }
                b.expect("the first of the least", &found[..1], [first]);
                b.expect("the least", &values[..1], [least]);
            )*};
        }
        check! { 1 2 3 4 8 }
    }
    Ok(())
}

/// The same of integers, whose comparisons may be negated, at the ends of their types.
#[kernel(block = 1)]
fn best_of_integers_in<const N: usize>(x: &Global<i32>, y: &mut Global<i32>) {
    let mut most = i32::MIN;
    let mut at = -1;
    #[ilp(N)]
    for i in 0..x.len() {
        if !(x[i] <= most) {
            most = x[i];
            at = i as i32;
        }
    }
    let mut least = 255u8;
    let mut seen = 0u8;
    #[ilp(N)]
    for i in 1u8..23 {
        let v = x[i as usize % 9] as u8;
        least = if v <= least { v } else { least };
        seen ^= v;
    }
    let mut low = i32::MAX;
    let mut index = 1000usize;
    #[ilp(N)]
    for i in 0..x.len() {
        if x[i] > 3 || x[i] >= low {
        } else {
            low = x[i];
            index = i + 5;
        }
    }
    y[0] = most;
    y[1] = at;
    y[2] = least as i32;
    y[3] = low;
    y[4] = index as i32;
    y[5] = seen as i32;
}

fn best_of_integers(b: &mut Bench<'_>) -> warpwright::Result<()> {
    for xs in [[i32::MIN; 9], [i32::MAX; 9], [3, -1, 7, -1, 7, 3, -1, 2, 9], [0, 0, -5, -5, -5, 4, 4, 4, i32::MIN]] {
        let x = b.device.upload(&xs)?;
        macro_rules! check {
            ($($n:literal)*) => {$(
                let mut y = b.device.zeros::<i32>(6)?;
                b.go(best_of_integers_in::<$n>(&x, &mut y).grid(1))?;
                let found = b.keep(&y)?;
                let most = xs.iter().copied().max().filter(|most| *most > i32::MIN);
                let at = most.and_then(|most| xs.iter().position(|v| *v == most)).map_or(-1, |at| at as i32);
                b.expect("the first of the greatest", &found[..2], [most.unwrap_or(i32::MIN), at]);
            )*};
        }
        check! { 1 2 3 4 7 }
    }
    Ok(())
}

/// What a guard says of indices lets `ilp` and `batch_loads` move accesses: rows and halves do not meet.
#[kernel(block = 32, ilp = 2, batch_loads)]
fn halves_of(n: usize, tokens: &mut Global<i32>) {
    let i = global_id().x;
    if i < n {
        tokens[i] -= 1;
        tokens[n + i] += 1 + i as i32;
    }
}

#[kernel(block = 32)]
fn down_the_columns(w: usize, h: usize, m: &mut Global<f32>) {
    let c = global_id().x;
    if c >= w || h == 0 {
        return;
    }
    assert!(w < 1 << 20);
    #[ilp(4)]
    #[batch_loads]
    for r in 0..h {
        m[r * w + c] = 2.0 * m[r * w + c] + r as f32;
    }
}

fn guarded(b: &mut Bench<'_>) -> warpwright::Result<()> {
    for n in [1usize, 5, 64, 65] {
        let first: Vec<i32> = (0..2 * n as i32).map(|i| i * i).collect();
        let mut tokens = b.device.upload(&first)?;
        b.go(halves_of(n, &mut tokens).cover(n))?;
        let found = b.keep(&tokens)?;
        let one = |i: usize| if i < n { first[i] - 1 } else { first[i] + 1 + (i - n) as i32 };
        b.expect("tokens", &found, (0..2 * n).map(one));
        for h in [1usize, 3, 4, 9] {
            let values = tame(n * h);
            let mut m = b.device.upload(&values)?;
            b.go(down_the_columns(n, h, &mut m).cover(n))?;
            let found = b.keep(&m)?;
            b.expect("columns", &found, values.iter().enumerate().map(|(at, v)| 2.0 * v + (at / n) as f32));
        }
    }
    Ok(())
}

/// Loads that need another one first stay where they are under `prefetch`; a final `+=` is loaded before the loop.
#[kernel(block = 32)]
fn sparse_rows(starts: &Global<u32>, columns: &Global<u32>, values: &Global<f32>, x: &Global<f32>, y: &mut Global<f32>) {
    let row = global_id().x;
    if row + 1 >= starts.len() {
        return;
    }
    y[row] += sparse_row(starts[row] as usize, starts[row + 1] as usize, columns, values, x);
}

#[device]
fn sparse_row(from: usize, to: usize, columns: &Global<u32>, values: &Global<f32>, x: &Global<f32>) -> f32 {
    let mut sum = 0.0;
    #[prefetch]
    for k in from..to {
        let v = values[k];
        if v != 0.0 && columns[k] as usize + 1 < x.len() {
            sum += v * (x[columns[k] as usize] + x[columns[k] as usize + 1]);
        }
    }
    sum
}

#[kernel(block = 32, batch_loads)]
fn ends(m: usize, at: &Global<u32>, y: &mut Global<f32>, out: &mut Global<f32>) {
    let i = global_id().x;
    if i >= y.len() {
        return;
    }
    let mut sum = 0.0;
    for k in 0..m {
        sum += (k * k) as f32;
    }
    y[i] += sum;
    assert!(m < 100, "{m}");
    out[at[i] as usize] -= sum;
}

fn indirect(b: &mut Bench<'_>) -> warpwright::Result<()> {
    // Rows of 0, 1, 2, … entries.
    let rows = 70usize;
    let starts: Vec<u32> = (0..=rows as u32).map(|row| row * (row + 1) / 2 - row).collect();
    let count = starts[rows] as usize;
    let columns: Vec<u32> = (0..count as u32).map(|k| k * 7919 % 50).collect();
    let values: Vec<f32> = (0..count).map(|k| (k % 5) as f32).collect();
    let xs: Vec<f32> = (0..50).map(|k| k as f32).collect();
    let mut y = b.device.upload(&vec![0.5f32; rows])?;
    let [starts_on, columns_on] = [b.device.upload(&starts)?, b.device.upload(&columns)?];
    let [values_on, x] = [b.device.upload(&values)?, b.device.upload(&xs)?];
    b.go(sparse_rows(&starts_on, &columns_on, &values_on, &x, &mut y).cover(rows))?;
    let found = b.keep(&y)?;
    let entry = |k: usize| if columns[k] < 49 { values[k] * (2 * columns[k] + 1) as f32 } else { 0.0 };
    let row = |row: usize| 0.5 + (starts[row] as usize..starts[row + 1] as usize).map(entry).sum::<f32>();
    b.expect("sparse rows", &found, (0..rows).map(row));

    let at: Vec<u32> = (0..40).rev().collect();
    let at_on = b.device.upload(&at)?;
    let (mut y, mut out) = (b.device.upload(&[1.0f32; 40])?, b.device.upload(&[2.0f32; 40])?);
    b.go(ends(5, &at_on, &mut y, &mut out).cover(40))?;
    let (found, reversed) = (b.keep(&y)?, b.keep(&out)?);
    b.expect("ends", &found, [31.0; 40]);
    b.expect("ends", &reversed, [-28.0; 40]);
    Ok(())
}

/// Divisions under a condition of each element's own, by numbers that are the same for all.
#[kernel(block = 32, ilp = ILP, vectorize = V)]
fn divides<const ILP: usize, const V: usize>(m: &Global<f32>, g: &Global<i64>, y: &mut Global<i64>) {
    let i = global_id().x;
    if i < y.len() {
        let a = g[0];
        let x = m[i];
        y[i] = match x < 2.0 {
            true => 0i64,
            false => a % ((a & 15) + 1),
        };
    }
}

fn quotients(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let xs: Vec<f32> = (0..300).map(|i| if i % 3 == 1 || i % 7 == 0 { f32::NAN } else { i as f32 % 5.0 }).collect();
    let (m, g) = (b.device.upload(&xs)?, b.device.upload(&[29i64])?);
    macro_rules! check {
        ($($ilp:literal $vectorize:literal;)*) => {$(
            let mut y = b.device.zeros::<i64>(300)?;
            b.go(divides::<$ilp, $vectorize>(&m, &g, &mut y).cover(300))?;
            let found = b.keep(&y)?;
            b.expect("quotients", &found, xs.iter().map(|x| if *x < 2.0 { 0 } else { 29 % 14 }));
        )*};
    }
    check! { 1 1; 2 1; 4 1; 1 2; 2 2; }
    Ok(())
}
