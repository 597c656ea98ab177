//! Atomic read-modify-writes: `atom`, `red` where nobody wants the old value, and loops of compare-and-swap where PTX has neither.

use super::emitter::{Emitter, ptx};
use super::memory::{Place, space_word};
use super::registers::{Class, Operand, Reg, bits_suffix, logic_suffix};
use crate::ir::{AtomicOp, BinaryOp, Object, Type, UnaryOp, Value};

/// An atomic to be printed. `d`: where the old value goes, if somebody wants it.
struct Atomic {
    op: AtomicOp,
    ty: Type,
    space: &'static str,
    place: Place,
    d: Option<Reg>,
}

impl Emitter<'_> {
    pub(super) fn atomic(&mut self, op: AtomicOp, object: Object, place: Place, operands: &[Value], result: Option<Value>) {
        let ty = self.kernel.ty(operands[0]);
        let space = space_word(self.kernel.objects[object].space());
        let d = result.filter(|v| self.uses[v.0 as usize] > 0).map(|v| self.register(v));
        let atomic = Atomic { op, ty, space, place, d };
        let operands: Vec<Operand> = operands.iter().map(|v| self.operand(*v)).collect();
        if ty == Type::Bool {
            return self.refuse("`bool` has no atomics".into(), "use a `u32`".into());
        }
        if ty.bytes() < 4 {
            self.narrow_atomic(atomic, &operands);
        } else if op == AtomicOp::Sub {
            self.atomic_sub(atomic, operands[0]);
        } else {
            match self.form(op, ty) {
                Some(form) => self.direct_atomic(&atomic, form, &operands),
                None => self.swap_loop(&atomic, operands[0]),
            }
        }
    }

    /// The operation and type in PTX, if this target has it. Sums wrap, so signed 64-bit ones are unsigned.
    fn form(&mut self, op: AtomicOp, ty: Type) -> Option<String> {
        let bits = ty.bits();
        let signed = if ty.is_signed_int() { 's' } else { 'u' };
        match op {
            AtomicOp::Add if ty == Type::F64 => {
                self.has(60).then(|| self.needs(50))?;
                Some("add.f64".into())
            }
            AtomicOp::Add if ty == Type::F32 => Some("add.f32".into()),
            AtomicOp::Add => Some(format!("add.u{bits}")),
            AtomicOp::Min | AtomicOp::Max if ty.is_float() => None,
            AtomicOp::Min | AtomicOp::Max => Some(format!("{}.{signed}{bits}", op.word())),
            AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => Some(format!("{}.b{bits}", op.word())),
            AtomicOp::Exchange => Some(format!("exch.b{bits}")),
            AtomicOp::CompareExchange => Some(format!("cas.b{bits}")),
            AtomicOp::Sub => None,
        }
    }

    fn direct_atomic(&mut self, atomic: &Atomic, form: String, operands: &[Operand]) {
        let Atomic { op, ty, space, place, d } = atomic;
        let is_swap = matches!(op, AtomicOp::Exchange | AtomicOp::CompareExchange);
        if d.is_none() && !is_swap {
            ptx!(self, "red.{space}.{form} {place}, {};", operands[0]);
            return;
        }
        let d = d.unwrap_or_else(|| self.temp_of(*ty));
        // `.b32` takes no float constant.
        let operands: Vec<Operand> = operands.iter().map(|o| if is_swap { self.constant_register(*o, *ty).into() } else { *o }).collect();
        match operands.as_slice() {
            [expected, new] => ptx!(self, "atom.{space}.{form} {d}, {place}, {expected}, {new};"),
            _ => ptx!(self, "atom.{space}.{form} {d}, {place}, {};", operands[0]),
        }
    }

    /// a − b is a + (−b), for wrapping integers and for floats.
    fn atomic_sub(&mut self, atomic: Atomic, operand: Operand) {
        let negated = self.temp_of(atomic.ty);
        self.unary(UnaryOp::Neg, atomic.ty, negated, operand);
        let atomic = Atomic { op: AtomicOp::Add, ..atomic };
        match self.form(AtomicOp::Add, atomic.ty) {
            Some(form) => self.direct_atomic(&atomic, form, &[negated.into()]),
            None => self.swap_loop(&atomic, negated.into()),
        }
    }

    /// `do { new = old op operand } while the swap fails`.
    fn swap_loop(&mut self, atomic: &Atomic, operand: Operand) {
        let Atomic { op, ty, space, place, d } = atomic;
        let (suffix, bits) = (bits_suffix(*ty), logic_suffix(*ty));
        let (old, new, found) = (d.unwrap_or_else(|| self.temp_of(*ty)), self.temp_of(*ty), self.temp_of(*ty));
        let [expected, replaced] = [(); 2].map(|()| self.temp(if ty.bytes() == 8 { Class::Long } else { Class::Word }));
        let (again, top) = (self.temp(Class::Predicate), self.new_label());
        ptx!(self, "ld.{space}.{suffix} {found}, {place};");
        self.label(top);
        ptx!(self, "mov.{suffix} {old}, {found};");
        self.binary(binary_op(*op), *ty, new, old.into(), operand);
        ptx!(self, "mov.{bits} {expected}, {old};");
        ptx!(self, "mov.{bits} {replaced}, {new};");
        ptx!(self, "atom.{space}.cas.{bits} {replaced}, {place}, {expected}, {replaced};");
        ptx!(self, "mov.{bits} {found}, {replaced};");
        // Bits are compared, not numbers: of NaN and −0 the swap would never be seen to succeed, or too soon.
        ptx!(self, "setp.ne.{bits} {again}, {replaced}, {expected};");
        ptx!(self, "@{again} bra $L{top};");
    }

    /// 8 and 16 bits: in the 32-bit word around them, which the arrays' alignment and padding put within the allocation.
    fn narrow_atomic(&mut self, atomic: Atomic, operands: &[Operand]) {
        let Atomic { op, ty, space, ref place, d } = atomic;
        let (base, shift) = self.word_around(place);
        let mask = (1u32 << ty.bits()) - 1;
        let [kept, word, found, part, bits] = [(); 5].map(|()| self.temp(Class::Word));
        let (old, new) = (d.unwrap_or_else(|| self.temp_of(ty)), self.temp_of(ty));
        let (again, top, done) = (self.temp(Class::Predicate), self.new_label(), self.new_label());
        ptx!(self, "shl.b32 {kept}, {mask}, {shift};");
        ptx!(self, "not.b32 {kept}, {kept};");
        ptx!(self, "ld.{space}.u32 {found}, {base};");
        self.label(top);
        ptx!(self, "mov.b32 {word}, {found};");
        ptx!(self, "shr.u32 {part}, {word}, {shift};");
        ptx!(self, "cvt.u16.u32 {old}, {part};");
        self.normalize(ty, old);
        match (op, operands) {
            (AtomicOp::CompareExchange, [expected, replacement]) => {
                ptx!(self, "setp.ne.b16 {again}, {old}, {expected};");
                ptx!(self, "@{again} bra $L{done};");
                self.copy(new, *replacement);
            }
            (AtomicOp::Exchange, _) => self.copy(new, operands[0]),
            _ => self.binary(binary_op(op), ty, new, old.into(), operands[0]),
        }
        ptx!(self, "cvt.u32.u16 {bits}, {new};");
        ptx!(self, "and.b32 {bits}, {bits}, {mask};");
        ptx!(self, "shl.b32 {bits}, {bits}, {shift};");
        ptx!(self, "and.b32 {part}, {word}, {kept};");
        ptx!(self, "or.b32 {part}, {part}, {bits};");
        ptx!(self, "atom.{space}.cas.b32 {found}, {base}, {word}, {part};");
        ptx!(self, "setp.ne.u32 {again}, {found}, {word};");
        ptx!(self, "@{again} bra $L{top};");
        self.label(done);
    }

    /// The place of the 32-bit word that a place is in, and the bits before it in the word.
    fn word_around(&mut self, place: &Place) -> (Place, Reg) {
        let shift = self.temp(Class::Word);
        let address = match place {
            Place::Reg(reg, offset) => {
                let address = self.temp(reg.class);
                let width = if reg.class == Class::Long { 64 } else { 32 };
                ptx!(self, "add.s{width} {address}, {reg}, {offset};");
                address
            }
            Place::Symbol(symbol, offset) => {
                let address = self.temp(Class::Word);
                ptx!(self, "mov.u32 {address}, {symbol};");
                ptx!(self, "add.s32 {address}, {address}, {offset};");
                address
            }
        };
        let base = self.temp(address.class);
        if address.class == Class::Long {
            ptx!(self, "cvt.u32.u64 {shift}, {address};");
            ptx!(self, "and.b64 {base}, {address}, -4;");
        } else {
            ptx!(self, "mov.b32 {shift}, {address};");
            ptx!(self, "and.b32 {base}, {address}, -4;");
        }
        ptx!(self, "and.b32 {shift}, {shift}, 3;");
        ptx!(self, "shl.b32 {shift}, {shift}, 3;");
        (Place::Reg(base, 0), shift)
    }
}

/// What an atomic without a form of its own computes.
fn binary_op(op: AtomicOp) -> BinaryOp {
    match op {
        AtomicOp::Sub => BinaryOp::Sub,
        AtomicOp::Min => BinaryOp::Min,
        AtomicOp::Max => BinaryOp::Max,
        AtomicOp::And => BinaryOp::And,
        AtomicOp::Or => BinaryOp::Or,
        AtomicOp::Xor => BinaryOp::Xor,
        _ => BinaryOp::Add,
    }
}
