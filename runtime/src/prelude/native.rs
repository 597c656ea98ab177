//! The hardware's approximations, by functions: on the host, the functions that they approximate. Errors are those of NVIDIA's instructions, in `f32`;
//! where they are from stands in the table of intrinsics.

use super::numeric::Float;
use half::{bf16, f16};

/// The floats that have all the approximations: `f16`, `bf16`, `f32`.
pub trait NativeFloat: Float {}

impl NativeFloat for f16 {}
impl NativeFloat for bf16 {}
impl NativeFloat for f32 {}

macro_rules! native {
    ($($bound:ident $name:ident = $method:ident $doc:literal;)*) => {$(
        #[doc = $doc]
        #[inline]
        pub fn $name<T: $bound>(x: T) -> T {
            Float::$method(x)
        }
    )*};
}

native! {
    NativeFloat native_sin = sin "The sine of `x` radians: absolute error 2^-20.5 in [-2π, 2π].";
    NativeFloat native_cos = cos "The cosine of `x` radians: absolute error 2^-20.4 in [-2π, 2π].";
    NativeFloat native_exp = exp "eˣ: 3 + ⌊|1.173 x|⌋ ulp; results below 2^-126 are zero.";
    NativeFloat native_exp2 = exp2 "2ˣ: relative error 2^-22.5; results below 2^-126 are zero.";
    NativeFloat native_ln = ln "The natural logarithm of `x`: absolute error 2^-21.4 in [0.5, 2], 4 ulp elsewhere.";
    NativeFloat native_log2 = log2 "The logarithm of `x` to base 2: absolute error 2^-22 in (0.5, 2), relative error 2^-22 elsewhere.";
    NativeFloat native_sqrt = sqrt "The square root of `x`: relative error 2^-23.";
    Float native_rsqrt = rsqrt "1 / √`x`: relative error 2^-22.9; f64: about 2^-20, subnormals are zero.";
    Float native_recip = recip "1 / `x`: 1 ulp; f64: about 2^-20, subnormals are zero.";
    NativeFloat native_tanh = tanh "The hyperbolic tangent of `x`: relative error 2^-11.";
}

/// `a / b`: 2 ulp for a divisor in [2^-126, 2^126]; 0 for a finite quotient beyond it.
#[inline]
pub fn native_div<T: NativeFloat>(a: T, b: T) -> T {
    a / b
}
