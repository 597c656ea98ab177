//! A loop in groups: N iterations at a time, and what is left one at a time. What `unroll(N)`, `ilp` and `vectorize` have in common.
//!
//! ```text
//! for i in start..end step s { body }
//!     ▼
//! next, … = for i in start..end − (N − 1)·s step N·s; next = start { group of i, i + s, …; yield i + N·s }
//!           for i in next..end step s { body }
//! ```
//!
//! The first loop's bound is its `start` if there are fewer than N iterations or N·s does not fit the counter's type; for unsigned counters
//! and a known step `max(end, (N − 1)·s) − (N − 1)·s`, of which `analysis::bounds` knows that the counter does not wrap round. With
//! constant bounds all of that is arithmetic done here, and a remainder of none is left out.

use super::Schedule;
use crate::analysis::bounds::{Bounds, type_max};
use crate::collections::HashMap;
use crate::ir::{BinaryOp, Block, Builder, CompareOp, Inst, Kernel, Loc, Op, Region, Terminator, Type, Value, eval};

/// A `For` taken apart.
#[derive(Clone, Debug)]
pub(super) struct Counted {
    pub(super) start: Value,
    pub(super) end: Value,
    pub(super) step: Value,
    pub(super) init: Vec<Value>,
    pub(super) body: Block,
    pub(super) loc: Loc,
    /// The counter, a parameter of the body.
    pub(super) counter: Value,
    /// The carried values, parameters of the body.
    pub(super) carried: Vec<Value>,
}

impl Counted {
    /// `None` if it is no `For`.
    pub(super) fn of(kernel: &Kernel, inst: Inst) -> Option<Counted> {
        let Op::Region(Region::For { start, end, step, ref init, body, .. }) = kernel.insts[inst].op else { return None };
        let params = &kernel.blocks[body].params;
        let loc = kernel.insts[inst].loc;
        Some(Counted { start, end, step, init: init.clone(), body, loc, counter: params[0], carried: params[1..].to_vec() })
    }

    /// How often it runs, if that is known.
    pub(super) fn trips(&self, kernel: &Kernel) -> Option<u64> {
        let constant = |value| kernel.constant(value).map(|scalar| scalar.as_int());
        eval::trips([constant(self.start)?, constant(self.end)?, constant(self.step)?])
    }
}

/// What the loop over groups left behind.
pub(super) struct Groups {
    /// The loop over groups.
    pub(super) main: Inst,
    /// Its results: the group's carried values.
    pub(super) results: Vec<Value>,
    /// The counter of the first iteration that is in no group; `None`: every iteration is in one.
    pub(super) rest: Option<Value>,
}

/// Builds, at the end of `block`, the loop over groups of `n`: `group` fills the body, given its block, the counters of its
/// iterations and the carried values, and gives their next values.
pub(super) fn in_groups(
    kernel: &mut Kernel,
    block: Block,
    walk: &Counted,
    n: u32,
    init: Vec<Value>,
    group: impl FnOnce(&mut Kernel, Block, &[Value], &[Value]) -> Vec<Value>,
) -> Groups {
    let ty = kernel.ty(walk.counter);
    let trips = walk.trips(kernel);
    let known = trips.map(|trips| trips / u64::from(n) * u64::from(n));
    let needs_rest = trips.is_none_or(|trips| trips % u64::from(n) != 0);
    let numbers = numbers(kernel, walk);
    let mut b = Builder::new(kernel, block, walk.loc);
    let (stride, end, known_rest) = match (known, numbers) {
        (Some(whole), Some((start, step))) => known_groups(&mut b, walk, ty, start, step, i128::from(n), i128::from(whole)),
        _ => {
            let (end, fits) = group_end(&mut b, walk, n);
            let stride = times(&mut b, walk.step, n);
            // A loop that does not run needs a step above 0, too.
            let stride = match fits {
                Fits::Known(true) => stride,
                Fits::Known(false) => walk.step,
                Fits::If(fits) => b.select(fits, stride, walk.step),
            };
            (stride, end, end)
        }
    };
    // Where the rest begins is only carried if nothing else tells.
    let carries_next = needs_rest && known.is_none();
    let mut init = init;
    if carries_next {
        init.push(walk.start);
    }
    let types: Vec<Type> = std::iter::once(ty).chain(init.iter().map(|value| kernel.ty(*value))).collect();
    let body = kernel.new_block(&types);
    let op = Op::Region(Region::For { start: walk.start, end, step: stride, init, body, keep_rolled: false });
    let main = kernel.new_inst(op, &types[1..], walk.loc);
    let params = kernel.blocks[body].params.clone();
    kernel.values[params[0]].name = kernel.values[walk.counter].name.clone();
    let mut b = Builder::new(kernel, body, walk.loc);
    let mut counters = vec![params[0]];
    for k in 1..n {
        let away = times(&mut b, walk.step, k);
        counters.push(b.binary(BinaryOp::Add, params[0], away));
    }
    let carried = &params[1..params.len() - usize::from(carries_next)];
    let mut next = group(kernel, body, &counters, carried);
    let mut b = Builder::new(kernel, body, walk.loc);
    if carries_next {
        let after = b.binary(BinaryOp::Add, params[0], stride);
        // The last group ends below `end + s − 1`, which may be beyond the type; what begins there is nothing.
        let stays_in_range = may_add_step(b.kernel, walk);
        let wraps = b.compare(CompareOp::Lt, after, params[0]);
        next.push(if stays_in_range { after } else { b.select(wraps, walk.end, after) });
    }
    b.push(Op::Terminator(Terminator::Yield(next)), &[]);
    kernel.blocks[block].insts.push(main);
    let mut results = kernel.insts[main].results.clone();
    let carried_next = if carries_next { results.pop() } else { None };
    let rest = needs_rest.then_some(carried_next.unwrap_or(known_rest));
    Groups { main, results, rest }
}

/// Whether n steps fit the counter's type.
enum Fits {
    Known(bool),
    If(Value),
}

/// Start and step, if they are constants.
fn numbers(kernel: &Kernel, walk: &Counted) -> Option<(i128, i128)> {
    let constant = |value: Value| kernel.constant(value).map(|scalar| scalar.as_int());
    Some((constant(walk.start)?, constant(walk.step)?))
}

/// Step and end of a loop over groups of `n`, `whole` iterations in all, where that is known, and where the rest begins. A group may be longer
/// than the type's numbers go, and the last may end beyond them.
fn known_groups(b: &mut Builder<'_>, walk: &Counted, ty: Type, start: i128, step: i128, n: i128, whole: i128) -> (Value, Value, Value) {
    let fits = |value: i128| value <= *ty.numbers().end();
    let rest = if fits(start + whole * step) { b.int(ty, start + whole * step) } else { walk.end };
    if fits(n * step) {
        return (b.int(ty, n * step), rest, rest);
    }
    // There is one such group at most.
    let is_some = i128::from(whole > 0);
    (b.int(ty, 1), b.int(ty, start + is_some), rest)
}

/// `end − (n − 1)·step` if there are n iterations, else `start` or below it.
fn group_end(b: &mut Builder<'_>, walk: &Counted, n: u32) -> (Value, Fits) {
    let ty = b.kernel.ty(walk.counter);
    let unsigned = ty.to_unsigned();
    if let Some(step) = b.kernel.constant(walk.step).filter(|_| ty == unsigned) {
        let span = step.as_int() * i128::from(n - 1);
        if span + step.as_int() > i128::from(type_max(ty)) {
            return (walk.start, Fits::Known(false));
        }
        let span = b.int(ty, span);
        let least = b.binary(BinaryOp::Max, walk.end, span);
        return (b.binary(BinaryOp::Sub, least, span), Fits::Known(true));
    }
    let some = b.compare(CompareOp::Lt, walk.start, walk.end);
    let distance = b.binary(BinaryOp::Sub, walk.end, walk.start);
    let distance = b.bitcast(distance, unsigned);
    let step = b.bitcast(walk.step, unsigned);
    let most = b.int(unsigned, ty.numbers().end() / i128::from(n));
    let fits = b.compare(CompareOp::Le, step, most);
    let others = b.int(unsigned, i128::from(n - 1));
    let span = b.binary(BinaryOp::Mul, step, others);
    let enough = b.compare(CompareOp::Gt, distance, span);
    let both = b.binary(BinaryOp::And, some, enough);
    let all = b.binary(BinaryOp::And, both, fits);
    let span = b.bitcast(span, ty);
    let end = b.binary(BinaryOp::Sub, walk.end, span);
    (b.select(all, end, walk.start), Fits::If(fits))
}

/// `value * n`, as a number if `value` is one: passes that follow look at it.
fn times(b: &mut Builder<'_>, value: Value, n: u32) -> Value {
    let ty = b.kernel.ty(value);
    match b.kernel.constant(value) {
        Some(known) => b.int(ty, known.as_int() * i128::from(n)),
        None => {
            let n = b.int(ty, i128::from(n));
            b.binary(BinaryOp::Mul, value, n)
        }
    }
}

/// Whether no counter, and not what is a step beyond the last, leaves the type's range.
fn may_add_step(kernel: &Kernel, walk: &Counted) -> bool {
    let Some(step) = kernel.constant(walk.step).map(|step| step.as_int()) else { return false };
    let ty = kernel.ty(walk.counter);
    let end = || i128::from(Bounds::of(kernel).upper(kernel, walk.end));
    step == 1 || (ty.is_unsigned_int() && end() + step <= i128::from(type_max(ty)) + 1)
}

/// Puts what is left of the original loop behind its groups, at the end of `block`: from `rest` on, starting with `init`; without a
/// rest, `init` stands for its results. `behind` follows.
pub(super) fn finish(schedule: &mut Schedule<'_>, block: Block, inst: Inst, rest: Option<Value>, init: Vec<Value>, behind: Vec<Inst>) {
    let kernel = &mut *schedule.kernel;
    match (&mut kernel.insts[inst].op, rest) {
        (Op::Region(Region::For { start, init: first, .. }), Some(rest)) => {
            *start = rest;
            *first = init;
            kernel.blocks[block].insts.push(inst);
        }
        _ => schedule.names.set_all(&kernel.insts[inst].results, &init),
    }
    kernel.blocks[block].insts.extend(behind);
}

/// What stands for the results of loops that are no more. It is made good in a loop before anybody looks at that, and everywhere in the end: not
/// after each loop, since a kernel may have many.
#[derive(Debug, Default)]
pub(super) struct Names(HashMap<Value, Value>);

impl Names {
    /// From here on each of `to` stands for that of `from`.
    pub(super) fn set_all(&mut self, from: &[Value], to: &[Value]) {
        self.0.extend(from.iter().copied().zip(to.iter().copied()));
    }

    /// Makes it good in an instruction and all that it owns.
    pub(super) fn apply_in(&self, kernel: &mut Kernel, inst: Inst) {
        if self.0.is_empty() {
            return;
        }
        let mut insts = vec![inst];
        for block in kernel.insts[inst].op.blocks() {
            kernel.walk_block(block, &mut |_, _, inner| insts.push(inner));
        }
        for inst in insts {
            kernel.insts[inst].op.for_each_operand_mut(|value| *value = self.get(*value));
        }
    }

    /// Makes it good everywhere, and forgets it.
    pub(super) fn apply(&mut self, kernel: &mut Kernel) {
        if self.0.is_empty() {
            return;
        }
        let mut map = vec![None; kernel.values.len()];
        self.0.drain().for_each(|(from, to)| map[usize::from(from)] = Some(to));
        kernel.replace_values(&map);
    }

    fn get(&self, mut value: Value) -> Value {
        while let Some(next) = self.0.get(&value) {
            value = *next;
        }
        value
    }
}

/// Takes an instruction out of its block; gives what stood behind it.
pub(super) fn open(kernel: &mut Kernel, block: Block, inst: Inst) -> Vec<Inst> {
    let insts = &mut kernel.blocks[block].insts;
    let at = insts.iter().position(|other| *other == inst).unwrap_or(insts.len());
    let rest = insts.split_off(at);
    rest.into_iter().skip(1).collect()
}
