//! `as` between every pair of types, and bit casts.

use crate::bench::{Bench, cases, floats, patterns, words};
use warpwright::prelude::*;

cases!(
    from_integers,
    from_floats,
    from_short_values,
    from_random_bits,
    from_bool,
    chains,
    bit_casts,
    literal_casts,
    float_edges,
    widened_shifts
);

/// A kernel that casts to each type, and back to words.
macro_rules! cast_from {
    ($($name:ident $t:ty),*) => {$(
        #[kernel(block = 64)]
        fn $name(x: &Global<$t>, y: &mut Global<u64>) {
            let i = global_id().x;
            if i >= x.len() {
                return;
            }
            let v = x[i];
            let base = i * 15;
            y[base] = v as i8 as u8 as u64;
            y[base + 1] = v as i16 as u16 as u64;
            y[base + 2] = v as i32 as u32 as u64;
            y[base + 3] = v as i64 as u64;
            y[base + 4] = v as u8 as u64;
            y[base + 5] = v as u16 as u64;
            y[base + 6] = v as u32 as u64;
            y[base + 7] = v as u64;
            y[base + 8] = (v as f32).to_bits() as u64;
            y[base + 9] = (v as f64).to_bits();
            y[base + 10] = (v as f16).to_bits() as u64;
            y[base + 11] = (v as bf16).to_bits() as u64;
            y[base + 12] = (v as i32 as usize as u32) as u64;
            y[base + 13] = (v as i16 as isize as i32) as u64;
            y[base + 14] = (v as f32 as i8) as u64 ^ (v as f64 as u16) as u64;
        }
    )*};
}
cast_from!(cast_i8 i8, cast_i16 i16, cast_i32 i32, cast_i64 i64, cast_u8 u8, cast_u16 u16, cast_u32 u32, cast_u64 u64);
cast_from!(cast_f16 f16, cast_bf16 bf16, cast_f32 f32, cast_f64 f64);

fn from_integers(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let w = words(200);
    let wide: Vec<u64> = w.iter().enumerate().map(|(i, &w)| u64::from(w) << (i % 33) | u64::from(w >> 7)).collect();
    b.map(cast_i8, &w.iter().map(|&w| w as i8).collect::<Vec<_>>(), 15)?;
    b.map(cast_i16, &w.iter().map(|&w| w as i16).collect::<Vec<_>>(), 15)?;
    b.map(cast_i32, &w.iter().map(|&w| w as i32).collect::<Vec<_>>(), 15)?;
    b.map(cast_i64, &wide.iter().map(|&w| w as i64).collect::<Vec<_>>(), 15)?;
    b.map(cast_u8, &w.iter().map(|&w| w as u8).collect::<Vec<_>>(), 15)?;
    b.map(cast_u16, &w.iter().map(|&w| w as u16).collect::<Vec<_>>(), 15)?;
    b.map(cast_u32, &w, 15)?;
    let found = b.map(cast_u64, &wide, 15)?;
    let f64s: Vec<u64> = found.chunks(15).map(|c| c[9]).collect();
    b.expect("u64 as f64", &f64s, wide.iter().map(|&w| (w as f64).to_bits()));
    let f32s: Vec<u64> = found.chunks(15).map(|c| c[8]).collect();
    b.expect("u64 as f32", &f32s, wide.iter().map(|&w| u64::from((w as f32).to_bits())));
    Ok(())
}

/// Values without NaN, whose bits may differ.
fn from_floats(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let f: Vec<f32> = floats(300).into_iter().filter(|f| !f.is_nan()).collect();
    let f = [
        f,
        (0..64).map(|k| (k as f32 - 32.0) * 0.5).collect(),
        vec![127.5, 128.5, 255.5, 256.0, -128.9, -129.0, 65535.9, 2147483648.0, 4294967296.0],
    ]
    .concat();
    b.map(cast_f16, &f.iter().map(|&f| f16::from_f32(f)).collect::<Vec<_>>(), 15)?;
    b.map(cast_bf16, &f.iter().map(|&f| bf16::from_f32(f)).collect::<Vec<_>>(), 15)?;
    b.map(cast_f32, &f, 15)?;
    let found = b.map(cast_f64, &f.iter().map(|&f| f64::from(f) * 1.000_000_1).collect::<Vec<_>>(), 15)?;
    let i64s: Vec<u64> = found.chunks(15).map(|c| c[3]).collect();
    b.expect("f64 as i64", &i64s, f.iter().map(|&f| (f64::from(f) * 1.000_000_1) as i64 as u64));
    Ok(())
}

/// All values of 8 bits, edges and random ones of 16 bits, but for NaN.
fn from_short_values(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(cast_i8, &patterns(8, 0).iter().map(|&bits| bits as i8).collect::<Vec<_>>(), 15)?;
    b.map(cast_u8, &patterns(8, 0).iter().map(|&bits| bits as u8).collect::<Vec<_>>(), 15)?;
    b.map(cast_i16, &patterns(16, 0).iter().map(|&bits| bits as i16).collect::<Vec<_>>(), 15)?;
    b.map(cast_u16, &patterns(16, 0).iter().map(|&bits| bits as u16).collect::<Vec<_>>(), 15)?;
    let halves: Vec<f16> = patterns(16, 10).iter().map(|&bits| f16::from_bits(bits as u16)).filter(|v| !v.is_nan()).collect();
    b.map(cast_f16, &halves, 15)?;
    let halves: Vec<bf16> = patterns(16, 7).iter().map(|&bits| bf16::from_bits(bits as u16)).filter(|v| !v.is_nan()).collect();
    b.map(cast_bf16, &halves, 15).map(drop)
}

/// The edges of the wider types, and random bits, but for NaN.
fn from_random_bits(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(cast_i32, &patterns(32, 0).iter().map(|&bits| bits as i32).collect::<Vec<_>>(), 15)?;
    b.map(cast_u32, &patterns(32, 0).iter().map(|&bits| bits as u32).collect::<Vec<_>>(), 15)?;
    b.map(cast_i64, &patterns(64, 0).iter().map(|&bits| bits as i64).collect::<Vec<_>>(), 15)?;
    b.map(cast_u64, &patterns(64, 0), 15)?;
    let singles: Vec<f32> = patterns(32, 23).iter().map(|&bits| f32::from_bits(bits as u32)).filter(|v| !v.is_nan()).collect();
    b.map(cast_f32, &singles, 15)?;
    // What `f32` can hold, and what only `f64` can.
    let doubles = patterns(64, 52).into_iter().map(f64::from_bits).filter(|v| !v.is_nan());
    let doubles: Vec<f64> = doubles.chain(singles.iter().map(|v| f64::from(*v) * 1.000_000_059_604_65)).collect();
    b.map(cast_f64, &doubles, 15).map(drop)
}

#[kernel(block = 64)]
fn float_to_int(x: &Global<f32>, y: &mut Global<u64>) {
    let i = global_id().x;
    let v = x[i];
    let d = v as f64 * 1.5;
    let all =
        [v as i8 as u64, v as u8 as u64, v as i16 as u64, v as u16 as u64, v as i32 as u64, v as u32 as u64, v as i64 as u64, v as u64];
    let both =
        [d as i8 as u64, d as u8 as u64, d as i16 as u64, d as u16 as u64, d as i32 as u64, d as u32 as u64, d as i64 as u64, d as u64];
    let mut k = 0;
    while k < 8 {
        y[i * 16 + k] = all[k];
        y[i * 16 + 8 + k] = both[k];
        k += 1;
    }
}

fn float_edges(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let edges = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, -0.9, 0.9, 127.9, 128.0, -128.0, -129.0, 255.0, 256.0, 32767.5, 32768.0];
    let more = [-32769.0, 65535.0, 65536.0, 2147483500.0, 2147483648.0, -2147483648.0, -2147483904.0, 4294967040.0, 4294967296.0, 9.3e18];
    let most = [-9.3e18, 1.8446743e19, 1.8446744e19, 1e38, -1e38, 1e-40, -1e-40, 16777217.0];
    let all = [&edges[..], &more, &most].concat();
    let xs: Vec<f32> = (0..64).map(|i| all[i % all.len()]).collect();
    let found = b.map(float_to_int, &xs, 16)?;
    b.expect("u64", &found.chunks(16).map(|c| c[7]).collect::<Vec<_>>(), xs.iter().map(|&v| v as u64));
    b.expect("i8", &found.chunks(16).map(|c| c[0]).collect::<Vec<_>>(), xs.iter().map(|&v| v as i8 as u64));
    Ok(())
}

#[kernel(block = 64)]
fn cast_bool(x: &Global<bool>, y: &mut Global<u64>) {
    let i = global_id().x;
    let v = x[i];
    y[i] = v as u64 + (v as u8 as u64) * 2 + ((v as i8) as u64 & 255) * 4 + (v as i64 as u64) * 8 + (v as usize as u64) * 16;
    y[i] += (!v as i32 as f32 as u64) * 32 + (v as u16 as f64 as u64) * 64;
}

fn from_bool(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(cast_bool, &(0..64).map(|i| i % 5 < 2).collect::<Vec<bool>>(), 1).map(drop)
}

#[kernel(block = 64)]
fn chained(x: &Global<u32>, y: &mut Global<u64>) {
    let i = global_id().x;
    let v = x[i];
    let a = v as i8 as i32 as u64;
    let b = v as u8 as i32 as u64;
    let c = (v as i32 as i64 >> 3) as u32 as u64;
    let d = v as i16 as u8 as i8 as i64 as u64;
    let e = (v as i32 as f32 as i32 as f64 * 0.5) as i16 as u16 as u64;
    let f = ((v as u64) << 32) as i64 as f32 as f64 as u64;
    let g = (v as f32 as f16 as f32 as u32) as u64;
    let h = (v as f32 as bf16 as f64 as i64) as u64;
    let k = -(v as i64) as u64;
    let l = -(v as i8) as u32 as u64;
    y[i] = a ^ b << 3 ^ c << 5 ^ d << 7 ^ e << 11;
    y[i] ^= f.rotate_left(13) ^ g.rotate_left(23) ^ h.rotate_left(29) ^ k.rotate_left(31) ^ l;
}

fn chains(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(chained, &words(192), 1).map(drop)
}

#[kernel(block = 64)]
fn reinterpreted(x: &Global<u32>, y: &mut Global<u64>) {
    let i = global_id().x;
    let v = x[i] & 0x7f7f_ffff;
    let f = f32::from_bits(v);
    let d = f64::from_bits((v as u64) << 31 | 5);
    let h = f16::from_bits(v as u16 & 0x7bff);
    let b = bf16::from_bits((v >> 16) as u16 & 0x7f7f);
    y[i * 2] = (-f).to_bits() as u64 ^ d.abs().to_bits();
    y[i * 2 + 1] = (-h).to_bits() as u64 ^ (b.to_bits() as u64) << 16 ^ ((f * 2.0).to_bits() as u64) << 32;
}

fn bit_casts(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(reinterpreted, &words(128), 2).map(drop)
}

#[kernel(block = 32)]
fn literals(y: &mut Global<u64>) {
    let all = [
        -1i32 as u32 as u64,
        -1 as i64 as u64,
        300 as u16 as u8 as u64,
        3.99 as u64,
        -3.99 as i64 as u64,
        1e20 as u32 as u64,
        f32::NAN as u64,
        true as u64,
        b'z' as u64,
        -128i8 as u8 as u64,
        u32::MAX as f32 as u64,
        (0.1f32 as f64).to_bits(),
        (1.0e-45 as f32).to_bits() as u64,
        ((2.5 as f16) as f32).to_bits() as u64,
        (1u64 << 63) as f64 as u64,
        i64::MIN as i32 as u64,
    ];
    let i = thread_idx().x;
    if i < 16 {
        y[i] = all[i];
    }
}

fn literal_casts(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let mut y = b.device.zeros::<u64>(16)?;
    b.go(literals(&mut y).grid(1))?;
    let found = b.keep(&y)?;
    b.expect("literals", &found[..7], [0xffff_ffff, u64::MAX, 44, 3, -3i64 as u64, 0xffff_ffff, 0]);
    Ok(())
}

/// `ptxas` shifted what `cvt.s64.u32` gives as if it were sign-extended.
#[kernel(block = 32)]
fn widened(x: &Global<u32>, y: &mut Global<u64>) {
    let i = global_id().x;
    let a = x[i] as i64;
    y[i * 6] = (a << 8) as u64;
    y[i * 6 + 1] = a.rotate_left(24) as u64;
    y[i * 6 + 2] = (x[i] as i32 as u64) << 8;
    y[i * 6 + 3] = ((x[i] as u16 as i32) << 9) as i64 as u64;
    y[i * 6 + 4] = ((x[i] as u8 as i64) << 40) as u64 ^ (x[i] as i16 as u64) << 3;
    y[i * 6 + 5] = ((a << 8) >> 9) as u64 ^ (a * 256) as u64;
}

fn widened_shifts(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(widened, &words(320), 6).map(drop)
}
