//! Scalars, in registers, in memory and as parameters.

use crate::bench::{Bench, cases, floats, small, tame, words};
use warpwright::prelude::*;

cases!(
    scalars_in_buffers,
    booleans,
    nested_arrays,
    arrays_in_buffers,
    half_arithmetic,
    brain_arithmetic,
    doubles,
    long_integers,
    short_integers,
    index_types,
    values_as_parameters,
);

macro_rules! echo {
    ($($name:ident $t:ty),*) => {$(
        #[kernel(block = 32)]
        fn $name(x: &Global<$t>, y: &mut Global<$t>) {
            let i = global_id().x;
            if i < x.len() {
                let twice = x[x.len() - 1 - i];
                y[i] = if i % 2 == 0 { x[i] } else { twice };
            }
        }
    )*};
}
echo!(echo_i8 i8, echo_i16 i16, echo_i32 i32, echo_i64 i64, echo_u8 u8, echo_u16 u16, echo_u32 u32, echo_u64 u64);
echo!(echo_f16 f16, echo_bf16 bf16, echo_f32 f32, echo_f64 f64, echo_bool bool);

fn scalars_in_buffers(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let w = words(77);
    b.map(echo_i8, &w.iter().map(|&w| w as i8).collect::<Vec<_>>(), 1)?;
    b.map(echo_i16, &w.iter().map(|&w| w as i16).collect::<Vec<_>>(), 1)?;
    b.map(echo_i32, &w.iter().map(|&w| w as i32).collect::<Vec<_>>(), 1)?;
    b.map(echo_i64, &w.iter().map(|&w| (w as i64) << 20).collect::<Vec<_>>(), 1)?;
    b.map(echo_u8, &w.iter().map(|&w| w as u8).collect::<Vec<_>>(), 1)?;
    b.map(echo_u16, &w.iter().map(|&w| w as u16).collect::<Vec<_>>(), 1)?;
    b.map(echo_u32, &w, 1)?;
    b.map(echo_u64, &w.iter().map(|&w| (w as u64) << 31).collect::<Vec<_>>(), 1)?;
    b.map(echo_f16, &w.iter().map(|&w| f16::from_bits(w as u16)).collect::<Vec<_>>(), 1)?;
    b.map(echo_bf16, &w.iter().map(|&w| bf16::from_bits(w as u16)).collect::<Vec<_>>(), 1)?;
    b.map(echo_f32, &floats(77), 1)?;
    b.map(echo_f64, &floats(77).iter().map(|&f| f64::from(f) * 1e30).collect::<Vec<_>>(), 1)?;
    b.map(echo_bool, &w.iter().map(|&w| w % 3 == 0).collect::<Vec<_>>(), 1)?;
    Ok(())
}

#[kernel(block = 64)]
fn bools(x: &Global<bool>, y: &mut Global<bool>) {
    let i = global_id().x;
    if i >= x.len() {
        return;
    }
    let a = x[i];
    let b = x[(i + 1) % x.len()];
    let mut c = a & !b | (a ^ b);
    c &= a || b;
    c |= i > 3 && (b || !a);
    c ^= a == b;
    let d = a != c && a < b || b >= c;
    let table = [a, b, c, d];
    y[i * 3] = table[i % 4];
    y[i * 3 + 1] = if d { true } else { a as u32 + c as u32 > 1 };
    y[i * 3 + 2] = !(a && (i as u32 & 1 == 1) == c);
}

fn booleans(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let xs: Vec<bool> = words(100).iter().map(|&w| w.count_ones() % 2 == 0).collect();
    b.map(bools, &xs, 3).map(drop)
}

#[kernel(block = 64)]
fn nested(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let mut cube = [[[0u32; 2]; 3]; 4];
    for a in 0..4 {
        for b in 0..3 {
            for c in 0..2 {
                cube[a][b][c] = x[(i + a * 6 + b * 2 + c) % x.len()];
            }
        }
    }
    let row = cube[(x[i] % 4) as usize];
    cube[1] = row;
    cube[2][x[i] as usize % 3][1] ^= 0xff;
    let [first, .., last] = cube;
    let copy = cube;
    cube[0][0][0] = 7;
    let mut sum = 0;
    for a in 0..cube.len() {
        for b in 0..cube[a].len() {
            sum = sum * 31 + cube[a][b][0] + copy[3 - a][2 - b][1];
        }
    }
    y[i] = sum ^ first[0][1] ^ last[2][0] ^ row[1][0];
}

fn nested_arrays(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(nested, &words(128), 1).map(drop)
}

#[kernel(block = 32)]
fn matrix_elements(x: &Global<[[f32; 3]; 2]>, y: &mut Global<[f32; 3]>, z: &mut Global<f32>) {
    let i = global_id().x;
    let m = x[i];
    let mut v = [0.0f32; 3];
    for k in 0..3 {
        v[k] = m[0][k] - m[1][2 - k];
    }
    y[i] = v;
    y[i][i % 3] += x[i][i % 2][1];
    z[i] = y[i][0] + y[i][1] * 2.0 + x[x.len() - 1 - i][1][i % 3];
}

fn arrays_in_buffers(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let f = tame(64 * 6);
    let xs: Vec<[[f32; 3]; 2]> = f.chunks(6).map(|c| [[c[0], c[1], c[2]], [c[3], c[4], c[5]]]).collect();
    let x = b.device.upload(&xs)?;
    let mut y = b.device.zeros::<[f32; 3]>(64)?;
    let mut z = b.device.zeros::<f32>(64)?;
    b.go(matrix_elements(&x, &mut y, &mut z).cover(64))?;
    b.keep_close(&z, 1e-6)?;
    let found: Vec<f32> = y.download()?.concat();
    let expected = xs.iter().enumerate().flat_map(|(i, m)| {
        let mut v: [f32; 3] = std::array::from_fn(|k| m[0][k] - m[1][2 - k]);
        v[i % 3] += m[i % 2][1];
        v
    });
    b.expect("rows", &found, expected);
    Ok(())
}

#[kernel(block = 32, contract = false)]
fn halves(x: &Global<f16>, y: &mut Global<f16>) {
    let i = global_id().x;
    let n = x.len();
    let (a, b, c) = (x[i], x[(i + 1) % n], x[(i + 5) % n]);
    let mut s = a + b * c - a / (b + (1.0 as f16));
    s += c;
    s *= b;
    s -= -a;
    let t = if a < b && !(b == c) || a >= c { s } else { -s };
    let big = [a, b, c, t];
    let mut sum = f16::ZERO;
    for k in 0..4 {
        sum = sum + big[(k + i) % 4] % (3.0 as f16);
    }
    y[i * 2] = t.max(a).min(c).abs();
    y[i * 2 + 1] = sum;
}

fn half_arithmetic(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let xs: Vec<f16> = tame(96).into_iter().map(f16::from_f32).collect();
    b.map(halves, &xs, 2)?;
    let xs: Vec<f16> = floats(96).into_iter().map(f16::from_f32).collect();
    b.map(halves, &xs, 2).map(drop)
}

#[kernel(block = 32, contract = false)]
fn brains(x: &Global<bf16>, y: &mut Global<bf16>) {
    let i = global_id().x;
    let n = x.len();
    let (a, b, c) = (x[i], x[(i + 1) % n], x[(i + 5) % n]);
    let mut s = a * b + c - b / (a + bf16::ONE);
    s += a;
    let wide = s as f32 + c as f32;
    y[i] = if wide > 0.0 { (wide * 0.5) as bf16 } else { s.abs().sqrt() };
}

fn brain_arithmetic(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let xs: Vec<bf16> = tame(96).into_iter().map(bf16::from_f32).collect();
    b.map(brains, &xs, 1)?;
    let xs: Vec<bf16> = floats(96).into_iter().map(bf16::from_f32).collect();
    b.map(brains, &xs, 1).map(drop)
}

#[kernel(block = 32, contract = false)]
fn double(x: &Global<f64>, y: &mut Global<f64>) {
    let i = global_id().x;
    let a = x[i];
    let b = x[(i + 3) % x.len()];
    let mut r = a * b - a / b + (a % 1.5) * 1e-3;
    r = r.mul_add(a, b).sqrt().max(-b).min(1e300);
    r += a.floor() + b.ceil() - a.trunc() * b.round() + a.fract().abs();
    y[i * 2] = r;
    y[i * 2 + 1] = if a < b { a.copysign(b) } else { b.signum() + f64::EPSILON };
}

fn doubles(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let xs: Vec<f64> = floats(96).into_iter().map(|f| f64::from(f) * 1.1).collect();
    b.map(double, &xs, 2).map(drop)
}

#[kernel(block = 32)]
fn longs(x: &Global<i64>, y: &mut Global<i64>) {
    let i = global_id().x;
    let a = x[i];
    let b = x[(i + 1) % x.len()];
    let mut r = a * b + (a >> 7) - (b << 3);
    r ^= a / (b | 1) + a % 1000;
    r &= !(b & 0xff);
    r |= (a as u64 >> 60) as i64;
    let u = a as u64;
    r += (u / (b as u64 | 1) + u % 77) as i64;
    y[i * 2] = r;
    y[i * 2 + 1] = if a < b { -a } else { a.max(b).abs() % (1 << 40) };
}

fn long_integers(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let xs: Vec<i64> =
        words(96).into_iter().zip(words(146).into_iter().skip(50)).map(|(a, c)| (i64::from(a) << 32 | i64::from(c)) >> (c % 40)).collect();
    b.map(longs, &xs, 2).map(drop)
}

#[kernel(block = 32)]
fn shorts(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let w = x[i];
    let (a, b) = (w as i8, (w >> 8) as i8);
    let (c, d) = (w as u8, (w >> 8) as u8);
    let (e, f) = (w as i16, (w >> 16) as i16);
    let (g, h) = (w as u16, (w >> 16) as u16);
    let mut r = (a + b) as u32;
    r = r * 31 + (a * b) as u32;
    r = r * 31 + (a - b) as u32;
    r = r * 31 + (a / (b | 1)) as u32 + (a % 7) as u32;
    r = r * 31 + (c + d) as u32 + (c * d) as u32 + (c - d) as u32;
    r = r * 31 + (c / (d | 1)) as u32 + (c % (d | 1)) as u32;
    r = r * 31 + (e * f) as u32 + (e - f) as u32 + (e / (f | 1)) as u32;
    r = r * 31 + (g * h) as u32 + (g + h) as u32 + (g % (h | 1)) as u32;
    y[i * 4] = r;
    r = (a >> 3) as u32 ^ (c >> 3) as u32 ^ (a << 2) as u32 ^ (e >> 9) as u32 ^ (g << 9) as u32;
    r ^= (!a) as u32 ^ (!c) as u32 ^ (-e) as u32 ^ (a & b) as u32 ^ (g | h) as u32;
    y[i * 4 + 1] = r;
    let mut small = a;
    small += 100;
    small *= 3;
    small >>= 1;
    let mut counter = c;
    counter -= 200;
    counter /= 3;
    counter <<= 1;
    y[i * 4 + 2] = small as u32 ^ (counter as u32) << 8;
    y[i * 4 + 3] = ((a < b) as u32) | ((c < d) as u32) << 1 | ((e <= f) as u32) << 2 | ((g > h) as u32) << 3 | ((a as u8 == d) as u32) << 4;
}

fn short_integers(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(shorts, &words(192), 4).map(drop)
}

#[kernel(block = 32)]
fn indices(n: usize, s: isize, x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let mut k = i * n + 3;
    k %= x.len();
    let back = (k as isize - s).rem_euclid(x.len() as isize) as usize;
    let j = x[i] as usize % x.len();
    y[i] = x[k] ^ x[back] << 1 ^ (k as u32) << 8 ^ x[j.min(k)] ^ (usize::MAX > k) as u32 ^ (s < 0) as u32;
}

fn index_types(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let xs = words(64);
    let x = b.device.upload(&xs)?;
    let mut y = b.device.zeros::<u32>(64)?;
    b.go(indices(5, -3, &x, &mut y).cover(64))?;
    b.keep(&y)?;
    b.go(indices(0, 70, &x, &mut y).cover(64))?;
    b.keep(&y)?;
    Ok(())
}

#[kernel(block = 32)]
fn by_value(a: i8, b: u8, c: i16, d: u16, e: i32, f: u32, g: i64, h: u64, k: f32, l: f64, m: bool, n: usize, y: &mut Global<f64>) {
    let i = global_id().x;
    let all = [a as f64, b as f64, c as f64, d as f64, e as f64, f as f64, g as f64, h as f64, k as f64, l, m as u8 as f64, n as f64];
    if i < all.len() {
        y[i] = all[i];
    }
}

fn values_as_parameters(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let mut y = b.device.zeros::<f64>(12)?;
    b.go(by_value(-5, 250, -30000, 60000, -1, u32::MAX, i64::MIN, u64::MAX, 0.1, 0.2, true, 77, &mut y).cover(12))?;
    let found = b.keep(&y)?;
    let expected =
        [-5.0, 250.0, -30000.0, 60000.0, -1.0, 4294967295.0, i64::MIN as f64, u64::MAX as f64, f64::from(0.1f32), 0.2, 1.0, 77.0];
    b.expect("values", &found, expected);
    Ok(())
}
