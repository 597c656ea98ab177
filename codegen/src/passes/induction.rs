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
//! Sums of the counter and of what stays, `i`, `i + stride`, `i + 2 * stride` of an unrolled loop, say, share the counter if there are several: each is one addition to
//! it, as it would be one to a register of its own.
//!
//! A body of more than [`LONG`] instructions is left as it is: there an address is made while other work goes on, and the registers are wanted.
//!
//! Inner loops come first: where their addresses start is affine in the loop round them.

use super::rewrite::Rewrite;
use crate::analysis::affine::{Polynomial, arithmetic};
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
            let mut before = Before { b: rewrite.builder(block, loc), affine: &affine, start, step, firsts: HashMap::default() };
            // All of them before any is carried: one may be made of another.
            let moves: Vec<_> = roots.iter().filter_map(|root| Some((*root, before.first(*root), before.distance(*root)?))).collect();
            rewrite.changed |= !moves.is_empty();
            for (root, first, distance) in moves {
                carry(rewrite.kernel, inst, root, first, distance);
            }
        }
        rewrite.keep(block, inst);
    }
}

/// What a loop's body makes of its counter by arithmetic.
struct Affine {
    counter: Value,
    /// The counter, and what is affine in it, as sums of products of it and of values from outside.
    values: HashMap<Value, Polynomial<Value>>,
    /// What the body defines.
    inside: HashSet<Value>,
}

impl Affine {
    fn of(kernel: &Kernel, body: Block, counter: Value) -> Affine {
        let inside = kernel.blocks[body].params.iter().copied().collect();
        let mut affine = Affine { counter, values: HashMap::default(), inside };
        let width = kernel.ty(counter).bits();
        if width < 32 {
            return affine;
        }
        affine.values.insert(counter, Polynomial::atom(width, counter));
        for inst in &kernel.blocks[body].insts {
            let data = &kernel.insts[*inst];
            affine.inside.extend(&data.results);
            let [result] = data.results[..] else { continue };
            let sum = arithmetic(kernel, result, |value| affine.operand(kernel, value)).filter(|sum| sum.bits() == width);
            if let Some(sum) = sum.filter(|sum| sum.split(counter).is_some_and(|(by, _)| by.as_constant() != Some(0))) {
                affine.values.insert(result, sum);
            }
        }
        affine
    }

    /// What moves, what is known, and what stays since it stands outside.
    fn operand(&self, kernel: &Kernel, value: Value) -> Option<Polynomial<Value>> {
        let bits = kernel.ty(value).bits();
        if let Some(known) = kernel.constant(value) {
            return Some(Polynomial::constant(bits, known.as_int() as i64));
        }
        let moves = self.values.get(&value).cloned();
        moves.or_else(|| (!self.inside.contains(&value)).then(|| Polynomial::atom(bits, value)))
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
            if root != self.counter && self.values.contains_key(&root) && !roots.contains(&root) {
                roots.push(root);
            }
        });
        let is_counter_and_more = |root: &Value| self.values[root].split(self.counter).is_some_and(|(by, _)| by.as_constant() == Some(1));
        if roots.iter().filter(|root| is_counter_and_more(root)).count() > 1 {
            roots.retain(|root| !is_counter_and_more(root));
        }
        roots.truncate(MOST);
        roots
    }

    fn without_constant(&self, kernel: &Kernel, value: Value) -> Value {
        match kernel.def(value) {
            Some((_, Op::Compute(Compute::Binary(BinaryOp::Add | BinaryOp::Sub, base, constant))))
                if self.values.contains_key(base) && kernel.constant(*constant).is_some() =>
            {
                self.without_constant(kernel, *base)
            }
            _ => value,
        }
    }
}

/// Builds, in front of a loop, where affine values start and how far they move.
struct Before<'a> {
    b: Builder<'a>,
    affine: &'a Affine,
    start: Value,
    step: Value,
    firsts: HashMap<Value, Value>,
}

impl Before<'_> {
    /// The value in the first iteration.
    fn first(&mut self, value: Value) -> Value {
        if value == self.affine.counter {
            return self.start;
        }
        if !self.affine.inside.contains(&value) {
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

    /// How far an affine value moves in an iteration.
    fn distance(&mut self, value: Value) -> Option<Value> {
        let kernel = &*self.b.kernel;
        let ty = if matches!(kernel.ty(value), Type::Ptr(_)) { kernel.index_type() } else { kernel.ty(value) };
        let (by, _) = self.affine.values.get(&value)?.split(self.affine.counter)?;
        let distance = match (kernel.constant(self.step), by.as_constant()) {
            (Some(step), _) => self.sum(&by.scaled(step.as_int() as i64), ty),
            (None, Some(-1)) => {
                let zero = self.b.int(self.b.kernel.ty(self.step), 0);
                self.b.binary(BinaryOp::Sub, zero, self.step)
            }
            (None, Some(times)) => self.sum(&Polynomial::atom(by.bits(), self.step).scaled(times), self.b.kernel.ty(self.step)),
            (None, None) => {
                let by = self.sum(&by, self.b.kernel.ty(self.step));
                self.b.binary(BinaryOp::Mul, by, self.step)
            }
        };
        Some(self.b.cast(distance, ty))
    }

    /// A sum of values from outside the loop.
    fn sum(&mut self, sum: &Polynomial<Value>, ty: Type) -> Value {
        let b = &mut self.b;
        let (products, known) = sum.without_constant();
        let mut sum = (known != 0).then(|| b.int(ty, i128::from(known)));
        for (product, coefficient) in products.terms() {
            let of = b.kernel.ty(product[0]);
            let mut factors: Vec<Value> = product.iter().map(|atom| b.cast(*atom, of)).collect();
            for factor in factors.split_off(1) {
                factors[0] = b.binary(BinaryOp::Mul, factors[0], factor);
            }
            let scaled = match u64::try_from(*coefficient) {
                Ok(1) => factors[0],
                // A product of 64 bits is four of 32.
                Ok(factor) if factor.is_power_of_two() && of.bits() == 64 => {
                    let count = b.int(Type::U32, factor.trailing_zeros().into());
                    b.binary(BinaryOp::Shl, factors[0], count)
                }
                _ => {
                    let factor = b.int(of, i128::from(*coefficient));
                    b.binary(BinaryOp::Mul, factors[0], factor)
                }
            };
            let term = b.cast(scaled, ty);
            sum = Some(sum.map_or(term, |sum| b.binary(BinaryOp::Add, sum, term)));
        }
        sum.unwrap_or_else(|| b.int(ty, 0))
    }
}

/// Lets the loop carry `root`.
fn carry(kernel: &mut Kernel, owner: Inst, root: Value, first: Value, distance: Value) {
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
fn advance(kernel: &mut Kernel, block: Block, loc: Loc, param: Value, distance: Value) -> Value {
    let end = kernel.terminator(block);
    if end.is_some() {
        kernel.blocks[block].insts.pop();
    }
    let ty = kernel.ty(param);
    let (mut b, is_pointer) = (Builder::new(kernel, block, loc), matches!(ty, Type::Ptr(_)));
    let op = if is_pointer { Compute::Offset(param, distance) } else { Compute::Binary(BinaryOp::Add, param, distance) };
    let next = b.push1(Op::Compute(op), ty);
    kernel.blocks[block].insts.extend(end);
    next
}
