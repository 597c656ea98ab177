//! Floats.
//!
//! `f16` and `bf16` are computed in `f32` and rounded once more, which gives the correctly rounded result for `sqrt` and `recip` too
//! (`f32` has more than 2p + 2 of their digits).

use super::*;

/// A floating-point number: `f16`, `bf16`, `f32`, `f64`.
#[expect(missing_docs, reason = "Rust's own methods, by their names")]
pub trait Float: Num + Neg<Output = Self> {
    /// The unsigned integer as wide.
    type Bits: Int;

    /// The distance from 1 to the next greater value.
    const EPSILON: Self;
    /// The least positive normal value.
    const MIN_POSITIVE: Self;
    const INFINITY: Self;
    const NEG_INFINITY: Self;
    const NAN: Self;

    /// `1 / sqrt(self)`.
    fn rsqrt(self) -> Self;
    /// The error function, 2/√π · ∫₀ˣ exp(−t²) dt.
    fn erf(self) -> Self;
    /// `1 - erf(self)`, without the cancellation.
    fn erfc(self) -> Self;

    fn to_bits(self) -> Self::Bits;
    fn from_bits(bits: Self::Bits) -> Self;
    fn is_nan(self) -> bool;
    fn is_infinite(self) -> bool;
    fn is_finite(self) -> bool;
    fn is_sign_negative(self) -> bool;
    fn is_sign_positive(self) -> bool;
    fn abs(self) -> Self;
    fn signum(self) -> Self;
    fn copysign(self, sign: Self) -> Self;
    fn floor(self) -> Self;
    fn ceil(self) -> Self;
    fn round(self) -> Self;
    fn round_ties_even(self) -> Self;
    fn trunc(self) -> Self;
    fn fract(self) -> Self;
    fn sqrt(self) -> Self;
    fn cbrt(self) -> Self;
    fn recip(self) -> Self;
    fn mul_add(self, a: Self, b: Self) -> Self;
    fn exp(self) -> Self;
    fn exp2(self) -> Self;
    fn exp_m1(self) -> Self;
    fn ln(self) -> Self;
    fn ln_1p(self) -> Self;
    fn log2(self) -> Self;
    fn log10(self) -> Self;
    fn powf(self, n: Self) -> Self;
    fn powi(self, n: i32) -> Self;
    fn sin(self) -> Self;
    fn cos(self) -> Self;
    fn tan(self) -> Self;
    fn sin_cos(self) -> (Self, Self);
    fn asin(self) -> Self;
    fn acos(self) -> Self;
    fn atan(self) -> Self;
    fn atan2(self, x: Self) -> Self;
    fn sinh(self) -> Self;
    fn cosh(self) -> Self;
    fn tanh(self) -> Self;
    fn hypot(self, other: Self) -> Self;
    fn to_degrees(self) -> Self;
    fn to_radians(self) -> Self;
    fn div_euclid(self, b: Self) -> Self;
    fn rem_euclid(self, b: Self) -> Self;
}

/// Hands `$each!` the methods that are the same for every float: name, arguments of type `Self`, result.
macro_rules! methods {
    ($each:ident) => {
        $each! {
            abs() floor() ceil() round() round_ties_even() trunc() fract() sqrt() cbrt() recip() mul_add(a, b)
            exp() exp2() exp_m1() ln() ln_1p() log2() log10() powf(n) sin() cos() tan() asin() acos() atan() atan2(x)
            sinh() cosh() tanh() hypot(other) to_degrees() to_radians() div_euclid(b) rem_euclid(b)
        }
    };
}

macro_rules! by_std {
    ($($name:ident($($arg:ident),*))*) => {$(
        #[inline]
        fn $name(self, $($arg: Self),*) -> Self {
            Self::$name(self, $($arg),*)
        }
    )*};
}

macro_rules! by_f32 {
    ($($name:ident($($arg:ident),*))*) => {$(
        #[inline]
        fn $name(self, $($arg: Self),*) -> Self {
            Self::from_f32(f32::$name(self.to_f32(), $($arg.to_f32()),*))
        }
    )*};
}

/// What std and `half` both have as inherent methods and constants.
macro_rules! inherent {
    ($t:ident $bits:ident) => {
        type Bits = $bits;

        const EPSILON: $t = $t::EPSILON;
        const MIN_POSITIVE: $t = $t::MIN_POSITIVE;
        const INFINITY: $t = $t::INFINITY;
        const NEG_INFINITY: $t = $t::NEG_INFINITY;
        const NAN: $t = $t::NAN;

        #[inline]
        fn to_bits(self) -> $bits {
            $t::to_bits(self)
        }
        #[inline]
        fn from_bits(bits: $bits) -> $t {
            $t::from_bits(bits)
        }
        #[inline]
        fn is_nan(self) -> bool {
            $t::is_nan(self)
        }
        #[inline]
        fn is_infinite(self) -> bool {
            $t::is_infinite(self)
        }
        #[inline]
        fn is_finite(self) -> bool {
            $t::is_finite(self)
        }
        #[inline]
        fn is_sign_negative(self) -> bool {
            $t::is_sign_negative(self)
        }
        #[inline]
        fn is_sign_positive(self) -> bool {
            $t::is_sign_positive(self)
        }
        #[inline]
        fn signum(self) -> $t {
            $t::signum(self)
        }
        #[inline]
        fn copysign(self, sign: $t) -> $t {
            $t::copysign(self, sign)
        }
    };
}

macro_rules! floats {
    ($($t:ident $bits:ident $erf:path, $erfc:path;)*) => {$(
        impl Float for $t {
            inherent!($t $bits);
            methods!(by_std);

            #[inline]
            fn rsqrt(self) -> $t {
                1.0 / self.sqrt()
            }
            #[inline]
            fn erf(self) -> $t {
                $erf(self)
            }
            #[inline]
            fn erfc(self) -> $t {
                $erfc(self)
            }
            #[inline]
            fn powi(self, n: i32) -> $t {
                $t::powi(self, n)
            }
            #[inline]
            fn sin_cos(self) -> ($t, $t) {
                $t::sin_cos(self)
            }
        }
    )*};
}

floats! {
    f32 u32 libm::erff, libm::erfcf;
    f64 u64 libm::erf, libm::erfc;
}

macro_rules! short_floats {
    ($($t:ident)*) => {$(
        impl Float for $t {
            inherent!($t u16);
            methods!(by_f32);

            #[inline]
            fn rsqrt(self) -> $t {
                $t::from_f32(Float::rsqrt(self.to_f32()))
            }
            #[inline]
            fn erf(self) -> $t {
                $t::from_f32(libm::erff(self.to_f32()))
            }
            #[inline]
            fn erfc(self) -> $t {
                $t::from_f32(libm::erfcf(self.to_f32()))
            }
            #[inline]
            fn powi(self, n: i32) -> $t {
                $t::from_f32(self.to_f32().powi(n))
            }
            #[inline]
            fn sin_cos(self) -> ($t, $t) {
                let (sin, cos) = self.to_f32().sin_cos();
                ($t::from_f32(sin), $t::from_f32(cos))
            }
        }
    )*};
}

short_floats!(f16 bf16);
