//! A compile-time value of a scalar type: its bits.

use super::Type;
use super::eval::round;
use float8::{F8E4M3, F8E5M2};
use half::{bf16, f16};
use std::fmt;

/// A scalar value as its bits, zero-extended to 64.
///
/// Invariant: bits above the type's width are zero; a `bool` is 0 or 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Scalar {
    /// Type of the value.
    pub ty: Type,
    /// The bits, zero-extended.
    pub bits: u64,
}

impl Scalar {
    /// The value with these bits; higher bits are cut off.
    pub fn new(ty: Type, bits: u64) -> Scalar {
        let bits = match ty.bits() {
            64 => bits,
            width => bits & ((1 << width) - 1),
        };
        Scalar { ty, bits }
    }

    /// `false` or `true`.
    pub fn bool(value: bool) -> Scalar {
        Scalar { ty: Type::Bool, bits: u64::from(value) }
    }

    /// An integer of type `ty`, wrapped to its width.
    pub fn int(ty: Type, value: i128) -> Scalar {
        Scalar::new(ty, value as u64)
    }

    /// A `u32`.
    pub fn u32(value: u32) -> Scalar {
        Scalar { ty: Type::U32, bits: u64::from(value) }
    }

    /// A float of type `ty`, rounded to nearest even. Values between two `f16` are rounded once, from `f64`. Those beyond the greatest float of 8 bits become it.
    pub fn float(ty: Type, value: f64) -> Scalar {
        match ty {
            Type::E4M3 => Scalar { ty, bits: u64::from(F8E4M3::from_f64(value).to_bits()) },
            Type::E5M2 => Scalar { ty, bits: u64::from(F8E5M2::from_f64(value).to_bits()) },
            Type::F16 => Scalar { ty, bits: u64::from(round::f64_to_f16(value).to_bits()) },
            Type::BF16 => Scalar { ty, bits: u64::from(round::f64_to_bf16(value).to_bits()) },
            Type::F32 => Scalar { ty, bits: u64::from((value as f32).to_bits()) },
            _ => Scalar { ty, bits: value.to_bits() },
        }
    }

    /// The value as an integer, sign-extended if the type is signed; a `bool` is 0 or 1. Meaningless for floats.
    pub fn as_int(self) -> i128 {
        if self.ty.is_signed_int() {
            let shift = 64 - self.ty.bits();
            i128::from(((self.bits << shift) as i64) >> shift)
        } else {
            i128::from(self.bits)
        }
    }

    /// The value of a float type, widened exactly. Meaningless for other types.
    pub fn as_f64(self) -> f64 {
        match self.ty {
            Type::E4M3 => F8E4M3::from_bits(self.bits as u8).to_f64(),
            Type::E5M2 => F8E5M2::from_bits(self.bits as u8).to_f64(),
            Type::F16 => f16::from_bits(self.bits as u16).to_f64(),
            Type::BF16 => bf16::from_bits(self.bits as u16).to_f64(),
            Type::F32 => f64::from(f32::from_bits(self.bits as u32)),
            _ => f64::from_bits(self.bits),
        }
    }

    /// Whether it is `true`.
    pub fn is_true(self) -> bool {
        self.ty == Type::Bool && self.bits == 1
    }
}

impl fmt::Display for Scalar {
    /// `true`, `7`, `-3`, `1.5`, and floats that decimal text cannot hold by their bits, `0x7fc00000`. The type is not part.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ty {
            Type::Bool => write!(f, "{}", self.bits == 1),
            Type::F32 if self.as_f64().is_finite() => write!(f, "{:?}", f32::from_bits(self.bits as u32)),
            t if t.is_any_float() && self.as_f64().is_finite() => write!(f, "{:?}", self.as_f64()),
            t if t.is_any_float() => write!(f, "0x{:x}", self.bits),
            _ => write!(f, "{}", self.as_int()),
        }
    }
}
