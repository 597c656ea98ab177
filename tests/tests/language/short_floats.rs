//! Floats of 16 bits: what `ptxas` has done wrong with them and what is made of them, and their rounding.

use crate::bench::{Bench, cases, words};
use warpwright::prelude::*;

cases!(rounded_and_masked, selected_and_added, near_the_middle, truths_as_floats);

/// Rounded, masked, and the lower half of a word: the mask was left out.
macro_rules! masked {
    ($($name:ident: $f:ty;)*) => {$(
        #[kernel(block = 32)]
        fn $name(x: &Global<f32>, y: &mut Global<u16>) {
            let i = global_id().x;
            let a = x[i] as $f;
            let b = x[i] as i32 as $f;
            y.store::<2>(i * 14, [a.abs().to_bits(), <$f>::ONE.to_bits()]);
            y.store::<2>(i * 14 + 2, [a.to_bits() & 0x7ff0, 5]);
            y.store::<2>(i * 14 + 4, [a.to_bits() as u8 as u16, 6]);
            y.store::<2>(i * 14 + 6, [a.to_bits() % 1024, (x[i + 1] as $f).to_bits()]);
            y.store::<2>(i * 14 + 8, [(x[i + 1] as $f).abs().to_bits(), (-a).to_bits()]);
            y.store::<2>(i * 14 + 10, [b.abs().to_bits(), 7]);
            y.store::<2>(i * 14 + 12, [(x[i] as f64 as $f).abs().to_bits(), a.mul_add(a, -b).abs().to_bits()]);
        }
    )*};
}

masked! {
    masked_f16: f16;
    masked_bf16: bf16;
}

fn rounded_and_masked(b: &mut Bench<'_>) -> warpwright::Result<()> {
    // Of both signs, up to what `f16` has; which bits a NaN has, no device says.
    let xs: Vec<f32> = words(321).iter().map(|w| (*w as i32 % 60000) as f32 / 255.0).collect();
    let x = b.device.upload(&xs)?;
    let mut y = b.device.zeros::<u16>(320 * 14)?;
    b.go(masked_f16(&x, &mut y).grid(10))?;
    b.keep(&y)?;
    b.go(masked_bf16(&x, &mut y).grid(10))?;
    b.keep(&y).map(drop)
}

/// One of two numbers, added beside a sum of one of the two: both sums had the one that was selected.
macro_rules! selected {
    ($($name:ident: $f:ty;)*) => {$(
        #[kernel(block = 32)]
        fn $name(x: &Global<i16>, y: &mut Global<u16>, z: &mut Global<u32>) {
            let i = global_id().x;
            let (a, b, d) = (x[i] as $f, x[i + 32] as $f, x[i + 64] as $f);
            y.store::<2>(i * 8, [(a + b).to_bits(), (b.signum() + d).to_bits()]);
            y.store::<2>(i * 8 + 2, [(a * b).to_bits(), ((if x[i] > 5 { b } else { -b }) * d).to_bits()]);
            y.store::<2>(i * 8 + 4, [(d + a).to_bits(), ((if a > b { a } else { b }) + b).to_bits()]);
            y.store::<2>(i * 8 + 6, [b.max(a).to_bits(), (if x[i] % 2 == 0 { a } else { a + d }).max(b).to_bits()]);
            let p = a - b;
            let q = (if x[i] > 5 { a } else { -a }) - d;
            z[i * 3] = p.to_bits() as u32;
            z[i * 3 + 1] = q.to_bits() as u32;
            let bits = if x[i] > 9 { b.to_bits() } else { b.to_bits() ^ 0x8000 };
            let (p, q) = (d + b, a + <$f>::from_bits(bits));
            z[i * 3 + 2] = p.to_bits() as u32 ^ (q.to_bits() as u32) << 16;
        }
    )*};
}

selected! {
    selected_f16: f16;
    selected_bf16: bf16;
}

fn selected_and_added(b: &mut Bench<'_>) -> warpwright::Result<()> {
    // Small enough that no sum or product is infinite, and so no difference NaN. No zero: of two with other signs `max` may give either.
    let xs: Vec<i16> = words(384).iter().map(|w| ((*w as i16) % 180) * 2 + 1).collect();
    let x = b.device.upload(&xs)?;
    let (mut y, mut z) = (b.device.zeros::<u16>(320 * 8)?, b.device.zeros::<u32>(320 * 3)?);
    b.go(selected_f16(&x, &mut y, &mut z).grid(10))?;
    b.keep(&y)?;
    b.keep(&z)?;
    b.go(selected_bf16(&x, &mut y, &mut z).grid(10))?;
    b.keep(&y)?;
    b.keep(&z).map(drop)
}

#[kernel(block = 32)]
fn rounded_from_f64(x: &Global<f64>, y: &mut Global<u16>) {
    let i = global_id().x;
    let of_f32 = x[i] as f32;
    y.store::<2>(i * 6, [f16::from_f64(x[i]).to_bits(), <bf16>::from_f64(x[i]).to_bits()]);
    y.store::<2>(i * 6 + 2, [(x[i] as f16).to_bits(), (x[i] as bf16).to_bits()]);
    y.store::<2>(i * 6 + 4, [f16::from_f32(of_f32).to_bits(), bf16::from_f32(of_f32).to_bits()]);
}

/// Middles of two neighbours, and numbers that differ from them in their last bits alone: `half`'s own `from_f64` rounds those to even.
fn near_the_middle(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let middles = (0..80u64).flat_map(|k| {
        let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
        // Of 11 and of 8 bits, among subnormal ones of `f16` as well.
        let of_f16 = sign * (2049 + 2 * (words(80)[k as usize] % 1024)) as f64 * 2f64.powi(-(k as i32) / 2 + 2);
        let of_bf16 = sign * (257 + 2 * (words(80)[k as usize] % 128)) as f64 * 2f64.powi(k as i32 - 40);
        [of_f16, of_bf16].into_iter().flat_map(|x| [-1i64, 0, 1, 1 << 20].map(|by| f64::from_bits(x.to_bits().wrapping_add_signed(by))))
    });
    let xs: Vec<f64> = middles.collect();
    let x = b.device.upload(&xs)?;
    let mut y = b.device.zeros::<u16>(640 * 6)?;
    b.go(rounded_from_f64(&x, &mut y).grid(20))?;
    let got = b.keep(&y)?;
    for (x, got) in xs.iter().zip(got.chunks_exact(6)) {
        assert_eq!(got[..2], got[2..4], "{x:e}: `from_f64` and `as`");
    }
    Ok(())
}

/// Bits of truths, converted beside divisions of 64 bits, for which `ptxas` has functions of its own: each became the number 1.
#[kernel(block = 32)]
fn converted_truths(x: &Global<u64>, y: &mut Global<u64>) {
    let i = global_id().x;
    let (a, b) = (x[i] % 5 > 2, x[i] / (x[i + 1] | 1) % 3 == 0);
    let h = f16::from_bits(a as u16);
    let f = f32::from_bits(a as u32);
    y[i * 10] = (h % f16::ONE).to_bits() as u64;
    y[i * 10 + 1] = h as u64 + (f16::from_bits((a | b) as u16) * f16::from_f32(1024.0)).floor() as u64;
    y[i * 10 + 2] = h.ceil().to_bits() as u64;
    y[i * 10 + 3] = h.to_f64().to_bits();
    y[i * 10 + 4] = f16::from_bits(if a { 1 } else { b as u16 }).to_f32().to_bits() as u64
        + (if b { f16::from_bits(1) } else { f16::ZERO }) as u64
        + (if a { f32::from_bits(1) } else { 0.0 }).ceil() as u64;
    y[i * 10 + 5] = f.ceil() as u64 + f as u64;
    y[i * 10 + 6] = (f as f64).to_bits();
    y[i * 10 + 7] = (f as f16).to_bits() as u64;
    y[i * 10 + 8] = (f32::from_bits((a as u32) & (b as u32)) as f64).to_bits();
    y[i * 10 + 9] = (f64::from_bits(a as u64) as f32).to_bits() as u64 + bf16::from_bits(b as u16).to_f32().to_bits() as u64;
}

fn truths_as_floats(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let xs: Vec<u64> = words(161).iter().map(|w| u64::from(*w) * 0x1_0001).collect();
    let x = b.device.upload(&xs)?;
    let mut y = b.device.zeros::<u64>(160 * 10)?;
    b.go(converted_truths(&x, &mut y).grid(5))?;
    let got = b.keep(&y)?;
    // A least `f16` is 2⁻²⁴; a least `f32` 2⁻¹⁴⁹, which no `f16` is near.
    let least = |is: bool, exponent: i32| if is { 2f64.powi(exponent).to_bits() } else { 0 };
    for (x, got) in xs.iter().zip(got.chunks_exact(10)) {
        let is = x % 5 > 2;
        assert_eq!(
            [got[0], got[2], got[3], got[6], got[7]],
            [is as u64, if is { 0x3c00 } else { 0 }, least(is, -24), least(is, -149), 0],
            "{x}"
        );
    }
    Ok(())
}
