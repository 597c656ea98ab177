//! Const and type generics, of kernels, device functions and structs; constants from outside.

use crate::bench::{Bench, cases, tame, words};
use warpwright::prelude::*;
use warpwright::{Float, Int, Num};

cases!(
    copies,
    floats_of_each_width,
    integers_of_each_width,
    numbers,
    elements,
    generic_structs,
    const_functions,
    outside,
    constant_tuples,
    generic_bool,
    table_sizes,
    guarded_by_generics
);

#[kernel(block = B, variants(B in [64, 128, 256], REPEAT in [1, 4], ODD in [false, true]))]
fn copy<const B: usize, const REPEAT: usize, const ODD: bool>(out: &mut Global<f64>, inp: &Global<f64>) {
    let i = global_id().x;
    if i < out.len() {
        let mut v = inp[i];
        for _ in 0..REPEAT {
            v += 1.0;
        }
        out[i] = if ODD && i % 2 == 1 { -v } else { v * B as f64 };
    }
}

fn copies(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let xs: Vec<f64> = tame(300).into_iter().map(f64::from).collect();
    let x = b.device.upload(&xs)?;
    let mut y = b.device.zeros::<f64>(300)?;
    b.go(copy::<64, 1, false>(&mut y, &x).cover(300))?;
    b.keep_close(&y, 1e-12)?;
    b.go(copy::<256, 4, true>(&mut y, &x).cover(300))?;
    b.keep_close(&y, 1e-12)?;
    b.go(copy::<96, 0, true>(&mut y, &x).cover(300))?;
    b.keep_close(&y, 1e-12)?;
    Ok(())
}

#[device]
fn lerp<T: Float>(a: T, b: T, t: T) -> T {
    a + (b - a) * t
}

#[device]
fn horner<T: Float, const N: usize>(x: T, coefficients: [T; N]) -> T {
    let mut r = T::ZERO;
    for k in (0..N).rev() {
        r = r * x + coefficients[k];
    }
    r
}

#[kernel(block = 32, contract = false)]
fn floating<T: Float>(x: &Global<T>, y: &mut Global<T>) {
    let i = global_id().x;
    let a = x[i];
    let b = x[(i + 1) % x.len()];
    let mut v = lerp(a, b, 0.25 as T);
    v += horner(a / (128.0 as T), [T::ONE, 0.5 as T, -2 as T, i as T]);
    v = v.abs().sqrt().max(b.floor()).min(T::MAX) - a.recip() * b.signum();
    if v.is_nan() || v.is_infinite() {
        v = T::ONE + T::EPSILON;
    }
    let n = v as i32;
    let w = (n as T) + (v as f64) as T;
    y[i] = if v > w { v - w } else { w.copysign(a).mul_add(b, v) };
}

fn floats_of_each_width(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let f = tame(96);
    b.map(floating::<f16>, &f.iter().map(|&f| f16::from_f32(f)).collect::<Vec<_>>(), 1)?;
    b.map(floating::<bf16>, &f.iter().map(|&f| bf16::from_f32(f)).collect::<Vec<_>>(), 1)?;
    b.map(floating::<f32>, &f, 1)?;
    b.map(floating::<f64>, &f.iter().map(|&f| f64::from(f) * 1.1).collect::<Vec<_>>(), 1)?;
    Ok(())
}

#[device]
fn gcd<T: Int>(mut a: T, mut b: T) -> T {
    while b != T::ZERO {
        (a, b) = (b, a % b);
    }
    a
}

#[kernel(block = 32)]
fn integer<T: Int>(x: &Global<T>, y: &mut Global<T>) {
    let i = global_id().x;
    let a = x[i];
    let b = x[(i + 1) % x.len()];
    let mut v = (a & b) ^ (a | !b) << (3 as T);
    v = v.wrapping_mul(b).wrapping_add(a.rotate_left(5)) ^ (a >> (1 as T));
    v ^= (a.count_ones() as T) + (b.leading_zeros() as T) - (v.trailing_zeros() as T);
    v = v.max(a).min(b.saturating_add(a)) ^ a.swap_bytes() ^ b.reverse_bits();
    v += gcd(a & (0x3f as T), (b & (0x1f as T)) | T::ONE);
    y[i] = if v == T::MAX || v == T::MIN { T::ONE } else { v.wrapping_sub(a.mul_hi(b)) };
}

macro_rules! integers {
    ($b:ident: $($t:ty)*) => {$({
        let xs: Vec<$t> = words(96).iter().zip(words(120).iter().skip(24)).map(|(&w, &v)| (u64::from(w) << 32 | u64::from(v)) as $t).collect();
        $b.map(integer::<$t>, &xs, 1)?;
    })*};
}

fn integers_of_each_width(b: &mut Bench<'_>) -> warpwright::Result<()> {
    integers!(b: u8 u16 u32 u64 i8 i16 i32 i64);
    Ok(())
}

#[kernel(block = 64, contract = false)]
fn sum<T: Num>(x: &Global<T>, y: &mut Global<T>) {
    #[shared]
    let mut part: [T; 64];
    let t = thread_idx().x;
    part[t] = x[global_id().x];
    sync_threads();
    let mut d = 32;
    while d > 0 {
        if t < d {
            part[t] += part[t + d] * (1 as T);
        }
        sync_threads();
        d /= 2;
    }
    let most = if part[0] > x[0] { part[0] } else { x[0] };
    y[global_id().x] = most.min(part[t]) + T::ONE - (t as T) / (2 as T);
}

fn numbers(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let f = tame(128);
    b.map(sum::<f16>, &f.iter().map(|&f| f16::from_f32(f)).collect::<Vec<_>>(), 1)?;
    b.map(sum::<bf16>, &f.iter().map(|&f| bf16::from_f32(f)).collect::<Vec<_>>(), 1)?;
    b.map(sum::<f32>, &f, 1)?;
    b.map(sum::<f64>, &f.iter().map(|&f| f64::from(f)).collect::<Vec<_>>(), 1)?;
    b.map(sum::<i8>, &f.iter().map(|&f| f as i8).collect::<Vec<_>>(), 1)?;
    b.map(sum::<u16>, &words(128).iter().map(|&w| w as u16).collect::<Vec<_>>(), 1)?;
    b.map(sum::<i32>, &words(128).iter().map(|&w| w as i32).collect::<Vec<_>>(), 1)?;
    b.map(sum::<u64>, &words(128).iter().map(|&w| (w as u64) << 9).collect::<Vec<_>>(), 1)?;
    Ok(())
}

#[kernel(block = 32)]
fn reverse<T: Element, const N: usize>(x: &Global<T>, y: &mut Global<T>) {
    #[shared]
    let mut tile: [T; 32];
    let t = thread_idx().x;
    let base = block_idx().x * 32;
    tile[t] = x[base + t];
    sync_threads();
    let mut held = [tile[31 - t]; N];
    held[t % N] = tile[(t + N) % 32];
    y[base + t] = held[(t + 1) % N];
}

fn elements(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(reverse::<u8, 1>, &words(64).iter().map(|&w| w as u8).collect::<Vec<_>>(), 1)?;
    b.map(reverse::<bool, 2>, &words(64).iter().map(|&w| w % 2 == 0).collect::<Vec<_>>(), 1)?;
    b.map(reverse::<f64, 3>, &tame(64).iter().map(|&f| f as f64).collect::<Vec<_>>(), 1)?;
    let pairs: Vec<[u16; 2]> = words(64).iter().map(|&w| [w as u16, (w >> 16) as u16]).collect();
    let x = b.device.upload(&pairs)?;
    let mut y = b.device.zeros::<[u16; 2]>(64)?;
    b.go(reverse::<[u16; 2], 1>(&x, &mut y).cover(64))?;
    let found: Vec<u16> = y.download()?.concat();
    b.expect("pairs", &found, (0..64).flat_map(|i| pairs[i / 32 * 32 + (i % 32 + 1) % 32]));
    Ok(())
}

#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Complex<T: Float> {
    re: T,
    im: T,
}

#[device]
impl<T: Float> Complex<T> {
    const I: Complex<T> = Complex { re: T::ZERO, im: T::ONE };

    fn times(self, other: Self) -> Self {
        Complex { re: self.re * other.re - self.im * other.im, im: self.re * other.im + self.im * other.re }
    }

    fn add(&mut self, other: Complex<T>) {
        self.re += other.re;
        self.im += other.im;
    }

    fn square(&self) -> T {
        self.re * self.re + self.im * self.im
    }
}

#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Ring<T: Num, const N: usize> {
    slots: [T; N],
    at: u32,
}

#[device]
impl<T: Num, const N: usize> Ring<T, N> {
    fn new() -> Self {
        Ring { slots: [T::ZERO; N], at: 0 }
    }

    fn push(&mut self, v: T) -> T {
        let k = self.at as usize % N;
        let old = self.slots[k];
        self.slots[k] = v;
        self.at += 1;
        old
    }

    fn total(&self) -> T {
        let mut t = T::ZERO;
        for k in 0..N {
            t += self.slots[k];
        }
        t
    }
}

#[kernel(block = 32, contract = false)]
fn structs<T: Float>(x: &Global<T>, y: &mut Global<T>) {
    let i = global_id().x;
    let n = x.len();
    let mut z = Complex { re: x[i], im: x[(i + 1) % n] };
    let c = Complex::<T> { re: T::ONE, im: x[i] };
    let mut ring = Ring::<T, 3>::new();
    let mut counts: Ring<u8, 5> = Ring::new();
    let mut s = T::ZERO;
    for k in 0..7 {
        z = z.times(Complex::I);
        z.add(c);
        s += ring.push(z.square() / (1000.0 as T));
        counts.push(k as u8 * 3);
    }
    y[i] = s + ring.total() + counts.total() as T;
}

fn generic_structs(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(structs::<f32>, &tame(64), 1)?;
    b.map(structs::<f64>, &tame(64).iter().map(|&f| f as f64).collect::<Vec<_>>(), 1)?;
    b.map(structs::<f16>, &tame(64).iter().map(|&f| f16::from_f32(f / 20.0)).collect::<Vec<_>>(), 1)?;
    Ok(())
}

#[device]
fn window<const N: usize, const REVERSED: bool>(x: &Global<u32>, at: usize) -> [u32; N] {
    let mut w = [0; N];
    for k in 0..N {
        w[if REVERSED { N - 1 - k } else { k }] = x[(at + k) % x.len()];
    }
    w
}

#[device]
fn weighted<const N: usize>(w: [u32; N], by: u32) -> u32 {
    let mut s = 0;
    let mut k = 0;
    while k < N {
        s = s * by + w[k];
        k += 1;
    }
    s + N as u32
}

#[kernel(block = 32)]
fn windows<const N: usize, const BY: u32>(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let a = window::<N, false>(x, i);
    let b: [u32; 4] = window::<4, true>(x, i);
    y[i] = weighted(a, BY) ^ weighted(b, { BY + 2 }) ^ weighted([1, 2], N as u32);
}

fn const_functions(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(windows::<1, 3>, &words(64), 1)?;
    b.map(windows::<7, 5>, &words(64), 1)?;
    Ok(())
}

/// A constant that depends on what the kernel's source does not show.
const OUTSIDE: usize = std::mem::size_of::<u64>() * 4;
const LEVEL: f32 = 1.5;
const FLAG: bool = cfg!(target_pointer_width = "64");

mod other {
    pub(crate) const DEEP: i16 = -300;
    pub(crate) const WIDE: u64 = u64::MAX - 5;
}

#[kernel(block = OUTSIDE)]
fn outsiders(x: &Global<u32>, y: &mut Global<u32>) {
    #[shared]
    let mut tile: [u32; OUTSIDE];
    let t = thread_idx().x;
    tile[t] = x[global_id().x];
    sync_threads();
    let mut v = tile[OUTSIDE - 1 - t] + OUTSIDE as u32;
    v = (v as f32 * LEVEL) as u32;
    if FLAG {
        v ^= other::DEEP as u32;
    }
    v ^= crate::generics::other::WIDE as u32;
    y[global_id().x] = v + self::other::DEEP as u32;
}

fn outside(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(outsiders, &words(64), 1).map(drop)
}

mod keys {
    /// Fields of one type, which an array could hold, too.
    pub(crate) const PAIR: (u32, u32) = (7, 11);
    pub(crate) const NESTED: ((f32, f32), [u32; 2]) = ((0.5, 2.0), [3, 5]);
    pub(crate) const TABLE: [(u32, u32); 3] = [(1, 2), (3, 4), (5, 6)];
    pub(crate) const COMPUTED: (usize, usize, usize) = (std::mem::size_of::<u64>(), 2, 1);
}

use keys::NESTED as RENAMED;
use std::f32::consts::PI;

#[kernel(block = 32)]
fn tuples_outside(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let (a, b) = keys::PAIR;
    let ((half, two), list) = RENAMED;
    let row = keys::TABLE[1];
    let v = x[i] * keys::PAIR.0 + a * b + keys::TABLE[2].1 + row.0 * row.1;
    y[i] = v + (half * two * PI) as u32 + list[1] + RENAMED.1[0] + (keys::COMPUTED.0 * keys::COMPUTED.1) as u32;
}

fn constant_tuples(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let x = words(64);
    let y = b.map(tuples_outside, &x, 1)?;
    let expected: Vec<u32> = x.iter().map(|v| v.wrapping_mul(7).wrapping_add(77 + 6 + 12 + 3 + 5 + 3 + 16)).collect();
    assert_eq!(y, expected);
    Ok(())
}

#[kernel(block = 32)]
fn switched<const UP: bool, const STEP: i32>(x: &Global<u32>, y: &mut Global<i32>) {
    let i = global_id().x;
    let mut v = x[i] as i32 % 100;
    if UP {
        v += STEP;
    } else {
        v -= STEP * 2;
    }
    y[i] = match (UP, STEP) {
        (true, 1..=3) => v,
        (false, -5) => v * 2,
        _ => v * 3,
    };
}

fn generic_bool(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(switched::<true, 2>, &words(32), 1)?;
    b.map(switched::<false, -5>, &words(32), 1)?;
    b.map(switched::<false, 7>, &words(32), 1)?;
    Ok(())
}

#[kernel(block = 32)]
fn unreachable_index<const N: usize>(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let a = [x[i]; N];
    let mut v = a[0];
    if N > 2 {
        v += a[2] * 3;
    }
    if N > 5 {
        v += a[N - 5];
    }
    y[i] = v;
}

fn guarded_by_generics(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(unreachable_index::<2>, &words(32), 1)?;
    b.map(unreachable_index::<3>, &words(32), 1)?;
    b.map(unreachable_index::<7>, &words(32), 1).map(drop)
}

#[kernel(block = (W, H))]
fn tiles<const W: usize, const H: usize>(x: &Global<u32>, y: &mut Global<u32>) {
    #[shared]
    let mut tile: [[u32; W]; H];
    let t = thread_idx();
    let i = block_idx().x * W * H + t.y * W + t.x;
    tile[t.y][t.x] = x[i];
    sync_threads();
    let mut sum = 0;
    for row in 0..H {
        sum += tile[row][t.x] * (row as u32 + 1);
    }
    for column in 0..W {
        sum ^= tile[t.y][column] << column % 7;
    }
    y[i] = sum + (tile.len() * tile[0].len()) as u32;
}

fn table_sizes(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let xs = words(128);
    let x = b.device.upload(&xs)?;
    let mut y = b.device.zeros::<u32>(128)?;
    b.go(tiles::<8, 4>(&x, &mut y).grid(4))?;
    b.keep(&y)?;
    b.go(tiles::<32, 2>(&x, &mut y).grid(2))?;
    b.keep(&y)?;
    Ok(())
}
