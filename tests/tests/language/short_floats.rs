//! Floats of 16 bits: what `ptxas` has done wrong with them and what is made of them, and their rounding.

use crate::bench::{Bench, cases, words};
use warpwright::prelude::*;

cases!(rounded_and_masked, selected_and_added, near_the_middle);

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
    y.store::<2>(i * 6, [f16::from_f64(x[i]).to_bits(), bf16::from_f64(x[i]).to_bits()]);
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
