//! Atomics and vector accesses.

use crate::bench::{Bench, cases, small, tame, words};
use warpwright::prelude::*;

cases!(
    atomics_of_words,
    atomics_of_types,
    atomics_return_old,
    shared_atomics,
    shared_atomics_of_types,
    spin_free_cas,
    float_atomics,
    vector_access,
    vector_access_of_types,
    counts,
    atomic_arrays,
);

#[kernel(block = 64)]
fn atomics(x: &Global<u32>, y: &mut Global<u32>, z: &mut Global<i32>) {
    let i = global_id().x;
    let v = x[i];
    let k = (v % 4) as usize * 8;
    y.atomic_add(k, v);
    y.atomic_sub(k + 1, v);
    y.atomic_min(k + 2, v);
    y.atomic_max(k + 3, v);
    y.atomic_and(k + 4, v | 0xff);
    y.atomic_or(k + 5, v & 0x0f0f);
    y.atomic_xor(k + 6, v);
    z.atomic_add(0, v as i32);
    z.atomic_sub(1, v as i32);
    z.atomic_min(2, v as i32);
    z.atomic_max(3, v as i32);
    z.atomic_and(4, v as i32);
    z.atomic_or(5, v as i32);
    z.atomic_xor(6, v as i32);
}

fn atomics_of_words(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let xs = words(256);
    let x = b.device.upload(&xs)?;
    let mut y = b.device.upload(&[0x1234_5678u32; 32])?;
    let mut z = b.device.upload(&[-5i32; 7])?;
    b.go(atomics(&x, &mut y, &mut z).cover(256))?;
    b.keep(&y)?;
    let found = b.keep(&z)?;
    let s: Vec<i32> = xs.iter().map(|&x| x as i32).collect();
    let sum = s.iter().fold(0i32, |a, v| a.wrapping_add(*v));
    let expected = [
        (-5i32).wrapping_add(sum),
        (-5i32).wrapping_sub(sum),
        *s.iter().min().unwrap(),
        *s.iter().max().unwrap(),
        s.iter().fold(-5, |a, v| a & v),
        s.iter().fold(-5, |a, v| a | v),
        s.iter().fold(-5, |a, v| a ^ v),
    ];
    b.expect("signed", &found, expected);
    Ok(())
}

#[kernel(block = 64)]
fn wide_atomics(x: &Global<u32>, u: &mut Global<u64>, s: &mut Global<i64>) {
    let i = global_id().x;
    let v = (x[i] as u64) << 20 | 1;
    let w = -(x[i] as i64) * 3 + (1 << 40);
    u.atomic_add(0, v);
    u.atomic_sub(1, v);
    u.atomic_min(2, v);
    u.atomic_max(3, v);
    u.atomic_and(4, v | 0xff00ff);
    u.atomic_or(5, v);
    u.atomic_xor(6, v);
    s.atomic_add(0, w);
    s.atomic_sub(1, w);
    s.atomic_min(2, w);
    s.atomic_max(3, w);
    s.atomic_and(4, w);
    s.atomic_or(5, w);
    s.atomic_xor(6, w);
}

fn atomics_of_types(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let x = b.device.upload(&words(128))?;
    let mut u = b.device.upload(&[1u64 << 50; 7])?;
    let mut s = b.device.upload(&[-77i64; 7])?;
    b.go(wide_atomics(&x, &mut u, &mut s).cover(128))?;
    b.keep(&u)?;
    b.keep(&s).map(drop)
}

#[kernel(block = 64)]
fn old_values(y: &mut Global<u32>, z: &mut Global<u32>) {
    let i = global_id().x;
    let ticket = y.atomic_add(0, 1);
    z[ticket as usize] = 1;
    let own = i + 1;
    let a = y.atomic_exchange(own, 5);
    let b = y.atomic_cas(own, 5, 6);
    let c = y.atomic_cas(own, 5, 7);
    let d = y.atomic_max(own, 9);
    let e = y.atomic_sub(own, 4);
    let f = y.atomic_xor(own, 0xff);
    z[y.len() - 1 + i] = a + b * 10 + c * 100 + d * 1000 + e * 10000 + f * 100000;
}

fn atomics_return_old(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let mut y = b.device.zeros::<u32>(129)?;
    let mut z = b.device.zeros::<u32>(256)?;
    b.go(old_values(&mut y, &mut z).cover(128))?;
    b.keep(&y)?;
    let found = b.keep(&z)?;
    b.expect("tickets", &found[..128], [1; 128]);
    b.expect("old values", &found[128..], [0 + 50 + 600 + 6000 + 90000 + 500000; 128]);
    Ok(())
}

#[kernel(block = 128)]
fn in_shared(x: &Global<u32>, y: &mut Global<u32>) {
    #[shared]
    let mut bins: [[u32; 7]; 4];
    let t = thread_idx().x;
    if t < 28 {
        bins[t / 7][t % 7] = 1000;
    }
    sync_threads();
    let v = x[global_id().x];
    let k = v as usize % 4;
    bins[k].atomic_add(0, v);
    bins[k].atomic_sub(1, 1);
    bins[k].atomic_min(2, v);
    bins[k].atomic_max(3, v);
    bins[k].atomic_or(4, v);
    bins[k].atomic_and(5, v | 0x200);
    bins[k].atomic_xor(6, v);
    sync_threads();
    if t < 28 {
        y[block_idx().x * 28 + t] = bins[t / 7][t % 7];
    }
}

fn shared_atomics(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let x = b.device.upload(&words(256))?;
    let mut y = b.device.zeros::<u32>(56)?;
    b.go(in_shared(&x, &mut y).cover(256))?;
    b.keep(&y).map(drop)
}

#[kernel(block = 64)]
fn in_shared_typed(x: &Global<u32>, y: &mut Global<u64>) {
    #[shared]
    let mut s: [i32; 4];
    #[shared]
    let mut u: [u64; 4];
    #[shared]
    let mut l: [i64; 4];
    #[shared]
    let mut f: [f32; 2];
    let t = thread_idx().x;
    if t < 4 {
        s[t] = -3;
        u[t] = 1 << 40;
        l[t] = -9;
    }
    if t < 2 {
        f[t] = 1.0;
    }
    sync_threads();
    let v = x[global_id().x];
    s.atomic_add(0, v as i32);
    s.atomic_min(1, v as i32 - 8);
    s.atomic_max(2, v as i32);
    s.atomic_xor(3, v as i32);
    u.atomic_add(0, v as u64);
    u.atomic_min(1, (v as u64) << 39);
    u.atomic_max(2, (v as u64) << 39);
    u.atomic_or(3, v as u64);
    l.atomic_add(0, -(v as i64));
    l.atomic_min(1, -(v as i64) << 33);
    l.atomic_max(2, (v as i64) << 33);
    l.atomic_and(3, v as i64);
    f.atomic_add(0, v as f32);
    f.atomic_sub(1, v as f32);
    sync_threads();
    if t < 4 {
        y[t * 3] = s[t] as u64;
        y[t * 3 + 1] = u[t];
        y[t * 3 + 2] = l[t] as u64;
    }
    if t < 2 {
        y[12 + t] = f[t].to_bits() as u64;
    }
}

fn shared_atomics_of_types(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let x = b.device.upload(&small(64))?;
    let mut y = b.device.zeros::<u64>(14)?;
    b.go(in_shared_typed(&x, &mut y).grid(1))?;
    b.keep(&y).map(drop)
}

/// A product in memory by compare-and-exchange.
#[kernel(block = 32)]
fn cas_loop(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let factor = x[i] | 1;
    let mut old = y.atomic_add(0, 0);
    loop {
        let seen = y.atomic_cas(0, old, old * factor);
        if seen == old {
            break;
        }
        old = seen;
    }
}

fn spin_free_cas(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let xs = words(96);
    let x = b.device.upload(&xs)?;
    let mut y = b.device.upload(&[1u32])?;
    b.go(cas_loop(&x, &mut y).cover(96))?;
    let found = b.keep(&y)?;
    b.expect("product", &found, [xs.iter().fold(1u32, |p, x| p.wrapping_mul(x | 1))]);
    Ok(())
}

#[kernel(block = 64)]
fn float_adds(x: &Global<u32>, y: &mut Global<f32>, z: &mut Global<f64>) {
    let i = global_id().x;
    let v = x[i];
    y.atomic_add(0, v as f32);
    y.atomic_sub(1, v as f32);
    y.atomic_min(2, v as f32 - 3.5);
    y.atomic_max(3, v as f32 + 0.25);
    z.atomic_add(0, v as f64 * 0.5);
    z.atomic_sub(1, v as f64);
    z.atomic_min(2, v as f64 - 3.5);
    z.atomic_max(3, -(v as f64));
    y.atomic_exchange(4, 2.5);
    y.atomic_cas(5, 0.0, 1.5);
    z.atomic_exchange(4, 2.5);
    z.atomic_cas(5, 1.0, 1.5);
}

fn float_atomics(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let xs = small(128);
    let x = b.device.upload(&xs)?;
    let mut y = b.device.upload(&[0f32, 0.0, 0.0, 0.0, 9.0, 0.0])?;
    let mut z = b.device.upload(&[0f64, 0.0, 0.0, -1000.0, 9.0, 0.0])?;
    b.go(float_adds(&x, &mut y, &mut z).cover(128))?;
    let found = b.keep(&y)?;
    let sum: u32 = xs.iter().sum();
    let most = *xs.iter().max().unwrap() as f32;
    b.expect("floats", &found, [sum as f32, -(sum as f32), -3.5, most + 0.25, 2.5, 1.5]);
    b.keep(&z).map(drop)
}

#[kernel(block = 32)]
fn wide(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let v = x.load::<4>(i * 4);
    let [a, b, ..] = v;
    let w = [v[3] * 2.0, a + b, v[2], -v[0]];
    y.store::<4>(i * 4, w);
    let pair: [f32; 2] = x.load::<2>(i * 2);
    y.store::<2>(x.len() + i * 2, [pair[1], pair[0]]);
    let k = thread_idx().x % 4;
    y[x.len() + 64 + i] = v[k] + x.load::<1>(i)[0];
}

fn vector_access(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let xs = tame(256);
    let x = b.device.upload(&xs)?;
    let mut y = b.device.zeros::<f32>(256 + 128 + 64)?;
    b.go(wide(&x, &mut y).grid(1))?;
    b.keep(&y).map(drop)
}

#[kernel(block = 32)]
fn wide_types(
    a: &Global<u8>,
    b: &Global<u16>,
    c: &Global<i64>,
    d: &Global<f64>,
    e: &Global<f16>,
    y: &mut Global<u64>,
    z: &mut Global<f16>,
) {
    let i = global_id().x;
    let bytes = a.load::<4>(i * 4);
    let words = b.load::<8>(i * 8);
    let longs = c.load::<2>(i * 2);
    let doubles = d.load::<2>(i * 2);
    let halves = e.load::<4>(i * 4);
    let mut s = 0u64;
    for k in 0..4 {
        s = s * 31 + bytes[k] as u64;
    }
    for k in 0..8 {
        s = s * 31 + words[7 - k] as u64;
    }
    s ^= longs[0] as u64 ^ longs[1] as u64 * 3;
    s ^= doubles[0].to_bits() ^ doubles[1].to_bits() >> 3;
    y.store::<2>(i * 2, [s, !s]);
    z.store::<4>(i * 4, [halves[3], halves[2], -halves[1], halves[0]]);
    z.store::<2>(128 + i * 2, [halves[1], halves[2]]);
}

fn vector_access_of_types(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let w = words(256);
    let bytes = b.device.upload(&w.iter().map(|&w| w as u8).collect::<Vec<_>>())?;
    let shorts = b.device.upload(&w.iter().map(|&w| w as u16).collect::<Vec<_>>())?;
    let longs = b.device.upload(&w.iter().map(|&w| w as i64 * -5).collect::<Vec<_>>())?;
    let doubles = b.device.upload(&tame(64).iter().map(|&f| f as f64).collect::<Vec<_>>())?;
    let halves = b.device.upload(&tame(128).iter().map(|&f| f16::from_f32(f)).collect::<Vec<_>>())?;
    let mut y = b.device.zeros::<u64>(64)?;
    let mut z = b.device.zeros::<f16>(192)?;
    b.go(wide_types(&bytes, &shorts, &longs, &doubles, &halves, &mut y, &mut z).grid(1))?;
    b.keep(&y)?;
    b.keep(&z).map(drop)
}

#[kernel(block = 64)]
fn histogram<const BINS: usize>(x: &Global<u8>, y: &mut Global<u32>) {
    #[shared]
    let mut bins: [u32; BINS];
    let t = thread_idx().x;
    for k in (t..BINS).step_by(block_dim().x) {
        bins[k] = 0;
    }
    sync_threads();
    let stride = grid_dim().x * block_dim().x;
    let mut i = global_id().x;
    while i < x.len() {
        bins.atomic_add(x[i] as usize * BINS / 256, 1);
        i += stride;
    }
    sync_threads();
    for k in (t..BINS).step_by(block_dim().x) {
        if bins[k] != 0 {
            y.atomic_add(k, bins[k]);
        }
    }
}

fn counts(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let xs: Vec<u8> = words(1000).into_iter().map(|w| w as u8).collect();
    let x = b.device.upload(&xs)?;
    let mut y = b.device.zeros::<u32>(100)?;
    b.go(histogram::<100>(&x, &mut y).grid(3))?;
    let found = b.keep(&y)?;
    let mut expected = [0u32; 100];
    xs.iter().for_each(|&x| expected[x as usize * 100 / 256] += 1);
    b.expect("bins", &found, expected);
    Ok(())
}

/// Elements that are structs and arrays, updated without atomics but by one thread each.
#[kernel(block = 32)]
fn owners(x: &Global<u32>, y: &mut Global<[u32; 4]>) {
    let i = global_id().x;
    for k in 0..4 {
        y[i][k] = x[(i + k) % x.len()];
    }
    let row = y[i];
    y[i][(row[0] % 4) as usize] += row[1];
}

fn atomic_arrays(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let xs = words(64);
    let x = b.device.upload(&xs)?;
    let mut y = b.device.zeros::<[u32; 4]>(64)?;
    b.go(owners(&x, &mut y).cover(64))?;
    let found = y.download()?.concat();
    let expected = (0..64).flat_map(|i| {
        let mut row: [u32; 4] = std::array::from_fn(|k| xs[(i + k) % 64]);
        let at = row[0] as usize % 4;
        row[at] = row[at].wrapping_add(row[1]);
        row
    });
    b.expect("rows", &found, expected);
    Ok(())
}
