//! What `ptxas` has done wrong with integers of 8 and 16 bits, and what is made of them.

use crate::bench::{Bench, cases, words};
use warpwright::prelude::*;

cases!(least_integers, negated_of_three, integers_to_floats, compared_extremes, counters_as_floats);

/// Integers that have no opposite, widened behind arithmetic that wraps.
macro_rules! least {
    ($($name:ident: $t:ty, $unsigned:ty;)*) => {$(
        #[kernel(block = 32)]
        fn $name(x: &Global<$t>, y: &mut Global<u64>) {
            let i = global_id().x;
            let a = x[i];
            let all = [
                (-a) as u64,
                a.wrapping_neg() as u64,
                a.wrapping_abs() as u64,
                (0 - a) as u64,
                a.wrapping_sub(1) as u64,
                (a + a) as u64,
                (a * a) as u64,
                (a - <$t>::MIN) as u64,
                (-a) as i32 as u64,
                (a.wrapping_abs() as f32) as i64 as u64,
                ((-a) >> 3) as u64,
                (-a < 0) as u64,
                a.wrapping_mul(-1) as u64,
                (!a).wrapping_add(1) as u64,
                (0 as $unsigned).wrapping_sub(a as $unsigned) as $t as u64,
                (a.wrapping_abs() < 0) as u64,
                (a.wrapping_abs() % 7) as u64,
                a.max(-x[i ^ 1]).max(x[i ^ 2]) as u64,
                x[i ^ 3].min(a.wrapping_mul(-1)).min(x[i ^ 1]) as u64,
                a.wrapping_abs().max(x[i ^ 1]).max(x[i ^ 2]) as u64,
                (0 - x[i ^ 2]).clamp(x[i ^ 1].min(a), x[i ^ 1].max(a)) as u64,
            ];
            for k in 0..21 {
                y[i * 21 + k] = all[k];
            }
        }
    )*};
}
least! { least_8: i8, u8; least_16: i16, u16; least_32: i32, u32; least_64: i64, u64; }

fn least_integers(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let some = move |least: i64, k: i64| if k % 3 == 0 { k * 7 - 100 } else { least.wrapping_add(k % 5).wrapping_sub(k / 24) };
    let near = |least: i64| (0..32).map(move |k| some(least, k));
    b.map(least_8, &near(-128).map(|x| x as i8).collect::<Vec<_>>(), 21)?;
    b.map(least_16, &near(-32768).map(|x| x as i16).collect::<Vec<_>>(), 21)?;
    b.map(least_32, &near(i64::from(i32::MIN)).map(|x| x as i32).collect::<Vec<_>>(), 21)?;
    b.map(least_64, &near(i64::MIN).collect::<Vec<_>>(), 21).map(drop)
}

/// The least and the greatest of three, of which one is negated.
#[kernel(block = 32)]
fn negated_unsigned(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let (a, b, c) = (x[i], x[i ^ 1], x[i ^ 2]);
    y[i * 4] = a.max(0 - b).max(c);
    y[i * 4 + 1] = a.min(b * u32::MAX).min(c);
    y[i * 4 + 2] = a.min(b.wrapping_neg()).min(c.wrapping_neg());
    let mut least = u32::MAX;
    for k in 0..8 {
        least = least.min(0 - x[i ^ k]);
    }
    y[i * 4 + 3] = least;
}

/// The same where integers of both signs are compared.
#[kernel(block = 32)]
fn negated_of_both_signs(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let (a, b, c) = (x[i], x[i ^ 1], x[i ^ 2]);
    y[i * 4] = a.max(0 - b).max(c);
    y[i * 4 + 1] = (a as i32).max(-(b as i32)).max(c as i32) as u32;
    y[i * 4 + 2] = (a as i32).min(b as i32 * -1).min((c as i32).abs()) as u32;
    y[i * 4 + 3] = a.min(0 - b).min(-(c as i32) as u32);
}

fn negated_of_three(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(negated_unsigned, &words(128), 4)?;
    b.map(negated_of_both_signs, &words(128), 4).map(drop)
}

/// Bytes with signs that become unsigned, out of a vector.
#[kernel(block = 32)]
fn signed_bytes(x: &Global<i8>, y: &mut Global<f32>) {
    let i = global_id().x;
    let bytes = x.load::<4>(i / 4 * 4);
    y[i * 4] = bytes[0] as u32 as f32;
    y[i * 4 + 1] = bytes[1] as u32 as f32;
    y[i * 4 + 2] = bytes[2] as u16 as f32;
    y[i * 4 + 3] = bytes[3] as u64 as f32;
}

/// Extremes of short integers, compared with one of the two: what the rest of a register holds is nothing to them. Only `sm_90` and `ptxas` 12 took it in.
#[kernel(block = 32)]
fn extremes_compared(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let (a, b) = (x[i] as i16, x[(i + 1) % x.len()] as i16);
    y[i * 5] = 0;
    if a.signum() == 1 {
        y[i * 5] = 5;
    }
    y[i * 5 + 1] = if a.min(b) == b { 3 } else { 4 };
    y[i * 5 + 2] = if a.max(-7) == -7 { x[i] } else { 1 };
    y[i * 5 + 3] = if (a as u16).min(b as u16) == a as u16 { 3 } else { 4 };
    y[i * 5 + 4] = if (a as i8).max(b as i8) == a as i8 { 3 } else { 4 };
}

fn compared_extremes(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(extremes_compared, &words(256), 5).map(drop)
}

/// Short floats of a condition, used in another block.
#[kernel(block = 32)]
fn bools(x: &Global<i8>, y: &mut Global<f32>) {
    let i = global_id().x;
    let is_positive = x[i] > 0;
    let (half, brain) = (is_positive as u8 as f16, is_positive as u32 as bf16);
    let mut turns = 0;
    while turns < (x[i] as u32 & 3) {
        turns += 1;
        y[i * 2] = turns as f32;
    }
    y[i * 2] = half.to_bits() as f32;
    y[i * 2 + 1] = if brain.is_nan() { 7.0 } else { brain.to_bits() as f32 };
}

fn integers_to_floats(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let bytes: Vec<i8> = (0..64).map(|n| (n * 37 - 90) as i8).collect();
    b.map(signed_bytes, &bytes, 4)?;
    b.map(bools, &bytes, 2).map(drop)
}

/// A counter as a float of its own width, and wider again: it was carried round the loop as its bits, plus 1.
#[kernel(block = 32)]
fn counted_in_floats(x: &Global<u32>, y: &mut Global<i64>) {
    let i = global_id().x;
    let from = -((x[i] % 4) as i32);
    for n in from..3 {
        let (short, single) = ((n as i64 as f32 * 3.0) as i64, n as f32);
        y[i * 2] = single as i64;
        y[i * 2 + 1] = short + (n as u32 as f32) as u64 as i64;
    }
}

fn counters_as_floats(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(counted_in_floats, &words(64), 2).map(drop)
}
