//! `black_box` is its argument, of every type.

use crate::bench::{Bench, cases, tame, words};
use std::hint::black_box;
use warpwright::prelude::*;

cases!(boxes);

#[kernel(block = 64)]
fn boxed(x: &Global<u32>, f: &Global<f32>, y: &mut Global<u64>) {
    let i = global_id().x;
    let (v, w) = (x[i], f[i]);
    let mut r = black_box(v) as u64 ^ (black_box(v as i32 - 7) as i64 as u64) << 3;
    r = r * 31 + black_box(w).to_bits() as u64;
    r = r * 31 + black_box(w as f64 * 0.1).to_bits();
    r = r * 31 + black_box(v as i8) as u64 + black_box(v as u16) as u64 * 5 + black_box((v as u64) << 20);
    r = r * 31 + black_box(w as f16).to_bits() as u64 + black_box(w as bf16).to_bits() as u64;
    if black_box(v > 100) {
        r ^= black_box(i) as u64;
    }
    for k in 0..3u32 {
        r += black_box(k) as u64 * black_box(3u64);
    }
    y[i] = r;
}

fn boxes(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let (x, f) = (b.device.upload(&words(128))?, b.device.upload(&tame(128))?);
    let mut y = b.device.zeros::<u64>(128)?;
    b.go(boxed(&x, &f, &mut y).cover(128))?;
    b.keep(&y)?;
    Ok(())
}
