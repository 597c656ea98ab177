//! The core operations as generic functions over Rust's own types: one lane's worth of work, which the simulator instantiates for each
//! type and the folder for constants.

use super::round::{f64_to_bf16, f64_to_f16, i64_to_f64_odd, u64_to_f64_odd};
use crate::ir::{CompareOp, Type};
use half::{bf16, f16};

/// A scalar type: `bool`, integers, floats.
pub trait Lane: Copy + PartialEq + PartialOrd + 'static {
    /// Its name in the IR.
    const TYPE: Type;
    /// From bits, zero-extended to 64; higher bits are ignored.
    fn from_bits(bits: u64) -> Self;
    /// To bits, zero-extended to 64.
    fn to_bits(self) -> u64;
}

/// `bool` and the integers.
pub trait Bitwise: Lane {
    /// `!a`.
    fn not(self) -> Self;
    /// `a & b`.
    fn and(self, b: Self) -> Self;
    /// `a | b`.
    fn or(self, b: Self) -> Self;
    /// `a ^ b`.
    fn xor(self, b: Self) -> Self;
}

/// The integers.
pub trait Integer: Bitwise + Number {
    /// `a << (count % width)`.
    fn shl(self, count: u32) -> Self;
    /// `a >> (count % width)`; arithmetic for signed types.
    fn shr(self, count: u32) -> Self;
}

/// Integers and floats.
pub trait Number: Lane {
    /// `-a`, wrapping.
    fn neg(self) -> Self;
    /// `|a|`, wrapping.
    fn abs(self) -> Self;
    /// `a + b`, wrapping.
    fn add(self, b: Self) -> Self;
    /// `a - b`, wrapping.
    fn sub(self, b: Self) -> Self;
    /// `a * b`, wrapping.
    fn mul(self, b: Self) -> Self;
    /// `a / b`; `None`: an integer divided by zero.
    fn div(self, b: Self) -> Option<Self>;
    /// `a % b`; `None`: an integer divided by zero.
    fn rem(self, b: Self) -> Option<Self>;
    /// The lesser; of a number and a NaN the number.
    fn min(self, b: Self) -> Self;
    /// The greater; of a number and a NaN the number.
    fn max(self, b: Self) -> Self;
    /// `a * b + c`: fused for floats, wrapping for integers.
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// `x as Self`.
    fn from_i64(x: i64) -> Self;
    /// `x as Self`.
    fn from_u64(x: u64) -> Self;
    /// `x as Self`.
    fn from_f64(x: f64) -> Self;
    /// `self as T`.
    fn cast<T: Number>(self) -> T;
}

/// `a op b`; comparisons with a NaN are false, but for `Ne`.
pub fn compare<T: Lane>(op: CompareOp, a: T, b: T) -> bool {
    match op {
        CompareOp::Eq => a == b,
        CompareOp::Ne => a != b,
        CompareOp::Lt => a < b,
        CompareOp::Le => a <= b,
        CompareOp::Gt => a > b,
        CompareOp::Ge => a >= b,
    }
}

macro_rules! bitwise {
    ($t:ty) => {
        impl Bitwise for $t {
            fn not(self) -> Self {
                !self
            }
            fn and(self, b: Self) -> Self {
                self & b
            }
            fn or(self, b: Self) -> Self {
                self | b
            }
            fn xor(self, b: Self) -> Self {
                self ^ b
            }
        }
    };
}

impl Lane for bool {
    const TYPE: Type = Type::Bool;
    fn from_bits(bits: u64) -> bool {
        bits & 1 == 1
    }
    fn to_bits(self) -> u64 {
        u64::from(self)
    }
}

bitwise!(bool);

macro_rules! integer {
    ($t:ident, $ty:ident, $unsigned:ident, $wide:ident, $from_wide:ident, |$x:ident| $abs:expr) => {
        impl Lane for $t {
            const TYPE: Type = Type::$ty;
            fn from_bits(bits: u64) -> $t {
                bits as $t
            }
            fn to_bits(self) -> u64 {
                u64::from(self as $unsigned)
            }
        }

        bitwise!($t);

        impl Integer for $t {
            fn shl(self, count: u32) -> $t {
                self.wrapping_shl(count)
            }
            fn shr(self, count: u32) -> $t {
                self.wrapping_shr(count)
            }
        }

        impl Number for $t {
            fn neg(self) -> $t {
                self.wrapping_neg()
            }
            fn abs(self) -> $t {
                let $x = self;
                $abs
            }
            fn add(self, b: $t) -> $t {
                self.wrapping_add(b)
            }
            fn sub(self, b: $t) -> $t {
                self.wrapping_sub(b)
            }
            fn mul(self, b: $t) -> $t {
                self.wrapping_mul(b)
            }
            fn div(self, b: $t) -> Option<$t> {
                (b != 0).then(|| self.wrapping_div(b))
            }
            fn rem(self, b: $t) -> Option<$t> {
                (b != 0).then(|| self.wrapping_rem(b))
            }
            fn min(self, b: $t) -> $t {
                Ord::min(self, b)
            }
            fn max(self, b: $t) -> $t {
                Ord::max(self, b)
            }
            fn mul_add(self, b: $t, c: $t) -> $t {
                self.wrapping_mul(b).wrapping_add(c)
            }
            fn from_i64(x: i64) -> $t {
                x as $t
            }
            fn from_u64(x: u64) -> $t {
                x as $t
            }
            fn from_f64(x: f64) -> $t {
                x as $t
            }
            fn cast<T: Number>(self) -> T {
                T::$from_wide($wide::from(self))
            }
        }
    };
}

integer!(i8, I8, u8, i64, from_i64, |x| x.wrapping_abs());
integer!(i16, I16, u16, i64, from_i64, |x| x.wrapping_abs());
integer!(i32, I32, u32, i64, from_i64, |x| x.wrapping_abs());
integer!(i64, I64, u64, i64, from_i64, |x| x.wrapping_abs());
integer!(u8, U8, u8, u64, from_u64, |x| x);
integer!(u16, U16, u16, u64, from_u64, |x| x);
integer!(u32, U32, u32, u64, from_u64, |x| x);
integer!(u64, U64, u64, u64, from_u64, |x| x);

/// The functions of a float's `impl Number` that do not depend on how it computes.
macro_rules! float_rules {
    ($t:ident) => {
        fn neg(self) -> $t {
            -self
        }
        fn abs(self) -> $t {
            if self.is_sign_negative() { -self } else { self }
        }
        fn min(self, b: $t) -> $t {
            if b.is_nan() || self < b || (self == b && self.is_sign_negative()) { self } else { b }
        }
        fn max(self, b: $t) -> $t {
            if b.is_nan() || self > b || (self == b && self.is_sign_positive()) { self } else { b }
        }
        fn cast<T: Number>(self) -> T {
            T::from_f64(f64::from(self))
        }
    };
}

macro_rules! float {
    ($t:ident, $ty:ident, $bits:ident) => {
        impl Lane for $t {
            const TYPE: Type = Type::$ty;
            fn from_bits(bits: u64) -> $t {
                $t::from_bits(bits as $bits)
            }
            fn to_bits(self) -> u64 {
                u64::from($t::to_bits(self))
            }
        }

        impl Number for $t {
            float_rules!($t);
            fn add(self, b: $t) -> $t {
                self + b
            }
            fn sub(self, b: $t) -> $t {
                self - b
            }
            fn mul(self, b: $t) -> $t {
                self * b
            }
            fn div(self, b: $t) -> Option<$t> {
                Some(self / b)
            }
            fn rem(self, b: $t) -> Option<$t> {
                Some(self % b)
            }
            fn mul_add(self, b: $t, c: $t) -> $t {
                self.mul_add(b, c)
            }
            fn from_i64(x: i64) -> $t {
                x as $t
            }
            fn from_u64(x: u64) -> $t {
                x as $t
            }
            fn from_f64(x: f64) -> $t {
                x as $t
            }
        }
    };
}

float!(f32, F32, u32);
float!(f64, F64, u64);

/// A 16-bit float: everything in `f32`, then rounded.
macro_rules! short_float {
    ($t:ident, $ty:ident, $round:path) => {
        impl Lane for $t {
            const TYPE: Type = Type::$ty;
            fn from_bits(bits: u64) -> $t {
                $t::from_bits(bits as u16)
            }
            fn to_bits(self) -> u64 {
                u64::from($t::to_bits(self))
            }
        }

        impl Number for $t {
            float_rules!($t);
            fn add(self, b: $t) -> $t {
                $t::from_f32(self.to_f32() + b.to_f32())
            }
            fn sub(self, b: $t) -> $t {
                $t::from_f32(self.to_f32() - b.to_f32())
            }
            fn mul(self, b: $t) -> $t {
                $t::from_f32(self.to_f32() * b.to_f32())
            }
            fn div(self, b: $t) -> Option<$t> {
                Some($t::from_f32(self.to_f32() / b.to_f32()))
            }
            fn rem(self, b: $t) -> Option<$t> {
                Some($t::from_f32(self.to_f32() % b.to_f32()))
            }
            fn mul_add(self, b: $t, c: $t) -> $t {
                $t::from_f32(self.to_f32().mul_add(b.to_f32(), c.to_f32()))
            }
            fn from_i64(x: i64) -> $t {
                $round(i64_to_f64_odd(x))
            }
            fn from_u64(x: u64) -> $t {
                $round(u64_to_f64_odd(x))
            }
            fn from_f64(x: f64) -> $t {
                $round(x)
            }
        }
    };
}

short_float!(f16, F16, f64_to_f16);
short_float!(bf16, BF16, f64_to_bf16);
