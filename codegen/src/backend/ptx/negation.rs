//! How integers of 32 bits are negated, so that no `ptxas` leaves it out.
//!
//! For `sm_90` and `sm_100`, 12.9 makes one instruction (`VIMNMX3`) of the least or the greatest of three, `x.max(-y).max(z)`, and leaves the negation of `y` out where it has the sign of the comparisons:
//! `neg.s32`, `sub.s32` from zero and a product with -1 under `max.s32`, `sub.u32` from zero under `max.u32`. It does not know a negation of the other sign, nor a complement plus 1.
//! Which comparisons a value comes to through the loops that `ptxas` unrolls is not asked: those of the whole kernel decide.

use super::code::{Operand, Reg, RegisterClass};
use super::emitter::{Emitter, ptx};
use crate::ir::{BinaryOp, Compute, Kernel, Op, Scalar, UnaryOp};

/// What is printed for a negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Negation {
    /// `sub.u32` from zero.
    Unsigned,
    /// `sub.s32` from zero.
    Signed,
    /// The complement plus 1: an instruction more.
    Complement,
}

impl Negation {
    /// By the signs of the integers that a kernel compares for the least or the greatest. `abs` is one of them.
    pub(super) fn of(kernel: &Kernel) -> Negation {
        let (mut signed, mut unsigned) = (false, false);
        kernel.for_each_inst(|_, _, inst| {
            let data = &kernel.insts[inst];
            let is_extreme =
                matches!(data.op, Op::Compute(Compute::Binary(BinaryOp::Min | BinaryOp::Max, ..) | Compute::Unary(UnaryOp::Abs, _)));
            if is_extreme {
                let ty = kernel.ty(data.results[0]);
                signed |= ty.is_signed_int();
                unsigned |= ty.is_unsigned_int();
            }
        });
        match (signed, unsigned) {
            (_, false) => Negation::Unsigned,
            (false, true) => Negation::Signed,
            (true, true) => Negation::Complement,
        }
    }
}

impl Emitter<'_> {
    /// Negates 32 bits.
    pub(super) fn negate_word(&mut self, d: Reg, a: Operand) {
        match self.negation {
            Negation::Unsigned => ptx!(self, Sub.U32 d, 0, a),
            Negation::Signed => ptx!(self, Sub.S32 d, 0, a),
            Negation::Complement => {
                let complement = self.temp(RegisterClass::Word);
                ptx!(self, Not.B32 complement, a);
                ptx!(self, Add.U32 d, complement, 1);
            }
        }
    }
}

/// What an operation of 32 bits negates: `0 - x`, `x * -1`.
pub(super) fn negated(op: BinaryOp, a: &Operand, b: &Operand) -> Option<Operand> {
    let is = |operand: &Operand, bits: u64| matches!(operand, Operand::Constant(Scalar { bits: other, .. }) if *other == bits);
    let all = u64::from(u32::MAX);
    match op {
        BinaryOp::Sub if is(a, 0) => Some(b.clone()),
        BinaryOp::Mul if is(b, all) => Some(a.clone()),
        BinaryOp::Mul if is(a, all) => Some(b.clone()),
        _ => None,
    }
}
