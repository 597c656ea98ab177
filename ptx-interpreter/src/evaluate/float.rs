//! Arithmetic on floats (PTX ISA, "Floating Point Instructions", "Half Precision Floating Point Instructions").
//!
//! Whatever is rounded is rounded once, as the instruction says. Approximations are computed in `f64` and rounded to the nearest: they keep within the bounds that
//! PTX states, and are not the bits of any GPU.

use super::format::{BF16, F16, F32, Format, Rounding, of_bf16, of_f16, power_of_two, to_odd, two_sum};
use crate::ty::{Ty, low};

/// What is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FloatKind {
    Add,
    Sub,
    Mul,
    Fma,
    Div,
    /// `div.approx`: a divisor above 2^126 gives 0.
    DivApprox,
    Rcp,
    Sqrt,
    Rsqrt,
    Ex2,
    Lg2,
    Sin,
    Cos,
    Tanh,
    Min,
    Max,
    MinNan,
    MaxNan,
    Abs,
    Neg,
    CopySign,
}

/// An instruction on floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FloatOp {
    pub(crate) kind: FloatKind,
    /// Of the pair types, each half by itself.
    pub(crate) ty: Ty,
    pub(crate) rounding: Rounding,
    /// Whether subnormal numbers are zeros, before and behind.
    pub(crate) flushes: bool,
    /// Whether results are clamped to 0 to 1, and NaN is 0.
    pub(crate) saturates: bool,
    /// Whether results below 0 are 0.
    pub(crate) is_relu: bool,
}

const NAN_F64: u64 = 0x7ff8_0000_0000_0000;

impl FloatOp {
    /// One that only has a kind and a type.
    pub(crate) fn new(kind: FloatKind, ty: Ty) -> FloatOp {
        FloatOp { kind, ty, rounding: Rounding::Nearest, flushes: false, saturates: false, is_relu: false }
    }

    /// Whether nothing is said that is not the usual.
    fn is_plain(&self) -> bool {
        self.rounding == Rounding::Nearest && !self.flushes && !self.saturates && !self.is_relu
    }

    /// The result's bits.
    #[inline]
    pub(crate) fn evaluate(&self, a: u64, b: u64, c: u64) -> u64 {
        if self.ty == Ty::F32
            && self.is_plain()
            && let Some(result) = plain_f32(self.kind, a, b, c)
        {
            return result;
        }
        match self.ty {
            Ty::F64 => self.double(a, b, c),
            Ty::F16x2 | Ty::Bf16x2 => {
                let half = FloatOp { ty: if self.ty == Ty::F16x2 { Ty::F16 } else { Ty::Bf16 }, ..*self };
                let part = |shift: u32| half.narrow(low(a >> shift, 16), low(b >> shift, 16), low(c >> shift, 16));
                part(16) << 16 | part(0)
            }
            _ => self.narrow(a, b, c),
        }
    }

    fn format(&self) -> Format {
        match self.ty {
            Ty::F16 => F16,
            Ty::Bf16 => BF16,
            _ => F32,
        }
    }

    fn value(&self, bits: u64) -> f64 {
        let value = match self.ty {
            Ty::F16 => of_f16(bits),
            Ty::Bf16 => of_bf16(bits),
            _ => f64::from(f32::from_bits(bits as u32)),
        };
        if self.flushes { self.flushed(value) } else { value }
    }

    fn flushed(&self, value: f64) -> f64 {
        let least = if self.ty == Ty::F16 { power_of_two(-14) } else { power_of_two(-126) };
        if value.abs() < least { 0.0f64.copysign(value) } else { value }
    }

    /// Types of up to 32 bits: in `f64`, rounded to odd, and rounded again.
    fn narrow(&self, a: u64, b: u64, c: u64) -> u64 {
        let sign = 1 << (self.ty.bits() - 1);
        match self.kind {
            FloatKind::Abs if !self.flushes => return low(a, self.ty.bits()) & !sign,
            FloatKind::Neg if !self.flushes => return low(a, self.ty.bits()) ^ sign,
            FloatKind::CopySign => return low(b, self.ty.bits()) & !sign | a & sign,
            _ => {}
        }
        let (x, y, z) = (self.value(a), self.value(b), self.value(c));
        let result = match self.kind {
            FloatKind::Add => odd_sum(x, y),
            FloatKind::Sub => odd_sum(x, -y),
            FloatKind::Mul => x * y,
            FloatKind::Fma => self.fused(x, y, z),
            FloatKind::Div => odd_quotient(x, y),
            FloatKind::DivApprox => quotient_within_range(x, y),
            FloatKind::Rcp => odd_quotient(1.0, x),
            FloatKind::Sqrt => {
                let root = x.sqrt();
                to_odd(root, (-root).mul_add(root, x))
            }
            _ => transcendental(self.kind, x).unwrap_or_else(|| extremum(self.kind, x, y)),
        };
        let result = if self.is_relu && (result < 0.0 || result.to_bits() == 1 << 63) { 0.0 } else { result };
        let result = if self.saturates { saturated(result) } else { result };
        let bits = self.format().encode(result, self.rounding, false);
        let bits = if self.flushes && self.flushed(self.format().decode(bits)) == 0.0 { bits & sign as u32 } else { bits };
        u64::from(bits)
    }

    /// `x · y + z`: of products that have all their bits in `f64`.
    fn fused(&self, x: f64, y: f64, z: f64) -> f64 {
        odd_sum(x * y, z)
    }

    fn double(&self, a: u64, b: u64, c: u64) -> u64 {
        let (x, y, z) = (f64::from_bits(a), f64::from_bits(b), f64::from_bits(c));
        // With the exact rest, the neighbour is chosen where the direction is not the nearest.
        let (result, rest) = match self.kind {
            FloatKind::Abs => return a & !(1 << 63),
            FloatKind::Neg => return a ^ (1 << 63),
            FloatKind::CopySign => return b & !(1 << 63) | a & (1 << 63),
            FloatKind::Add => two_sum(x, y),
            FloatKind::Sub => two_sum(x, -y),
            FloatKind::Mul => (x * y, x.mul_add(y, -(x * y))),
            FloatKind::Fma => (x.mul_add(y, z), fused_rest(x, y, z)),
            FloatKind::Div | FloatKind::DivApprox => {
                let quotient = x / y;
                (quotient, quotient_rest(x, y, quotient))
            }
            FloatKind::Rcp => (1.0 / x, quotient_rest(1.0, x, 1.0 / x)),
            FloatKind::Sqrt => (x.sqrt(), (-x.sqrt()).mul_add(x.sqrt(), x)),
            _ => (transcendental(self.kind, x).unwrap_or_else(|| extremum(self.kind, x, y)), 0.0),
        };
        if result.is_nan() {
            return NAN_F64;
        }
        directed(result, rest, self.rounding).to_bits()
    }
}

/// What most kernels are made of.
#[inline]
fn plain_f32(kind: FloatKind, a: u64, b: u64, c: u64) -> Option<u64> {
    let (x, y, z) = (f32::from_bits(a as u32), f32::from_bits(b as u32), f32::from_bits(c as u32));
    let result = match kind {
        FloatKind::Add => x + y,
        FloatKind::Sub => x - y,
        FloatKind::Mul => x * y,
        FloatKind::Fma => x.mul_add(y, z),
        FloatKind::Div => x / y,
        FloatKind::Sqrt => x.sqrt(),
        FloatKind::Rcp => 1.0 / x,
        _ => return None,
    };
    Some(u64::from(if result.is_nan() { F32.nan } else { result.to_bits() }))
}

fn odd_sum(a: f64, b: f64) -> f64 {
    let (sum, rest) = two_sum(a, b);
    // An exact zero of two numbers with different signs is +0, and -0 where it is rounded down.
    if sum.is_finite() { to_odd(sum, rest) } else { sum }
}

fn odd_quotient(a: f64, b: f64) -> f64 {
    let quotient = a / b;
    to_odd(quotient, quotient_rest(a, b, quotient))
}

/// On which side of the rounded quotient the exact one is.
fn quotient_rest(a: f64, b: f64, quotient: f64) -> f64 {
    let rest = (-quotient).mul_add(b, a);
    if rest.is_finite() && b.is_finite() { rest * b.signum() } else { 0.0 }
}

/// What rounding took from a fused product and sum of `f64` (Boldo and Muller, "Exact and approximated error of the FMA"), as far as its sign is asked for.
fn fused_rest(x: f64, y: f64, z: f64) -> f64 {
    let result = x.mul_add(y, z);
    let high = x * y;
    let rest = x.mul_add(y, -high);
    let (second, third) = two_sum(z, rest);
    let (fourth, fifth) = two_sum(high, second);
    let sixth = (fourth - result) + fifth;
    let sum = sixth + third;
    if sum.is_finite() { sum } else { 0.0 }
}

/// A number that was rounded to the nearest, rounded another way instead.
fn directed(result: f64, rest: f64, rounding: Rounding) -> f64 {
    let goes_up = match rounding {
        Rounding::Nearest | Rounding::Away => return result,
        _ if rest == 0.0 || !rest.is_finite() || !result.is_finite() => return result,
        Rounding::Zero => result < 0.0,
        Rounding::Down => false,
        Rounding::Up => true,
    };
    match (goes_up, rest > 0.0) {
        (true, true) => result.next_up(),
        (false, false) => result.next_down(),
        _ => result,
    }
}

fn quotient_within_range(a: f64, b: f64) -> f64 {
    if b.abs() > power_of_two(126) && b.is_finite() {
        return if a.is_infinite() { f64::NAN } else { 0.0f64.copysign(a * b.signum()) };
    }
    a / b
}

fn transcendental(kind: FloatKind, x: f64) -> Option<f64> {
    Some(match kind {
        FloatKind::Rsqrt => 1.0 / x.sqrt(),
        FloatKind::Ex2 => x.exp2(),
        FloatKind::Lg2 => x.log2(),
        FloatKind::Sin => x.sin(),
        FloatKind::Cos => x.cos(),
        FloatKind::Tanh => x.tanh(),
        _ => return None,
    })
}

/// The lesser or greater, or one of the functions that keep a number's size. Of NaN and a number, the number, if NaN is not asked for; −0 is below +0.
fn extremum(kind: FloatKind, x: f64, y: f64) -> f64 {
    let is_less = x < y || x == y && x.is_sign_negative() && !y.is_sign_negative();
    match kind {
        FloatKind::Abs => x.abs(),
        FloatKind::Neg => -x,
        FloatKind::MinNan | FloatKind::MaxNan if x.is_nan() || y.is_nan() => f64::NAN,
        _ if x.is_nan() => y,
        _ if y.is_nan() => x,
        FloatKind::Min | FloatKind::MinNan => {
            if is_less {
                x
            } else {
                y
            }
        }
        _ => {
            if is_less {
                y
            } else {
                x
            }
        }
    }
}

pub(crate) fn saturated(value: f64) -> f64 {
    if value > 0.0 { value.min(1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f32_op(kind: FloatKind, rounding: Rounding, values: [f32; 3]) -> f32 {
        let op = FloatOp { rounding, ..FloatOp::new(kind, Ty::F32) };
        let [a, b, c] = values.map(|value| u64::from(value.to_bits()));
        f32::from_bits(op.evaluate(a, b, c) as u32)
    }

    #[test]
    fn fma_rounds_once() {
        // (1 + 2^-12)² = 1 + 2^-11 + 2^-24: rounding the product first loses the last term.
        let x = 1.0 + 2f32.powi(-12);
        assert_eq!(f32_op(FloatKind::Fma, Rounding::Nearest, [x, x, -1.0]), 2f32.powi(-11) + 2f32.powi(-24));
        assert_eq!(f32_op(FloatKind::Mul, Rounding::Nearest, [x, x, 0.0]), 1.0 + 2f32.powi(-11));
        // The same of f16: (1 + 2^-6)² − 1 has all its bits.
        let op = FloatOp::new(FloatKind::Fma, Ty::F16);
        assert_eq!(op.evaluate(0x3c10, 0x3c10, 0xbc00), u64::from(F16.encode(2f64.powi(-5) + 2f64.powi(-12), Rounding::Nearest, false)));
    }

    #[test]
    fn directions_of_rounding() {
        let tiny = 2f32.powi(-30);
        let sum = |rounding| f32_op(FloatKind::Add, rounding, [1.0, tiny, 0.0]);
        let below = |rounding| f32_op(FloatKind::Add, rounding, [-1.0, -tiny, 0.0]);
        assert_eq!([Rounding::Nearest, Rounding::Zero, Rounding::Down, Rounding::Up].map(sum), [1.0, 1.0, 1.0, 1.0f32.next_up()]);
        assert_eq!([Rounding::Zero, Rounding::Down, Rounding::Up].map(below), [-1.0, (-1.0f32).next_down(), -1.0]);
        let third = |rounding| f32_op(FloatKind::Div, rounding, [1.0, 3.0, 0.0]);
        assert_eq!(third(Rounding::Zero), third(Rounding::Up).next_down());
        let double = FloatOp { rounding: Rounding::Zero, ..FloatOp::new(FloatKind::Div, Ty::F64) };
        let up = FloatOp { rounding: Rounding::Up, ..double };
        let [a, b] = [1.0f64, 3.0].map(f64::to_bits);
        assert_eq!(double.evaluate(a, b, 0) + 1, up.evaluate(a, b, 0));
    }

    #[test]
    fn nan_zeros_and_subnormals() {
        let nan = u64::from(f32::NAN.to_bits() | 5);
        let min = FloatOp::new(FloatKind::Min, Ty::F32);
        let one = u64::from(1f32.to_bits());
        assert_eq!((min.evaluate(nan, one, 0), min.evaluate(nan, nan, 0)), (one, 0x7fff_ffff));
        assert_eq!(min.evaluate(0, 0x8000_0000, 0), 0x8000_0000);
        assert_eq!(FloatOp::new(FloatKind::MinNan, Ty::F32).evaluate(nan, one, 0), 0x7fff_ffff);
        let add = FloatOp::new(FloatKind::Add, Ty::F32);
        assert_eq!((add.evaluate(nan, one, 0), add.evaluate(1, 1, 0)), (0x7fff_ffff, 2));
        let flushing = FloatOp { flushes: true, ..add };
        assert_eq!((flushing.evaluate(1, 1, 0), flushing.evaluate(0x8000_0001, 0x8000_0000, 0)), (0, 0x8000_0000));
        let saturating = FloatOp { saturates: true, ..add };
        assert_eq!((saturating.evaluate(one, one, 0), saturating.evaluate(nan, one, 0)), (one, 0));
        assert_eq!(f32_op(FloatKind::DivApprox, Rounding::Nearest, [2f32.powi(127), 2f32.powi(127), 0.0]), 0.0);
    }
}
