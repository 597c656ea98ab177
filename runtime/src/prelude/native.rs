//! The hardware's approximations, by functions: on the host, the exact functions that they approximate.

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
    NativeFloat native_sin = sin "The sine of `x` radians, approximately.";
    NativeFloat native_cos = cos "The cosine of `x` radians, approximately.";
    NativeFloat native_exp = exp "eˣ, approximately.";
    NativeFloat native_exp2 = exp2 "2ˣ, approximately.";
    NativeFloat native_ln = ln "The natural logarithm of `x`, approximately.";
    NativeFloat native_log2 = log2 "The logarithm of `x` to base 2, approximately.";
    NativeFloat native_sqrt = sqrt "The square root of `x`, approximately.";
    Float native_rsqrt = rsqrt "1 / √`x`, approximately; `f64` too.";
    Float native_recip = recip "1 / `x`, approximately; `f64` too.";
    NativeFloat native_tanh = tanh "The hyperbolic tangent of `x`, approximately.";
}

/// `a / b`, approximately.
#[inline]
pub fn native_div<T: NativeFloat>(a: T, b: T) -> T {
    a / b
}
