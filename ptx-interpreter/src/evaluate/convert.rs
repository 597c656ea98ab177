//! `cvt` (PTX ISA, "Data Movement and Conversion Instructions: cvt").

use super::float::saturated;
use super::format::{BF16, E4M3, E5M2, F16, F32, Format, Rounding, TF32, of_bf16, of_f16, power_of_two};
use crate::ty::{Ty, low, signed};

/// How numbers become others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RoundTo {
    /// Nothing is said.
    Exact,
    /// To a number of the type.
    Number(Rounding),
    /// To a whole number.
    Whole(Rounding),
}

/// A conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conversion {
    pub(crate) to: Ty,
    pub(crate) from: Ty,
    pub(crate) round: RoundTo,
    pub(crate) flushes: bool,
    pub(crate) saturates: bool,
    /// What is too large becomes the largest number.
    pub(crate) is_finite: bool,
    pub(crate) is_relu: bool,
    /// Bits of the register that it goes to: signs are extended to them.
    pub(crate) register_bits: u32,
}

/// The format of a type of floats below `f64`, and by how many bits its numbers are shifted in a register.
fn format(ty: Ty) -> Option<(Format, u32)> {
    Some(match ty {
        Ty::F32 => (F32, 0),
        Ty::F16 | Ty::F16x2 => (F16, 0),
        Ty::Bf16 | Ty::Bf16x2 => (BF16, 0),
        Ty::Tf32 => (TF32, 13),
        Ty::E4m3 | Ty::E4m3x2 => (E4M3, 0),
        Ty::E5m2 | Ty::E5m2x2 => (E5M2, 0),
        _ => return None,
    })
}

/// The type of each half of a pair, and its bits.
fn half(ty: Ty) -> Option<(Ty, u32)> {
    Some(match ty {
        Ty::F16x2 => (Ty::F16, 16),
        Ty::Bf16x2 => (Ty::Bf16, 16),
        Ty::E4m3x2 => (Ty::E4m3, 8),
        Ty::E5m2x2 => (Ty::E5m2, 8),
        _ => return None,
    })
}

impl Conversion {
    /// The result's bits; `b` is the lower half where two numbers become a pair.
    pub(crate) fn evaluate(&self, a: u64, b: u64) -> u64 {
        match (half(self.to), half(self.from)) {
            (Some((to, bits)), None) => {
                let one = Conversion { to, ..*self };
                one.number(a) << bits | one.number(b)
            }
            (Some((to, to_bits)), Some((from, from_bits))) => {
                let one = Conversion { to, from, ..*self };
                one.number(low(a >> from_bits, from_bits)) << to_bits | one.number(low(a, from_bits))
            }
            _ => self.number(a),
        }
    }

    fn number(&self, a: u64) -> u64 {
        if self.from.is_float() || half(self.from).is_some() || matches!(self.from, Ty::E4m3 | Ty::E5m2) {
            let value = self.value(a);
            return if self.to.is_int() { self.extended(self.to_int(value)) } else { self.to_float(value) };
        }
        let value = if self.from.is_signed() { i128::from(signed(a, self.from.bits())) } else { i128::from(low(a, self.from.bits())) };
        if self.to.is_int() {
            let value = if self.saturates { self.clamped(value) } else { value };
            return self.extended(low(value as u64, self.to.bits()));
        }
        self.int_to_float(value)
    }

    fn value(&self, bits: u64) -> f64 {
        let value = match self.from {
            Ty::F64 => return f64::from_bits(bits),
            Ty::F32 => f64::from(f32::from_bits(bits as u32)),
            Ty::F16 => of_f16(bits),
            Ty::Bf16 => of_bf16(bits),
            Ty::E4m3 => E4M3.decode(low(bits, 8) as u32),
            _ => E5M2.decode(low(bits, 8) as u32),
        };
        if self.flushes && self.from == Ty::F32 { flushed(value) } else { value }
    }

    /// Signs reach to the register's last bit.
    fn extended(&self, bits: u64) -> u64 {
        if self.to.is_signed() { low(signed(bits, self.to.bits()) as u64, self.register_bits) } else { bits }
    }

    fn clamped(&self, value: i128) -> i128 {
        let bits = self.to.bits();
        if self.to.is_signed() { value.clamp(-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { value.clamp(0, (1 << bits) - 1) }
    }

    /// Out of range is the nearest that there is; NaN is zero, but the highest bit alone where either side has 64 bits.
    fn to_int(self, value: f64) -> u64 {
        let bits = self.to.bits();
        if value.is_nan() {
            return if self.from == Ty::F64 || bits == 64 { 1 << (bits - 1) } else { 0 };
        }
        let whole = match self.round {
            RoundTo::Whole(rounding) => to_whole(value, rounding),
            _ => value.trunc(),
        };
        // `as` takes what is beyond 128 bits to the nearest.
        low(self.clamped(whole as i128) as u64, bits)
    }

    fn to_float(self, value: f64) -> u64 {
        let value = match self.round {
            RoundTo::Whole(rounding) => to_whole(value, rounding),
            _ => value,
        };
        let value = if self.saturates { saturated(value) } else { value };
        let value = if self.is_relu && value <= 0.0 { 0.0 } else { value };
        let Some((format, shift)) = format(self.to) else {
            return if value.is_nan() { 0x7ff8_0000_0000_0000 } else { value.to_bits() };
        };
        let value = if self.flushes && self.to == Ty::F32 { flushed(value) } else { value };
        let rounding = if let RoundTo::Number(rounding) = self.round { rounding } else { Rounding::Nearest };
        u64::from(format.encode(value, rounding, self.is_finite)) << shift
    }

    fn int_to_float(&self, value: i128) -> u64 {
        let rounding = if let RoundTo::Number(rounding) = self.round { rounding } else { Rounding::Nearest };
        let magnitude = value.unsigned_abs() as u64;
        let Some((format, shift)) = format(self.to) else { return double_of(value < 0, magnitude, rounding) };
        let value = if self.saturates { value.clamp(0, 1) } else { value };
        u64::from(format.encode_parts(value < 0, value.unsigned_abs() as u64, 0, rounding, self.is_finite)) << shift
    }
}

/// A whole number of up to 64 bits as `f64`.
fn double_of(is_negative: bool, magnitude: u64, rounding: Rounding) -> u64 {
    let sign = u64::from(is_negative) << 63;
    let nearest = magnitude as f64;
    // What `f64` takes 2^64 for is above all of 64 bits.
    let is_above = nearest as u128 > u128::from(magnitude);
    let is_below = (nearest as u128) < u128::from(magnitude);
    let bits = nearest.to_bits();
    let bits = match rounding {
        Rounding::Nearest | Rounding::Away => bits,
        Rounding::Zero => bits - u64::from(is_above),
        Rounding::Down if is_negative => bits + u64::from(is_below),
        Rounding::Down => bits - u64::from(is_above),
        Rounding::Up if is_negative => bits - u64::from(is_above),
        Rounding::Up => bits + u64::from(is_below),
    };
    sign | bits
}

fn flushed(value: f64) -> f64 {
    if value.abs() < power_of_two(-126) { 0.0f64.copysign(value) } else { value }
}

fn to_whole(value: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::Nearest => value.round_ties_even(),
        Rounding::Away => value.round(),
        Rounding::Zero => value.trunc(),
        Rounding::Down => value.floor(),
        Rounding::Up => value.ceil(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conversion(to: Ty, from: Ty, round: RoundTo) -> Conversion {
        Conversion { to, from, round, flushes: false, saturates: false, is_finite: false, is_relu: false, register_bits: to.bits().max(16) }
    }

    fn f32_to(to: Ty, rounding: Rounding, value: f32) -> u64 {
        conversion(to, Ty::F32, RoundTo::Whole(rounding)).evaluate(value.to_bits().into(), 0)
    }

    #[test]
    fn floats_to_whole_numbers() {
        assert_eq!([2.5, 3.5, -2.5].map(|x| f32_to(Ty::S32, Rounding::Nearest, x) as i32), [2, 4, -2]);
        assert_eq!([2.7, -2.7].map(|x| f32_to(Ty::S32, Rounding::Zero, x) as i32), [2, -2]);
        assert_eq!([1e20, -1e20, f32::NAN].map(|x| f32_to(Ty::S32, Rounding::Zero, x) as i32), [i32::MAX, i32::MIN, 0]);
        assert_eq!([1e20, -5.0, f32::NAN].map(|x| f32_to(Ty::U32, Rounding::Zero, x)), [u64::from(u32::MAX), 0, 0]);
        assert_eq!(f32_to(Ty::U64, Rounding::Zero, f32::NAN), 1 << 63);
        assert_eq!(conversion(Ty::S32, Ty::F64, RoundTo::Whole(Rounding::Zero)).evaluate(f64::NAN.to_bits(), 0), 1 << 31);
        // Of 8 bits in a register of 16: the sign reaches on.
        assert_eq!(f32_to(Ty::S8, Rounding::Zero, -300.0), 0xff80);
    }

    #[test]
    fn whole_numbers_to_others() {
        assert_eq!(conversion(Ty::S32, Ty::S8, RoundTo::Exact).evaluate(0x80, 0), 0xffff_ff80);
        assert_eq!(conversion(Ty::U32, Ty::U8, RoundTo::Exact).evaluate(0x180, 0), 0x80);
        assert_eq!(conversion(Ty::S16, Ty::S8, RoundTo::Exact).evaluate(0x80, 0), 0xff80);
        let clamping = Conversion { saturates: true, ..conversion(Ty::U8, Ty::S32, RoundTo::Exact) };
        assert_eq!((clamping.evaluate(300, 0), clamping.evaluate(u64::from(u32::MAX), 0)), (255, 0));
        let to_f32 =
            |rounding, value: u64| f32::from_bits(conversion(Ty::F32, Ty::U64, RoundTo::Number(rounding)).evaluate(value, 0) as u32);
        assert_eq!(to_f32(Rounding::Nearest, (1 << 24) + 1), 16_777_216.0);
        assert_eq!(to_f32(Rounding::Up, (1 << 24) + 1), 16_777_218.0);
        assert_eq!(to_f32(Rounding::Zero, u64::MAX), 18_446_742_974_197_923_840.0);
        let to_f64 = |rounding| f64::from_bits(conversion(Ty::F64, Ty::U64, RoundTo::Number(rounding)).evaluate(u64::MAX, 0));
        assert_eq!((to_f64(Rounding::Nearest), to_f64(Rounding::Zero)), (18_446_744_073_709_551_616.0, 18_446_744_073_709_549_568.0));
    }

    #[test]
    fn pairs_have_the_first_number_above() {
        let one = u64::from(1f32.to_bits());
        let pair = conversion(Ty::F16x2, Ty::F32, RoundTo::Number(Rounding::Nearest));
        assert_eq!(pair.evaluate(one, 0), 0x3c00_0000);
        let eight = Conversion { is_finite: true, ..conversion(Ty::E4m3x2, Ty::F32, RoundTo::Number(Rounding::Nearest)) };
        assert_eq!(eight.evaluate(u64::from(1e9f32.to_bits()), one), 0x7e38);
        assert_eq!(conversion(Ty::F16x2, Ty::E4m3x2, RoundTo::Number(Rounding::Nearest)).evaluate(0x7e38, 0), 0x5f00_3c00);
        let tf32 = conversion(Ty::Tf32, Ty::F32, RoundTo::Number(Rounding::Away));
        assert_eq!(tf32.evaluate(0x3f80_1000, 0), 0x3f80_2000);
    }
}
