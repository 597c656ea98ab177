//! Folding: constants are computed, identities applied, decided branches taken.
//!
//! **Needs** nothing. **Preserves** every value bit for bit, but for the payload of a NaN. **Refuses** whatever floats do not allow:
//! `x + 0.0` (−0 becomes +0), `x * 0.0` and `x - x` (NaN, infinity, sign), reassociation; and divisions by zero, which stay where
//! they are, to fault where they fault.
//!
//! | file | what |
//! |---|---|
//! | [`mod@arithmetic`] | unary and binary operations on integers and `bool` |
//! | [`mod@float`] | the same on floats: only what is exact |
//! | [`mod@choice`] | comparisons and selects |
//! | [`mod@convert`] | casts of casts |
//! | [`mod@load`] | loads from constant memory at one of two places |
//! | [`mod@structure`] | `If`, `For`, `Loop`, `Block`: decided, empty, once-run and exit-free ones |
//! | [`mod@tail`] | early exits of a `Block` become the arms of an `If` |
//!
//! One forward walk: an instruction's operands are final when its turn comes, so one round reaches everything but what only a
//! loop's last instruction tells about its first. A rule that fires gives the value that takes the instruction's place, built of new
//! instructions if need be; the first rule in the order of the list wins.

mod arithmetic;
mod choice;
mod convert;
mod float;
mod load;
mod structure;
mod tail;

pub(super) use arithmetic::is_commutative;

use super::rewrite::Rewrite;
use crate::analysis::bounds::Bounds;
use crate::analysis::exits::Exits;
use crate::analysis::place::constant_place;
use crate::ir::intrinsic::IntrinsicId;
use crate::ir::{
    Access, Address, Axis, BinaryOp, Block, Builder, Compute, Inst, Kernel, Memory, MemoryOp, Message, ObjectKind, Op, Scalar, Special,
    Type, UnaryOp, Value, eval,
};

/// Runs it.
pub(super) fn run(kernel: &mut Kernel) -> bool {
    let (bounds, exits) = (Bounds::of(kernel), Exits::of(kernel));
    let body = kernel.body;
    let mut fold = Fold { rewrite: Rewrite::new(kernel), bounds, exits };
    fold.block(body);
    fold.rewrite.changed
}

/// The walk.
struct Fold<'k> {
    rewrite: Rewrite<'k>,
    bounds: Bounds,
    exits: Exits,
}

/// What a rule sees: where to build, and bounds.
struct Context<'a> {
    /// Appends right before the instruction in question.
    b: Builder<'a>,
    bounds: &'a Bounds,
}

impl Context<'_> {
    fn constant(&self, value: Value) -> Option<Scalar> {
        self.b.kernel.constant(value)
    }

    fn op(&self, value: Value) -> Option<&Op> {
        self.b.kernel.def(value).map(|(_, op)| op)
    }

    fn ty(&self, value: Value) -> Type {
        self.b.kernel.ty(value)
    }

    /// `value` if it is `op inner`.
    fn as_unary(&self, op: UnaryOp, value: Value) -> Option<Value> {
        match self.op(value) {
            Some(Op::Compute(Compute::Unary(found, inner))) if *found == op => Some(*inner),
            _ => None,
        }
    }

    /// The operands of `value` if it is `left op right`.
    fn as_binary(&self, op: BinaryOp, value: Value) -> Option<(Value, Value)> {
        match self.op(value) {
            Some(Op::Compute(Compute::Binary(found, left, right))) if *found == op => Some((*left, *right)),
            _ => None,
        }
    }
}

/// The value of an instruction whose operands are all constants.
fn evaluate(kernel: &Kernel, op: &Op, ty: Type) -> Option<Scalar> {
    match op {
        Op::Compute(Compute::Special(special, axis)) => fixed_geometry(kernel, *special, *axis),
        // The first is a constant already; selects have rules of their own.
        Op::Compute(Compute::Const(_) | Compute::Select(..)) => None,
        Op::Compute(compute) => eval::compute(compute, ty, |value| kernel.constant(value)),
        Op::Intrinsic(row, args) => evaluate_row(kernel, *row, args, ty),
        Op::Memory(Memory { op: MemoryOp::Load, at: Address::Path(access) }) => evaluate_load(kernel, access),
        Op::Memory(_)
        | Op::Texture(..)
        | Op::Collective(_)
        | Op::Tensor(_)
        | Op::Engine(_)
        | Op::Message(_)
        | Op::Region(_)
        | Op::Terminator(_) => None,
    }
}

/// What a table holds at a constant place.
fn evaluate_load(kernel: &Kernel, access: &Access) -> Option<Scalar> {
    let ObjectKind::Table(scalars) = &kernel.objects[access.object].kind else { return None };
    scalars.get(constant_place(kernel, access, 1)?).copied()
}

/// A row that works lane by lane, on constants.
fn evaluate_row(kernel: &Kernel, row: IntrinsicId, args: &[Value], ty: Type) -> Option<Scalar> {
    let scalars: Vec<Scalar> = args.iter().map(|value| kernel.constant(*value)).collect::<Option<_>>()?;
    row.of_scalars(&scalars, ty)
}

/// Geometry that the kernel's `block` decides: the size itself, and the index along an axis of one thread.
fn fixed_geometry(kernel: &Kernel, special: Special, axis: Axis) -> Option<Scalar> {
    let size = kernel.options.block?[axis as usize];
    match special {
        Special::BlockDim => Some(Scalar::u32(size)),
        Special::ThreadIdx if size == 1 => Some(Scalar::u32(0)),
        Special::ThreadIdx | Special::BlockIdx | Special::GridDim | Special::AskedGrid | Special::LaneId | Special::WarpId => None,
    }
}

impl Fold<'_> {
    /// Goes through a block. What comes after the point that no thread passes is dropped.
    fn block(&mut self, block: Block) {
        let insts = self.rewrite.take(block);
        self.list(block, &insts);
    }

    /// Goes through instructions, putting what stays at the end of `block`; whether the block has ended with them.
    fn list(&mut self, block: Block, insts: &[Inst]) -> bool {
        for (n, inst) in insts.iter().enumerate() {
            self.rewrite.resolve_operands(*inst);
            if self.inst(block, *inst) {
                self.rewrite.changed |= n + 1 != insts.len();
                return true;
            }
        }
        false
    }

    /// One instruction; whether the block ends with it.
    fn inst(&mut self, block: Block, inst: Inst) -> bool {
        let data = &self.rewrite.kernel.insts[inst];
        if data.op.is_terminator() {
            self.rewrite.keep(block, inst);
            return true;
        }
        if data.op.owns_blocks() {
            return self.region(block, inst);
        }
        if let Op::Message(Message::Assert(condition, ..)) = data.op
            && self.rewrite.kernel.constant(condition).is_some_and(Scalar::is_true)
        {
            self.rewrite.changed = true;
            return false;
        }
        match self.rewrite.result(inst).and_then(|result| self.simplify_fully(block, inst, result).map(|value| (result, value))) {
            Some((result, value)) => self.rewrite.replace(result, value),
            None => self.rewrite.keep(block, inst),
        }
        false
    }

    /// Simplifies, and simplifies again what that built last, a bounded number of times.
    fn simplify_fully(&mut self, block: Block, inst: Inst, result: Value) -> Option<Value> {
        let first_new = self.rewrite.kernel.insts.len();
        let mut value = self.simplify(block, inst, result)?;
        for _ in 0..8 {
            let Some((built, _)) = self.rewrite.kernel.def(value) else { break };
            let is_last = self.rewrite.kernel.blocks[block].insts.last() == Some(&built);
            if usize::from(built) < first_new || !is_last || self.rewrite.kernel.constant(value).is_some() {
                break;
            }
            self.rewrite.kernel.blocks[block].insts.pop();
            match self.simplify(block, built, value) {
                Some(simpler) => value = simpler,
                None => {
                    self.rewrite.keep(block, built);
                    break;
                }
            }
        }
        Some(value)
    }

    /// The value that takes the place of `result`, built before `inst`.
    fn simplify(&mut self, block: Block, inst: Inst, result: Value) -> Option<Value> {
        let ty = self.rewrite.kernel.ty(result);
        let data = &self.rewrite.kernel.insts[inst];
        let loc = data.loc;
        if let Some(scalar) = evaluate(self.rewrite.kernel, &data.op, ty) {
            return Some(self.rewrite.builder(block, loc).constant(scalar));
        }
        let mut context = Context { b: Builder::new(self.rewrite.kernel, block, loc), bounds: &self.bounds };
        let op = &context.b.kernel.insts[inst].op;
        if let Op::Memory(Memory { op: MemoryOp::Load, at: Address::Path(access) }) = op {
            let access = access.clone();
            return load::at_one_of_two(&mut context, &access, ty);
        }
        let Op::Compute(compute) = op else { return None };
        let compute = compute.clone();
        simplify_compute(&mut context, &compute, ty)
    }
}

/// The same of an operation without effects.
fn simplify_compute(cx: &mut Context<'_>, compute: &Compute, ty: Type) -> Option<Value> {
    use Compute::*;
    match *compute {
        Unary(op, a) => first(arithmetic::UNARY, |rule| rule(cx, op, a)),
        Binary(op, a, b) if ty.is_float() => first(float::BINARY, |rule| rule(cx, op, a, b)),
        Binary(op, a, b) => first(arithmetic::BINARY, |rule| rule(cx, op, a, b)),
        MulAdd(a, b, c) => first(float::MUL_ADD, |rule| rule(cx, a, b, c)),
        Compare(op, a, b) => first(choice::COMPARE, |rule| rule(cx, op, a, b)),
        Select(c, a, b) => first(choice::SELECT, |rule| rule(cx, c, a, b)),
        Cast(a) => first(convert::CAST, |rule| rule(cx, a, ty)),
        Bitcast(a) => first(convert::BITCAST, |rule| rule(cx, a, ty)),
        // Where a loop's pointers start, if it starts at 0.
        Offset(pointer, bytes) => cx.b.kernel.constant(bytes).filter(|bytes| bytes.bits == 0).map(|_| pointer),
        Const(_) | Special(..) | Len(_) | Address(_) | PeerAddress(..) => None,
    }
}

/// What the first rule that fires gives.
fn first<R: Copy>(rules: &[R], run: impl FnMut(R) -> Option<Value>) -> Option<Value> {
    rules.iter().copied().find_map(run)
}

#[cfg(test)]
mod tests;
