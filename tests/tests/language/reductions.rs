//! Sums and searches that `ilp` splits, gathered on every way through an iteration: in inner loops that end when they will, behind `continue`, under `&&` and `||`.

use crate::bench::{Bench, cases, small, words};
use warpwright::prelude::*;

cases!(sums_on_every_way, sums_of_named_loops, searches_under_conditions);

#[kernel(block = 32)]
fn every_way(x: &Global<u32>, y: &mut Global<u32>) {
    let t = global_id().x;
    let n = x[t] as usize % 23;
    let (mut a, mut b, mut most) = (5u32, 1u32, 0u32);
    #[ilp(3)]
    for i in 0..n {
        let v = x[(i + t) % 96];
        let mut j = 0;
        while j < v % 4 {
            a += x[(j as usize + t) % 96] ^ i as u32;
            j += 1;
        }
        loop {
            if j > 6 {
                a += 1;
                break;
            }
            j += 1;
            if (v >> j) & 1 == 0 {
                a -= 3;
                continue;
            }
            most = most.max(j * 7 + i as u32);
            if j == 5 {
                break;
            }
        }
        if v & 1 == 0 {
            a += v;
        } else if v & 2 == 0 {
            a -= i as u32;
            b *= 7;
            continue;
        }
        for k in 0..9usize {
            if x[(k + i) % 96] % 7 == 5 {
                b *= 5;
                break;
            }
            if k % 3 == 1 {
                continue;
            }
            b *= x[(k + t) % 96] | 1;
        }
        a = loop {
            if v % 5 == 1 {
                break a + 3;
            }
            break if v % 5 == 2 { a } else { a - 1 };
        };
    }
    y[t] = a ^ b.rotate_left(9) ^ most << 20;
}

fn sums_on_every_way(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(every_way, &words(96), 1)?;
    b.map(every_way, &small(96), 1).map(drop)
}

#[kernel(block = 32)]
fn named_loops(x: &Global<u32>, y: &mut Global<u32>) {
    let t = global_id().x;
    let (mut a, mut b) = (5u32, 1u32);
    #[ilp(4)]
    'rows: for i in 0..x[t] as usize % 12 {
        'row: {
            for j in 0..5usize {
                let mut q = 0u32;
                while q < 9 {
                    let v = x[(i + j + t + q as usize) % 96];
                    q += 1;
                    if v % 11 == 3 {
                        a += v;
                        continue 'rows;
                    }
                    if v % 13 == 3 {
                        a -= 1;
                        b ^= v;
                        break 'row;
                    }
                    if v % 3 == 2 {
                        a += 9;
                        break;
                    }
                    b ^= v << j;
                }
                a += 2;
            }
            a += 100;
        }
        a += 1000;
        b ^= i as u32;
    }
    y[t * 2] = a;
    y[t * 2 + 1] = b;
}

fn sums_of_named_loops(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(named_loops, &words(96), 2)?;
    b.map(named_loops, &small(96), 2).map(drop)
}

/// What else is asked may stand behind the comparison, and be computed only where it holds.
#[kernel(block = 32)]
fn under_conditions(x: &Global<u32>, y: &mut Global<u32>) {
    let t = global_id().x;
    let n = x[t] as usize % 40;
    let (mut most, mut first) = (3u32, 99usize);
    #[ilp(4)]
    for i in 0..n {
        let v = x[(i * 7 + t) % 96];
        if v > most && v % 3 != 0 && x[v as usize % 96] % 2 == 0 {
            most = v;
            first = i;
        }
    }
    let (mut least, mut last, mut of) = (50u32, 99u32, 0u32);
    #[ilp(3)]
    for i in (0..n).rev() {
        let v = x[(i * 5 + t) % 96];
        if !(v > least || v % 5 == 2) {
            least = v;
            last = i as u32;
            of = v * 3 + i as u32;
        }
    }
    let (mut high, mut at) = (-1.0f32, 0u32);
    #[ilp(2)]
    for i in 0..n as u32 {
        let v = x[(i as usize + t) % 96] as f32;
        if high <= v && (v as u32 / 3) % 2 == 1 {
            high = v;
            at = i * 2;
        }
    }
    y[t * 4] = most ^ (first as u32) << 24;
    y[t * 4 + 1] = least ^ last << 24;
    y[t * 4 + 2] = of;
    y[t * 4 + 3] = high as u32 ^ at << 24;
}

fn searches_under_conditions(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(under_conditions, &words(96), 4)?;
    b.map(under_conditions, &small(96), 4).map(drop)
}
