//! What an instruction costs and whether running it where it was not meant to run is harmless: what moving code asks.

use super::place::constant_place;
use crate::ir::{Address, BinaryOp, Compute, Inst, Kernel, Memory, MemoryOp, Op, Special, Type, Value};

/// Issue slots, relative to a 32-bit add; 0 for what is an operand or a register that is there anyway. Control flow and memory
/// count as more than any limit.
pub fn issue_slots(kernel: &Kernel, inst: Inst) -> u32 {
    let data = &kernel.insts[inst];
    let ty = data.results.first().map_or(Type::Bool, |value| kernel.ty(*value));
    let wide = if ty.bytes() == 8 { 2 } else { 1 };
    match &data.op {
        Op::Compute(Compute::Const(_) | Compute::Special(..) | Compute::Len(_) | Compute::Address(_) | Compute::Bitcast(_)) => 0,
        Op::Compute(Compute::Binary(BinaryOp::Div | BinaryOp::Rem, ..)) => 20 * wide,
        Op::Texture(op, ..) if !op.reads() => 0,
        Op::Compute(
            Compute::Unary(..)
            | Compute::Binary(..)
            | Compute::MulAdd(..)
            | Compute::Compare(..)
            | Compute::Select(..)
            | Compute::PeerAddress(..)
            | Compute::Offset(..),
        ) => wide,
        Op::Compute(Compute::Cast(_)) => 2 * wide,
        Op::Memory(Memory { op: MemoryOp::Load, at: Address::Path(_) }) if is_always_in_range(kernel, inst) => 2,
        Op::Intrinsic(row, _) if row.row().effects.is_pure() => u32::from(row.row().cost),
        Op::Memory(_)
        | Op::Texture(..)
        | Op::Intrinsic(..)
        | Op::Collective(_)
        | Op::Tensor(_)
        | Op::Engine(_)
        | Op::Message(_)
        | Op::Region(_)
        | Op::Terminator(_) => u32::MAX / 64,
    }
}

/// Whether an instruction may run wherever its operands are there: pure and without a fault, a load of a read-only place that
/// exists whatever the launch is included.
pub fn is_speculable(kernel: &Kernel, inst: Inst) -> bool {
    let data = &kernel.insts[inst];
    let ty = data.results.first().map(|value| kernel.ty(*value));
    match &data.op {
        Op::Compute(Compute::Binary(BinaryOp::Div | BinaryOp::Rem, _, divisor)) if ty.is_some_and(Type::is_int) => {
            is_never_zero(kernel, *divisor)
        }
        Op::Memory(Memory { op: MemoryOp::Load, at: Address::Path(_) }) => is_always_in_range(kernel, inst),
        op @ (Op::Compute(_)
        | Op::Memory(_)
        | Op::Texture(..)
        | Op::Intrinsic(..)
        | Op::Collective(_)
        | Op::Tensor(_)
        | Op::Engine(_)
        | Op::Message(_)
        | Op::Region(_)
        | Op::Terminator(_)) => op.effects(kernel).is_speculatable(),
    }
}

/// Whether an integer is not 0, whatever the kernel is given: a number, `max` with one that is above 0, or a size of the launch's shape.
fn is_never_zero(kernel: &Kernel, value: Value) -> bool {
    let constant = |value: Value| kernel.constant(value).map(|scalar| scalar.as_int());
    match kernel.def(value).map(|(_, op)| op) {
        Some(Op::Compute(Compute::Const(scalar))) => scalar.bits != 0,
        Some(Op::Compute(Compute::Binary(BinaryOp::Max, a, b))) => [a, b].into_iter().any(|side| constant(*side).is_some_and(|n| n > 0)),
        Some(Op::Compute(Compute::Special(Special::BlockDim | Special::GridDim, _))) => true,
        _ => false,
    }
}

/// The divisor of an integer division or remainder that faults where that is 0.
pub fn faulting_divisor(kernel: &Kernel, inst: Inst) -> Option<Value> {
    let Op::Compute(Compute::Binary(BinaryOp::Div | BinaryOp::Rem, _, divisor)) = kernel.insts[inst].op else { return None };
    (!is_speculable(kernel, inst)).then_some(divisor)
}

/// A load from a read-only object of fixed size by constant indices within it.
fn is_always_in_range(kernel: &Kernel, inst: Inst) -> bool {
    let data = &kernel.insts[inst];
    matches!(&data.op, Op::Memory(Memory { op: MemoryOp::Load, at: Address::Path(access) }) if kernel.objects[access.object].is_read_only() && constant_place(kernel, access, data.results.len()).is_some())
}
