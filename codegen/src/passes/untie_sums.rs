//! Sums that a loop carries in registers are copied before a vector store takes them.
//!
//! ```text
//! s = for … { … mul_add(a, b, s) … }             s = for … { … mul_add(a, b, s) … }
//! y[i..i + 4] = (s0, s1, s2, s3)           ▶      y[i..i + 4] = (s0 + -0.0, s1 + -0.0, s2 + -0.0, s3 + -0.0)
//! ```
//!
//! A vector store needs four neighbouring registers, and NVIDIA's assembler has the loop add into those. Then it cannot choose the registers' banks: a register
//! file reads one register of each bank, even and odd, a cycle, and a product whose three operands lie in one bank waits twice. In a product of 8 × 8 a thread 8.9 %
//! of the products do, and 83 % wait once; with copies 0 and 8 %. The assembler sees through a `mov`; a sum with -0.0 it leaves, and that sum is the value itself, all
//! numbers, zeros and infinities with their bits.
//!
//! **Needs** to be behind `fold`, which knows that sum. **Preserves** everything but the bits of a NaN, which no operation keeps. **Refuses** loops that carry
//! fewer than 16 such sums, whose banks do not matter, and values that something else makes behind the loop: their registers are free.

use crate::collections::HashSet;
use crate::ir::{BinaryOp, Block, Builder, Compute, Kernel, Memory, MemoryOp, Op, Region, Type, Value};

/// So many sums a loop carries, at least.
const MANY: usize = 16;

/// Runs it.
pub(super) fn run(kernel: &mut Kernel) -> bool {
    let mut sums = HashSet::default();
    let mut blocks = vec![kernel.body];
    while let Some(block) = blocks.pop() {
        for inst in &kernel.blocks[block].insts {
            let data = &kernel.insts[*inst];
            blocks.extend(data.op.blocks());
            if let Op::Region(Region::For { body, .. }) = data.op
                && let Some(yielded) = kernel.yielded(body)
            {
                let of_loop: Vec<Value> =
                    data.results.iter().zip(yielded).filter(|(_, value)| is_sum(kernel, **value)).map(|(result, _)| *result).collect();
                sums.extend(of_loop.iter().copied().take(if of_loop.len() >= MANY { of_loop.len() } else { 0 }));
            }
        }
    }
    if sums.is_empty() {
        return false;
    }
    let (mut changed, mut blocks) = (false, vec![kernel.body]);
    while let Some(block) = blocks.pop() {
        blocks.extend(kernel.blocks[block].insts.iter().flat_map(|inst| kernel.insts[*inst].op.blocks()));
        changed |= copy_in(kernel, block, &sums);
    }
    changed
}

/// Whether a value is a fused product of `f32`, which has one register.
fn is_sum(kernel: &Kernel, value: Value) -> bool {
    kernel.ty(value) == Type::F32 && matches!(kernel.def(value), Some((_, Op::Compute(Compute::MulAdd(..)))))
}

/// Copies the sums that vector stores of a block take.
fn copy_in(kernel: &mut Kernel, block: Block, sums: &HashSet<Value>) -> bool {
    let insts = std::mem::take(&mut kernel.blocks[block].insts);
    let mut changed = false;
    for inst in insts {
        if let Op::Memory(Memory { op: MemoryOp::Store(values), .. }) = &kernel.insts[inst].op
            && values.len() > 1
            && values.iter().any(|value| sums.contains(value))
        {
            let (values, loc) = (values.clone(), kernel.insts[inst].loc);
            let mut b = Builder::new(kernel, block, loc);
            let zero = b.float(Type::F32, -0.0);
            let copies = values.iter().map(|value| if sums.contains(value) { b.binary(BinaryOp::Add, *value, zero) } else { *value });
            let copies = copies.collect();
            if let Op::Memory(Memory { op: MemoryOp::Store(values), .. }) = &mut kernel.insts[inst].op {
                *values = copies;
            }
            changed = true;
        }
        kernel.blocks[block].insts.push(inst);
    }
    changed
}
