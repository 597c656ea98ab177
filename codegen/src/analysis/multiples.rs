//! Values that are multiples of a power of two, whatever runs: by how they are computed. Sums and products keep that when they wrap.

use crate::collections::HashMap;
use crate::ir::{BinaryOp, Block, Compute, Kernel, Op, Region, Value, ValueDef};

/// How far operands are followed.
const DEPTH: usize = 8;

/// The counters of loops, which begin at the first value and go on by the second.
pub struct Multiples {
    counters: HashMap<Block, [Value; 2]>,
}

impl Multiples {
    /// Of a kernel.
    pub fn of(kernel: &Kernel) -> Multiples {
        let mut counters = HashMap::default();
        kernel.for_each_inst(|kernel, _, inst| {
            if let Op::Region(Region::For { start, step, body, .. }) = kernel.insts[inst].op {
                counters.insert(body, [start, step]);
            }
        });
        Multiples { counters }
    }

    /// Whether a whole number is known to be a multiple of `unit`, a power of two.
    pub fn is_multiple(&self, kernel: &Kernel, value: Value, unit: u64) -> bool {
        self.look(kernel, value, unit, DEPTH)
    }

    fn look(&self, kernel: &Kernel, value: Value, unit: u64, depth: usize) -> bool {
        if unit <= 1 {
            return true;
        }
        let Some(depth) = depth.checked_sub(1) else { return false };
        if let Some(constant) = kernel.constant(value) {
            return constant.ty.is_int() && constant.bits.is_multiple_of(unit);
        }
        let is = |value: &Value, unit: u64| self.look(kernel, *value, unit, depth);
        let compute = match kernel.values[value].def {
            ValueDef::Param(block, 0) => return self.counters.get(&block).is_some_and(|ends| ends.iter().all(|end| is(end, unit))),
            ValueDef::Param(..) => return false,
            ValueDef::Result(inst, _) => match &kernel.insts[inst].op {
                Op::Compute(compute) => compute,
                Op::Memory(_)
                | Op::Texture(..)
                | Op::Intrinsic(..)
                | Op::Collective(_)
                | Op::Tensor(_)
                | Op::Engine(_)
                | Op::Message(_)
                | Op::Region(_)
                | Op::Terminator(_) => return false,
            },
        };
        match compute {
            Compute::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Min | BinaryOp::Max | BinaryOp::Or | BinaryOp::Xor, a, b) => {
                is(a, unit) && is(b, unit)
            }
            Compute::Binary(BinaryOp::Mul, a, b) => {
                // 4 x · 2 y is a multiple of 8.
                let mut of_a = 1;
                while of_a < unit && is(a, of_a * 2) {
                    of_a *= 2;
                }
                is(b, unit / of_a)
            }
            Compute::Binary(BinaryOp::And, a, b) => is(a, unit) || is(b, unit),
            Compute::Binary(BinaryOp::Shl, a, count) => {
                let width = u64::from(kernel.ty(value).bits());
                let count = kernel.constant(*count).map_or(0, |count| count.bits % width);
                is(a, unit >> count)
            }
            Compute::MulAdd(a, b, c) => (is(a, unit) || is(b, unit)) && is(c, unit),
            Compute::Select(_, a, b) => is(a, unit) && is(b, unit),
            // Between whole numbers; what is cut off or put before is a multiple, too.
            Compute::Cast(from) => kernel.ty(*from).is_int() && unit <= u64::from(u8::MAX) && is(from, unit),
            Compute::Binary(..)
            | Compute::Const(_)
            | Compute::Special(..)
            | Compute::Unary(..)
            | Compute::Compare(..)
            | Compute::Bitcast(_)
            | Compute::Len(_)
            | Compute::Address(_)
            | Compute::PeerAddress(..)
            | Compute::Offset(..) => false,
        }
    }
}
