//! Arithmetic, comparisons, selections.

use super::emitter::{Emitter, ptx};
use super::fuse::{Factor, Wide};
use super::registers::{Class, Operand, Reg, bits_suffix, logic_suffix, suffix};
use crate::ir::{BinaryOp, CompareOp, Type, UnaryOp};

impl Emitter<'_> {
    pub(super) fn unary(&mut self, op: UnaryOp, ty: Type, d: Reg, a: Operand) {
        match op {
            UnaryOp::Neg if matches!(ty, Type::F16 | Type::BF16) => ptx!(self, "xor.b16 {d}, {a}, 0x8000;"),
            UnaryOp::Abs if matches!(ty, Type::F16 | Type::BF16) => ptx!(self, "and.b16 {d}, {a}, 0x7FFF;"),
            UnaryOp::Abs if ty.is_unsigned_int() => self.copy(d, a),
            UnaryOp::Abs => ptx!(self, "abs.{} {d}, {a};", suffix(ty)),
            // Negation wants a signed type.
            UnaryOp::Neg if ty.is_int() => ptx!(self, "neg.s{} {d}, {a};", ty.bits().max(16)),
            UnaryOp::Neg => ptx!(self, "neg.{} {d}, {a};", suffix(ty)),
            UnaryOp::Not => ptx!(self, "not.{} {d}, {a};", logic_suffix(ty)),
        }
        self.normalize(ty, d);
    }

    /// Brings an 8-bit value back to how registers hold it: extended to 16 bits.
    pub(super) fn normalize(&mut self, ty: Type, d: Reg) {
        match ty {
            Type::I8 => ptx!(self, "cvt.s16.s8 {d}, {d};"),
            Type::U8 => ptx!(self, "and.b16 {d}, {d}, 255;"),
            _ => {}
        }
    }

    pub(super) fn binary(&mut self, op: BinaryOp, ty: Type, d: Reg, a: Operand, b: Operand) {
        match op {
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => ptx!(self, "{}.{} {d}, {a}, {b};", op.word(), logic_suffix(ty)),
            BinaryOp::Shl | BinaryOp::Shr => self.shift(op, ty, d, a, b),
            _ if ty.is_float() => self.float_binary(op, ty, d, a, b),
            _ => {
                let mnemonic = if op == BinaryOp::Mul { "mul.lo" } else { op.word() };
                ptx!(self, "{mnemonic}.{} {d}, {a}, {b};", suffix(ty));
                if !matches!(op, BinaryOp::Rem | BinaryOp::Min | BinaryOp::Max) {
                    self.normalize(ty, d);
                }
            }
        }
    }

    /// PTX clamps shift counts; Rust takes them modulo the width.
    fn shift(&mut self, op: BinaryOp, ty: Type, d: Reg, a: Operand, count: Operand) {
        let most = ty.bits() - 1;
        let count = match count.constant() {
            Some(count) => Operand::word(count.bits as u32 & most),
            None => {
                let masked = self.temp(Class::Word);
                ptx!(self, "and.b32 {masked}, {count}, {most};");
                masked.into()
            }
        };
        if op == BinaryOp::Shl {
            ptx!(self, "shl.{} {d}, {a}, {count};", logic_suffix(ty));
            self.normalize(ty, d);
        } else {
            ptx!(self, "shr.{} {d}, {a}, {count};", suffix(ty));
        }
    }

    fn float_binary(&mut self, op: BinaryOp, ty: Type, d: Reg, a: Operand, b: Operand) {
        if self.is_computed_wide(op, ty) {
            let (a, b, wide) = (self.widen(ty, a), self.widen(ty, b), self.temp(Class::Float));
            self.float_binary(op, Type::F32, wide, a.into(), b.into());
            self.narrow(ty, d, wide);
            return;
        }
        match op {
            BinaryOp::Rem => self.float_remainder(ty, d, a, b),
            BinaryOp::Min | BinaryOp::Max => ptx!(self, "{}.{} {d}, {a}, {b};", op.word(), suffix(ty)),
            // `.rn` also forbids ptxas to contract a product and a sum on its own.
            _ => ptx!(self, "{}.rn.{} {d}, {a}, {b};", op.word(), suffix(ty)),
        }
    }

    /// Whether an operation on a short float is done in `f32`, of which the rounded result is that of the short type.
    fn is_computed_wide(&self, op: BinaryOp, ty: Type) -> bool {
        let is_native = self.has(53) && matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul);
        ty == Type::BF16 || (ty == Type::F16 && !is_native)
    }

    pub(super) fn mul_add(&mut self, ty: Type, d: Reg, [a, b, c]: [Operand; 3]) {
        match ty {
            Type::F16 if self.has(53) => ptx!(self, "fma.rn.f16 {d}, {a}, {b}, {c};"),
            Type::F16 | Type::BF16 => {
                let [a, b, c] = [a, b, c].map(|x| self.widen(ty, x));
                let wide = self.temp(Class::Float);
                ptx!(self, "fma.rn.f32 {wide}, {a}, {b}, {c};");
                self.narrow(ty, d, wide);
            }
            Type::F32 | Type::F64 => ptx!(self, "fma.rn.{} {d}, {a}, {b}, {c};", suffix(ty)),
            _ => {
                ptx!(self, "mad.lo.{} {d}, {a}, {b}, {c};", suffix(ty));
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
        ptx!(self, "mul.wide.{} {d}, {a}, {b};", suffix(wide.ty));
    }

    pub(super) fn compare(&mut self, op: CompareOp, ty: Type, d: Reg, a: Operand, b: Operand) {
        if ty == Type::Bool {
            return self.compare_bools(op, d, a, b);
        }
        if matches!(ty, Type::F16 | Type::BF16) && !(ty == Type::F16 && self.has(53)) {
            let (a, b) = (self.widen(ty, a), self.widen(ty, b));
            return self.compare(op, Type::F32, d, a.into(), b.into());
        }
        // Every comparison is false of a NaN, but `!=`, which is true.
        let word = if op == CompareOp::Ne && ty.is_float() { "neu" } else { op.word() };
        ptx!(self, "setp.{word}.{} {d}, {a}, {b};", suffix(ty));
    }

    fn compare_bools(&mut self, op: CompareOp, d: Reg, a: Operand, b: Operand) {
        let negated = self.temp(Class::Predicate);
        match op {
            CompareOp::Ne => ptx!(self, "xor.pred {d}, {a}, {b};"),
            CompareOp::Eq => {
                ptx!(self, "xor.pred {negated}, {a}, {b};");
                ptx!(self, "not.pred {d}, {negated};");
            }
            // a < b is !a & b; a <= b is !a | b.
            CompareOp::Lt | CompareOp::Le => {
                ptx!(self, "not.pred {negated}, {a};");
                ptx!(self, "{}.pred {d}, {negated}, {b};", if op == CompareOp::Lt { "and" } else { "or" });
            }
            CompareOp::Gt | CompareOp::Ge => {
                ptx!(self, "not.pred {negated}, {b};");
                ptx!(self, "{}.pred {d}, {a}, {negated};", if op == CompareOp::Gt { "and" } else { "or" });
            }
        }
    }

    pub(super) fn select(&mut self, ty: Type, d: Reg, condition: Reg, a: Operand, b: Operand) {
        if ty != Type::Bool {
            ptx!(self, "selp.{} {d}, {a}, {b}, {condition};", bits_suffix(ty));
            return;
        }
        // (c & a) | (!c & b)
        let [yes, otherwise, no] = [(); 3].map(|()| self.temp(Class::Predicate));
        ptx!(self, "and.pred {yes}, {condition}, {a};");
        ptx!(self, "not.pred {otherwise}, {condition};");
        ptx!(self, "and.pred {no}, {otherwise}, {b};");
        ptx!(self, "or.pred {d}, {yes}, {no};");
    }

    /// x − n·y, n the integer part of x / y, exactly: PTX has no instruction for it. Long division of the significands, some bits at a
    /// time; the quotient is not wanted.
    fn float_remainder(&mut self, ty: Type, d: Reg, a: Operand, b: Operand) {
        let (a, b) = (self.constant_register(a, ty), self.constant_register(b, ty));
        let form = if ty == Type::F64 { super::remainder::F64 } else { super::remainder::F32 };
        self.template(form, Some(d), &[a, b]);
    }
}
