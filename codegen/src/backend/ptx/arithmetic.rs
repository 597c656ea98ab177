//! Arithmetic, comparisons, selections.

use super::code::{Operand, Reg, RegisterClass};
use super::emitter::{Emitter, ptx};
use super::fuse::{Factor, Wide};
use super::negation::negated;
use super::types::{bits_suffix, logic_suffix, signed, suffix};
use super::words::{Mnemonic, Word};
use crate::ir::{BinaryOp, CompareOp, Scalar, Type, UnaryOp, native_since};

impl Emitter<'_> {
    /// Integers of 16 bits are negated without a sign: `ptxas` before 13 does `neg.s16`, `abs.s16` and `sub.s16` from zero in 32 bits, and takes what comes out
    /// for extended by its sign, which -32768 is not any more.
    ///
    /// `abs` of wider ones is not printed either: of the least integer it is negative, and `ptxas` takes it that it never is. 12.9 makes `abs < 0` false and gives a remainder of it no sign;
    /// 13.5 compares the upper half of 64 bits alone.
    pub(super) fn unary(&mut self, op: UnaryOp, ty: Type, d: Reg, a: Operand) {
        match op {
            UnaryOp::Neg if matches!(ty, Type::F16 | Type::BF16) => ptx!(self, Xor.B16 d, a, Scalar::new(ty, 0x8000)),
            UnaryOp::Abs if matches!(ty, Type::F16 | Type::BF16) => ptx!(self, And.B16 d, a, Scalar::new(ty, 0x7FFF)),
            UnaryOp::Abs if ty.is_unsigned_int() => self.copy(d, a),
            UnaryOp::Abs if ty.is_int() && ty.bits() <= 16 => {
                let negated = self.temp(RegisterClass::Half);
                ptx!(self, Sub.U16 negated, 0, a.clone());
                self.short_extreme(BinaryOp::Max, ty, d, a, negated.into());
            }
            // Of the other sign than the comparison: `negation.rs`.
            UnaryOp::Abs if ty == Type::I32 => {
                let negated = self.temp(RegisterClass::Word);
                ptx!(self, Sub.U32 negated, 0, a.clone());
                ptx!(self, Max.S32 d, a, negated);
            }
            // The greater of two of 64 bits would be an instruction more.
            UnaryOp::Abs if ty == Type::I64 => {
                let (negated, is_negative) = (self.temp(RegisterClass::Long), self.temp(RegisterClass::Predicate));
                ptx!(self, Setp.Lt.S64 is_negative, a.clone(), 0);
                ptx!(self, Neg.S64 negated, a.clone());
                ptx!(self, Selp.B64 d, negated, a, is_negative);
            }
            UnaryOp::Abs => ptx!(self, Abs.(suffix(ty)) d, a),
            UnaryOp::Neg if ty.is_int() && ty.bits() <= 16 => ptx!(self, Sub.U16 d, 0, a),
            UnaryOp::Neg if ty.is_int() && ty.bits() == 32 => self.negate_word(d, a),
            // Negation wants a signed type.
            UnaryOp::Neg if ty.is_int() => ptx!(self, Neg.(signed(ty.bits())) d, a),
            UnaryOp::Neg => ptx!(self, Neg.(suffix(ty)) d, a),
            UnaryOp::Not => ptx!(self, Not.(logic_suffix(ty)) d, a),
        }
        self.normalize(ty, d);
    }

    /// Brings an 8-bit value back to how registers hold it: extended to 16 bits.
    pub(super) fn normalize(&mut self, ty: Type, d: Reg) {
        match ty {
            Type::I8 => ptx!(self, Cvt.S16.S8 d, d),
            Type::U8 | Type::E4M3 | Type::E5M2 => ptx!(self, And.B16 d, d, 255),
            _ => {}
        }
    }

    pub(super) fn binary(&mut self, op: BinaryOp, ty: Type, d: Reg, a: Operand, b: Operand) {
        if ty.is_int()
            && ty.bits() == 32
            && let Some(a) = negated(op, &a, &b)
        {
            return self.negate_word(d, a);
        }
        match op {
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => ptx!(self, (mnemonic(op)).(logic_suffix(ty)) d, a, b),
            BinaryOp::Shl | BinaryOp::Shr => self.shift(op, ty, d, a, b),
            _ if ty.is_float() => self.float_binary(op, ty, d, a, b),
            BinaryOp::Min | BinaryOp::Max if ty.bits() <= 16 => self.short_extreme(op, ty, d, a, b),
            BinaryOp::Rem | BinaryOp::Min | BinaryOp::Max => ptx!(self, (mnemonic(op)).(suffix(ty)) d, a, b),
            BinaryOp::Mul => {
                ptx!(self, Mul.Lo.(suffix(ty)) d, a, b);
                self.normalize(ty, d);
            }
            BinaryOp::Sub if ty == Type::I16 => ptx!(self, Sub.U16 d, a, b),
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Div => {
                ptx!(self, (mnemonic(op)).(suffix(ty)) d, a, b);
                self.normalize(ty, d);
            }
        }
    }

    /// The lesser or greater of two integers of at most 16 bits, in 32: for `sm_90` `ptxas` 12 makes an instruction of two halves of `min.s16`, and where the result is compared with one of the two,
    /// takes the comparison from it, of the upper half as well, which may hold anything.
    fn short_extreme(&mut self, op: BinaryOp, ty: Type, d: Reg, a: Operand, b: Operand) {
        let (short, word) = if ty.is_unsigned_int() { (Word::U16, Type::U32) } else { (Word::S16, Type::I32) };
        let [a, b] = [a, b].map(|operand| match operand {
            Operand::Constant(constant) => Operand::Constant(Scalar::int(word, constant.as_int())),
            operand => {
                let wide = self.temp(RegisterClass::Word);
                ptx!(self, Cvt.(suffix(word)).(short) wide, operand);
                wide.into()
            }
        });
        let wide = self.temp(RegisterClass::Word);
        ptx!(self, (mnemonic(op)).(suffix(word)) wide, a, b);
        ptx!(self, Cvt.U16.U32 d, wide);
    }

    /// PTX clamps shift counts; Rust takes them modulo the width.
    fn shift(&mut self, op: BinaryOp, ty: Type, d: Reg, a: Operand, count: Operand) {
        let most = ty.bits() - 1;
        let count: Operand = match count {
            Operand::Constant(count) => (count.bits as u32 & most).into(),
            count => {
                let masked = self.temp(RegisterClass::Word);
                ptx!(self, And.B32 masked, count, most);
                masked.into()
            }
        };
        if op == BinaryOp::Shl {
            ptx!(self, Shl.(logic_suffix(ty)) d, a, count);
            self.normalize(ty, d);
        } else {
            ptx!(self, Shr.(suffix(ty)) d, a, count);
        }
    }

    fn float_binary(&mut self, op: BinaryOp, ty: Type, d: Reg, a: Operand, b: Operand) {
        if self.is_computed_wide(op, ty) {
            let (a, b, wide) = (self.widen(ty, a), self.widen(ty, b), self.temp(RegisterClass::Float));
            self.float_binary(op, Type::F32, wide, a.into(), b.into());
            self.narrow(ty, d, wide);
            return;
        }
        if let Some(needs) = native_since(op, ty) {
            self.needs(needs.ptx_version);
        }
        match op {
            BinaryOp::Rem => self.float_remainder(ty, d, a, b),
            BinaryOp::Min | BinaryOp::Max => ptx!(self, (mnemonic(op)).(suffix(ty)) d, a, b),
            // `.rn` also forbids ptxas to contract a product and a sum on its own.
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div => ptx!(self, (mnemonic(op)).Rn.(suffix(ty)) d, a, b),
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Shl | BinaryOp::Shr => unreachable!("`{op:?}` of floats"),
        }
    }

    /// Whether an operation on a short float is done in `f32`, of which the rounded result is that of the short type.
    fn is_computed_wide(&self, op: BinaryOp, ty: Type) -> bool {
        matches!(ty, Type::F16 | Type::BF16) && !native_since(op, ty).is_some_and(|needs| needs.is_met_by(self.target))
    }

    pub(super) fn mul_add(&mut self, ty: Type, d: Reg, [a, b, c]: [Operand; 3]) {
        match ty {
            Type::F16 if self.has(53) => ptx!(self, Fma.Rn.F16 d, a, b, c),
            Type::F16 | Type::BF16 => {
                let [a, b, c] = [a, b, c].map(|x| self.widen(ty, x));
                let wide = self.temp(RegisterClass::Float);
                ptx!(self, Fma.Rn.F32 wide, a, b, c);
                self.narrow(ty, d, wide);
            }
            Type::F32 | Type::F64 => ptx!(self, Fma.Rn.(suffix(ty)) d, a, b, c),
            _ => {
                ptx!(self, Mad.Lo.(suffix(ty)) d, a, b, c);
                self.normalize(ty, d);
            }
        }
    }

    /// The full product of 32-bit factors.
    pub(super) fn wide_product(&mut self, d: Reg, wide: Wide) {
        let [a, b] = wide.factors.map(|factor| match factor {
            Factor::Value(value) => self.operand(value),
            Factor::Constant(scalar) => Operand::Constant(scalar),
        });
        ptx!(self, Mul.Wide.(suffix(wide.ty)) d, a, b);
    }

    pub(super) fn compare(&mut self, op: CompareOp, ty: Type, d: Reg, a: Operand, b: Operand) {
        if ty == Type::Bool {
            return self.compare_bools(op, d, a, b);
        }
        if matches!(ty, Type::F16 | Type::BF16) && !(ty == Type::F16 && self.has(53)) {
            let (a, b) = (self.widen(ty, a), self.widen(ty, b));
            return self.compare(op, Type::F32, d, a.into(), b.into());
        }
        let word = match op {
            CompareOp::Eq => Word::Eq,
            // Every comparison is false of a NaN, but `!=`, which is true.
            CompareOp::Ne if ty.is_float() => Word::Neu,
            CompareOp::Ne => Word::Ne,
            CompareOp::Lt => Word::Lt,
            CompareOp::Le => Word::Le,
            CompareOp::Gt => Word::Gt,
            CompareOp::Ge => Word::Ge,
        };
        ptx!(self, Setp.(word).(suffix(ty)) d, a, b);
    }

    fn compare_bools(&mut self, op: CompareOp, d: Reg, a: Operand, b: Operand) {
        let negated = self.temp(RegisterClass::Predicate);
        match op {
            CompareOp::Ne => ptx!(self, Xor.Pred d, a, b),
            CompareOp::Eq => {
                ptx!(self, Xor.Pred negated, a, b);
                ptx!(self, Not.Pred d, negated);
            }
            // a < b is !a & b; a <= b is !a | b.
            CompareOp::Lt | CompareOp::Le => {
                ptx!(self, Not.Pred negated, a);
                ptx!(self, (if op == CompareOp::Lt { Mnemonic::And } else { Mnemonic::Or }).Pred d, negated, b);
            }
            CompareOp::Gt | CompareOp::Ge => {
                ptx!(self, Not.Pred negated, b);
                ptx!(self, (if op == CompareOp::Gt { Mnemonic::And } else { Mnemonic::Or }).Pred d, a, negated);
            }
        }
    }

    pub(super) fn select(&mut self, ty: Type, d: Reg, condition: Reg, a: Operand, b: Operand) {
        if ty != Type::Bool {
            ptx!(self, Selp.(bits_suffix(ty)) d, a, b, condition);
            return;
        }
        // (c & a) | (!c & b)
        let [yes, otherwise, no] = [(); 3].map(|()| self.temp(RegisterClass::Predicate));
        ptx!(self, And.Pred yes, condition, a);
        ptx!(self, Not.Pred otherwise, condition);
        ptx!(self, And.Pred no, otherwise, b);
        ptx!(self, Or.Pred d, yes, no);
    }

    /// x − n·y, n the integer part of x / y, exactly: PTX has no instruction for it. Long division of the significands, some bits at a
    /// time; the quotient is not wanted.
    fn float_remainder(&mut self, ty: Type, d: Reg, a: Operand, b: Operand) {
        let (a, b) = (self.constant_register(a, ty), self.constant_register(b, ty));
        let form = if ty == Type::F64 { super::remainder::F64 } else { super::remainder::F32 };
        self.template(form, Some(d), &[a.into(), b.into()]);
    }
}

/// What does a whole-number operation, or one of floats that is alike.
fn mnemonic(op: BinaryOp) -> Mnemonic {
    match op {
        BinaryOp::Add => Mnemonic::Add,
        BinaryOp::Sub => Mnemonic::Sub,
        BinaryOp::Mul => Mnemonic::Mul,
        BinaryOp::Div => Mnemonic::Div,
        BinaryOp::Rem => Mnemonic::Rem,
        BinaryOp::And => Mnemonic::And,
        BinaryOp::Or => Mnemonic::Or,
        BinaryOp::Xor => Mnemonic::Xor,
        BinaryOp::Shl => Mnemonic::Shl,
        BinaryOp::Shr => Mnemonic::Shr,
        BinaryOp::Min => Mnemonic::Min,
        BinaryOp::Max => Mnemonic::Max,
    }
}
