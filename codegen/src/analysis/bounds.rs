//! Upper bounds of unsigned values, from what is known of the geometry, constants and masks.
//!
//! A grid as a whole has fewer than 2³² threads, and elements of threads under `ilp` and `vectorize`; so has each axis, unless the
//! kernel says `index = 64` (the launch refuses more). The limits of a block whose size the kernel leaves open are taken wider than any device's (CUDA: 1,024 threads; OpenCL
//! devices may have more), so that no back end can break them.

use crate::ir::IndexWidth;
use crate::ir::{Axis, BinaryOp, Block, Compute, Inst, Kernel, Op, Region, Special, Type, Value, ValueDef};

/// How many operations deep a bound is looked for.
const DEPTH: u32 = 8;

/// The greatest number of a thread, or of an element of one, along an axis: there are fewer than 2³².
const GLOBAL_ID: u64 = u32::MAX as u64 - 1;

/// Where to look bounds up: who owns each block.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    owner: Vec<Option<Inst>>,
    /// Instructions that were looked at.
    insts: usize,
}

impl Bounds {
    /// One walk.
    pub fn of(kernel: &Kernel) -> Bounds {
        let mut owner = vec![None; kernel.blocks.len()];
        kernel.for_each_inst(|kernel, _, inst| {
            if kernel.insts[inst].op.owns_blocks() {
                kernel.insts[inst].op.blocks().into_iter().for_each(|child| owner[usize::from(child)] = Some(inst));
            }
        });
        Bounds { owner, insts: kernel.insts.len() }
    }

    /// Learns who owns blocks that were made since. Those that were there keep their owners.
    pub fn catch_up(&mut self, kernel: &Kernel) {
        self.owner.resize(kernel.blocks.len(), None);
        for n in self.insts..kernel.insts.len() {
            let inst = Inst::from(n);
            if kernel.insts[inst].op.owns_blocks() {
                for child in kernel.insts[inst].op.blocks() {
                    self.owner[usize::from(child)].get_or_insert(inst);
                }
            }
        }
        self.insts = kernel.insts.len();
    }

    /// The greatest value that an unsigned integer `value` can have; its type's maximum where nothing better is known.
    pub fn upper(&self, kernel: &Kernel, value: Value) -> u64 {
        Finder { kernel, owner: &self.owner }.bound(value, DEPTH)
    }

    /// The lowest `bits` bits of an integer, if they are always the same: a counter keeps those of its start if its step is a multiple of 2^`bits`.
    pub fn low_bits(&self, kernel: &Kernel, value: Value, bits: u32) -> Option<u64> {
        (bits < 64).then(|| Finder { kernel, owner: &self.owner }.low_bits(value, bits, DEPTH))?
    }

    /// Whether a value numbers an element of the grid, or a thread: such numbers do not wrap round.
    pub fn is_element(&self, kernel: &Kernel, value: Value) -> bool {
        Finder { kernel, owner: &self.owner }.element_bound(value, DEPTH).is_some()
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
            ValueDef::Result(inst, _) => {
                let op = &self.kernel.insts[inst].op;
                let bound = self.op(op, depth).unwrap_or(max).min(max);
                let may_number =
                    matches!(op, Op::Compute(Compute::Binary(BinaryOp::Add | BinaryOp::Mul | BinaryOp::Shl, ..) | Compute::MulAdd(..)));
                let element = || self.element_bound(value, depth).unwrap_or(bound);
                if bound > GLOBAL_ID && may_number { element() } else { bound }
            }
        }
    }

    /// The induction variable stays below the end of its loop.
    fn induction(&self, block: Block, depth: u32) -> Option<u64> {
        let owner = self.owner.get(usize::from(block)).copied().flatten()?;
        if let Op::Region(Region::For { end, .. }) = &self.kernel.insts[owner].op {
            Some(self.bound(*end, depth - 1).saturating_sub(1))
        } else {
            None
        }
    }

    fn low_bits(&self, value: Value, bits: u32, depth: u32) -> Option<u64> {
        let (depth, data, mask) = (depth.checked_sub(1)?, &self.kernel.values[value], (1u64 << bits) - 1);
        let of = |value: Value| self.low_bits(value, bits, depth);
        if !data.ty.is_int() {
            return None;
        }
        let op = match data.def {
            ValueDef::Param(block, 0) => {
                let owner = self.owner.get(usize::from(block)).copied().flatten()?;
                let Op::Region(Region::For { start, step, .. }) = self.kernel.insts[owner].op else { return None };
                return of(start).filter(|_| of(step) == Some(0));
            }
            ValueDef::Param(..) => return None,
            ValueDef::Result(inst, _) => &self.kernel.insts[inst].op,
        };
        let Op::Compute(compute) = op else { return None };
        let low = if let Compute::Const(scalar) = compute {
            scalar.bits
        } else if let Compute::Binary(BinaryOp::Add, a, b) = compute {
            of(*a)?.wrapping_add(of(*b)?)
        } else if let Compute::Binary(BinaryOp::Sub, a, b) = compute {
            of(*a)?.wrapping_sub(of(*b)?)
        } else if let Compute::Binary(BinaryOp::Mul, a, b) = compute {
            match (of(*a), of(*b)) {
                (Some(0), _) | (_, Some(0)) => 0,
                (a, b) => a?.wrapping_mul(b?),
            }
        } else if let Compute::Cast(a) | Compute::Bitcast(a) = compute {
            // The bits of a narrower type that is widened are its own; those above them may be its sign.
            let ty = self.kernel.ty(*a);
            of(*a).filter(|_| ty.is_int() && bits <= ty.bits())?
        } else {
            return None;
        };
        Some(low & mask)
    }

    fn op(&self, op: &Op, depth: u32) -> Option<u64> {
        let of = |value: Value| self.bound(value, depth - 1);
        let Op::Compute(compute) = op else { return None };
        use Compute::*;
        match compute {
            Const(scalar) => Some(scalar.bits),
            Special(special, axis) => Some(special_bound(self.kernel, *special, *axis)),
            Select(_, a, b) => Some(of(*a).max(of(*b))),
            Cast(a) if self.kernel.ty(*a).is_unsigned_int() => Some(of(*a)),
            Cast(a) if self.kernel.ty(*a) == Type::Bool => Some(1),
            Binary(op, a, b) => binary_bound(self.kernel, *op, (*a, of(*a)), (*b, of(*b))),
            Unary(..) | MulAdd(..) | Compare(..) | Cast(_) | Bitcast(_) | Len(_) | Address(_) | PeerAddress(..) | Offset(..) => None,
        }
    }
}

/// The bound of `left op right`, of which `a` and `b` are the bounds.
fn binary_bound(kernel: &Kernel, op: BinaryOp, (left, a): (Value, u64), (right, b): (Value, u64)) -> Option<u64> {
    let constant = |value| kernel.constant(value).map(|scalar| scalar.bits);
    let bits = u64::from(kernel.ty(left).bits());
    let fits = |bound: Option<u64>| bound.filter(|bound| *bound <= type_max(kernel.ty(left)));
    match op {
        BinaryOp::Add => fits(a.checked_add(b)),
        BinaryOp::Mul => fits(a.checked_mul(b)),
        BinaryOp::And | BinaryOp::Min => Some(a.min(b)),
        BinaryOp::Max => Some(a.max(b)),
        BinaryOp::Or | BinaryOp::Xor => Some(a.max(b).checked_add(1)?.checked_next_power_of_two()? - 1),
        BinaryOp::Rem => Some(a.min(b.saturating_sub(1))),
        BinaryOp::Div => Some(a / constant(right).unwrap_or(1).max(1)),
        BinaryOp::Shr => Some(a >> (constant(right)? % bits)),
        BinaryOp::Shl => fits(a.checked_mul(1 << (constant(right)? % bits))),
        // max(x, c) - c does not wrap round.
        BinaryOp::Sub => {
            if let Op::Compute(Compute::Binary(BinaryOp::Max, _, least)) = kernel.def(left)?.1
                && constant(*least)? >= constant(right)?
            {
                a.checked_sub(constant(right)?)
            } else {
                None
            }
        }
    }
}

/// A value as `block * scale + rest`, without wrapping: no polynomial, whose arithmetic wraps round.
struct OfBlock {
    scale: u64,
    rest: u64,
}

impl Finder<'_> {
    /// The bound of a value that numbers an element of the grid along an axis: `block_idx * n + rest`, where a block has `n` elements along
    /// the axis and `rest` is below `n`. Of such elements there are fewer than 2³², the last of the block among them: what is one of a
    /// thread's first elements stays as far below the end as the block's last is beyond it.
    fn element_bound(&self, value: Value, depth: u32) -> Option<u64> {
        let kernel = self.kernel;
        if kernel.ty(value) != Type::U32 || kernel.options.index == IndexWidth::Bits64 {
            return None;
        }
        let axis = self.block_axis(value, depth)?;
        let elements = if axis == Axis::X { kernel.options.elements_per_thread() } else { 1 };
        match kernel.options.block {
            Some(block) => {
                let size = u64::from(block[axis as usize]).saturating_mul(elements);
                let of = self.of_block(value, axis, depth).filter(|of| of.scale == size && of.rest < size)?;
                Some(GLOBAL_ID.saturating_sub(size - 1 - of.rest))
            }
            None => self.is_element_by_shape(value, axis, depth).then_some(GLOBAL_ID),
        }
    }

    /// The axis of the block's index that a value is a sum with.
    fn block_axis(&self, value: Value, depth: u32) -> Option<Axis> {
        let depth = depth.checked_sub(1)?;
        let op = self.kernel.def(value)?.1;
        if let Op::Compute(Compute::Special(Special::BlockIdx, axis)) = op {
            return Some(*axis);
        }
        let is_sum = matches!(op, Op::Compute(Compute::Binary(BinaryOp::Add | BinaryOp::Mul | BinaryOp::Shl, ..) | Compute::MulAdd(..)));
        op.operands().into_iter().take(2).filter(|_| is_sum).find_map(|operand| self.block_axis(operand, depth))
    }

    fn of_block(&self, value: Value, axis: Axis, depth: u32) -> Option<OfBlock> {
        let depth = depth.checked_sub(1)?;
        let kernel = self.kernel;
        let constant = |value| kernel.constant(value).map(|scalar| scalar.bits);
        let scaled = |of: OfBlock, by: u64| Some(OfBlock { scale: of.scale.checked_mul(by)?, rest: of.rest.checked_mul(by)? });
        let sum = |a: OfBlock, b: OfBlock| Some(OfBlock { scale: a.scale.checked_add(b.scale)?, rest: a.rest.checked_add(b.rest)? });
        let product = |a: Value, b: Value| match (constant(a), constant(b)) {
            (_, Some(by)) => scaled(self.of_block(a, axis, depth)?, by),
            (Some(by), _) => scaled(self.of_block(b, axis, depth)?, by),
            _ => None,
        };
        let other = || Some(OfBlock { scale: 0, rest: self.bound(value, depth) });
        match kernel.def(value).map(|(_, op)| op) {
            Some(Op::Compute(Compute::Special(Special::BlockIdx, of))) if *of == axis => Some(OfBlock { scale: 1, rest: 0 }),
            Some(Op::Compute(Compute::Binary(BinaryOp::Add, a, b))) => {
                sum(self.of_block(*a, axis, depth)?, self.of_block(*b, axis, depth)?)
            }
            Some(Op::Compute(Compute::Binary(BinaryOp::Mul, a, b))) => product(*a, *b).or_else(other),
            Some(Op::Compute(Compute::Binary(BinaryOp::Shl, a, by))) => match constant(*by) {
                Some(by) if by < 32 => scaled(self.of_block(*a, axis, depth)?, 1 << by),
                _ => other(),
            },
            Some(Op::Compute(Compute::MulAdd(a, b, c))) => sum(product(*a, *b)?, self.of_block(*c, axis, depth)?),
            _ => other(),
        }
    }

    /// The same where the block's size is known at the launch only: as lowering builds it, `((block * N + g) * size + thread) * V + j`.
    fn is_element_by_shape(&self, value: Value, axis: Axis, depth: u32) -> bool {
        let options = &self.kernel.options;
        let (groups, lanes) = if axis == Axis::X { (options.ilp, options.vectorize) } else { (1, 1) };
        let special = |value: Value| match self.kernel.def(value) {
            Some((_, Op::Compute(Compute::Special(special, axis)))) => Some((*special, *axis)),
            _ => None,
        };
        let is_block = |value: Value| special(value) == Some((Special::BlockIdx, axis));
        let is_group = |value: Value| self.unscaled(value, groups, depth).is_some_and(is_block);
        let is_size = |value: Value| special(value) == Some((Special::BlockDim, axis));
        let is_first = |value: Value| match self.kernel.def(value) {
            Some((_, Op::Compute(Compute::Binary(BinaryOp::Mul, a, b)))) => is_size(*b) && is_group(*a) || is_size(*a) && is_group(*b),
            _ => false,
        };
        let is_thread = |value: Value| match self.kernel.def(value) {
            Some((_, Op::Compute(Compute::Binary(BinaryOp::Add, a, b)))) => {
                let is = |value: Value| special(value) == Some((Special::ThreadIdx, axis));
                is(*b) && is_first(*a) || is(*a) && is_first(*b)
            }
            _ => false,
        };
        self.unscaled(value, lanes, depth).is_some_and(is_thread)
    }

    /// `a` of `a * count + rest`, where `rest` is below `count`.
    fn unscaled(&self, value: Value, count: u32, depth: u32) -> Option<Value> {
        if count == 1 {
            return Some(value);
        }
        let factor = |value: Value| {
            let Op::Compute(Compute::Binary(op @ (BinaryOp::Mul | BinaryOp::Shl), a, b)) = self.kernel.def(value)?.1 else { return None };
            let factor = self.kernel.constant(*b).map(|c| if *op == BinaryOp::Mul { c.bits } else { 1u64 << (c.bits % 32) });
            (factor == Some(u64::from(count))).then_some(*a)
        };
        let is_rest = |value: Value| depth > 0 && self.bound(value, depth - 1) < u64::from(count);
        if let Op::Compute(Compute::Binary(BinaryOp::Add, a, b)) = self.kernel.def(value)?.1 {
            factor(*a).filter(|_| is_rest(*b)).or_else(|| factor(*b).filter(|_| is_rest(*a)))
        } else {
            factor(value)
        }
    }
}

fn special_bound(kernel: &Kernel, special: Special, axis: Axis) -> u64 {
    let block = kernel.options.block.map_or(65_535, |block| u64::from(block[axis as usize]));
    let threads = kernel.options.block.map_or(65_535, |block| block.iter().map(|n| u64::from(*n)).product());
    match special {
        Special::ThreadIdx => block.saturating_sub(1),
        Special::BlockDim => block,
        Special::BlockIdx => GLOBAL_ID,
        Special::GridDim | Special::AskedGrid => GLOBAL_ID + 1,
        Special::LaneId => 31,
        Special::WarpId => threads.saturating_sub(1) / 32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::KernelOptions;
    use crate::ir::{Builder, Loc};

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

    /// The bound of `((block * ilp + group) * size + thread) * vectorize + lane`.
    fn element_bound(block: Option<[u32; 3]>, [ilp, vectorize]: [u32; 2], [group, lane]: [i128; 2]) -> u64 {
        let mut kernel = Kernel::new("k", KernelOptions { block, ilp, vectorize, ..KernelOptions::default() });
        let body = kernel.body;
        let mut b = Builder::new(&mut kernel, body, Loc(0));
        let size = match block {
            Some([x, ..]) => b.int(Type::U32, i128::from(x)),
            None => b.special(Special::BlockDim, Axis::X),
        };
        let (block, thread) = (b.special(Special::BlockIdx, Axis::X), b.special(Special::ThreadIdx, Axis::X));
        let scaled = |b: &mut Builder<'_>, value, count: u32, rest| {
            let (count, rest) = (b.int(Type::U32, i128::from(count)), b.int(Type::U32, rest));
            let first = b.binary(BinaryOp::Mul, value, count);
            b.binary(BinaryOp::Add, first, rest)
        };
        let block = if ilp > 1 { scaled(&mut b, block, ilp, group) } else { block };
        let first = b.binary(BinaryOp::Mul, block, size);
        let number = b.binary(BinaryOp::Add, first, thread);
        let number = if vectorize > 1 { scaled(&mut b, number, vectorize, lane) } else { number };
        Bounds::of(&kernel).upper(&kernel, number)
    }

    #[test]
    fn elements_of_threads_are_numbered_below_the_limit() {
        for block in [None, Some([128, 1, 1])] {
            for counts in [[1, 1], [4, 1], [1, 4], [8, 2]] {
                let last = counts.map(|count| i128::from(count) - 1);
                assert_eq!(element_bound(block, counts, last), (1 << 32) - 2, "{block:?} {counts:?}");
                // The first is as far below as there are elements of the block beyond the last thread's first one.
                let [ilp, vectorize] = counts.map(u64::from);
                let beyond = block.map_or(0, |_| 128 * ilp * vectorize - 1 - 127 * vectorize);
                assert_eq!(element_bound(block, counts, [0, 0]), (1 << 32) - 2 - beyond, "{block:?} {counts:?}");
            }
            // One beyond the last element is not known to fit.
            assert_eq!(element_bound(block, [4, 1], [4, 0]), (1 << 32) - 1);
            assert_eq!(element_bound(block, [1, 4], [0, 4]), (1 << 32) - 1);
        }
    }
}
