//! Formats of floats: from exact values to bits in any direction of rounding, and back.
//!
//! Sums, products and quotients are computed in `f64` and rounded to odd there: with two bits more than the result's, whatever rounds that once more, in whatever
//! direction, rounds as if from the exact value.

use half::f16;

/// Where a value goes that a format does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    /// To the nearest, ties to even.
    Nearest,
    /// To the nearest, ties away from zero.
    Away,
    Zero,
    Down,
    Up,
}

/// A format: bits of its exponent and of its fraction, and the largest finite number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    exponent: u32,
    fraction: u32,
    largest: u32,
    /// The bits of NaN where results are not payloads.
    pub(crate) nan: u32,
    has_infinity: bool,
}

pub(crate) const F32: Format = Format { exponent: 8, fraction: 23, largest: 0x7f7f_ffff, nan: 0x7fff_ffff, has_infinity: true };
pub(crate) const F16: Format = Format { exponent: 5, fraction: 10, largest: 0x7bff, nan: 0x7fff, has_infinity: true };
pub(crate) const BF16: Format = Format { exponent: 8, fraction: 7, largest: 0x7f7f, nan: 0x7fff, has_infinity: true };
/// `tf32` without the bits of `f32` that it leaves out.
pub(crate) const TF32: Format = Format { exponent: 8, fraction: 10, largest: 0x3_fbff, nan: 0x3_ffff, has_infinity: true };
pub(crate) const E4M3: Format = Format { exponent: 4, fraction: 3, largest: 0x7e, nan: 0x7f, has_infinity: false };
pub(crate) const E5M2: Format = Format { exponent: 5, fraction: 2, largest: 0x7b, nan: 0x7f, has_infinity: true };

impl Format {
    fn sign_bit(self) -> u32 {
        1 << (self.exponent + self.fraction)
    }

    /// The bits of a number that is too large.
    fn overflow(self, is_negative: bool, rounding: Rounding, is_finite: bool) -> u32 {
        let goes_out = match rounding {
            Rounding::Nearest | Rounding::Away => true,
            Rounding::Zero => false,
            Rounding::Down => is_negative,
            Rounding::Up => !is_negative,
        };
        if is_finite || !goes_out {
            self.largest
        } else if self.has_infinity {
            self.largest + 1
        } else {
            self.nan
        }
    }

    /// The bits of `±mantissa · 2^exponent`. `is_finite`: what is too large becomes the largest number.
    pub(crate) fn encode_parts(self, is_negative: bool, mantissa: u64, exponent: i32, rounding: Rounding, is_finite: bool) -> u32 {
        let sign = if is_negative { self.sign_bit() } else { 0 };
        if mantissa == 0 {
            return sign;
        }
        // With the highest bit of 64 set, the value is below 2^(top + 1).
        let zeros = mantissa.leading_zeros();
        let (mantissa, top) = (mantissa << zeros, exponent + 63 - zeros as i32);
        let least = 2 - (1 << (self.exponent - 1));
        let dropped = 63 - self.fraction as i32 + (least - top).max(0);
        let (kept, rest, half) = match dropped {
            0..=63 => (mantissa >> dropped, mantissa << (64 - dropped), 1 << 63),
            // Below half of the least number.
            64 => (0, mantissa, 1 << 63),
            _ => (0, 1, 1 << 63),
        };
        let rounds_up = match rounding {
            Rounding::Nearest => rest > half || rest == half && kept & 1 == 1,
            Rounding::Away => rest >= half,
            Rounding::Zero => false,
            Rounding::Down => is_negative && rest != 0,
            Rounding::Up => !is_negative && rest != 0,
        };
        let steps = i64::from((top - least).max(0)) << self.fraction;
        let bits = steps + kept as i64 + i64::from(rounds_up);
        let bits = if bits > i64::from(self.largest) { self.overflow(is_negative, rounding, is_finite) } else { bits as u32 };
        sign | bits
    }

    /// The bits of a number.
    pub(crate) fn encode(self, value: f64, rounding: Rounding, is_finite: bool) -> u32 {
        if value.is_nan() {
            return self.nan;
        }
        let sign = if value.is_sign_negative() { self.sign_bit() } else { 0 };
        if value.is_infinite() {
            let bits = match (is_finite, self.has_infinity) {
                (true, _) => self.largest,
                (false, true) => self.largest + 1,
                (false, false) => self.nan,
            };
            return sign | bits;
        }
        let (mantissa, exponent) = parts(value);
        self.encode_parts(sign != 0, mantissa, exponent, rounding, is_finite)
    }

    /// The number that bits are.
    pub(crate) fn decode(self, bits: u32) -> f64 {
        let size = bits & (self.sign_bit() - 1);
        let sign = if bits & self.sign_bit() == 0 { 1.0 } else { -1.0 };
        if size > self.largest {
            return if self.has_infinity && size == self.largest + 1 { sign * f64::INFINITY } else { f64::NAN };
        }
        let (exponent, fraction) = (size >> self.fraction, size & ((1 << self.fraction) - 1));
        let least = 2 - (1 << (self.exponent - 1)) - self.fraction as i32;
        let (mantissa, exponent) = if exponent == 0 { (fraction, 0) } else { (fraction | 1 << self.fraction, exponent as i32 - 1) };
        sign * f64::from(mantissa) * power_of_two(exponent + least)
    }
}

/// `|value|` as an integer times a power of two.
pub(crate) fn parts(value: f64) -> (u64, i32) {
    let bits = value.to_bits();
    let (exponent, fraction) = ((bits >> 52 & 0x7ff) as i32, bits & ((1 << 52) - 1));
    if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) }
}

/// Of exponents that normal numbers have.
pub(crate) fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent.clamp(-1022, 1023)) as u64) << 52)
}

/// A number and what rounding took from it, as one number that is odd where something was taken.
pub(crate) fn to_odd(value: f64, rest: f64) -> f64 {
    if rest == 0.0 || !value.is_finite() || value.to_bits() & 1 == 1 {
        return value;
    }
    let toward_zero = (rest < 0.0) != (value < 0.0) && value != 0.0;
    if value == 0.0 {
        return f64::from_bits(1).copysign(rest);
    }
    // Even: its neighbour on the side of the rest is odd.
    f64::from_bits(if toward_zero { value.to_bits() - 1 } else { value.to_bits() + 1 })
}

/// A sum and what rounding took from it (Knuth's two-sum).
pub(crate) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let other = sum - a;
    (sum, (a - (sum - other)) + (b - other))
}

/// The number of 16 bits.
pub(crate) fn of_f16(bits: u64) -> f64 {
    f16::from_bits(bits as u16).to_f64()
}

/// The number of 16 bits, the upper half of an `f32`.
pub(crate) fn of_bf16(bits: u64) -> f64 {
    f64::from(f32::from_bits((bits as u32) << 16))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_is_its_own_rounding() {
        for bits in 0..=u16::MAX {
            let value = f16::from_bits(bits).to_f64();
            if value.is_nan() {
                continue;
            }
            assert_eq!(F16.decode(bits.into()), value);
            for rounding in [Rounding::Nearest, Rounding::Away, Rounding::Zero, Rounding::Down, Rounding::Up] {
                assert_eq!(F16.encode(value, rounding, false), u32::from(bits), "{value}");
            }
        }
    }

    #[test]
    fn ties_and_directions() {
        // 2^-24 is the least f16; 1 + 2^-11 lies between 1 and the next.
        let tie = 1.0 + power_of_two(-11);
        let all = [Rounding::Nearest, Rounding::Away, Rounding::Zero, Rounding::Down, Rounding::Up];
        assert_eq!(all.map(|r| F16.encode(tie, r, false)), [0x3c00, 0x3c01, 0x3c00, 0x3c00, 0x3c01]);
        assert_eq!(all.map(|r| F16.encode(-tie, r, false)), [0xbc00, 0xbc01, 0xbc00, 0xbc01, 0xbc00]);
        assert_eq!(all.map(|r| F16.encode(power_of_two(-25), r, false)), [0, 1, 0, 0, 1]);
        assert_eq!(all.map(|r| F16.encode(power_of_two(-40), r, false)), [0, 0, 0, 0, 1]);
        assert_eq!(all.map(|r| F16.encode(1e6, r, false)), [0x7c00, 0x7c00, 0x7bff, 0x7bff, 0x7c00]);
        assert_eq!([E4M3.encode(463.0, Rounding::Nearest, true), E4M3.encode(465.0, Rounding::Nearest, true)], [0x7e, 0x7e]);
        assert_eq!([E4M3.encode(f64::NAN, Rounding::Nearest, true), E4M3.encode(0.0019, Rounding::Nearest, true)], [0x7f, 1]);
        assert_eq!((E4M3.decode(0x7e), E5M2.decode(0x7b), E5M2.decode(0x7c)), (448.0, 57344.0, f64::INFINITY));
    }
}
