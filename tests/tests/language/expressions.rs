//! Expressions and statements, and the arithmetic of integers.

use crate::bench::{Bench, cases, small, words};
use warpwright::prelude::*;

cases!(
    shadows,
    deferred,
    early_returns,
    device_returns,
    compound,
    inner_constants,
    destructuring,
    precedence,
    short_circuits,
    shifts_and_wraps,
    evaluation_order,
    macros,
    unused,
    nested_functions,
);

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
