//! Structs, tuples and arrays of them.

use crate::bench::{Bench, cases, floats, small, tame, words};
use warpwright::prelude::*;

cases!(
    tuples,
    tuple_buffers,
    structs,
    structs_with_everything,
    struct_parameters,
    arrays_of_structs,
    tuple_structs,
    array_literals,
    struct_equality_and_update,
);

#[device]
fn divide(a: u32, b: u32) -> (u32, u32, bool) {
    if b == 0 { (0, a, false) } else { (a / b, a % b, true) }
}

#[kernel(block = 64)]
fn tuple_kernel(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    if i >= x.len() {
        return;
    }
    let (quotient, rest, fine) = divide(x[i], x[(i + 7) % x.len()] % 13);
    let mut pair = (quotient, (rest as u8, -3i16));
    pair.1.1 += 5;
    pair.0 = pair.0.wrapping_mul(3) + pair.1.0 as u32;
    let (_, (r, s)) = pair;
    let ((a, b), [c, .., d]) = ((r, s), [1u32, 2, 3, rest]);
    let swapped = (b, a);
    let (mut p, q);
    p = swapped.0 as u32;
    q = swapped.1 as u32;
    p += q;
    let unit = ();
    let _ = unit;
    y[i * 2] = pair.0 ^ p << 4 ^ (fine as u32) << 31;
    y[i * 2 + 1] = c + d + pair.1.1 as u32;
}

fn tuples(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(tuple_kernel, &words(90), 2).map(drop)
}

#[kernel(block = 32)]
fn tuple_elements(x: &Global<(f32, u32)>, y: &mut Global<(u32, f32)>, z: &mut Global<u32>) {
    let i = global_id().x;
    let (f, u) = x[i];
    y[i] = (u, f);
    y[i].0 += 1;
    y[i].1 *= x[i].0;
    z[i] = y[i].0 + x[i].1 + (y[i].1 > 3.0) as u32;
}

fn tuple_buffers(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let xs: Vec<(f32, u32)> = tame(64).into_iter().zip(words(64)).collect();
    let x = b.device.upload(&xs)?;
    let mut y = b.device.zeros::<(u32, f32)>(64)?;
    let mut z = b.device.zeros::<u32>(64)?;
    b.go(tuple_elements(&x, &mut y, &mut z).cover(64))?;
    b.keep(&z)?;
    let ys = y.download()?;
    b.expect("first", &ys.iter().map(|y| y.0).collect::<Vec<_>>(), xs.iter().map(|x| x.1.wrapping_add(1)));
    b.expect("second", &ys.iter().map(|y| y.1).collect::<Vec<_>>(), xs.iter().map(|x| x.0 * x.0));
    Ok(())
}

#[device]
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Vec3 {
    x: f32,
    y: f32,
    z: f32,
}

#[device]
impl Vec3 {
    const UP: Vec3 = Vec3 { x: 0.0, y: 1.0, z: 0.0 };

    fn new(x: f32, y: f32, z: f32) -> Self {
        Self { x, y, z }
    }

    fn dot(self, other: Vec3) -> f32 {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    fn cross(self, b: Vec3) -> Vec3 {
        Vec3::new(self.y * b.z - self.z * b.y, self.z * b.x - self.x * b.z, self.x * b.y - self.y * b.x)
    }

    fn scale(&mut self, by: f32) {
        self.x *= by;
        self.y *= by;
        self.z *= by;
    }

    fn scaled(&self, by: f32) -> Vec3 {
        Vec3 { x: self.x * by, y: self.y * by, z: self.z * by }
    }

    fn length(&self) -> f32 {
        self.dot(*self).sqrt()
    }
}

#[kernel(block = 32, contract = false)]
fn vectors(x: &Global<Vec3>, y: &mut Global<Vec3>, z: &mut Global<f32>) {
    let i = global_id().x;
    let a = x[i];
    let Vec3 { x: ax, y: ay, .. } = a;
    let mut c = a.cross(Vec3::UP);
    c.z += ax - ay;
    c.scale(0.5);
    let d = c.scaled(3.0);
    y[i] = d;
    y[i].x -= x[(i + 1) % x.len()].z;
    z[i] = y[i].length() + Vec3 { x: 1.0, ..d }.dot(a);
}

fn structs(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let f = tame(96 * 3);
    let xs: Vec<Vec3> = f.chunks(3).map(|c| Vec3::new(c[0], c[1], c[2])).collect();
    let x = b.device.upload(&xs)?;
    let mut y = b.device.zeros::<Vec3>(96)?;
    let mut z = b.device.zeros::<f32>(96)?;
    b.go(vectors(&x, &mut y, &mut z).cover(96))?;
    b.keep(&z)?;
    let found = y.download()?;
    let expected = xs.iter().enumerate().flat_map(|(i, &a)| {
        let mut c = a.cross(Vec3::UP);
        c.z += a.x - a.y;
        let d = c.scaled(0.5).scaled(3.0);
        [d.x - xs[(i + 1) % 96].z, d.y, d.z]
    });
    b.expect("vectors", &found.iter().flat_map(|v| [v.x, v.y, v.z]).collect::<Vec<_>>(), expected);
    Ok(())
}

#[device]
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Mixed {
    a: u8,
    b: f64,
    c: [i16; 3],
    d: bool,
    e: (u8, u32),
    f: Vec3,
    g: f16,
    h: i64,
    k: u8,
}

#[kernel(block = 32)]
fn mixed(p: &mut Global<Mixed>, z: &mut Global<u64>) {
    let i = global_id().x;
    if i >= p.len() {
        return;
    }
    let mut m = p[i];
    m.a = m.a.wrapping_add(200);
    m.b *= 1.5;
    m.c[i % 3] -= 1;
    m.c[1] = m.c[1].wrapping_mul(7);
    m.d = !m.d;
    m.e.1 ^= m.a as u32;
    m.e.0 += 1;
    m.f.y = m.f.x - m.f.z;
    m.g = (m.g as f32 * 2.0) as f16;
    m.h -= m.c[2] as i64;
    let n = m;
    m.k = 99;
    p[i] = m;
    p[i].f.z += 1.0;
    p[i].c[(i + 1) % 3] += n.k as i16;
    z[i] = p[i].h as u64 ^ (p[i].c[0] as u16 as u64) << 3 ^ (p[i].e.1 as u64) << 20 ^ p[i].b.to_bits() ^ p[i].k as u64 ^ n.a as u64;
}

fn structs_with_everything(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let all: Vec<Mixed> = words(50)
        .iter()
        .map(|&w| Mixed {
            a: w as u8,
            b: f64::from(w) / 7.0,
            c: [w as i16, (w >> 8) as i16, (w >> 16) as i16],
            d: w % 2 == 0,
            e: ((w >> 4) as u8 & 127, w ^ 0x1234),
            f: Vec3::new(w as f32, 2.0, 3.0),
            g: f16::from_f32((w % 1000) as f32),
            h: i64::from(w) << 12,
            k: (w >> 9) as u8,
        })
        .collect();
    let mut p = b.device.upload(&all)?;
    let mut z = b.device.zeros::<u64>(50)?;
    b.go(mixed(&mut p, &mut z).cover(50))?;
    b.keep(&z)?;
    let found = p.download()?;
    let expected = |i: usize, m: Mixed| {
        let mut e = m;
        e.a = m.a.wrapping_add(200);
        e.b = m.b * 1.5;
        e.c[i % 3] = e.c[i % 3].wrapping_sub(1);
        e.c[1] = e.c[1].wrapping_mul(7);
        e.d = !m.d;
        e.e = (m.e.0 + 1, m.e.1 ^ u32::from(e.a));
        e.f = Vec3::new(m.f.x, m.f.x - m.f.z, m.f.z + 1.0);
        e.g = f16::from_f32(f32::from(m.g) * 2.0);
        e.h = m.h - i64::from(e.c[2]);
        e.c[(i + 1) % 3] = e.c[(i + 1) % 3].wrapping_add(i16::from(m.k));
        e.k = 99;
        e
    };
    let first = all.iter().enumerate().zip(&found).find(|&((i, &m), &found)| expected(i, m) != found);
    b.check(&format!("struct differs: {first:?}, expected {:?}", first.map(|((i, &m), _)| expected(i, m))), first.is_none());
    Ok(())
}

#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Params {
    flag: bool,
    scale: f64,
    offsets: [i16; 5],
    origin: Vec3,
    small: (u8, u16),
    half: f16,
    count: u64,
}

#[kernel(block = 32, contract = false)]
fn parameters(p: Params, t: (u8, f64), a: [u32; 3], s: i8, flag: bool, h: f16, y: &mut Global<f64>) {
    let i = global_id().x;
    let mut v = p.scale * p.offsets[i % 5] as f64 + p.origin.y as f64;
    if p.flag {
        v += p.small.1 as f64;
    }
    if flag {
        v -= h as f64 + p.half as f64;
    }
    let mut q = p;
    q.offsets[2] += 100;
    v += q.offsets[(i + 1) % 5] as f64 * t.1 - t.0 as f64;
    y[i] = v + a[i % 3] as f64 + s as f64 + (p.count >> 32) as f64 + p.small.0 as f64;
}

fn struct_parameters(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let mut y = b.device.zeros::<f64>(40)?;
    let p = Params {
        flag: true,
        scale: 1.25,
        offsets: [1, -2, 3, -32768, 5],
        origin: Vec3::new(1.0, 2.5, 3.0),
        small: (250, 60000),
        half: f16::from_f32(0.375),
        count: 7 << 40,
    };
    let h = f16::from_f32(-1.5);
    let (t, a) = ((9u8, 0.1), [1u32, 1 << 31, 3]);
    for flag in [false, true] {
        b.go(parameters(p, t, a, -128, flag, h, &mut y).grid(1))?;
        let found: Vec<f64> = b.keep(&y)?.into_iter().take(32).collect();
        let expected = (0..32).map(|i| {
            let mut v = 1.25 * f64::from(p.offsets[i % 5]) + 2.5 + 60000.0;
            v -= if flag { -1.5 + 0.375 } else { 0.0 };
            let offset = if (i + 1) % 5 == 2 { 103 } else { p.offsets[(i + 1) % 5] };
            v += f64::from(offset) * 0.1 - 9.0;
            v + f64::from(a[i % 3]) - 128.0 + f64::from(7 << 8) + 250.0
        });
        b.expect("parameters", &found, expected);
    }
    Ok(())
}

#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Slot {
    key: u16,
    pair: [f32; 2],
    next: Option32,
}

#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Option32 {
    some: bool,
    value: u32,
}

#[device]
impl Option32 {
    fn none() -> Option32 {
        Option32 { some: false, value: 0 }
    }
    fn of(value: u32) -> Option32 {
        Option32 { some: true, value }
    }
    fn or(self, other: u32) -> u32 {
        if self.some { self.value } else { other }
    }
    fn take(&mut self) -> Option32 {
        let old = *self;
        *self = Option32::none();
        old
    }
}

#[kernel(block = 32)]
fn slots(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let mut table = [Slot { key: 3, pair: [0.0; 2], next: Option32::none() }; 6];
    for k in 0..6 {
        table[k].key = (x[(i + k) % x.len()] % 6) as u16;
        table[k].pair[k % 2] = k as f32;
    }
    let dynamic = table[0].key as usize;
    table[dynamic].next = Option32::of(17);
    table[dynamic].pair[1] += 0.5;
    let copy = table[5];
    table[5] = table[dynamic];
    table[table[1].key as usize] = copy;
    let taken = table[5].next.take();
    let mut sum = taken.or(5) * 1000;
    for s in 0..6 {
        sum += table[s].next.or(s as u32) + table[s].key as u32 * 7 + (table[s].pair[0] * 4.0 + table[s].pair[1] * 8.0) as u32;
        sum *= 3;
    }
    y[i] = sum;
}

fn arrays_of_structs(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(slots, &words(96), 1).map(drop)
}

#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Meters(f32);

#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Pair(u32, Meters);

#[device]
impl Meters {
    fn plus(self, other: Meters) -> Meters {
        Meters(self.0 + other.0)
    }
}

#[kernel(block = 32)]
fn newtypes(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let Pair(n, Meters(m)) = Pair(3, Meters(x[i]));
    let mut p = Pair { 0: n, 1: Meters(m) };
    p.1.0 += n as f32;
    y[i] = p.1.plus(Meters(1.0)).0 - p.0 as f32;
}

fn tuple_structs(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(newtypes, &tame(64), 1).map(drop)
}

const PRIMES: [u32; 8] = [2, 3, 5, 7, 11, 13, 17, 19];
const GRID: [[f32; 2]; 3] = [[0.5, 1.5], [2.5, 3.5], [4.5, 5.5]];
const ORIGIN: Vec3 = Vec3 { x: 1.0, y: 2.0, z: 4.0 };
const MIX: (u8, [i16; 3]) = (7, [-1, 0, 1]);
const COUNT: usize = PRIMES.len() - 3;
const SHIFTED: u32 = (PRIMES[2] << 4) | 0b1010_0000 ^ 0x0f;

mod tables {
    pub(super) const STEP: u32 = 3;
}

#[kernel(block = 32)]
fn literals(x: &Global<u32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let k = x[i] as usize;
    let local = [1.0f32, 2.0, 4.0, 8.0];
    let fill = [PRIMES[COUNT]; COUNT];
    let mut v = local[k % 4] + PRIMES[k % 8] as f32 + GRID[k % 3][(k / 3) % 2] * MIX.1[k % 3] as f32;
    v += fill[k % COUNT] as f32 + 2.0 - MIX.0 as f32 + SHIFTED as f32;
    let bytes = [b'a', b'\n', 0x7f, 0o17, 1_0u8];
    v += bytes[k % 5] as f32 + std::f32::consts::PI - core::f32::consts::FRAC_1_SQRT_2 + tables::STEP as f32;
    v += 1e3 + 2.5e-1f32 + 1_000.0 + 0xffu8 as f32 + 1f32;
    y[i] = v;
}

fn array_literals(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let x = b.device.upload(&words(64))?;
    let mut y = b.device.zeros::<f32>(64)?;
    b.go(literals(&x, &mut y).cover(64))?;
    b.keep_close(&y, 1e-6).map(drop)
}

#[kernel(block = 32)]
fn updates(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let base = Option32 { value: x[i], some: x[i] > 7 };
    let mut next = Option32 { some: !base.some, ..base };
    let old = next;
    next.value += 1;
    let (mut low, mut high) = (base.value, next.value);
    (low, high) = (high, low);
    [low, _] = [low + 1, 0];
    y[i] = old.or(3) * 5 + next.or(9) + low * 2 - high;
}

fn struct_equality_and_update(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(updates, &small(64), 1).map(drop)
}
