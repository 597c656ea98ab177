//! What a lane computes of the values that decide what runs.

use super::{FOLLOWED, Row, Walk};
use warpwright_codegen::ir::{
    Address, Axis, BinaryOp, Compute, Engine, Inst, Memory, MemoryOp, ObjectKind, Op, Role, Scalar, Special, Type, Value, eval,
};
use warpwright_codegen::target::limits::WARP;

impl Walk<'_> {
    pub(super) fn instruction(&mut self, inst: Inst) {
        let kernel = self.kernel;
        let data = &kernel.insts[inst];
        let Some(result) = data.results.first().filter(|value| self.needed[usize::from(**value)]) else { return };
        let row: Row = std::array::from_fn(|lane| self.computed(&data.op, kernel.ty(*result), lane));
        self.bind(&data.results, &[row]);
    }

    fn computed(&self, op: &Op, ty: Type, lane: usize) -> Option<Scalar> {
        let of = |value: Value| self.values[usize::from(value)][lane];
        match op {
            Op::Compute(Compute::Special(special, axis)) => self.special(*special, *axis, lane).map(Scalar::u32),
            Op::Compute(Compute::Binary(op, a, b)) => binary(*op, of(*a), of(*b)),
            Op::Compute(Compute::Len(object)) => self.launched.lengths.get(object).map(|n| Scalar::int(ty, i128::from(*n))),
            Op::Compute(compute) => eval::compute(compute, ty, of),
            Op::Memory(Memory { op: MemoryOp::Load, at: Address::Path(access) }) if access.path.is_empty() => {
                self.launched.numbers.get(&(access.object, 0)).copied()
            }
            Op::Memory(Memory { op: MemoryOp::Load, at: Address::Pointer { object, offset, .. } })
                if self.kernel.objects[*object].kind == ObjectKind::Value =>
            {
                self.launched.numbers.get(&(*object, u64::try_from(*offset).ok()?)).copied().filter(|number| number.ty == ty)
            }
            Op::Intrinsic(row, operands) if row.row().effects.is_pure() => {
                let operands: Option<Vec<Scalar>> = operands.iter().map(|value| of(*value)).collect();
                row.of_scalars(&operands?, ty)
            }
            Op::Engine(Engine::Is(role)) => {
                let has_it = self.is_producer && (*role == Role::Producer || FOLLOWED[lane] == 0);
                Some(Scalar::bool(has_it))
            }
            _ => None,
        }
    }

    fn special(&self, special: Special, axis: Axis, lane: usize) -> Option<u32> {
        let axis = axis as usize;
        let thread = self.warp * WARP + FOLLOWED[lane];
        match special {
            Special::LaneId => Some(FOLLOWED[lane]),
            Special::WarpId => Some(self.warp),
            Special::ThreadIdx => {
                // A block that the launch decides is taken for a row.
                let [x, y, _] = self.block.unwrap_or([u32::MAX, 1, 1]);
                Some([thread % x, thread / x % y, thread / x / y][axis])
            }
            Special::BlockDim => self.block.map(|block| block[axis]),
            Special::GridDim | Special::AskedGrid => self.launched.grid.map(|grid| grid[axis]),
            // One in the middle is like most.
            Special::BlockIdx => self.launched.grid.map(|grid| grid[axis] / 2),
        }
    }
}

/// `a op b`, where one side may be enough.
fn binary(op: BinaryOp, a: Option<Scalar>, b: Option<Scalar>) -> Option<Scalar> {
    match (a, b) {
        (Some(a), Some(b)) => eval::binary(op, a, b),
        (Some(known), None) | (None, Some(known)) if known.ty == Type::Bool => match op {
            BinaryOp::And if !known.is_true() => Some(Scalar::bool(false)),
            BinaryOp::Or if known.is_true() => Some(Scalar::bool(true)),
            _ => None,
        },
        _ => None,
    }
}
