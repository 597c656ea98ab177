//! Loops, blocks, labels and `if`s.

use crate::bench::{Bench, cases, small, words};
use warpwright::prelude::*;

cases!(for_ranges, ranges_of_types, range_edges, stepped, whiles, loops_with_values, labels, labelled_blocks, if_chains, blocks,);

#[kernel(block = 32)]
fn fors(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let n = x[i];
    let mut s = 0u32;
    for k in 0..n {
        s = s * 3 + k;
    }
    for k in 2..=n {
        s = s * 5 + k;
    }
    for k in (0..n).rev() {
        s = s * 7 + k;
    }
    for k in (1..=n).rev() {
        s = s * 11 + k;
    }
    for k in (0..n).step_by(3) {
        s = s * 13 + k;
    }
    for k in (0..=n).step_by(4) {
        s = s * 17 + k;
    }
    for k in (0..n).rev().step_by(3) {
        s = s * 19 + k;
    }
    for k in (0..n).step_by(3).rev() {
        s = s * 23 + k;
    }
    for k in (0..n + 1).step_by(5).rev() {
        s = s * 29 + k;
    }
    for _ in 0..n {
        s += 1;
    }
    for k in 5..5 {
        s += k + 1000;
    }
    for k in 7..3 {
        s += k + 1000;
    }
    for k in n..n + 3 {
        let k = k * 2;
        s ^= k;
    }
    y[i] = s;
}

fn for_ranges(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(fors, &small(96), 1).map(drop)
}

#[kernel(block = 32)]
fn typed_ranges(x: &Global<u32>, y: &mut Global<u64>) {
    let i = global_id().x;
    let n = x[i];
    let mut s = 0u64;
    for k in -5i8..(n as i8) {
        s = s * 3 + k as u64;
    }
    for k in (-(n as i16)..=3).rev() {
        s = s * 3 + k as u64;
    }
    for k in (-7..n as i32).step_by(2) {
        s = s * 3 + k as u64;
    }
    for k in (-(n as i64)..n as i64).rev().step_by(3) {
        s = s * 3 + k as u64;
    }
    for k in 0..n as u8 {
        s = s * 3 + k as u64;
    }
    for k in (3..=n as u16).rev() {
        s = s * 3 + k as u64;
    }
    for k in 1..n as u64 {
        s = s * 3 + k;
    }
    for k in 0..n as usize {
        s = s * 3 + k as u64;
    }
    for k in (-2..n as isize).rev() {
        s = s * 3 + k as u64;
    }
    y[i] = s;
}

fn ranges_of_types(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(typed_ranges, &small(96), 1).map(drop)
}

#[kernel(block = 32)]
fn edges(x: &Global<u32>, y: &mut Global<u64>) {
    let i = global_id().x;
    let n = x[i];
    let mut s = 0u64;
    for k in (255 - n as u8)..=255 {
        s = s * 3 + k as u64;
    }
    for k in -128i8..=(-128 + n as i8) {
        s = s * 3 + k as u64;
    }
    for k in (-128i8..=-126).rev() {
        s = s * 5 + k as u64;
    }
    for k in (0..=n as u8).rev() {
        s = s * 5 + k as u64;
    }
    for k in (i32::MAX - n as i32)..=i32::MAX {
        s = s * 7 + k as u64;
    }
    for k in (u64::MAX - n as u64..=u64::MAX).step_by(3) {
        s = s * 7 + k;
    }
    for k in (u32::MAX - 9..u32::MAX).step_by(n as usize + 1) {
        s = s * 7 + k as u64;
    }
    for k in (i64::MIN..i64::MIN + 5).rev() {
        s = s * 7 ^ k as u64;
    }
    for k in (100u8..250).step_by(100) {
        s = s * 7 + k as u64;
    }
    for k in (-100i8..=100).step_by(120) {
        s = s * 7 + k as u64;
    }
    for k in (-100i8..127).step_by(50).rev() {
        s = s * 7 + k as u64;
    }
    let mut count = 0u32;
    for k in 0..=255u8 {
        count += k as u32 & n;
    }
    y[i] = s + count as u64;
}

fn range_edges(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(edges, &small(64), 1).map(drop)
}

#[kernel(block = 32)]
fn steps(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let n = x[i];
    let mut s = 0;
    for k in (n..100).step_by(n as usize + 1) {
        s = s * 3 + k;
    }
    for k in (0..x.len()).step_by(block_dim().x) {
        s = s * 3 + x[k];
    }
    for k in (thread_idx().x..x.len()).step_by(32).rev() {
        s = s * 5 + x[k];
    }
    const STRIDE: usize = 7;
    for k in (1..=50u32).step_by(STRIDE) {
        s ^= k << (k % 5);
    }
    y[i] = s;
}

fn stepped(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(steps, &small(96), 1).map(drop)
}

#[kernel(block = 32)]
fn collatz(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let mut n = x[i] % 1000 + 1;
    let mut steps = 0;
    let mut most = n;
    while n != 1 && steps < 200 {
        n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
        steps += 1;
        if n > most {
            most = n;
        }
        if most > 9000 {
            break;
        }
        if n % 16 == 0 {
            n >>= 2;
            continue;
        }
        most ^= 1;
    }
    let mut never = 0;
    while false {
        never += 1;
    }
    while never < 3 {
        never += 1;
    }
    y[i * 2] = steps;
    y[i * 2 + 1] = most + never;
}

fn whiles(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(collatz, &words(128), 2).map(drop)
}

#[kernel(block = 32)]
fn loop_values(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let mut n = x[i];
    let found = loop {
        n = n.wrapping_mul(1664525).wrapping_add(1013904223);
        if n % 7 == 3 {
            break n >> 3;
        }
        if n % 11 == 5 {
            break 42;
        }
    };
    let pair = loop {
        n /= 3;
        if n < 10 {
            break (n, found % 2 == 0);
        }
    };
    let deep = 'outer: loop {
        loop {
            if n > 5 {
                break 'outer n * 100;
            }
            n += 1;
            if n == 3 {
                break;
            }
        }
        n += 2;
    };
    let once = loop {
        break 5;
    };
    let nothing = loop {
        if pair.1 {
            break;
        } else {
            break;
        }
    };
    let _: () = nothing;
    y[i] = found ^ pair.0 << 8 ^ (pair.1 as u32) << 16 ^ deep ^ once;
}

fn loops_with_values(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(loop_values, &words(128), 1).map(drop)
}

#[kernel(block = 32)]
fn labelled(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let n = x[i];
    let mut s = 1u32;
    'a: for p in 0..n {
        'b: for q in (0..n).rev() {
            let mut r = 0;
            'c: while r < n {
                r += 1;
                s = s * 31 + r;
                if (s >> 3) % 13 == 1 {
                    continue 'a;
                }
                if s % 17 == 2 {
                    continue 'b;
                }
                if s % 19 == 3 {
                    continue 'c;
                }
                if s % 23 == 4 {
                    break 'b;
                }
                if s % 201 == 5 {
                    break 'a;
                }
                if s % 29 == 6 {
                    break;
                }
                s += q;
            }
            s ^= p << 4;
        }
        s += 7;
    }
    y[i] = s;
}

fn labels(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(labelled, &small(128), 1).map(drop)
}

#[kernel(block = 32)]
fn block_breaks(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let n = x[i];
    let mut t = 0;
    let v = 'found: {
        if n < 3 {
            break 'found 100;
        }
        t += 1;
        for k in 3..n {
            t += k;
            if n % k == 0 {
                break 'found k;
            }
        }
        t += 50;
        n * 2
    };
    'done: {
        if v > 10 {
            break 'done;
        }
        t *= 3;
    }
    y[i] = v * 1000 + t;
}

fn labelled_blocks(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(block_breaks, &small(96), 1).map(drop)
}

#[kernel(block = 32)]
fn chains(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let n = x[i];
    let v = if n < 2 {
        n + 1
    } else if n < 5 {
        if n == 3 { 30 } else { 40 }
    } else if n % 2 == 0 {
        let k = n * n;
        k - 1
    } else {
        7
    };
    let w = if n > 3 { (n, v) } else { (v, n) };
    let u = if let 5..=9 = n { w.0 } else { w.1 } + if n == 1 { 1 } else { 0 };
    let array = if n < 8 { [1, 2, 3] } else { [n, v, u] };
    if n > 5 {
    } else {
        y[i] = 500;
    }
    y[i] += v * 3 + w.0 * 7 + u * 100 + array[1] + array[(n % 3) as usize];
}

fn if_chains(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(chains, &small(64), 1).map(drop)
}

#[kernel(block = 32)]
fn block_expressions(x: &Global<u32>, y: &mut Global<u32>) {
    let i = { global_id().x };
    let mut side = 0;
    let v = {
        let t = x[i];
        side += 2;
        {
            let t = t + 1;
            t * t
        }
    } + {
        side *= 5;
        side
    };
    y[{
        side += 1;
        i
    }] = v + side;
}

fn blocks(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(block_expressions, &words(64), 1).map(drop)
}
