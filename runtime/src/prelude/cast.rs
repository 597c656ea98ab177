//! `as` between any two scalars, `f16`, `bf16` and type generics among them: where Rust's own `as` cannot go.
//!
//! A cast goes through [`Universal`], which holds every scalar exactly, so there is one rounding, the target's. This way a bound
//! `T: Num` carries casts from and to every scalar and every other generic type.

use super::{e4m3, e5m2};
use half::{bf16, f16};
use warpwright_codegen::ir::eval::lane::Number;

/// Any scalar's value, exactly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Universal {
    /// A signed integer.
    Signed(i64),
    /// An unsigned integer or `bool`.
    Unsigned(u64),
    /// A float.
    Float(f64),
}

/// What can be cast: scalars, and C-like enums.
pub trait CastSource: Copy {
    /// The value.
    fn to_universal(self) -> Universal;
}

/// What can be cast to: integers and floats.
pub trait CastTarget: Copy {
    /// `value as Self`: float to integer saturates, NaN to 0; integer to integer keeps the low bits; all else rounds to nearest even.
    fn from_universal(value: Universal) -> Self;
}

/// `value as B`.
#[inline]
pub fn cast<A: CastSource, B: CastTarget>(value: A) -> B {
    B::from_universal(value.to_universal())
}

macro_rules! casts {
    ($($t:ident $lane:ident $variant:ident $wide:ident,)*) => {$(
        impl CastSource for $t {
            #[inline]
            fn to_universal(self) -> Universal {
                Universal::$variant($wide::from(self as $lane))
            }
        }

        impl CastTarget for $t {
            #[inline]
            fn from_universal(value: Universal) -> $t {
                (match value {
                    Universal::Signed(x) => <$lane as Number>::from_i64(x),
                    Universal::Unsigned(x) => <$lane as Number>::from_u64(x),
                    Universal::Float(x) => <$lane as Number>::from_f64(x),
                }) as $t
            }
        }
    )*};
}

casts! {
    i8 i8 Signed i64,
    i16 i16 Signed i64,
    i32 i32 Signed i64,
    i64 i64 Signed i64,
    isize i64 Signed i64,
    u8 u8 Unsigned u64,
    u16 u16 Unsigned u64,
    u32 u32 Unsigned u64,
    u64 u64 Unsigned u64,
    usize u64 Unsigned u64,
    f16 f16 Float f64,
    bf16 bf16 Float f64,
    f32 f32 Float f64,
    f64 f64 Float f64,
}

macro_rules! float8_casts {
    ($($t:ident)*) => {$(
        impl CastSource for $t {
            #[inline]
            fn to_universal(self) -> Universal {
                Universal::Float(self.to_f64())
            }
        }

        impl CastTarget for $t {
            /// Values beyond the greatest finite one become it. Of integers the front end refuses the cast.
            #[inline]
            fn from_universal(value: Universal) -> $t {
                $t::from_f64(match value {
                    Universal::Signed(x) => x as f64,
                    Universal::Unsigned(x) => x as f64,
                    Universal::Float(x) => x,
                })
            }
        }
    )*};
}

float8_casts!(e4m3 e5m2);

impl CastSource for bool {
    #[inline]
    fn to_universal(self) -> Universal {
        Universal::Unsigned(u64::from(self))
    }
}

impl CastTarget for bool {
    /// Rust casts nothing but a `bool` to `bool`; rustc has no way to say so here, and the front end does.
    #[inline]
    fn from_universal(value: Universal) -> bool {
        !matches!(value, Universal::Signed(0) | Universal::Unsigned(0) | Universal::Float(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `cast` equals `as` for every pair of Rust's own number types, on the values given.
    macro_rules! matrix {
        ($values:expr => $($a:ident)*) => { $(matrix!(@row $values, $a, i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64);)* };
        (@row $values:expr, $a:ident, $($b:ident)*) => {
            for &value in &$values {
                let value = value as $a;
                $(
                    let (got, expected) = (cast::<$a, $b>(value), value as $b);
                    let text = format!("{value:?} as {}: {got:?}", stringify!($b));
                    assert!(got == expected || format!("{expected:?}") == "NaN" && format!("{got:?}") == "NaN", "{text}");
                )*
            }
        };
    }

    #[test]
    fn casts_are_rust_s_as() {
        let integers = [0i128, 1, -1, 127, 128, -128, -129, 255, 256, 65535, 65536, 1 << 24, (1 << 24) + 1, i32::MAX as i128];
        let more = [i32::MIN as i128, u32::MAX as i128, (1 << 53) + 1, i64::MAX as i128, i64::MIN as i128, u64::MAX as i128];
        matrix!(integers => i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64);
        matrix!(more => i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64);
        let floats = [0.0, -0.0, 0.5, -0.5, 0.999, 255.5, -129.5, 1e10, -1e10, 1e20, -1e20, 1e300, f64::NAN, f64::INFINITY, 1e-320];
        matrix!(floats => f32 f64);
    }

    #[test]
    fn casts_to_the_short_floats_round_once() {
        // Just above the midpoint of 1 and the next f16: through f32 it would first become the midpoint, then 1.
        let above = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
        assert_eq!(cast::<f64, f16>(above).to_f64(), 1.0 + 2f64.powi(-10));
        let above = 1.0 + 2f64.powi(-8) + 2f64.powi(-40);
        assert_eq!(cast::<f64, bf16>(above).to_f64(), 1.0 + 2f64.powi(-7));
        let above = (1u64 << 60) + (1 << 52) + 1;
        assert_eq!(cast::<u64, bf16>(above).to_f64(), 2f64.powi(60) + 2f64.powi(53));
        assert_eq!(cast::<i32, f16>(2049).to_f64(), 2048.0);
        assert_eq!(cast::<u32, f16>(65520), f16::INFINITY);
    }

    #[test]
    fn casts_from_the_short_floats_are_exact_or_saturate() {
        assert_eq!(cast::<f16, f64>(f16::from_f32(0.1)), 0.0999755859375);
        assert_eq!(cast::<f16, u8>(f16::from_f32(300.0)), 255);
        assert_eq!(cast::<bf16, i32>(bf16::from_f32(-2.75)), -2);
        assert_eq!(cast::<bf16, u64>(bf16::NAN), 0);
        assert_eq!(cast::<f16, bf16>(f16::from_f32(257.0)).to_f64(), 256.0);
    }

    #[test]
    fn bool_is_zero_or_one() {
        assert_eq!((cast::<bool, u8>(true), cast::<bool, i64>(false), cast::<bool, bool>(true)), (1, 0, true));
    }
}
