//! Upper bounds of unsigned values, from what is known of the geometry, constants and masks.
//!
//! A grid as a whole has fewer than 2³² threads, and so has each axis, unless the kernel says `index = 64` (the launch refuses
//! more). The limits of a block whose size the kernel leaves open are taken wider than any device's (CUDA: 1,024 threads; OpenCL
//! devices may have more), so that no back end can break them.

use crate::ir::{Axis, BinaryOp, Block, Inst, Kernel, Op, Special, Type, Value, ValueDef};
use crate::syntax::IndexWidth;

/// How many operations deep a bound is looked for.
const DEPTH: u32 = 8;

/// The greatest number of a thread along an axis: fewer than 2³² threads.
const GLOBAL_ID: u64 = u32::MAX as u64 - 1;

/// Where to look bounds up: who owns each block.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    owner: Vec<Option<Inst>>,
}

impl Bounds {
    /// One walk.
    pub fn of(kernel: &Kernel) -> Bounds {
        let mut owner = vec![None; kernel.blocks.len()];
        kernel.for_each_inst(|kernel, _, inst| {
            for child in kernel.insts[inst].op.blocks() {
                owner[usize::from(child)] = Some(inst);
            }
        });
        Bounds { owner }
    }

    /// The greatest value that an unsigned integer `value` can have; its type's maximum where nothing better is known.
    pub fn upper(&self, kernel: &Kernel, value: Value) -> u64 {
        Finder { kernel, owner: &self.owner }.bound(value, DEPTH)
    }
}

/// The greatest value of a type.
pub fn type_max(ty: Type) -> u64 {
    u64::MAX >> (64 - ty.bits().min(64))
}

struct Finder<'a> {
    kernel: &'a Kernel,
    owner: &'a [Option<Inst>],
}

impl Finder<'_> {
    fn bound(&self, value: Value, depth: u32) -> u64 {
        let data = &self.kernel.values[value];
        let max = type_max(data.ty);
        if depth == 0 || !data.ty.is_unsigned_int() {
            return max;
        }
        match data.def {
            ValueDef::Param(block, 0) => self.induction(block, depth).unwrap_or(max),
            ValueDef::Param(..) => max,
            ValueDef::Result(inst, _) => self.op(&self.kernel.insts[inst].op, depth).unwrap_or(max).min(max),
        }
    }

    /// The induction variable stays below the end of its loop.
    fn induction(&self, block: Block, depth: u32) -> Option<u64> {
        let owner = self.owner.get(usize::from(block)).copied().flatten()?;
        match &self.kernel.insts[owner].op {
            Op::For { end, .. } => Some(self.bound(*end, depth - 1).saturating_sub(1)),
            _ => None,
        }
    }

    fn op(&self, op: &Op, depth: u32) -> Option<u64> {
        let of = |value: Value| self.bound(value, depth - 1);
        match op {
            Op::Const(scalar) => Some(scalar.bits),
            Op::Special(special, axis) => Some(special_bound(self.kernel, *special, *axis)),
            Op::Select(_, a, b) => Some(of(*a).max(of(*b))),
            Op::Cast(a) if self.kernel.ty(*a).is_unsigned_int() => Some(of(*a)),
            Op::Cast(a) if self.kernel.ty(*a) == Type::Bool => Some(1),
            Op::Binary(op, a, b) => binary_bound(self.kernel, *op, (*a, of(*a)), (*b, of(*b))),
            _ => None,
        }
    }
}

/// The bound of `left op right`, of which `a` and `b` are the bounds.
fn binary_bound(kernel: &Kernel, op: BinaryOp, (left, a): (Value, u64), (right, b): (Value, u64)) -> Option<u64> {
    let constant = |value| kernel.constant(value).map(|scalar| scalar.bits);
    let bits = u64::from(kernel.ty(left).bits());
    let fits = |bound: Option<u64>| bound.filter(|bound| *bound <= type_max(kernel.ty(left)));
    match op {
        BinaryOp::Add if is_global_id(kernel, left, right) || is_global_id(kernel, right, left) => {
            fits(a.checked_add(b)).map_or(Some(GLOBAL_ID), |sum| Some(sum.min(GLOBAL_ID)))
        }
        BinaryOp::Add => fits(a.checked_add(b)),
        BinaryOp::Mul => fits(a.checked_mul(b)),
        BinaryOp::And | BinaryOp::Min => Some(a.min(b)),
        BinaryOp::Max => Some(a.max(b)),
        BinaryOp::Or | BinaryOp::Xor => Some(a.max(b).checked_add(1)?.checked_next_power_of_two()? - 1),
        BinaryOp::Rem => Some(a.min(b.saturating_sub(1))),
        BinaryOp::Div => Some(a / constant(right).unwrap_or(1).max(1)),
        BinaryOp::Shr => Some(a >> (constant(right)? % bits)),
        BinaryOp::Shl => fits(a.checked_mul(1 << (constant(right)? % bits))),
        BinaryOp::Sub => None,
    }
}

/// `block_idx * block_dim + thread_idx` of one axis numbers the threads of the grid along it, of which there are fewer than 2³².
fn is_global_id(kernel: &Kernel, product: Value, thread: Value) -> bool {
    let special = |value: Value| match kernel.def(value) {
        Some((_, Op::Special(special, axis))) => Some((*special, *axis)),
        _ => None,
    };
    let Some((Special::ThreadIdx, axis)) = special(thread) else { return false };
    let Some((_, Op::Binary(BinaryOp::Mul, a, b))) = kernel.def(product) else { return false };
    if kernel.ty(product) != Type::U32 || kernel.options.index == IndexWidth::Bits64 {
        return false;
    }
    let block_size = |value: Value| {
        special(value) == Some((Special::BlockDim, axis))
            || kernel.constant(value).is_some_and(|c| kernel.options.block.is_some_and(|block| u64::from(block[axis as usize]) == c.bits))
    };
    (special(*a) == Some((Special::BlockIdx, axis)) && block_size(*b)) || (special(*b) == Some((Special::BlockIdx, axis)) && block_size(*a))
}

fn special_bound(kernel: &Kernel, special: Special, axis: Axis) -> u64 {
    let block = kernel.options.block.map_or(65_535, |block| u64::from(block[axis as usize]));
    let threads = kernel.options.block.map_or(65_535, |block| block.iter().map(|n| u64::from(*n)).product());
    match special {
        Special::ThreadIdx => block.saturating_sub(1),
        Special::BlockDim => block,
        Special::BlockIdx => GLOBAL_ID,
        Special::GridDim => GLOBAL_ID + 1,
        Special::LaneId => 31,
        Special::WarpId => threads.saturating_sub(1) / 32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Builder, Loc};
    use crate::syntax::KernelOptions;

    #[test]
    fn global_ids_leave_room_for_one_more() {
        let mut kernel = Kernel::new("k", KernelOptions { block: Some([256, 1, 1]), ..KernelOptions::default() });
        let body = kernel.body;
        let mut b = Builder::new(&mut kernel, body, Loc(0));
        let (block, thread) = (b.special(Special::BlockIdx, Axis::X), b.special(Special::ThreadIdx, Axis::X));
        let size = b.int(Type::U32, 256);
        let product = b.binary(BinaryOp::Mul, block, size);
        let id = b.binary(BinaryOp::Add, product, thread);
        let other = b.binary(BinaryOp::Add, product, product);
        let bounds = Bounds::of(&kernel);
        assert_eq!(bounds.upper(&kernel, thread), 255);
        assert_eq!(bounds.upper(&kernel, id), (1 << 32) - 2);
        assert_eq!(bounds.upper(&kernel, other), (1 << 32) - 1);
    }
}
