//! Indices that the values of an instance's generics make known, and that are beyond their array: `s[B - 1]` of 100 elements where `B` is 128.
//!
//! Nobody else would tell, and a device reads what lies behind the array. Looked at right after lowering, before loops are
//! unrolled, since a copy of an unrolled body may stand under a condition that is never met. What constants decide is not: neither the arm of a
//! branch that they exclude, nor what stands after an exit that they take.

use crate::collections::HashMap;
use crate::ir::{Access, Address, Block, Inst, Kernel, Loc, Memory, MemoryType, Object, Op, Region, Scalar, Step, Terminator, Value, eval};

/// An index beyond its array.
pub struct Beyond {
    /// Of the access.
    pub loc: Loc,
    /// What the array is, or is a part of.
    pub object: Object,
    /// The index.
    pub index: u64,
    /// Elements of the array.
    pub len: u64,
    /// Which of the indices of the access it is, from 0.
    pub step: usize,
}

/// Every one that is certain to be met if the access is.
pub fn beyond(kernel: &Kernel) -> Vec<Beyond> {
    let mut walk = Walk { kernel, known: HashMap::default(), found: Vec::new() };
    walk.block(kernel.body);
    walk.found
}

struct Walk<'k> {
    kernel: &'k Kernel,
    known: HashMap<Value, Scalar>,
    found: Vec<Beyond>,
}

/// How a block that runs to its end leaves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    /// What follows runs.
    On,
    /// To behind an instruction round it, or to its next turn.
    To(Inst),
    /// The kernel.
    Kernel,
}

impl Walk<'_> {
    fn block(&mut self, block: Block) -> Left {
        let kernel = self.kernel;
        for inst in &kernel.blocks[block].insts {
            let left = self.inst(*inst);
            if left != Left::On {
                return left;
            }
        }
        Left::On
    }

    fn inst(&mut self, inst: Inst) -> Left {
        let kernel = self.kernel;
        let data = &kernel.insts[inst];
        match &data.op {
            Op::Memory(Memory { at: Address::Path(access), .. }) => self.access(access, data.loc),
            Op::Region(Region::If { condition, then_block, else_block }) => match self.known.get(condition) {
                Some(condition) => return self.block(if condition.is_true() { *then_block } else { *else_block }),
                None => {
                    self.block(*then_block);
                    self.block(*else_block);
                }
            },
            Op::Region(Region::Block { body }) => match self.block(*body) {
                Left::To(target) if target == inst => {}
                left @ (Left::On | Left::To(_) | Left::Kernel) => return left,
            },
            Op::Region(Region::For { start, end, body, .. }) => {
                let bounds = self.known.get(start).zip(self.known.get(end));
                if bounds.is_none_or(|(start, end)| start.as_int() < end.as_int()) {
                    self.block(*body);
                }
            }
            Op::Region(Region::Loop { body, .. }) => {
                self.block(*body);
            }
            Op::Terminator(Terminator::Break(target, _) | Terminator::Continue(target, _)) => return Left::To(*target),
            Op::Terminator(Terminator::Return | Terminator::Trap(_)) => return Left::Kernel,
            op @ (Op::Compute(_)
            | Op::Memory(_)
            | Op::Texture(..)
            | Op::Intrinsic(..)
            | Op::Collective(_)
            | Op::Tensor(_)
            | Op::Engine(_)
            | Op::Message(_)
            | Op::Terminator(_)) => {
                if let ([result], Some(value)) = (&data.results[..], self.value(op, &data.results)) {
                    self.known.insert(*result, value);
                }
            }
        }
        Left::On
    }

    fn value(&self, op: &Op, results: &[Value]) -> Option<Scalar> {
        let Op::Compute(compute) = op else { return None };
        eval::compute(compute, self.kernel.ty(*results.first()?), |value| self.known.get(&value).copied())
    }

    fn access(&mut self, access: &Access, loc: Loc) {
        let mut ty = &self.kernel.objects[access.object].ty;
        for (position, step) in access.path.iter().enumerate() {
            let (len, inner) = match (step, ty) {
                (Step::Index(_), MemoryType::Array(element, len) | MemoryType::Padded(element, len, _)) => (Some(*len), &**element),
                (Step::Index(_), MemoryType::Slice(element)) => (None, &**element),
                (Step::Field(field), MemoryType::Struct(id)) => (None, &self.kernel.structs[*id].fields[*field as usize].ty),
                // The verifier refuses other paths.
                _ => return,
            };
            if let (Some(len), Step::Index(index)) = (len, step)
                && let Some(index) = self.known.get(index).filter(|index| index.bits >= len)
            {
                self.found.push(Beyond { loc, object: access.object, index: index.bits, len, step: position });
                return;
            }
            ty = inner;
        }
    }
}
