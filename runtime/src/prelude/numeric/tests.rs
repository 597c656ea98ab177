use super::Scalar;
use crate::prelude::*;
use crate::{Float, Int, Num};

fn horner<T: Float>(x: T) -> T {
    let mut sum = T::ZERO;
    let mut power = T::ONE;
    for _ in 0..4 {
        sum += power * x.sqrt().max(T::ZERO);
        power *= x.clamp(T::ZERO, T::ONE);
    }
    -sum / (T::ONE + T::ONE)
}

#[test]
fn generic_code_works_for_every_float() {
    assert_eq!(horner(1.0f32), -2.0);
    assert_eq!(horner(1.0f64), -2.0);
    assert_eq!(horner(f16::ONE), f16::from_f32(-2.0));
    assert_eq!(horner(bf16::ONE), bf16::from_f32(-2.0));
}

fn hash<T: Int>(mut x: T) -> T {
    x ^= x << 3;
    x ^= x >> 5u32;
    x = x.rotate_left(7).wrapping_mul(x | T::ONE) & !T::ZERO;
    let bits = T::BITS;
    x.min(T::MAX).max(T::MIN) ^ (x >> (bits / 2))
}

#[test]
fn generic_code_works_for_every_integer() {
    let by_hand = {
        let mut x = 12345u32;
        x ^= x << 3;
        x ^= x >> 5;
        x = x.rotate_left(7).wrapping_mul(x | 1);
        x ^ (x >> 16)
    };
    assert_eq!(hash(12345u32), by_hand);
    hash(1usize);
    hash(1i8);
}

fn lesser<T: Num>(a: T, b: T) -> T {
    a.min(b)
}

#[test]
fn order_of_numbers_and_nan() {
    assert_eq!(lesser(f32::NAN, 2.0), 2.0);
    assert_eq!(lesser(f16::ONE, f16::NAN), f16::ONE);
    assert_eq!(lesser(-3i64, 2), -3);
}

#[test]
fn what_std_lacks() {
    assert_eq!(4.0f32.rsqrt(), 0.5);
    assert_eq!(Float::erf(0.0f64), 0.0);
    assert!((Float::erf(1.0f64) - 0.842_700_792_949_714_9).abs() < 1e-15);
    assert!((Float::erfc(1.0f32) - 0.157_299_2).abs() < 1e-7);
    assert_eq!(u32::MAX.mul_hi(u32::MAX), u32::MAX - 1);
    assert_eq!((-1i64).mul_hi(1), -1);
    assert_eq!(i64::MIN.mul_hi(i64::MIN), 1 << 62);
    assert_eq!(0xff00_0003u32.mul24(5), 15);
    assert_eq!((-3i32).mul24(5), -15);
    assert_eq!(0x00ff_0a03u32.sad4(0xff00_0b01, 1_000), 1_000 + 255 + 255 + 1 + 2);
    assert_eq!(0u32.sad4(1, u32::MAX), 0);
}

#[test]
fn short_floats_have_the_methods() {
    let x = f16::from_f32(-2.25);
    assert_eq!(x.abs().sqrt(), f16::from_f32(1.5));
    assert_eq!(x.floor(), f16::from_f32(-3.0));
    assert_eq!(x.fract(), f16::from_f32(-0.25));
    assert_eq!(bf16::from_f32(3.0).mul_add(bf16::ONE, bf16::ONE), bf16::from_f32(4.0));
    assert_eq!(f16::ZERO.sin_cos(), (f16::ZERO, f16::ONE));
}

#[test]
fn words_round_trip() {
    assert_eq!(i8::from_word((-5i8).to_word()), -5);
    assert_eq!((-5i8).to_word(), 0xfb);
    assert_eq!(isize::from_word((-5isize).to_word()), -5);
    assert_eq!(f64::from_word(0.1f64.to_word()), 0.1);
    assert!(bool::from_word(true.to_word()));
}
