//! `as`, for every pair of types: saturating from float to integer, wrapping between integers, one rounding to nearest even else.

use super::emitter::{Emitter, ptx};
use super::registers::{Class, Operand, Reg, bits_suffix, suffix};
use crate::ir::{Scalar, Type};

impl Emitter<'_> {
    pub(super) fn cast(&mut self, from: Type, to: Type, d: Reg, a: Reg) {
        if from == to {
            self.copy(d, a.into());
        } else if from == Type::Bool {
            ptx!(self, "selp.{} {d}, 1, 0, {a};", bits_suffix(to));
        } else {
            match (from.is_float(), to.is_float()) {
                (false, false) => self.cast_int(from, to, d, a),
                (false, true) => self.cast_int_to_float(from, to, d, a),
                (true, true) => self.cast_float(from, to, d, a),
                (true, false) => self.cast_float_to_int(from, to, d, a),
            }
        }
    }

    /// Extended by the sign of the source, or cut.
    fn cast_int(&mut self, from: Type, to: Type, d: Reg, a: Reg) {
        let (narrow, wide) = (from.bits().max(16), to.bits().max(16));
        match narrow.cmp(&wide) {
            std::cmp::Ordering::Equal => self.copy(d, a.into()),
            std::cmp::Ordering::Less => ptx!(self, "cvt.{}.{} {d}, {a};", suffix(to), suffix(from)),
            std::cmp::Ordering::Greater => ptx!(self, "cvt.u{wide}.u{narrow} {d}, {a};"),
        }
        // A register that holds the same 8 bits by another sign, or more than 8.
        self.normalize(to, d);
    }

    fn cast_int_to_float(&mut self, from: Type, to: Type, d: Reg, a: Reg) {
        match to {
            Type::BF16 if from.bits() >= 32 => {
                let odd = self.int_to_odd_float(from, a);
                self.narrow(to, d, odd);
            }
            Type::BF16 => {
                let exact = self.temp(Class::Float);
                ptx!(self, "cvt.rn.f32.{} {exact}, {a};", suffix(from));
                self.narrow(to, d, exact);
            }
            _ => ptx!(self, "cvt.rn.{}.{} {d}, {a};", suffix(to), suffix(from)),
        }
    }

    /// A 32- or 64-bit integer as `f32`, rounded to odd: cut, and the last bit set if that lost something. Rounding it again is
    /// as rounding once.
    fn int_to_odd_float(&mut self, from: Type, a: Reg) -> Reg {
        let (cut, back, lost) = (self.temp(Class::Float), self.temp_of(from), self.temp(Class::Predicate));
        ptx!(self, "cvt.rz.f32.{} {cut}, {a};", suffix(from));
        ptx!(self, "cvt.rzi.{}.f32 {back}, {cut};", suffix(from));
        ptx!(self, "setp.ne.{} {lost}, {back}, {a};", suffix(from));
        self.set_last_bit(cut, lost)
    }

    /// `f32` to odd from `f64`: likewise. Of a NaN the comparison is false.
    fn double_to_odd_float(&mut self, a: Reg) -> Reg {
        let (cut, back, lost) = (self.temp(Class::Float), self.temp(Class::Double), self.temp(Class::Predicate));
        ptx!(self, "cvt.rz.f32.f64 {cut}, {a};");
        ptx!(self, "cvt.f64.f32 {back}, {cut};");
        ptx!(self, "setp.ne.f64 {lost}, {back}, {a};");
        self.set_last_bit(cut, lost)
    }

    fn set_last_bit(&mut self, cut: Reg, lost: Reg) -> Reg {
        let (bits, last, odd) = (self.temp(Class::Word), self.temp(Class::Word), self.temp(Class::Float));
        ptx!(self, "selp.b32 {last}, 1, 0, {lost};");
        ptx!(self, "mov.b32 {bits}, {cut};");
        ptx!(self, "or.b32 {bits}, {bits}, {last};");
        ptx!(self, "mov.b32 {odd}, {bits};");
        odd
    }

    fn cast_float(&mut self, from: Type, to: Type, d: Reg, a: Reg) {
        match (from, to) {
            (Type::F64, Type::BF16) => {
                let odd = self.double_to_odd_float(a);
                self.narrow(to, d, odd);
            }
            (Type::BF16, Type::F32) => self.widen_bf16(d, a),
            (Type::F32 | Type::F16, Type::BF16) => {
                let wide = self.widen(from, a.into());
                self.narrow(to, d, wide);
            }
            (Type::BF16, _) => {
                let wide = self.widen(from, a.into());
                self.cast_float(Type::F32, to, d, wide);
            }
            (Type::F16, _) | (Type::F32, Type::F64) => ptx!(self, "cvt.{}.{} {d}, {a};", suffix(to), suffix(from)),
            _ => ptx!(self, "cvt.rn.{}.{} {d}, {a};", suffix(to), suffix(from)),
        }
    }

    /// A float of up to 32 bits as `f32`, exactly.
    pub(super) fn widen(&mut self, ty: Type, a: Operand) -> Reg {
        let a = self.constant_register(a, ty);
        if ty == Type::F32 {
            return a;
        }
        let wide = self.temp(Class::Float);
        match ty {
            Type::BF16 => self.widen_bf16(wide, a),
            _ => ptx!(self, "cvt.f32.f16 {wide}, {a};"),
        }
        wide
    }

    /// The bits become the upper half.
    fn widen_bf16(&mut self, d: Reg, a: Reg) {
        let zero = self.temp(Class::Half);
        ptx!(self, "mov.b16 {zero}, 0;");
        ptx!(self, "mov.b32 {d}, {{{zero}, {a}}};");
    }

    /// An `f32` as a short float, rounded to nearest even.
    pub(super) fn narrow(&mut self, ty: Type, d: Reg, a: Reg) {
        match ty {
            Type::F16 => ptx!(self, "cvt.rn.f16.f32 {d}, {a};"),
            _ if self.has(80) => {
                self.needs(70);
                ptx!(self, "cvt.rn.bf16.f32 {d}, {a};");
            }
            _ => self.narrow_by_bits(d, a),
        }
    }

    /// The upper half of bits + 0x7FFF + (the upper half's last bit); of a NaN the quiet one.
    fn narrow_by_bits(&mut self, d: Reg, a: Reg) {
        let [bits, last] = [(); 2].map(|()| self.temp(Class::Word));
        let (low, is_nan) = (self.temp(Class::Half), self.temp(Class::Predicate));
        ptx!(self, "mov.b32 {bits}, {a};");
        ptx!(self, "bfe.u32 {last}, {bits}, 16, 1;");
        ptx!(self, "add.u32 {bits}, {bits}, {last};");
        ptx!(self, "add.u32 {bits}, {bits}, 0x7FFF;");
        ptx!(self, "setp.neu.f32 {is_nan}, {a}, {a};");
        ptx!(self, "selp.b32 {bits}, 0x7FFF0000, {bits}, {is_nan};");
        ptx!(self, "mov.b32 {{{low}, {d}}}, {bits};");
    }

    /// PTX's own conversion saturates. NaN is 0 by it only where it is done in 32 bits, so elsewhere it is put in. Integers of 8 and
    /// 16 bits are cut out of 32 after they have been kept in range.
    fn cast_float_to_int(&mut self, from: Type, to: Type, d: Reg, a: Reg) {
        if matches!(from, Type::F16 | Type::BF16) {
            let wide = self.widen(from, a.into());
            return self.cast_float_to_int(Type::F32, to, d, wide);
        }
        if to.bits() >= 32 {
            return self.saturate(from, to, d, a);
        }
        let word = self.temp(Class::Word);
        let signed = if to.is_signed_int() { Type::I32 } else { Type::U32 };
        self.saturate(from, signed, word, a);
        let most = (1i128 << (to.bits() - u32::from(to.is_signed_int()))) - 1;
        if to.is_signed_int() {
            ptx!(self, "max.s32 {word}, {word}, {};", Operand::int(Type::I32, -most - 1));
        }
        ptx!(self, "min.{} {word}, {word}, {};", suffix(signed), Operand::int(signed, most));
        ptx!(self, "cvt.u16.u32 {d}, {word};");
    }

    /// To an integer of 32 or 64 bits.
    fn saturate(&mut self, from: Type, to: Type, d: Reg, a: Reg) {
        if from == Type::F32 && to.bits() == 32 {
            ptx!(self, "cvt.rzi.{}.f32 {d}, {a};", suffix(to));
            return;
        }
        let (kept, is_number) = (self.temp_of(to), self.temp(Class::Predicate));
        ptx!(self, "cvt.rzi.{}.{} {kept}, {a};", suffix(to), suffix(from));
        ptx!(self, "setp.num.{} {is_number}, {a}, {a};", suffix(from));
        ptx!(self, "selp.{} {d}, {kept}, {}, {is_number};", bits_suffix(to), Operand::Constant(Scalar::int(to, 0)));
    }

    /// The same bits in a register of another kind. 8-bit values of the other sign are extended anew.
    pub(super) fn bitcast(&mut self, from: Type, to: Type, d: Reg, a: Operand) {
        match (from, to) {
            (Type::I8 | Type::U8, _) if from != to => {
                self.copy(d, a);
                self.normalize(to, d);
            }
            _ => {
                let width = to.bits().max(16);
                match to {
                    Type::Bool => self.copy(d, a),
                    _ => ptx!(self, "mov.b{width} {d}, {a};"),
                }
            }
        }
    }
}
