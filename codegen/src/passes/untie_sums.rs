//! Sums that a loop carries in registers are copied behind a vector load that begins them, and before a vector store that takes them.
//!
//! ```text
//! (s0, s1, s2, s3) = y[i..i + 4]                  (q0, q1, q2, q3) = y[i..i + 4]
//!                                                 (s0, s1, s2, s3) = (q0 + -0.0, q1 + -0.0, q2 + -0.0, q3 + -0.0)
//! for … { s = mul_add(a, b, s) … }          ▶     for … { s = mul_add(a, b, s) … }
//! y[i..i + 4] = (s0, s1, s2, s3)                  y[i..i + 4] = (s0 + -0.0, s1 + -0.0, s2 + -0.0, s3 + -0.0)
//! ```
//!
//! A vector access needs four neighbouring registers, and NVIDIA's assembler has the loop add in those. Then it cannot choose the registers' banks: a register
//! file reads one register of each bank, even and odd, a cycle, and a product of whose operands two or three lie in one bank waits. In a product of 8 × 8 a thread 83 %
//! of the products wait once, and 9 % twice; with copies 8 % and none. The assembler sees through a `mov`; a sum with -0.0 it leaves, and that sum is the value itself, all
//! numbers, zeros and infinities with their bits.
//!
//! **Needs** to be behind `fold`, which knows that sum. **Preserves** everything but the bits of a NaN, which no operation keeps. **Refuses** loops that carry
//! fewer than 16 such sums, whose banks do not matter, and values that something else makes before or behind the loop: their registers are free.

use crate::collections::HashSet;
use crate::ir::{BinaryOp, Block, Builder, Compute, Inst, Kernel, Memory, MemoryOp, Op, Region, Type, Value};

/// So many sums a loop carries, at least.
const MANY: usize = 16;

/// Runs it.
pub(super) fn run(kernel: &mut Kernel) -> bool {
    let (mut loops, mut sums) = (HashSet::default(), HashSet::default());
    kernel.for_each_inst(|kernel, _, inst| {
        let of_loop = sums_of(kernel, inst);
        if of_loop.len() >= MANY {
            loops.insert(inst);
            sums.extend(of_loop.into_iter().map(|n| kernel.insts[inst].results[n]));
        }
    });
    if loops.is_empty() {
        return false;
    }
    let (mut changed, mut blocks) = (false, vec![kernel.body]);
    while let Some(block) = blocks.pop() {
        blocks.extend(kernel.blocks[block].insts.iter().flat_map(|inst| kernel.insts[*inst].op.blocks()));
        for inst in std::mem::take(&mut kernel.blocks[block].insts) {
            let mut is_tied = HashSet::default();
            if let Op::Memory(Memory { op: MemoryOp::Store(values), .. }) = &kernel.insts[inst].op {
                is_tied.extend(values.iter().copied().filter(|value| values.len() > 1 && sums.contains(value)));
            } else if let Op::Region(Region::For { init, .. }) = &kernel.insts[inst].op
                && loops.contains(&inst)
            {
                let begins = sums_of(kernel, inst).into_iter().filter_map(|n| init.get(n));
                is_tied.extend(begins.copied().filter(|value| is_of_vector(kernel, *value)));
            }
            changed |= !is_tied.is_empty();
            copy(kernel, block, inst, &is_tied);
            kernel.blocks[block].insts.push(inst);
        }
    }
    changed
}

/// Which of the values that a loop carries are sums of fused products of `f32`, which have one register each.
fn sums_of(kernel: &Kernel, inst: Inst) -> Vec<usize> {
    let Op::Region(Region::For { body, .. }) = kernel.insts[inst].op else { return Vec::new() };
    let is_sum =
        |value: &Value| kernel.ty(*value) == Type::F32 && matches!(kernel.def(*value), Some((_, Op::Compute(Compute::MulAdd(..)))));
    let yielded = kernel.yielded(body).unwrap_or_default();
    yielded.iter().enumerate().filter(|(_, value)| is_sum(value)).map(|(n, _)| n).collect()
}

/// Whether a vector load gives it.
fn is_of_vector(kernel: &Kernel, value: Value) -> bool {
    let Some((inst, Op::Memory(Memory { op: MemoryOp::Load, .. }))) = kernel.def(value) else { return false };
    kernel.insts[inst].results.len() > 1
}

/// Puts copies of these values before an instruction, which takes them instead.
fn copy(kernel: &mut Kernel, block: Block, inst: Inst, values: &HashSet<Value>) {
    if values.is_empty() {
        return;
    }
    let loc = kernel.insts[inst].loc;
    let mut op = kernel.insts[inst].op.clone();
    let mut b = Builder::new(kernel, block, loc);
    let zero = b.float(Type::F32, -0.0);
    op.for_each_operand_mut(|value| {
        if values.contains(value) {
            *value = b.binary(BinaryOp::Add, *value, zero);
        }
    });
    kernel.insts[inst].op = op;
}
