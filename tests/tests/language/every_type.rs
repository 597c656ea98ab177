//! Rows of the table of intrinsics that are exact, for every type that they are for: all numbers of 8 bits, and of the others edges and random bits.

use crate::bench::{Bench, cases, patterns};
use warpwright::prelude::*;

cases!(integers_of_every_type, unsigned_integers_of_every_type, signs_of_every_type, whole_powers_of_every_type);

/// Values that each thread of [`integers!`] leaves.
const OF_INTEGERS: usize = 20;

macro_rules! integers {
    ($($name:ident $t:ty),*) => {$(
        #[kernel(block = 32)]
        fn $name(x: &Global<$t>, y: &mut Global<u64>) {
            let i = global_id().x;
            let (a, b) = (x[i], x[(i + 1) % x.len()]);
            // Roots and logarithms of negative numbers are undefined, and so is the logarithm of 0.
            let positive = a & <$t>::MAX;
            let all = [
                (positive | 1).ilog2() as u64,
                positive.isqrt() as u64,
                a.count_ones() as u64,
                a.count_zeros() as u64,
                a.leading_zeros() as u64,
                a.leading_ones() as u64,
                a.trailing_zeros() as u64,
                a.trailing_ones() as u64,
                a.rotate_left(b as u32 & 127) as u64,
                a.rotate_right(b as u32 & 127) as u64,
                a.reverse_bits() as u64,
                a.swap_bytes() as u64,
                a.abs_diff(b) as u64,
                a.wrapping_div(b | 1) as u64,
                a.wrapping_rem(b | 1) as u64,
                a.wrapping_neg() as u64,
                // Half of the least number has a quotient by -1.
                (a >> 1).div_euclid(b | 1) as u64,
                (a >> 1).rem_euclid(b | 1) as u64,
                (a % 8).pow(2) as u64,
                a.wrapping_pow(b as u32 % 9) as u64,
            ];
            for k in 0..20 {
                y[i * 20 + k] = all[k];
            }
        }
    )*};
}
integers!(of_i8 i8, of_i16 i16, of_i32 i32, of_i64 i64, of_u8 u8, of_u16 u16, of_u32 u32, of_u64 u64);

fn integers_of_every_type(b: &mut Bench<'_>) -> warpwright::Result<()> {
    macro_rules! each {
        ($($name:ident $t:ty),*) => {$(
            b.map($name, &patterns(<$t>::BITS, 0).iter().map(|&bits| bits as $t).collect::<Vec<_>>(), OF_INTEGERS)?;
        )*};
    }
    each!(of_i8 i8, of_i16 i16, of_i32 i32, of_i64 i64, of_u8 u8, of_u16 u16, of_u32 u32, of_u64 u64);
    Ok(())
}

macro_rules! unsigned_integers {
    ($($name:ident $t:ty),*) => {$(
        #[kernel(block = 32)]
        fn $name(x: &Global<$t>, y: &mut Global<u64>) {
            let i = global_id().x;
            let (a, b) = (x[i], x[(i + 1) % x.len()]);
            let all = [
                a.div_ceil(b | 1) as u64,
                a.is_multiple_of(b) as u64 + (a.is_multiple_of(b % 4) as u64) * 2,
                // What does not fit wraps on a device, and is no number in Rust.
                (a >> 1).next_multiple_of(b >> 2 | 1) as u64,
                (a >> 1).next_power_of_two() as u64,
                a.is_power_of_two() as u64,
            ];
            for k in 0..5 {
                y[i * 5 + k] = all[k];
            }
        }
    )*};
}
unsigned_integers!(whole_u8 u8, whole_u16 u16, whole_u32 u32, whole_u64 u64);

fn unsigned_integers_of_every_type(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(whole_u8, &patterns(8, 0).iter().map(|&bits| bits as u8).collect::<Vec<_>>(), 5)?;
    b.map(whole_u16, &patterns(16, 0).iter().map(|&bits| bits as u16).collect::<Vec<_>>(), 5)?;
    b.map(whole_u32, &patterns(32, 0).iter().map(|&bits| bits as u32).collect::<Vec<_>>(), 5)?;
    b.map(whole_u64, &patterns(64, 0), 5).map(drop)
}

macro_rules! floats {
    ($($signs:ident $powers:ident $t:ty),*) => {$(
        #[kernel(block = 32)]
        fn $signs(x: &Global<$t>, y: &mut Global<u64>) {
            let i = global_id().x;
            let a = x[i];
            let asked = [
                a.is_sign_positive(),
                a.is_sign_negative(),
                a.is_nan(),
                a.is_finite(),
                a.is_infinite(),
                // The sign of a NaN that is computed is the device's.
                (-a).is_sign_positive() || a.is_nan(),
                <$t>::from_bits(a.to_bits()).is_sign_positive(),
            ];
            let mut bits = 0u64;
            for k in 0..7 {
                bits |= (asked[k] as u64) << k;
            }
            y[i * 2] = bits;
            y[i * 2 + 1] = a.to_bits() as u64;
        }

        #[kernel(block = 32, contract = false)]
        fn $powers(x: &Global<$t>, y: &mut Global<$t>) {
            let i = global_id().x;
            let a = x[i];
            let all = [a.round_ties_even(), a.powi(3), a.powi(-2), a.powi(0), a.to_radians(), a.to_degrees(), a.fract()];
            for k in 0..7 {
                y[i * 7 + k] = all[k];
            }
        }
    )*};
}
floats!(signs_f16 powers_f16 f16, signs_bf16 powers_bf16 bf16, signs_f32 powers_f32 f32, signs_f64 powers_f64 f64);

/// The numbers of every float.
fn all_floats() -> (Vec<f16>, Vec<bf16>, Vec<f32>, Vec<f64>) {
    (
        patterns(16, 10).iter().map(|&bits| f16::from_bits(bits as u16)).collect(),
        patterns(16, 7).iter().map(|&bits| bf16::from_bits(bits as u16)).collect(),
        patterns(32, 23).iter().map(|&bits| f32::from_bits(bits as u32)).collect(),
        patterns(64, 52).into_iter().map(f64::from_bits).collect(),
    )
}

fn signs_of_every_type(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let (halves, brains, singles, doubles) = all_floats();
    b.map(signs_f16, &halves, 2)?;
    b.map(signs_bf16, &brains, 2)?;
    b.map(signs_f32, &singles, 2)?;
    b.map(signs_f64, &doubles, 2).map(drop)
}

fn whole_powers_of_every_type(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let (halves, brains, singles, doubles) = all_floats();
    b.map(powers_f16, &halves, 7)?;
    b.map(powers_bf16, &brains, 7)?;
    b.map(powers_f32, &singles, 7)?;
    b.map(powers_f64, &doubles, 7).map(drop)
}
