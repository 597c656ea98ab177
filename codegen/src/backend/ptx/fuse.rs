//! What is known before the first line: which products of widened values `mul.wide` makes, which words are two halves side by side, which addresses are named in place, and
//! so which values nobody needs in a register.
//!
//! Halves side by side are one move, and more: `ptxas` (12.9 to 13.5) makes one instruction of two numbers that are rounded to 16 bits and then moved into a word. Where the word is
//! put together by a shift and an `or`, it rounds each by itself, with another instruction (`F2F`), and a softmax of long rows was 8 % slower (docs/measurements.md).

// A new instruction is to make the compiler list what must know it.
#![cfg_attr(not(test), deny(clippy::wildcard_enum_match_arm))]

use super::emitter::Emitter;
use crate::ir::{Address, BinaryOp, Compute, Inst, Memory, Op, Scalar, Space, Type, Value};

/// A factor of a widening product: a 32-bit value, or a constant that 32 bits hold.
#[derive(Clone, Copy, Debug)]
pub(super) enum Factor {
    Value(Value),
    Constant(Scalar),
}

/// `mul.wide`: the type of the factors (`u32` or `i32`), and they.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wide {
    pub(super) ty: Type,
    pub(super) factors: [Factor; 2],
}

/// What an instruction is printed as, with values that its operands are made of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fused {
    Product(Wide),
    /// The lower and the upper half of a word.
    Halves([Value; 2]),
}

impl Fused {
    /// The values that it needs.
    fn for_each_operand(&self, mut each: impl FnMut(Value)) {
        match self {
            Fused::Product(wide) => wide.factors.iter().for_each(|factor| {
                if let Factor::Value(value) = factor {
                    each(*value);
                }
            }),
            Fused::Halves(halves) => halves.iter().copied().for_each(each),
        }
    }
}

impl Emitter<'_> {
    /// Finds what is printed as part of its user, and takes those uses off the counts.
    pub(super) fn fuse(&mut self) {
        let mut order: Vec<Inst> = Vec::new();
        self.kernel.for_each_inst(|_, _, inst| order.push(inst));
        for inst in &order {
            self.fuse_product(*inst);
            self.fuse_halves(*inst);
            self.fuse_address(*inst);
        }
        // Users come after what they use: from the end, what has lost its last use gives up its own.
        for inst in order.iter().rev() {
            if self.is_unread(*inst) {
                match self.fused[inst.0 as usize] {
                    Some(fused) => fused.for_each_operand(|value| self.uses[value.0 as usize] -= 1),
                    None => self.kernel.insts[*inst].op.for_each_operand(|value| self.uses[value.0 as usize] -= 1),
                }
            }
        }
    }

    /// Whether it is there for its results alone and nobody reads one of them in a register: it is not printed. `ptxas` removes votes and shuffles
    /// of which this holds, too, and 13.5 ends with an internal error at some (C7907: a ballot between a conditional `trap` and a call of `vprintf`).
    pub(super) fn is_unread(&self, inst: Inst) -> bool {
        let data = &self.kernel.insts[inst];
        data.op.effects(self.kernel).is_for_its_results()
            && data.op.blocks().is_empty()
            && data.results.iter().all(|result| self.uses[usize::from(*result)] == 0)
    }

    /// zext(x) · zext(y), zext(x) · c, zext(x) << c in 64 bits, and the same of signed values.
    fn fuse_product(&mut self, inst: Inst) {
        let data = &self.kernel.insts[inst];
        let (a, b) = match data.op {
            Op::Compute(Compute::Binary(BinaryOp::Mul, a, b)) => (a, b),
            Op::Compute(Compute::Binary(BinaryOp::Shl, a, b)) if self.kernel.constant(b).is_some_and(|count| count.bits % 64 < 31) => {
                (a, b)
            }
            Op::Compute(_)
            | Op::Memory(_)
            | Op::Texture(..)
            | Op::Intrinsic(..)
            | Op::Collective(_)
            | Op::Tensor(_)
            | Op::Engine(_)
            | Op::Message(_)
            | Op::Region(_)
            | Op::Terminator(_) => {
                return;
            }
        };
        if !matches!(self.kernel.ty(data.results[0]), Type::U64 | Type::I64) {
            return;
        }
        let is_shift = matches!(data.op, Op::Compute(Compute::Binary(BinaryOp::Shl, ..)));
        let Some(ty) = [a, b].iter().find_map(|v| self.widened(*v)).map(|narrow| self.kernel.ty(narrow)) else { return };
        let Some(first) = self.factor(a, ty) else { return };
        let second = match self.kernel.constant(b) {
            Some(count) if is_shift => Some(Factor::Constant(Scalar::int(ty, 1 << (count.bits % 64)))),
            _ => self.factor(b, ty),
        };
        let Some(second) = second else { return };
        self.print_as(inst, Fused::Product(Wide { ty, factors: [first, second] }));
    }

    /// zext(x) | zext(y) << 16 of 16-bit whole numbers, in either order, and the same with `^` and `+`.
    fn fuse_halves(&mut self, inst: Inst) {
        let data = &self.kernel.insts[inst];
        let Op::Compute(Compute::Binary(BinaryOp::Or | BinaryOp::Xor | BinaryOp::Add, a, b)) = data.op else { return };
        if !matches!(self.kernel.ty(data.results[0]), Type::U32 | Type::I32) {
            return;
        }
        let halves = |low, high| Some([self.half(low, &[Type::U16])?, self.upper_half(high)?]);
        if let Some(halves) = halves(a, b).or_else(|| halves(b, a)) {
            self.print_as(inst, Fused::Halves(halves));
        }
    }

    /// The 16-bit value of one of these types behind a cast to 32 bits.
    fn half(&self, value: Value, types: &[Type]) -> Option<Value> {
        match self.op_of(value) {
            Some(Op::Compute(Compute::Cast(half))) if types.contains(&self.kernel.ty(*half)) && self.kernel.constant(*half).is_none() => {
                Some(*half)
            }
            _ => None,
        }
    }

    /// The 16-bit value that is the upper half of a word whose lower one is 0: a sign that it is extended by is shifted out.
    fn upper_half(&self, value: Value) -> Option<Value> {
        match self.op_of(value) {
            Some(Op::Compute(Compute::Binary(BinaryOp::Shl, word, count)))
                if self.kernel.constant(*count).is_some_and(|count| count.bits == 16) =>
            {
                self.half(*word, &[Type::U16, Type::I16])
            }
            _ => None,
        }
    }

    /// Has an instruction printed as something else, which counts as the use of what that needs.
    fn print_as(&mut self, inst: Inst, fused: Fused) {
        self.kernel.insts[inst].op.for_each_operand(|value| self.uses[value.0 as usize] -= 1);
        fused.for_each_operand(|value| self.uses[value.0 as usize] += 1);
        self.fused[inst.0 as usize] = Some(fused);
    }

    /// The 32-bit value behind a cast to 64 bits.
    fn widened(&self, value: Value) -> Option<Value> {
        match self.op_of(value) {
            Some(Op::Compute(Compute::Cast(narrow))) if matches!(self.kernel.ty(*narrow), Type::U32 | Type::I32) => Some(*narrow),
            _ => None,
        }
    }

    fn factor(&self, value: Value, ty: Type) -> Option<Factor> {
        if let Some(constant) = self.kernel.constant(value) {
            let narrow = Scalar::int(ty, constant.as_int());
            return (narrow.as_int() == constant.as_int()).then_some(Factor::Constant(narrow));
        }
        self.widened(value).filter(|narrow| self.kernel.ty(*narrow) == ty).map(Factor::Value)
    }

    /// Accesses through the address of an object that has a name in PTX: `[tile+64]`.
    fn fuse_address(&mut self, inst: Inst) {
        let Op::Memory(Memory { at: Address::Pointer { ptr, .. }, .. }) = self.kernel.insts[inst].op else { return };
        if self.named_address(ptr).is_some() {
            self.uses[ptr.0 as usize] -= 1;
        }
    }

    /// The object whose first byte a pointer is, where its symbol can stand in an address: everywhere but in global memory.
    pub(super) fn named_address(&self, ptr: Value) -> Option<crate::ir::Object> {
        match self.op_of(ptr) {
            Some(Op::Compute(Compute::Address(object))) if self.kernel.objects[*object].space() != Space::Global => Some(*object),
            _ => None,
        }
    }
}
