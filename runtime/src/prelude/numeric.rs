//! The bounds that kernels put on type generics, and the methods that std lacks.
//!
//! For a type parameter `T: Float` every operation is a method of these traits. For a concrete type std's inherent methods come first,
//! and the traits add what std lacks: `rsqrt`, `erf`, `erfc`, `mul_hi`, `mul24`, `sad4`, and nearly everything for `f16` and `bf16`.
//! `min`, `max` and `clamp` are in [`Ordered`], which the prelude does not bring into scope: `3.min(4)` must go on meaning `Ord::min`.

use super::cast::{CastSource, CastTarget};
use super::{e4m3, e5m2};
use crate::element::Element;
use half::{bf16, f16};
use std::fmt::{Debug, Display};
use std::ops::{
    Add, AddAssign, BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Div, DivAssign, Mul, MulAssign, Neg, Not, Rem,
    RemAssign, Shl, ShlAssign, Shr, ShrAssign, Sub, SubAssign,
};
use warpwright_codegen::ir::eval::lane::{Lane, Number};

/// Methods that a type has itself, by path.
macro_rules! inherent_methods {
    ($t:ident: $($name:ident($($arg:ident: $ty:ty),*) -> $out:ty;)*) => {$(
        #[inline]
        #[track_caller]
        fn $name(self, $($arg: $ty),*) -> $out {
            $t::$name(self, $($arg),*)
        }
    )*};
}

mod float;
mod integer;

pub use float::Float;
pub use integer::{Int, shl, shr};

/// Every scalar type, `bool` too: what lanes exchange.
pub trait Scalar: Element + Copy + PartialEq + PartialOrd + Debug + Display {
    /// Its bits, zero-extended.
    fn to_word(self) -> u64;
    /// From its bits; higher ones are ignored.
    fn from_word(word: u64) -> Self;
}

/// The order of numbers, for type generics.
pub trait Ordered: Scalar {
    /// The lesser; of a number and a NaN the number.
    fn min(self, other: Self) -> Self;
    /// The greater; of a number and a NaN the number.
    fn max(self, other: Self) -> Self;
    /// `self`, but not below `min` nor above `max`; a NaN stays one.
    ///
    /// # Panics
    /// If `min > max` or either is NaN, as in std.
    fn clamp(self, min: Self, max: Self) -> Self;
    /// The sum; integers wrap.
    fn wrapping_sum(self, other: Self) -> Self;
}

/// Any number: the integers and floats.
pub trait Num:
    Ordered
    + CastSource
    + CastTarget
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Rem<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
    + RemAssign
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// The least finite value.
    const MIN: Self;
    /// The greatest finite value.
    const MAX: Self;
}

macro_rules! scalars {
    ($($t:ident $lane:ident),*) => {$(
        impl Scalar for $t {
            #[inline]
            fn to_word(self) -> u64 {
                Lane::to_bits(self as $lane)
            }
            #[inline]
            fn from_word(word: u64) -> $t {
                <$lane as Lane>::from_bits(word) as $t
            }
        }
    )*};
}

scalars!(
    bool bool, i8 i8, i16 i16, i32 i32, i64 i64, isize i64, u8 u8, u16 u16, u32 u32, u64 u64, usize u64,
    f16 f16, bf16 bf16, f32 f32, f64 f64
);

macro_rules! float8_scalars {
    ($($t:ident)*) => {$(
        impl Scalar for $t {
            #[inline]
            fn to_word(self) -> u64 {
                self.to_bits().into()
            }
            #[inline]
            fn from_word(word: u64) -> $t {
                $t::from_bits(word as u8)
            }
        }
    )*};
}

float8_scalars!(e4m3 e5m2);

macro_rules! numbers {
    ($($t:ident $lane:ident $zero:expr, $one:expr;)*) => {$(
        impl Ordered for $t {
            #[inline]
            fn min(self, other: $t) -> $t {
                <$lane as Number>::min(self as $lane, other as $lane) as $t
            }
            #[inline]
            fn max(self, other: $t) -> $t {
                <$lane as Number>::max(self as $lane, other as $lane) as $t
            }
            #[inline]
            fn wrapping_sum(self, other: $t) -> $t {
                <$lane as Number>::add(self as $lane, other as $lane) as $t
            }
            #[inline]
            #[track_caller]
            fn clamp(self, min: $t, max: $t) -> $t {
                assert!(min <= max, "min > max, or either was NaN. min = {min:?}, max = {max:?}");
                if self < min {
                    min
                } else if self > max {
                    max
                } else {
                    self
                }
            }
        }

        impl Num for $t {
            const ZERO: $t = $zero;
            const ONE: $t = $one;
            const MIN: $t = $t::MIN;
            const MAX: $t = $t::MAX;
        }
    )*};
}

numbers! {
    i8 i8 0, 1;
    i16 i16 0, 1;
    i32 i32 0, 1;
    i64 i64 0, 1;
    isize i64 0, 1;
    u8 u8 0, 1;
    u16 u16 0, 1;
    u32 u32 0, 1;
    u64 u64 0, 1;
    usize u64 0, 1;
    f16 f16 f16::ZERO, f16::ONE;
    bf16 bf16 bf16::ZERO, bf16::ONE;
    f32 f32 0.0, 1.0;
    f64 f64 0.0, 1.0;
}

#[cfg(test)]
mod tests;
