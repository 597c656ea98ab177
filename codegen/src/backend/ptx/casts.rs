//! `as`, for every pair of types: saturating from float to integer, wrapping between integers, one rounding to nearest even else.

use super::code::{Operand, Reg, RegisterClass};
use super::emitter::{Emitter, ptx};
use super::types::{bits_suffix, signed, suffix, unsigned, untyped};
use super::words::Word;
use crate::ir::{Scalar, Type};

impl Emitter<'_> {
    pub(super) fn cast(&mut self, from: Type, to: Type, d: Reg, a: Reg) {
        if from == to {
            self.copy(d, a.into());
        } else if from == Type::Bool {
            ptx!(self, Selp.(bits_suffix(to)) d, 1, 0, a);
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
            // By the source's sign on both sides: `ptxas` (11.8 to 13.0) takes what `cvt.s64.u32` gives for sign-extended where it is shifted left next.
            std::cmp::Ordering::Less => {
                ptx!(self, Cvt.(if from.is_signed_int() { signed(wide) } else { unsigned(wide) }).(suffix(from)) d, a);
            }
            std::cmp::Ordering::Greater => ptx!(self, Cvt.(unsigned(wide)).(unsigned(narrow)) d, a),
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
                let exact = self.temp(RegisterClass::Float);
                ptx!(self, Cvt.Rn.F32.(suffix(from)) exact, a);
                self.narrow(to, d, exact);
            }
            _ => ptx!(self, Cvt.Rn.(suffix(to)).(suffix(from)) d, a),
        }
    }

    /// A 32- or 64-bit integer as `f32`, rounded to odd: cut, and the last bit set if that lost something. Rounding it again is
    /// as rounding once.
    fn int_to_odd_float(&mut self, from: Type, a: Reg) -> Reg {
        let (cut, back, lost) = (self.temp(RegisterClass::Float), self.temp_of(from), self.temp(RegisterClass::Predicate));
        ptx!(self, Cvt.Rz.F32.(suffix(from)) cut, a);
        ptx!(self, Cvt.Rzi.(suffix(from)).F32 back, cut);
        ptx!(self, Setp.Ne.(suffix(from)) lost, back, a);
        self.set_last_bit(cut, lost)
    }

    /// `f32` to odd from `f64`: likewise. Of a NaN the comparison is false.
    fn double_to_odd_float(&mut self, a: Reg) -> Reg {
        let (cut, back, lost) = (self.temp(RegisterClass::Float), self.temp(RegisterClass::Double), self.temp(RegisterClass::Predicate));
        ptx!(self, Cvt.Rz.F32.F64 cut, a);
        ptx!(self, Cvt.F64.F32 back, cut);
        ptx!(self, Setp.Ne.F64 lost, back, a);
        self.set_last_bit(cut, lost)
    }

    fn set_last_bit(&mut self, cut: Reg, lost: Reg) -> Reg {
        let (bits, last, odd) = (self.temp(RegisterClass::Word), self.temp(RegisterClass::Word), self.temp(RegisterClass::Float));
        ptx!(self, Selp.B32 last, 1, 0, lost);
        ptx!(self, Mov.B32 bits, cut);
        ptx!(self, Or.B32 bits, bits, last);
        ptx!(self, Mov.B32 odd, bits);
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
            (Type::F16, _) | (Type::F32, Type::F64) => ptx!(self, Cvt.(suffix(to)).(suffix(from)) d, a),
            (Type::F32, Type::F16) => self.narrow(to, d, a),
            _ => ptx!(self, Cvt.Rn.(suffix(to)).(suffix(from)) d, a),
        }
    }

    /// A float of up to 32 bits as `f32`, exactly.
    pub(super) fn widen(&mut self, ty: Type, a: Operand) -> Reg {
        let a = self.constant_register(a, ty);
        if ty == Type::F32 {
            return a;
        }
        let wide = self.temp(RegisterClass::Float);
        match ty {
            Type::BF16 => self.widen_bf16(wide, a),
            _ => ptx!(self, Cvt.F32.F16 wide, a),
        }
        wide
    }

    /// The bits become the upper half.
    fn widen_bf16(&mut self, d: Reg, a: Reg) {
        let zero = self.temp(RegisterClass::Half);
        ptx!(self, Mov.B16 zero, 0);
        ptx!(self, Mov.B32 d, [zero, a]);
    }

    /// An `f32` as a short float, rounded to nearest even.
    ///
    /// One that is masked is rounded into the lower half of a word (see [`super::halves`]).
    pub(super) fn narrow(&mut self, ty: Type, d: Reg, a: Reg) {
        if self.is_masked && self.has(80) {
            self.needs(70);
            let (word, rest) = (self.temp(RegisterClass::Word), self.temp(RegisterClass::Half));
            ptx!(self, Cvt.Rn.(if ty == Type::F16 { Word::F16x2 } else { Word::Bf16x2 }).F32 word, Scalar::float(Type::F32, 0.0), a);
            ptx!(self, Mov.B32 [d, rest], word);
            return;
        }
        match ty {
            Type::F16 => ptx!(self, Cvt.Rn.F16.F32 d, a),
            _ if self.has(80) => {
                self.needs(70);
                ptx!(self, Cvt.Rn.Bf16.F32 d, a);
            }
            _ => self.narrow_by_bits(d, a),
        }
    }

    /// The upper half of bits + 0x7FFF + (the upper half's last bit); of a NaN the quiet one.
    fn narrow_by_bits(&mut self, d: Reg, a: Reg) {
        let [bits, last] = [(); 2].map(|()| self.temp(RegisterClass::Word));
        let (low, is_nan) = (self.temp(RegisterClass::Half), self.temp(RegisterClass::Predicate));
        ptx!(self, Mov.B32 bits, a);
        ptx!(self, Bfe.U32 last, bits, 16, 1);
        ptx!(self, Add.U32 bits, bits, last);
        ptx!(self, Add.U32 bits, bits, Operand::Bits("0x7FFF"));
        ptx!(self, Setp.Neu.F32 is_nan, a, a);
        ptx!(self, Selp.B32 bits, Operand::Bits("0x7FFF0000"), bits, is_nan);
        ptx!(self, Mov.B32 [low, d], bits);
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
        let word = self.temp(RegisterClass::Word);
        let signed = if to.is_signed_int() { Type::I32 } else { Type::U32 };
        self.saturate(from, signed, word, a);
        let most = (1i128 << (to.bits() - u32::from(to.is_signed_int()))) - 1;
        if to.is_signed_int() {
            ptx!(self, Max.S32 word, word, Scalar::int(Type::I32, -most - 1));
        }
        ptx!(self, Min.(suffix(signed)) word, word, Scalar::int(signed, most));
        ptx!(self, Cvt.U16.U32 d, word);
    }

    /// To an integer of 32 or 64 bits.
    fn saturate(&mut self, from: Type, to: Type, d: Reg, a: Reg) {
        if from == Type::F32 && to.bits() == 32 {
            ptx!(self, Cvt.Rzi.(suffix(to)).F32 d, a);
            return;
        }
        let (kept, is_number) = (self.temp_of(to), self.temp(RegisterClass::Predicate));
        ptx!(self, Cvt.Rzi.(suffix(to)).(suffix(from)) kept, a);
        ptx!(self, Setp.Num.(suffix(from)) is_number, a, a);
        ptx!(self, Selp.(bits_suffix(to)) d, kept, Scalar::int(to, 0), is_number);
    }

    /// The same bits in a register of another kind. 8-bit values of the other sign are extended anew.
    pub(super) fn bitcast(&mut self, from: Type, to: Type, d: Reg, a: Operand) {
        match (from, to) {
            (Type::I8 | Type::U8 | Type::E4M3 | Type::E5M2, _) if from != to => {
                self.copy(d, a);
                self.normalize(to, d);
            }
            _ => {
                let width = to.bits().max(16);
                match to {
                    Type::Bool => self.copy(d, a),
                    _ => ptx!(self, Mov.(untyped(width)) d, a),
                }
            }
        }
    }
}
