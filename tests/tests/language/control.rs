//! Section 4: every statement and expression, and §7's integers.

use crate::bench::{Bench, cases, small, words};
use warpwright::prelude::*;

cases!(
    for_ranges,
    ranges_of_types,
    range_edges,
    stepped,
    whiles,
    loops_with_values,
    labels,
    labelled_blocks,
    matches_of_integers,
    matches_of_signed,
    matches_of_tuples,
    matches_of_enums,
    matches_of_bools,
    match_bindings,
    if_chains,
    blocks,
    shadows,
    deferred,
    early_returns,
    device_returns,
    compound,
    lets_else,
    if_lets,
    imported_variants,
    inner_constants,
    destructuring,
    precedence,
    short_circuits,
    shifts_and_wraps,
    evaluation_order,
    macros,
    unused,
    nested_functions,
    float_matches,
);

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

const SPECIAL: u32 = 77;

#[kernel(block = 32)]
fn integer_matches(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let n = x[i];
    let a = match n {
        0 => 10,
        1 | 2 => 20,
        3..=9 => 30 + n,
        10..20 => 40,
        SPECIAL => 50,
        k if k % 2 == 0 => k / 2,
        k @ (21 | 31 | 41) => k + 1000,
        k @ 50..=99 if k % 3 == 0 => k * 3,
        ..=60 => 70,
        0x8000_0000.. => 80,
        u32::MAX => 90,
        _ => 99,
    };
    let b = match n % 4 {
        0 => 1,
        1 => {
            let t = a * 2;
            t + 1
        }
        2 if a > 35 => 5,
        2 => 6,
        3 => return_early(a),
        _ => 1000,
    };
    match b {
        5 => y[i] = 5,
        6 => {}
        other => {
            y[i] = other;
            y[i] += a;
        }
    }
    if matches!(n, 3..=9 | 77) {
        y[i] ^= 0x100;
    }
    if matches!((n % 3, b), (0, k) | (k, 2) if k > 1) {
        y[i] ^= 0x200;
    }
    y[i] ^= a << 12;
}

#[device]
fn return_early(a: u32) -> u32 {
    match a {
        0..=30 => return 3,
        31 => {}
        v => return v,
    }
    7
}

fn matches_of_integers(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let xs: Vec<u32> = words(160).into_iter().zip(0..).map(|(w, i)| if i % 2 == 0 { i / 2 } else { w }).collect();
    b.map(integer_matches, &xs, 1).map(drop)
}

#[kernel(block = 32)]
fn signed_matches(x: &Global<i32>, y: &mut Global<i32>) {
    let i = global_id().x;
    let a = match x[i] {
        i32::MIN..=-100 => -3,
        -99..=-1 => -2,
        0 => 0,
        1..100 => 1,
        _ => 2,
    };
    let b = match (x[i] >> 3) as i8 {
        -128 => 1,
        -127..=-64 => 2,
        -63..0 => 3,
        i8::MAX => 4,
        v => v as i32,
    };
    let c = match x[i] as u8 {
        b'0'..=b'9' => 1,
        b'a'..=b'z' | b'A'..=b'Z' => 2,
        255 => 3,
        _ => 4,
    };
    let d = match x[i] as i64 * 1_000_000_007 {
        0..=1_000_000_000_000 => 5,
        -5_000_000_000..0 => 6,
        _ => 7,
    };
    y[i] = a * 1000 + b * 10 + c + d * 10000;
}

fn matches_of_signed(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let xs: Vec<i32> = words(160).into_iter().zip(-60i32..).map(|(w, i)| if i % 2 == 0 { i * 5 } else { w as i32 }).collect();
    b.map(signed_matches, &xs, 1).map(drop)
}

#[kernel(block = 32)]
fn tuple_matches(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let (a, b) = (x[i], x[(i + 1) % x.len()]);
    let v = match (a % 4, b % 3 == 0) {
        (0, true) => 1,
        (0, false) => 2,
        (1..=2, _) if a > b => 3,
        (k @ 1..=2, flag) => k * 10 + flag as u32,
        (3, true) | (_, false) => 40,
        _ => 50,
    };
    let w = match (a, (b, [a & 1, b & 1])) {
        (0, _) => 1,
        (p, (q, [1, r])) if p > q => p - q + r,
        (_, (q, [0, 0 | 1])) => q,
        (p, (_, [_, last])) => p + last,
    };
    let u = match [a % 3, b % 3, (a + b) % 3] {
        [0, .., 0] => 1,
        [first, ..] if first == 2 => 2,
        [_, second, _] => second + 3,
    };
    y[i] = v + w * 100 + u * 100000;
}

fn matches_of_tuples(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(tuple_matches, &small(96), 1).map(drop)
}

#[device]
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Shape {
    Point,
    Line = 5,
    Circle,
    Square = 200,
}

#[device]
impl Shape {
    fn of(word: u32) -> Shape {
        match word % 4 {
            0 => Shape::Point,
            1 => Shape::Line,
            2 => Self::Circle,
            _ => Shape::Square,
        }
    }

    fn corners(self) -> u32 {
        match self {
            Shape::Point | Shape::Circle => 0,
            Shape::Line => 2,
            Self::Square => 4,
        }
    }
}

#[device]
#[derive(Clone, Copy, PartialEq)]
#[repr(C)]
struct Figure {
    shape: Shape,
    size: i16,
}

#[kernel(block = 32)]
fn enum_matches(x: &Global<u32>, f: &mut Global<Figure>, y: &mut Global<u32>) {
    let i = global_id().x;
    let mut shape = Shape::of(x[i]);
    let mut s = shape as u32 * 3 + shape.corners();
    if shape == Shape::Line || shape != Shape::Circle && x[i] > 7 {
        s += 1000;
        shape = Shape::Circle;
    }
    let figure = Figure { shape, size: x[i] as i16 - 5 };
    f[i] = figure;
    s += match f[i] {
        Figure { shape: Shape::Point, size } => size as u32,
        Figure { shape: Shape::Circle, size: -5..=0 } => 7,
        Figure { shape: Shape::Circle, size: k } if k % 2 == 0 => k as u32 * 2,
        Figure { size, .. } => 5 * size as u32,
    };
    s += match (figure.shape, Shape::of(s)) {
        (Shape::Point, Shape::Point) => 1,
        (a, b) if a == b => 2,
        (Shape::Square, _) | (_, Shape::Square) => 3,
        _ => 4,
    };
    y[i] = s;
}

fn matches_of_enums(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let x = b.device.upload(&small(64))?;
    let mut f = b.device.upload(&[Figure { shape: Shape::Point, size: 0 }; 64])?;
    let mut y = b.device.zeros::<u32>(64)?;
    b.go(enum_matches(&x, &mut f, &mut y).cover(64))?;
    b.keep(&y)?;
    let all = f.download()?;
    let shapes: Vec<u32> = all.iter().map(|figure| figure.shape as u32).collect();
    let of = |x: u32| if x % 4 == 1 || x % 4 != 2 && x > 7 { Shape::Circle } else { Shape::of(x) };
    b.expect("shapes", &shapes, small(64).into_iter().map(|x| of(x) as u32));
    Ok(())
}

#[kernel(block = 32)]
fn bool_matches(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let (a, b) = (x[i] % 2 == 0, x[i] % 3 == 0);
    let v = match a {
        true => match b {
            false => 1,
            true => 2,
        },
        false if b => 3,
        false => 4,
    };
    y[i] = match (a, b, v) {
        (true, true, _) => 10 + v,
        (true, _, 1) => 20,
        (false, ..) => 30,
        _ => 40,
    };
}

fn matches_of_bools(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(bool_matches, &small(64), 1).map(drop)
}

#[kernel(block = 32)]
fn bindings(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let mut total = 0;
    let v = match x[i] {
        mut n if n > 8 => {
            n *= 2;
            total += 1;
            n
        }
        n => {
            let mut n = n + 100;
            while n > 103 {
                n -= 3;
                total += n;
            }
            n
        }
    };
    let whole @ (p, q) = (v, total);
    y[i] = whole.0 * 3 + p + q * 1000;
}

fn match_bindings(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(bindings, &small(64), 1).map(drop)
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

#[kernel(block = 32)]
fn shadowing(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let v = x[i];
    let v = v as f32 * 0.5;
    let v = (v, v as u32);
    let i32 = v.1 as i32;
    let mut s = 0u32;
    for v in 0..3 {
        let s_old = s;
        for v in v..v + 2 {
            let v = v * 10;
            s += v;
        }
        let s = s_old;
        let _unused = s + 1;
    }
    {
        let s = 1000;
        let _ = s;
    }
    let len = x.len() as u32;
    let y_ = v.0 as u32;
    y[i] = s + y_ + i32 as u32 + len;
}

fn shadows(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(shadowing, &words(64), 1).map(drop)
}

#[kernel(block = 32)]
fn deferred_lets(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let n = x[i];
    let a;
    let b: u32;
    let mut c: [u32; 2];
    let d: (u32, bool);
    if n > 7 {
        a = n;
        b = 1;
        c = [a, b];
    } else {
        b = 2;
        a = n + b;
        c = [0; 2];
        c[1] = 9;
    }
    match n % 3 {
        0 => d = (1, true),
        1 => {
            let e;
            e = 5;
            d = (e, false);
        }
        _ => d = (c[0], a > b),
    }
    let f;
    loop {
        if c[1] > 5 {
            f = c[1];
            break;
        }
        c[1] += a + 1;
    }
    y[i] = a + b * 10 + c[0] * 100 + d.0 * 1000 + (d.1 as u32) * 10000 + f;
}

fn deferred(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(deferred_lets, &small(64), 1).map(drop)
}

#[kernel(block = 32)]
fn returns(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    if i >= x.len() {
        return;
    }
    y[i] = 1;
    let n = x[i];
    if n == 0 {
        return;
    }
    for k in 0..10 {
        y[i] += k;
        if k == n {
            return;
        }
        if k == 8 {
            y[i] = 999;
            return;
        }
    }
    y[i] += 5000;
    let v: u32 = match n {
        11 => return,
        12 => 3,
        _ => {
            y[i] += 1;
            if n == 13 {
                return;
            } else {
                n
            }
        }
    };
    y[i] += v * 10;
}

fn early_returns(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(returns, &small(77), 1).map(drop)
}

#[device]
fn search(x: &Global<u32>, from: usize, wanted: u32) -> (usize, u32) {
    let mut passes = 0;
    loop {
        for k in from..x.len() {
            passes += 1;
            if x[k] == wanted {
                return (k, passes);
            }
            if passes > 40 {
                return (k, 40);
            }
        }
        if passes > 20 {
            break;
        }
        passes += 1;
    }
    (x.len(), passes)
}

#[device]
fn classify(n: u32) -> i32 {
    if n == 0 {
        return 0;
    }
    let mut m = n;
    while m > 1 {
        if m % 2 == 1 {
            if m == 3 {
                return -3;
            }
            return m as i32;
        }
        m /= 2;
    }
    -1
}

#[kernel(block = 32)]
fn calls(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let (at, passes) = search(x, i / 2, x[i] / 2);
    y[i] = at as u32 * 100 + passes;
    let c = classify(x[i]) + classify(at as u32);
    if c < 0 {
        y[i] ^= 0x8000_0000;
    }
    y[i] += (c + 3) as u32 + classify(passes) as u32;
}

fn device_returns(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(calls, &small(64), 1).map(drop)
}

#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Cell {
    v: [u16; 3],
    f: f32,
    t: (i32, u8),
}

#[kernel(block = 32)]
fn compounds(x: &Global<u32>, cells: &mut Global<Cell>, y: &mut Global<u32>) {
    #[shared]
    let mut tile: [[u32; 3]; 32];
    #[shared]
    let mut pairs: [(u32, f32); 32];
    let i = global_id().x;
    let t = thread_idx().x;
    let n = x[i];
    tile[t] = [n, n + 1, n + 2];
    pairs[t] = (n, 1.5);
    cells[i].v[1] += n as u16;
    cells[i].v[n as usize % 3] <<= 2;
    cells[i].f *= 2.0;
    cells[i].f -= cells[i].v[0] as f32;
    cells[i].t.0 -= 7;
    cells[i].t.0 %= 5;
    cells[i].t.1 |= 0x81;
    tile[t][1] *= 3;
    tile[t][2] /= 2;
    tile[t][n as usize % 3] ^= 0xf0;
    pairs[t].0 &= 6;
    pairs[t].1 += pairs[t].0 as f32;
    let mut local = [Cell { v: [1, 2, 3], f: 0.5, t: (1, 2) }; 2];
    local[1].v[2] -= 3;
    local[n as usize % 2].v[1] *= n as u16;
    local[0].t.0 >>= 1;
    local[0].f /= 4.0;
    y[i] = tile[t][0] + tile[t][1] * 10 + tile[t][2] * 100;
    y[i] += pairs[t].0 + (pairs[t].1 * 8.0) as u32;
    y[i] -= cells[i].t.0 as u32;
    y[i] *= 3;
    y[i] ^= (local[1].v[1] as u32) << 16 | local[0].v[1] as u32 | (local[0].f * 64.0) as u32;
    y[i] <<= 1;
    y[i] %= 1_000_003;
}

fn compound(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let x = b.device.upload(&words(64))?;
    let start: Vec<Cell> =
        words(64).iter().map(|&w| Cell { v: [w as u16, (w >> 3) as u16, 9], f: (w % 100) as f32, t: (w as i32 >> 2, w as u8) }).collect();
    let mut cells = b.device.upload(&start)?;
    let mut y = b.device.zeros::<u32>(64)?;
    b.go(compounds(&x, &mut cells, &mut y).cover(64))?;
    b.keep(&y)?;
    let found: Vec<u32> = cells
        .download()?
        .iter()
        .map(|c| c.v[0] as u32 ^ (c.v[1] as u32) << 8 ^ (c.v[2] as u32) << 16 ^ c.t.1 as u32 ^ c.t.0 as u32)
        .collect();
    let expected = start.iter().zip(words(64)).map(|(c, n)| {
        let mut c = *c;
        c.v[1] = c.v[1].wrapping_add(n as u16);
        c.v[n as usize % 3] <<= 2;
        c.t.0 = c.t.0.wrapping_sub(7) % 5;
        c.t.1 |= 0x81;
        c.v[0] as u32 ^ (c.v[1] as u32) << 8 ^ (c.v[2] as u32) << 16 ^ c.t.1 as u32 ^ c.t.0 as u32
    });
    b.expect("cells", &found, expected);
    Ok(())
}

#[kernel(block = 32)]
fn let_else(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    y[i] = 1;
    let n @ 0..=9 = x[i] else {
        y[i] = 2;
        return;
    };
    let (0 | 2 | 4 | 6 | 8, k) = (n, n / 2) else {
        return;
    };
    y[i] = k * 10;
}

fn lets_else(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(let_else, &small(64), 1).map(drop)
}

#[kernel(block = 32)]
fn if_let(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let mut n = x[i];
    if let k @ 3..=9 = n
        && k % 2 == 1
    {
        y[i] += k;
    } else if let (1, m) | (2, m) = (n, n + 5) {
        y[i] += m * 100;
    }
    while let 4..=15 = n {
        n -= 3;
        y[i] += 1000;
    }
    y[i] += n * 10000;
}

fn if_lets(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(if_let, &small(64), 1).map(drop)
}

#[kernel(block = 32)]
fn operators(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let (a, b, c) = (x[i], x[(i + 1) % x.len()], x[(i + 2) % x.len()]);
    let p = a + b * c << 2 & 0xff | a ^ b - c;
    let q = a & b == c & a;
    let r = -(a as i32) as u32 % 7 + !b / 3;
    let s = a as i32 as f32 * -1.0 < b as f32 && !q || c > 5;
    let t = (a + b) * (c - 1) >> (a & 3);
    let u = (a < b) ^ (b < c);
    let v = 1 + 2 * 3 - 4 / 2 % 2 << 1;
    y[i] = p ^ (q as u32) << 30 ^ r ^ (s as u32) << 29 ^ t ^ (u as u32) << 28 ^ v;
}

fn precedence(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(operators, &words(96), 1).map(drop)
}

#[device]
fn count(y: &mut Global<u32>, i: usize, answer: bool) -> bool {
    y[i] += 1;
    answer
}

#[kernel(block = 32)]
fn circuits(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let n = x[i];
    let mut v = 0;
    if count(y, i, n > 3) && count(y, i, n > 7) || count(y, i, n == 1) {
        v += 100;
    }
    let w = count(y, i, n > 5) | count(y, i, n > 6) & count(y, i, true);
    if i + 1 < x.len() && x[i + 1] > 3 {
        v += 1000;
    }
    while count(y, i, v % 3 != 0) && v < 2000 {
        v += 1;
    }
    let u = n > 2 && {
        v += 10000;
        n > 4
    };
    y[i] += v + (w as u32) * 100000 + (u as u32) * 1000000;
}

fn short_circuits(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(circuits, &small(64), 1).map(drop)
}

#[kernel(block = 32)]
fn wraps(x: &Global<u32>, y: &mut Global<u64>) {
    let i = global_id().x;
    let a = x[i];
    let b = x[(i + 1) % x.len()];
    let s = a as i32;
    let l = (a as u64) << 32 | b as u64;
    let mut r = (a + b) as u64 ^ (a * b) as u64 ^ (a - b) as u64 ^ (s * 3 - b as i32) as u64;
    r ^= (a << (b % 32)) as u64 ^ (s >> (b % 32)) as u64 ^ (l >> (a % 64)) ^ (l as i64 >> (b & 63)) as u64;
    r = r * 31 + (a.wrapping_shl(b) ^ a.wrapping_shr(b)) as u64 + l.wrapping_shl(b);
    r = r * 31 + (-s) as u64 + (-(l as i64)) as u64 + s.wrapping_neg() as u64;
    r = r * 31 + ((a as u8) << (b & 7)) as u64 + ((a as i16) >> (b & 15)) as u64 + (a as u16).wrapping_shl(b) as u64;
    r = r * 31 + (i32::MIN + s) as u64 + (s.wrapping_abs()) as u64 + (a as i8).wrapping_neg() as u64;
    y[i] = r;
}

#[kernel(block = 32)]
fn wide_shifts(x: &Global<u32>, y: &mut Global<u64>) {
    let i = global_id().x;
    let a = x[i];
    let n = x[(i + 1) % x.len()];
    let l = (a as u64) * 0x1_0000_0001;
    let mut r = (a << n) as u64 ^ (a as i32 >> n) as u64 ^ (l << n) ^ (l >> n) ^ (l as i64 >> n) as u64;
    r = r * 31 + ((a as u8) << n) as u64 + ((a as i8) >> n) as u64 + ((a as u16) >> n) as u64 + ((a as i16) << n) as u64;
    let mut t = a;
    t <<= n as u8;
    t ^= a >> (n as i64);
    y[i] = r ^ t as u64;
}

fn shifts_and_wraps(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(wraps, &words(96), 1)?;
    b.map(wide_shifts, &words(96), 1).map(drop)
}

#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Counter {
    n: u32,
}

#[device]
impl Counter {
    fn next(&mut self) -> u32 {
        self.n = self.n * 5 + 1;
        self.n % 1000
    }
}

#[kernel(block = 32)]
fn order(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let mut c = Counter { n: x[i] };
    let a = [c.next(), c.next(), c.next()];
    let t = (c.next(), a[0] - c.next(), c.next() * 3);
    let s = Counter { n: c.next() };
    let v = c.next() - c.next() * 7;
    let mut w = [0u32; 4];
    w[(c.next() % 4) as usize] = c.next();
    w[(c.next() % 4) as usize] += c.next();
    let m = a[1].max(c.next()).min(c.next());
    let mut z = c.n;
    z += {
        z = 3;
        z + c.next()
    };
    y[i] = t.0 ^ t.1 << 3 ^ t.2 << 6 ^ s.n << 9 ^ v ^ w[0] ^ w[1] << 1 ^ w[2] << 2 ^ w[3] << 3 ^ m ^ z;
}

fn evaluation_order(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(order, &words(96), 1).map(drop)
}

#[kernel(block = 32)]
fn asserting(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let v = x[i] as f32;
    assert!(i < x.len(), "thread {} has nothing to do", i);
    assert!(v >= 0.0);
    debug_assert!(x.len() == 32, "length {}", x.len());
    assert_eq!(block_dim().x, 32);
    assert_ne!(v, -1.0, "never");
    if v < 0.0 {
        println!("{} {v} {:?} {}", i, x[i], v > 0.0);
        print!("no line");
        panic!("this cannot be: {}", v);
    }
    let w = match x[i] {
        0..=15 => 3,
        _ => unreachable!(),
    };
    y[i] = w;
}

fn macros(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(asserting, &small(32), 1).map(drop)
}

#[device]
fn effect(y: &mut Global<u32>, i: usize) -> u32 {
    y[i] += 7;
    y[i]
}

#[kernel(block = 32)]
fn unused_results(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    effect(y, i);
    let _ = effect(y, i);
    let _named = x[i] + 3;
    let (_, _) = (effect(y, i), 2);
    x[i];
    let _ = x[i].count_ones();
    let dead = [x[i]; 16];
    let _alive = dead[3];
    if x[i] > 100 {
        1
    } else {
        2
    };
    match x[i] {
        3 => 4,
        _ => 5,
    };
    loop {
        effect(y, i);
        break;
    }
    {
        effect(y, i)
    };
    y.atomic_add(i, 1);
    ()
}

fn unused(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(unused_results, &small(32), 1).map(drop)
}

#[device]
fn leaf(a: f32, b: f32) -> f32 {
    if a > b { a - b } else { b * 0.5 }
}

#[device]
fn middle(a: f32, n: u32) -> f32 {
    let mut r = a;
    for k in 0..n {
        r = leaf(r, k as f32) + leaf(k as f32, leaf(r, 2.0));
        if r > 50.0 {
            return r;
        }
    }
    leaf(r, r + 1.0)
}

#[kernel(block = 32, contract = false)]
fn nested_calls(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    y[i] = middle(middle(x[i] as f32, x[i] % 4), 3).to_bits();
}

fn nested_functions(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(nested_calls, &small(64), 1).map(drop)
}

#[kernel(block = 32)]
fn float_ranges(x: &Global<f32>, y: &mut Global<u32>) {
    let i = global_id().x;
    y[i] = match x[i] {
        0.0 => 1,
        -1.0..=1.0 => 2,
        1.0..5.5 => 3,
        v if v.is_nan() => 4,
        _ => 5,
    };
}

fn float_matches(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let xs = crate::bench::floats(64);
    let found = b.map(float_ranges, &xs, 1)?;
    b.check("zero", found[0] == 1 && found[1] == 1);
    Ok(())
}

#[kernel(block = 32)]
fn variants(x: &Global<u32>, y: &mut Global<u32>) {
    use Shape::*;
    let i = global_id().x;
    let mut shape = Shape::of(x[i]);
    let mut s = 0;
    if shape == Line || x[i] > 11 {
        shape = Circle;
        s = 1;
    }
    {
        use Shape::{Point as Dot, Square as Block};
        s += match shape {
            Dot => 10,
            Line => 20,
            Circle => 30,
            Block => 40,
        };
    }
    y[i] = match (shape, Shape::of(s)) {
        (Point, Point) => 1,
        (Square, _) | (_, Square) => 3,
        (a, b) if a == b => 2,
        _ => s,
    };
}

fn imported_variants(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(variants, &small(64), 1).map(drop)
}

#[kernel(block = 32)]
fn constants(x: &Global<u32>, y: &mut Global<u32>) {
    const N: usize = 2 * 3;
    const TABLE: [u32; N] = [1, 2, 4, 8, 16, 32];
    const LOW: u32 = 3;
    use std::f32::consts::PI;
    let i = global_id().x;
    let mut sums = [0u32; N];
    for k in 0..N {
        const STEP: u32 = LOW + 2;
        sums[k] = TABLE[(k + i) % N] * STEP;
    }
    let v = match x[i] {
        LOW => 100,
        0..LOW => 200,
        _ => (PI * 100.0) as u32,
    };
    y[i] = window_sum::<N>(sums) + v;
}

#[device]
fn window_sum<const N: usize>(a: [u32; N]) -> u32 {
    let mut s = 0;
    for k in 0..N {
        s = s * 2 + a[k];
    }
    s
}

fn inner_constants(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(constants, &small(64), 1).map(drop)
}

#[kernel(block = 32)]
fn destructure(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let n = x[i];
    let (mut a, mut b, mut c) = (n, n + 1, n + 2);
    (a, b) = (b, a);
    (_, c) = (a, b + c);
    let mut array = [0u32; 4];
    [array[0], array[3], ..] = [a, b, c, n];
    (array[1], (array[2], _)) = (7, (a, b));
    let mut cell = Cell { v: [0; 3], f: 0.0, t: (1, 2) };
    (cell.v[0], cell.t) = (n as u16, (5, 6));
    Cell { f: cell.f, t: (_, cell.t.1), .. } = Cell { v: [1; 3], f: 2.5, t: (8, 9) };
    (y[i], ..) = (array[0] + array[1] * 10 + array[2] * 100 + array[3] * 1000, 1, 2);
    y[i] += c ^ cell.v[0] as u32 ^ (cell.f * 2.0) as u32 ^ cell.t.0 as u32 ^ cell.t.1 as u32;
}

fn destructuring(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(destructure, &small(64), 1).map(drop)
}
