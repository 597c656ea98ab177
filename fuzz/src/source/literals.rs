//! Literals: edges of each type, and every way to write one.

use super::scope::Generator;
use super::types::Scalar;

impl Generator<'_> {
    /// A literal or a constant of this type.
    pub(super) fn literal(&mut self, ty: Scalar) -> String {
        let name = ty.name();
        match ty {
            Scalar::Bool => self.random.pick(&["true", "false"]).to_owned(),
            Scalar::F16 | Scalar::Bf16 => {
                self.hit("literal.short_float");
                match self.random.below(6) {
                    0 => format!("{name}::ONE"),
                    1 => format!("{name}::ZERO"),
                    2 => format!("{name}::{}", self.random.pick(&["MAX", "MIN", "EPSILON", "INFINITY", "NAN", "MIN_POSITIVE"])),
                    3 => format!("{name}::from_bits({}u16)", self.random.below(1 << 16)),
                    _ => format!("{name}::from_f32({}f32)", self.decimal()),
                }
            }
            _ if ty.is_float() => self.float_literal(ty),
            _ => self.integer_literal(ty),
        }
    }

    fn decimal(&mut self) -> String {
        let sign = if self.random.chance(30) { "-" } else { "" };
        format!("{sign}{}.{}", self.random.below(100), self.random.pick(&["0", "5", "25", "125", "1", "7"]))
    }

    fn float_literal(&mut self, ty: Scalar) -> String {
        let name = ty.name();
        self.hit("literal.float");
        let plain = match self.random.below(9) {
            8 => {
                self.hit("literal.of_std");
                let which = self.random.pick(&["PI", "E", "SQRT_2", "LN_2", "FRAC_1_PI", "TAU"]);
                return format!("std::{name}::consts::{which}");
            }
            0 => format!("{}.0{name}", self.random.below(10)),
            1 => format!("{}{name}", self.random.below(100)),
            2 => {
                self.hit("literal.exponent");
                format!("{}e{}{name}", 1 + self.random.below(3), self.random.pick(&["5", "-5", "1", "30", "-30", "38", "-38", "-45"]))
            }
            3 => {
                self.hit("literal.float_constant");
                return format!(
                    "{name}::{}",
                    self.random.pick(&["MAX", "MIN", "EPSILON", "INFINITY", "NEG_INFINITY", "NAN", "MIN_POSITIVE"])
                );
            }
            _ => format!("{}{name}", self.decimal()),
        };
        if plain.starts_with('-') { format!("({plain})") } else { plain }
    }

    fn integer_literal(&mut self, ty: Scalar) -> String {
        let (name, bits) = (ty.name(), ty.bits() - usize::from(ty.is_signed()));
        let most = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
        match self.random.below(12) {
            10 => {
                self.hit("literal.separated");
                format!("1_00{name}")
            }
            11 if ty == Scalar::U8 => {
                self.hit("literal.byte");
                self.random.pick(&["b'a'", "b'\\n'", "b'~'"]).to_owned()
            }
            11 if ty == Scalar::U32 => {
                self.hit("literal.bits");
                self.random.pick(&["u32::BITS", "i8::BITS", "u64::BITS"]).to_owned()
            }
            0..=2 => format!("{}{name}", self.random.below(10)),
            3 => {
                self.hit("literal.limits");
                format!("{name}::{}", self.random.pick(&["MAX", "MIN"]))
            }
            4 => {
                self.hit("literal.hex");
                format!("{:#x}_{name}", self.random.next() & most)
            }
            5 => {
                self.hit("literal.binary");
                format!("{:#b}{name}", self.random.below(128))
            }
            6 => {
                self.hit("literal.power");
                format!("{}{name}", 1u64 << self.random.below(bits))
            }
            7 if ty.is_signed() => {
                self.hit("literal.negative");
                format!("(-{}{name})", self.random.below(128))
            }
            8 => {
                self.hit("literal.octal");
                format!("{:#o}{name}", self.random.below(100))
            }
            _ => format!("{}{name}", self.random.next() & most),
        }
    }

    /// 1 to 9.
    pub(super) fn positive(&mut self, ty: Scalar) -> String {
        let n = 1 + self.random.below(9);
        match ty {
            Scalar::F16 | Scalar::Bf16 => format!("{}::from_f32({n}.0f32)", ty.name()),
            _ if ty.is_float() => format!("{n}.0{}", ty.name()),
            _ => format!("{n}{}", ty.name()),
        }
    }
}
