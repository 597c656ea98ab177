//! `match`, `if let` and patterns.

use crate::bench::{Bench, cases, small, words};
use warpwright::prelude::*;

cases!(
    matches_of_integers,
    matches_of_signed,
    matches_of_tuples,
    rests_of_arrays,
    matches_of_enums,
    matches_of_bools,
    match_bindings,
    lets_else,
    if_lets,
    imported_variants,
    float_matches,
);

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
fn ends([first, inner @ .., last]: [u32; 4]) -> u32 {
    first + last * inner[1] + inner.len() as u32
}

#[kernel(block = 32)]
fn array_rests(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let n = x[i];
    let [a, rest @ .., b] = [n, n + 1, n * 3, n ^ 5, n / 2];
    let [mut front @ .., last] = rest;
    front[1] += a;
    let [first, none @ .., second] = front;
    let picked = match rest {
        [1..=20, others @ ..] if others[0] % 2 == 0 => others[0] + others[1],
        [.., 7] | [7, ..] => 7,
        [lead @ .., 3 | 4] | [_, lead @ ..] => lead[0] * 100 + lead[1],
    };
    let odd = if let [5 | 6 | 9, more @ ..] = rest { more[0] + more[1] } else { 0 };
    let [[p, inner @ ..], outer @ ..] = [[n, 2, 3], [4, n, 6], [7, 8, n]];
    let mut sum = p + inner[1] + outer[0][1] * 10 + outer[1][2] * 100 + none.len() as u32;
    for k in 0..front.len() {
        sum += front[(k + i) % 2] * (k as u32 + 1);
    }
    y[i] = sum + first * 3 + second + last + b + picked * 7 + odd + ends([n, 1, 2, 3]);
}

fn rests_of_arrays(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(array_rests, &small(96), 1).map(drop)
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
