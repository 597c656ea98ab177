//! Floats of 16 bits that `ptxas` makes halves of words of, and gets wrong as it does.
//!
//! * **Masks.** From `sm_80` on it rounds an `f32` in a word of two halves, and 12.9 leaves out an `and` with a constant of what it has rounded so, where that becomes the lower half of another
//!   word: `[(x as f16).abs(), f16::ONE]` had the sign. Where the word is ours (`cvt.rn.f16x2.f32`), 11.8 to 13.5 keep the `and`, at no cost. Only what is masked is rounded so: 13.5 does not
//!   make one instruction of two numbers that are.
//! * **Selections.** 11.8 to 13.5 make of `selp.b16`, and of what computes one of its operands, an instruction under a predicate, which writes over the other operand, and read that again where
//!   they make one instruction of two of halves: `[a + b, (if c { b } else { -b }) + d]` had `a + (if c { b } else { -b })`. A word of two equal halves that is selected is left alone; so is
//!   `selp.b16` with a constant.

use super::code::{Reg, RegisterClass};
use super::emitter::{Emitter, ptx};
use crate::collections::HashSet;
use crate::ir::{BinaryOp, Compute, Inst, Kernel, Op, Type, UnaryOp, Value};

/// How a kernel uses 16-bit floats and their bits.
pub(super) struct Halves {
    /// Floats of whose bits some are left out.
    masked: HashSet<Value>,
    /// Integers that are made floats of the same bits.
    bits_of_floats: HashSet<Value>,
}

impl Halves {
    pub(super) fn of(kernel: &Kernel) -> Halves {
        let mut halves = Halves { masked: HashSet::default(), bits_of_floats: HashSet::default() };
        kernel.for_each_inst(|_, _, inst| {
            let Op::Compute(compute) = &kernel.insts[inst].op else { return };
            match compute {
                Compute::Bitcast(bits) if is_half(kernel.ty(kernel.insts[inst].results[0])) => {
                    halves.bits_of_floats.insert(*bits);
                }
                // A remainder of a power of two is a mask; and a byte is kept in 16 bits, of which the upper ones are masked.
                Compute::Binary(BinaryOp::And | BinaryOp::Rem, a, b) => {
                    halves.mask(kernel, *a);
                    halves.mask(kernel, *b);
                }
                Compute::Unary(UnaryOp::Abs, a) => halves.mask(kernel, *a),
                Compute::Cast(a) if kernel.ty(kernel.insts[inst].results[0]).bytes() == 1 => halves.mask(kernel, *a),
                _ => {}
            }
        });
        halves
    }

    /// What is masked is a float, or the bits of one, in an integer of any width.
    fn mask(&mut self, kernel: &Kernel, mut value: Value) {
        while !is_half(kernel.ty(value)) {
            let Some((_, Op::Compute(Compute::Cast(from) | Compute::Bitcast(from)))) = kernel.def(value) else { return };
            value = *from;
        }
        self.masked.insert(value);
    }

    /// Whether some bits of a float are left out.
    pub(super) fn is_masked(&self, value: Value) -> bool {
        self.masked.contains(&value)
    }
}

fn is_half(ty: Type) -> bool {
    matches!(ty, Type::F16 | Type::BF16)
}

impl Emitter<'_> {
    /// Whether this selects one of two floats of 16 bits, or of their bits, neither of them a constant.
    pub(super) fn selects_half(&self, inst: Inst, arms: [Value; 2]) -> bool {
        let result = self.kernel.insts[inst].results[0];
        let is_half = is_half(self.kernel.ty(result)) || self.halves.bits_of_floats.contains(&result);
        is_half && arms.iter().all(|arm| self.kernel.constant(*arm).is_none())
    }

    /// Selects it in a word that has it twice.
    pub(super) fn select_half(&mut self, d: Reg, condition: Reg, a: Reg, b: Reg) {
        let [yes, no, word] = [(); 3].map(|()| self.temp(RegisterClass::Word));
        let rest = self.temp(RegisterClass::Half);
        ptx!(self, Mov.B32 yes, [a, a]);
        ptx!(self, Mov.B32 no, [b, b]);
        ptx!(self, Selp.B32 word, yes, no, condition);
        ptx!(self, Mov.B32 [d, rest], word);
    }
}
