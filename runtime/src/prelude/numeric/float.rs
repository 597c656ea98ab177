//! Floats.
//!
//! `f16` and `bf16` are computed in `f32` and rounded once more, which gives the correctly rounded result for `sqrt` and `recip` too
//! (`f32` has more than 2p + 2 of their digits).

use super::*;

/// A floating-point number: `f16`, `bf16`, `f32`, `f64`.
///
/// Errors are the greatest there are in a kernel for CUDA and on the simulator, in units of the last place of the result, of `f32` and of `f64`; short floats
/// are computed as `f32` and rounded once more. OpenCL devices have the bounds of OpenCL C, the host twin has std's functions.
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

    /// `1 / sqrt(self)`: 2 ulp, `f64` 1.5.
    fn rsqrt(self) -> Self;
    /// The error function, 2/√π · ∫₀ˣ exp(−t²) dt: 2 ulp, `f64` 2.
    fn erf(self) -> Self;
    /// `1 - erf(self)`, without the cancellation: 4 ulp, `f64` 5.
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
    /// The cube root: 1 ulp, `f64` 1.
    fn cbrt(self) -> Self;
    fn recip(self) -> Self;
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// eˣ: 2 ulp, `f64` 1.
    fn exp(self) -> Self;
    /// 2ˣ: 2 ulp, `f64` 1.
    fn exp2(self) -> Self;
    /// eˣ − 1, also near 0: 1 ulp, `f64` 1.
    fn exp_m1(self) -> Self;
    /// The natural logarithm: 1 ulp, `f64` 1.
    fn ln(self) -> Self;
    /// ln(1 + x), also near 0: 1 ulp, `f64` 1.
    fn ln_1p(self) -> Self;
    /// The logarithm to base 2: 1 ulp, `f64` 1.
    fn log2(self) -> Self;
    /// The logarithm to base 10: 2 ulp, `f64` 1.
    fn log10(self) -> Self;
    /// A power: 4 ulp, `f64` 2.
    fn powf(self, n: Self) -> Self;
    fn powi(self, n: i32) -> Self;
    /// The sine: 2 ulp, `f64` 2.
    fn sin(self) -> Self;
    /// The cosine: 2 ulp, `f64` 2.
    fn cos(self) -> Self;
    /// The tangent: 4 ulp, `f64` 2.
    fn tan(self) -> Self;
    /// Sine and cosine, each as by itself, for little more than one of them.
    fn sin_cos(self) -> (Self, Self);
    /// The arc sine: 2 ulp, `f64` 2.
    fn asin(self) -> Self;
    /// The arc cosine: 2 ulp, `f64` 2.
    fn acos(self) -> Self;
    /// The arc tangent: 2 ulp, `f64` 2.
    fn atan(self) -> Self;
    /// The angle of the point (`x`, `self`): 3 ulp, `f64` 2.
    fn atan2(self, x: Self) -> Self;
    /// The hyperbolic sine: 3 ulp, `f64` 2.
    fn sinh(self) -> Self;
    /// The hyperbolic cosine: 2 ulp, `f64` 1.
    fn cosh(self) -> Self;
    /// The hyperbolic tangent: 2 ulp, `f64` 1.
    fn tanh(self) -> Self;
    /// √(self² + other²) without overflow: 3 ulp, `f64` 2.
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

        inherent_methods! { $t:
            to_bits() -> $bits;
            is_nan() -> bool;
            is_infinite() -> bool;
            is_finite() -> bool;
            is_sign_negative() -> bool;
            is_sign_positive() -> bool;
            signum() -> $t;
            copysign(sign: $t) -> $t;
        }

        #[inline]
        fn from_bits(bits: $bits) -> $t {
            $t::from_bits(bits)
        }
    };
}

macro_rules! floats {
    ($($t:ident $bits:ident $erf:path, $erfc:path;)*) => {$(
        impl Float for $t {
            inherent!($t $bits);
            methods!(by_std);
            inherent_methods! { $t: powi(n: i32) -> $t; sin_cos() -> ($t, $t); }

            #[inline]
            fn rsqrt(self) -> $t {
                (1.0 / f64::from(self).sqrt()) as $t
            }
            #[inline]
            fn erf(self) -> $t {
                $erf(self)
            }
            #[inline]
            fn erfc(self) -> $t {
                $erfc(self)
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
