//! Conversions to the 16-bit floats with one rounding, to nearest even.
//!
//! Going through `f32` rounds twice, unless the first rounding is *to odd*: an inexact result takes the neighbour whose last bit is
//! one, so that it is never a midpoint of the narrower format unless the exact value was. Rounding to odd with at least two more
//! digits, then to nearest, is rounding to nearest (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums", 2008).

use half::{bf16, f16};

/// `x` as `f16`, rounded once.
pub fn f64_to_f16(x: f64) -> f16 {
    f16::from_f32(f64_to_f32_odd(x))
}

/// `x` as `bf16`, rounded once.
pub fn f64_to_bf16(x: f64) -> bf16 {
    bf16::from_f32(f64_to_f32_odd(x))
}

/// An `f64` that rounds to `f16` and `bf16` as `magnitude` does.
pub fn u64_to_f64_odd(magnitude: u64) -> f64 {
    let excess = (u64::BITS - magnitude.leading_zeros()).saturating_sub(f64::MANTISSA_DIGITS);
    let kept = magnitude >> excess;
    let is_inexact = kept << excess != magnitude;
    (kept | u64::from(is_inexact)) as f64 * (1u64 << excess) as f64
}

/// The same for a signed integer.
pub fn i64_to_f64_odd(x: i64) -> f64 {
    let magnitude = u64_to_f64_odd(x.unsigned_abs());
    if x < 0 { -magnitude } else { magnitude }
}

fn f64_to_f32_odd(x: f64) -> f32 {
    let nearest = x as f32;
    let back = f64::from(nearest);
    let bits = nearest.to_bits();
    if x.is_nan() || back == x || bits & 1 == 1 {
        return nearest;
    }
    // The other neighbour: magnitudes are ordered as their bits are.
    f32::from_bits(if back.abs() > x.abs() { bits - 1 } else { bits + 1 })
}
