//! Addresses and indices that a counted loop moves by the same distance every time are carried round and added to.
//!
//! **Needs** addresses, and what is invariant outside its loop (`licm`). **Preserves** every value: all of it is arithmetic modulo 2ᴺ, in which
//! `f(i + s) = f(i) + d` holds for every `f` that is a sum of things that stay and of products of the counter with things that stay. **Refuses**
//! what is widened on the way: `widen(i + 1)` need not be `widen(i) + 1`, so where a 32-bit index is widened to reach a 64-bit pointer, the
//! index is what is carried.
//!
//! `b[k * n + column]`, k being the counter, costs a multiplication whose result the load waits for, at the start of every iteration; carried
//! round it is an addition of `n` that is done long before. A value is *affine* here if it is made, in the loop's own body, of the counter and
//! of values from outside by additions, subtractions, products and shifts of one width. Of these the ones that an access or a widening
//! waits for are carried, without the constants at their ends, which several share: at most [`MOST`] of a loop, since each takes a register. What
//! they were made of goes, unless something else uses it (`dce`).
//!
//! A body of more than [`LONG`] instructions is left as it is: there an address is made while other work goes on, and the registers are wanted.
//!
//! Inner loops come first: where their addresses start is affine in the loop round them.

use super::rewrite::{Rewrite, terminator};
use crate::collections::{HashMap, HashSet};
use crate::ir::{Address, BinaryOp, Block, Builder, Compute, Inst, Kernel, Loc, Memory, Op, Region, Terminator, Type, Value};

/// Values that one loop is given to carry.
const MOST: usize = 12;

/// Instructions of a body in which nobody waits for an address.
const LONG: usize = 128;

/// Runs it.
pub(super) fn run(kernel: &mut Kernel) -> bool {
    let body = kernel.body;
    let mut rewrite = Rewrite::new(kernel);
    reduce_block(&mut rewrite, body);
    rewrite.changed
}

fn reduce_block(rewrite: &mut Rewrite<'_>, block: Block) {
    for inst in rewrite.take(block) {
        for child in rewrite.kernel.insts[inst].op.blocks() {
            reduce_block(rewrite, child);
        }
        if let Op::Region(Region::For { start, step, body, .. }) = rewrite.kernel.insts[inst].op {
            let mut length = 0;
            rewrite.kernel.walk_block(body, &mut |_, _, _| length += 1);
            if length > LONG {
                rewrite.keep(block, inst);
                continue;
            }
            let counter = rewrite.kernel.blocks[body].params[0];
            let affine = Affine::of(rewrite.kernel, body, counter);
            let roots = affine.roots(rewrite.kernel, body);
            let loc = rewrite.kernel.insts[inst].loc;
            let (firsts, distances) = (HashMap::default(), HashMap::default());
            let mut before = Before { b: rewrite.builder(block, loc), affine: &affine, start, step, firsts, distances };
            // All of them before any is carried: one may be made of another.
            let moves: Vec<_> = roots.iter().map(|root| (*root, before.first(*root), before.distance(*root))).collect();
            rewrite.changed |= !moves.is_empty();
            for (root, first, distance) in moves {
                carry(rewrite.kernel, inst, root, first, distance);
            }
        }
        rewrite.keep(block, inst);
    }
}

/// What a loop's body makes of its counter by arithmetic of one width.
struct Affine {
    counter: Value,
    /// The counter, and what is affine in it.
    values: HashSet<Value>,
    /// What is the same in all iterations though it stands in the body.
    constants: HashSet<Value>,
}

impl Affine {
    fn of(kernel: &Kernel, body: Block, counter: Value) -> Affine {
        let mut affine = Affine { counter, values: HashSet::default(), constants: HashSet::default() };
        if !is_carriable(kernel.ty(counter)) {
            return affine;
        }
        use Compute::*;
        affine.values.insert(counter);
        let mut inside: HashSet<Value> = kernel.blocks[body].params.iter().copied().collect();
        for inst in &kernel.blocks[body].insts {
            let data = &kernel.insts[*inst];
            inside.extend(&data.results);
            let [result] = data.results[..] else { continue };
            let Op::Compute(compute) = &data.op else { continue };
            if matches!(compute, Const(_)) {
                affine.constants.insert(result);
                continue;
            }
            let stays = |value: &Value| !inside.contains(value) || affine.constants.contains(value);
            let moves = |value: &Value| affine.values.contains(value);
            let any = |value: &Value| stays(value) || moves(value);
            let is_product = |a: &Value, b: &Value| any(a) && any(b) && (stays(a) || stays(b));
            let is_affine = match compute {
                Binary(BinaryOp::Add | BinaryOp::Sub, a, b) | Offset(a, b) => any(a) && any(b),
                Binary(BinaryOp::Mul, a, b) => is_product(a, b),
                Binary(BinaryOp::Shl, a, count) => moves(a) && kernel.constant(*count).is_some(),
                MulAdd(a, b, c) => is_product(a, b) && any(c),
                Cast(a) => moves(a) && kernel.ty(*a).bits() == kernel.ty(result).bits(),
                Const(_) | Special(..) | Unary(..) | Binary(..) | Compare(..) | Select(..) | Bitcast(_) | Len(_) | Address(_) => false,
            };
            let mut operands = Vec::new();
            data.op.for_each_operand(|value| operands.push(value));
            if is_affine && is_carriable(kernel.ty(result)) && operands.iter().any(moves) {
                affine.values.insert(result);
            }
        }
        affine
    }

    /// What is worth carrying: what accesses and widenings wait for, in the order in which they ask.
    fn roots(&self, kernel: &Kernel, body: Block) -> Vec<Value> {
        let mut roots = Vec::new();
        kernel.walk_block(body, &mut |kernel, _, inst| {
            let data = &kernel.insts[inst];
            let is_widening = |index| {
                let ty = kernel.ty(data.results[0]);
                ty.is_int() && kernel.ty(index).bits() < ty.bits()
            };
            let (Op::Memory(Memory { at: Address::Pointer { ptr: asked, .. }, .. }) | Op::Compute(Compute::Cast(asked))) = data.op else {
                return;
            };
            if matches!(data.op, Op::Compute(_)) && !is_widening(asked) {
                return;
            }
            let root = self.without_constant(kernel, asked);
            if root != self.counter && self.values.contains(&root) && !roots.contains(&root) {
                roots.push(root);
            }
        });
        roots.truncate(MOST);
        roots
    }

    fn without_constant(&self, kernel: &Kernel, value: Value) -> Value {
        match kernel.def(value) {
            Some((_, Op::Compute(Compute::Binary(BinaryOp::Add | BinaryOp::Sub, base, constant))))
                if self.values.contains(base) && kernel.constant(*constant).is_some() =>
            {
                self.without_constant(kernel, *base)
            }
            _ => value,
        }
    }
}

fn is_carriable(ty: Type) -> bool {
    matches!(ty, Type::Ptr(_)) || (ty.is_int() && ty.bits() >= 32)
}

/// Builds, in front of a loop, where affine values start and how far they move.
struct Before<'a> {
    b: Builder<'a>,
    affine: &'a Affine,
    start: Value,
    step: Value,
    firsts: HashMap<Value, Value>,
    distances: HashMap<Value, Distance>,
}

/// What an affine value moves by in an iteration.
#[derive(Clone, Copy)]
enum Distance {
    /// A number, modulo 2¹²⁸, which is as good as modulo the type's.
    Known(i128),
    /// As it was computed.
    Computed(Value),
}

impl Before<'_> {
    /// The value in the first iteration.
    fn first(&mut self, value: Value) -> Value {
        if value == self.affine.counter {
            return self.start;
        }
        if !self.affine.values.contains(&value) && !self.affine.constants.contains(&value) {
            return value;
        }
        if let Some(first) = self.firsts.get(&value) {
            return *first;
        }
        let Some((_, op)) = self.b.kernel.def(value) else { return value };
        let mut op = op.clone();
        op.for_each_operand_mut(|operand| *operand = self.first(*operand));
        let ty = self.b.kernel.ty(value);
        let first = self.b.push1(op, ty);
        self.firsts.insert(value, first);
        first
    }

    /// How far the value moves; nothing for what stays.
    fn distance(&mut self, value: Value) -> Distance {
        if value == self.affine.counter {
            return self.number(self.step).map_or(Distance::Computed(self.step), Distance::Known);
        }
        if !self.affine.values.contains(&value) {
            return Distance::Known(0);
        }
        if let Some(known) = self.distances.get(&value) {
            return *known;
        }
        let found = self.find_distance(value);
        self.distances.insert(value, found);
        found
    }

    fn find_distance(&mut self, value: Value) -> Distance {
        let Some((_, Op::Compute(compute))) = self.b.kernel.def(value) else { return Distance::Known(0) };
        use Compute::*;
        match *compute {
            Binary(BinaryOp::Add, a, b) | Offset(a, b) => {
                let (a, b) = (self.distance(a), self.distance(b));
                self.sum(BinaryOp::Add, a, b)
            }
            Binary(BinaryOp::Sub, a, b) => {
                let (a, b) = (self.distance(a), self.distance(b));
                self.sum(BinaryOp::Sub, a, b)
            }
            Binary(BinaryOp::Mul, a, b) => self.product(a, b),
            Binary(BinaryOp::Shl, a, count) => {
                let count = self.number(count).unwrap_or(0) & i128::from(self.b.kernel.ty(value).bits() - 1);
                match self.distance(a) {
                    Distance::Known(distance) => Distance::Known(distance << count),
                    Distance::Computed(distance) => {
                        let count = self.b.int(Type::U32, count);
                        Distance::Computed(self.b.binary(BinaryOp::Shl, distance, count))
                    }
                }
            }
            MulAdd(a, b, c) => {
                let (product, c) = (self.product(a, b), self.distance(c));
                self.sum(BinaryOp::Add, product, c)
            }
            Cast(a) => match self.distance(a) {
                Distance::Computed(distance) => {
                    let ty = self.b.kernel.ty(value);
                    Distance::Computed(self.b.cast(distance, ty))
                }
                known => known,
            },
            Const(_) | Special(..) | Unary(..) | Binary(..) | Compare(..) | Select(..) | Bitcast(_) | Len(_) | Address(_) => {
                Distance::Known(0)
            }
        }
    }

    fn number(&self, value: Value) -> Option<i128> {
        self.b.kernel.constant(value).map(crate::ir::Scalar::as_int)
    }

    fn sum(&mut self, op: BinaryOp, a: Distance, b: Distance) -> Distance {
        match (a, b) {
            (Distance::Known(a), Distance::Known(b)) if op == BinaryOp::Sub => Distance::Known(a.wrapping_sub(b)),
            (Distance::Known(a), Distance::Known(b)) => Distance::Known(a.wrapping_add(b)),
            (a, Distance::Known(0)) => a,
            (Distance::Known(0), b) if op == BinaryOp::Add => b,
            (Distance::Known(a), Distance::Computed(b)) => {
                let a = self.b.int(self.b.kernel.ty(b), a);
                Distance::Computed(self.b.binary(op, a, b))
            }
            (Distance::Computed(a), Distance::Known(b)) => {
                let b = self.b.int(self.b.kernel.ty(a), b);
                Distance::Computed(self.b.binary(op, a, b))
            }
            (Distance::Computed(a), Distance::Computed(b)) => Distance::Computed(self.b.binary(op, a, b)),
        }
    }

    /// Of `a * b`, one of which stays.
    fn product(&mut self, a: Value, b: Value) -> Distance {
        let (moving, factor) = if self.affine.values.contains(&a) { (a, b) } else { (b, a) };
        match (self.distance(moving), self.number(factor)) {
            (Distance::Known(0), _) => Distance::Known(0),
            (Distance::Known(distance), Some(factor)) => Distance::Known(distance.wrapping_mul(factor)),
            (Distance::Known(1), None) => Distance::Computed(factor),
            (distance, _) => {
                let factor = self.first(factor);
                let distance = self.value(distance, self.b.kernel.ty(factor));
                Distance::Computed(self.b.binary(BinaryOp::Mul, factor, distance))
            }
        }
    }

    fn value(&mut self, distance: Distance, ty: Type) -> Value {
        match distance {
            Distance::Known(distance) => self.b.int(ty, distance),
            Distance::Computed(distance) => distance,
        }
    }
}

/// Lets the loop carry `root`.
fn carry(kernel: &mut Kernel, owner: Inst, root: Value, first: Value, distance: Distance) {
    let (ty, loc) = (kernel.ty(root), kernel.insts[owner].loc);
    let Op::Region(Region::For { body, .. }) = kernel.insts[owner].op else { return };
    let param = kernel.add_param(body, ty);
    kernel.values[param].name = kernel.values[root].name.clone();
    kernel.add_result(owner, ty);
    if let Op::Region(Region::For { init, .. }) = &mut kernel.insts[owner].op {
        init.push(first);
    }
    let mut inside = Vec::new();
    kernel.walk_block(body, &mut |_, block, inst| inside.push((block, inst)));
    for (block, inst) in inside {
        kernel.insts[inst].op.for_each_operand_mut(|operand| {
            if *operand == root {
                *operand = param;
            }
        });
        let Op::Terminator(terminator) = &kernel.insts[inst].op else { continue };
        let value = match terminator {
            Terminator::Yield(_) if block == body => advance(kernel, block, loc, param, distance),
            Terminator::Continue(target, _) if *target == owner => advance(kernel, block, loc, param, distance),
            Terminator::Break(target, _) if *target == owner => param,
            Terminator::Yield(_) | Terminator::Continue(..) | Terminator::Break(..) | Terminator::Return | Terminator::Trap(_) => continue,
        };
        if let Op::Terminator(Terminator::Yield(values) | Terminator::Continue(_, values) | Terminator::Break(_, values)) =
            &mut kernel.insts[inst].op
        {
            values.push(value);
        }
    }
}

/// `param + distance`, in front of the block's end.
fn advance(kernel: &mut Kernel, block: Block, loc: Loc, param: Value, distance: Distance) -> Value {
    let end = terminator(kernel, block);
    if end.is_some() {
        kernel.blocks[block].insts.pop();
    }
    let ty = kernel.ty(param);
    let (mut b, is_pointer) = (Builder::new(kernel, block, loc), matches!(ty, Type::Ptr(_)));
    let by = match distance {
        Distance::Computed(by) => by,
        Distance::Known(by) if !is_pointer => b.int(ty, by),
        Distance::Known(by) => b.int(if ty.bits() == 64 { Type::U64 } else { Type::U32 }, by),
    };
    let op = if is_pointer { Op::Compute(Compute::Offset(param, by)) } else { Op::Compute(Compute::Binary(BinaryOp::Add, param, by)) };
    let next = b.push1(op, ty);
    kernel.blocks[block].insts.extend(end);
    next
}
