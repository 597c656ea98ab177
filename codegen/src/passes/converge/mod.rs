//! Brings all threads of a block to every warp exchange and barrier, for devices that exchange values through local memory (OpenCL C).
//!
//! The language asks only the threads of one warp to come to a warp exchange: a warp may skip it under a condition, leave the loop
//! around it earlier than its neighbours, or return. Without sub-groups an exchange is made of barriers of the whole block, and a
//! barrier that a thread does not reach is undefined. So control flow that may differ within the block is taken apart round what
//! needs all threads, and a *mask* says which threads take part:
//!
//! ```text
//! if row < rows {                     active = row < rows
//!     sum = x[row * 32 + lane]        if active { sum = x[row * 32 + lane] }
//!     sum = warp_sum(sum)             sum = warp_sum(sum)
//!     y[row] = sum                    if active { y[row] = sum }
//! }
//! ```
//!
//! * **Runs** (`runs.rs`): the instructions between two meetings run under an `if` on the mask; what is used behind it is its result, zero
//!   in the threads outside. Arithmetic that cannot fault needs no `if`. Loads, stores, atomics, division and prints stay guarded.
//! * **Meetings** (`meetings.rs`): every thread comes to the exchange; one outside the mask passes what contributes nothing.
//! * **Branches**: both sides, one after the other, each under its part of the mask.
//! * **Loops** (`loops.rs`): a thread that is done waits. A round begins by asking whether any thread of the block wants it.
//! * **Exits** (`exits.rs`): `break`, `continue` and `return` take the thread out of the mask and note the values that it leaves with.
//!
//! Control flow that is the same for the whole block stays as it is, and so does all control flow without a meeting inside: a kernel
//! that meets in uniform control flow only is left alone.
//!
//! **Needs** `Legal`. **Preserves** results, the order of each thread's accesses, and what is guarded: a thread outside the mask touches no
//! memory and divides nothing. A thread stopped by a failed assertion leaves as by `return` (`stops.rs`, which runs before).
//! **Refuses** nothing: every kernel can be taken apart.

mod exits;
mod loops;
mod meetings;
mod plan;
mod runs;
mod stops;

use super::rewrite::Rewrite;
use crate::ir::{BinaryOp, Block, Builder, Compute, Effects, Inst, Kernel, Loc, Op, Region, Scalar, Terminator, Type, UnaryOp, Value};
use exits::Context;
use plan::Plan;
use std::collections::{BTreeMap, BTreeSet};
pub(super) use stops::return_where_stopped;

/// Runs the pass. Gives whether it changed anything.
pub(super) fn run(kernel: &mut Kernel) -> bool {
    bring(kernel, Effects::is_convergent)
}

/// Brings all threads to barriers of the block alone, for devices that have exchanges within a warp.
pub(super) fn run_for_barriers(kernel: &mut Kernel) -> bool {
    bring(kernel, Effects::is_barrier)
}

fn bring(kernel: &mut Kernel, is_meeting: fn(&Effects) -> bool) -> bool {
    let Some(plan) = Plan::of(kernel, is_meeting) else { return false };
    let body = kernel.body;
    let mut rewrite = Rewrite::new(kernel);
    let insts = rewrite.take(body);
    let loc = Loc(0);
    let [yes, no] = [true, false].map(|value| rewrite.builder(body, loc).bool(value));
    let mut converge =
        Converge { rewrite, plan, at: body, loc, yes, no, zeros: BTreeMap::new(), masked: BTreeSet::new(), contexts: Vec::new() };
    converge.body(&insts);
    true
}

/// A kernel being taken apart.
struct Converge<'k> {
    rewrite: Rewrite<'k>,
    plan: Plan,
    /// The block that is being written.
    at: Block,
    /// The place of what is being written.
    loc: Loc,
    /// The mask of all threads.
    yes: Value,
    /// The mask of none.
    no: Value,
    /// A zero of each type, made at the beginning of the body.
    zeros: BTreeMap<Type, Value>,
    /// Values of the original kernel that are not what they should be in threads outside the mask.
    masked: BTreeSet<Value>,
    /// The loops and regions around this place that are taken apart, outermost first.
    contexts: Vec<Context>,
}

/// How a block ends that was taken apart: the threads that come to its end, and what they yield. `None`: none does.
type End = Option<(Value, Vec<Value>)>;

/// What becomes of an instruction.
enum Part {
    /// It is part of a run.
    Plain,
    /// All threads are to come to it.
    Meeting,
    /// It has meetings inside, and all threads of the block go through it together.
    Together,
    /// A `For` with meetings inside that all threads of the mask go through alike.
    Counted,
    /// It is taken apart.
    Apart,
    /// It ends its block.
    Exit,
}

impl Converge<'_> {
    /// The kernel's body. Behind its last meeting a `return` is what it was.
    fn body(&mut self, insts: &[Inst]) {
        let tail = insts.iter().rposition(|inst| self.plan.is_meeting(*inst) || self.plan.holds(*inst)).map_or(0, |n| n + 1);
        let (head, tail) = insts.split_at(tail);
        let on = match self.instructions(head, self.yes) {
            Ok(on) => on,
            Err(_) => self.no,
        };
        let [rest @ .., last] = tail else { return };
        let ends = matches!(self.kernel().insts[*last].op, Op::Terminator(Terminator::Return));
        let rest = if ends { rest } else { tail };
        if on == self.yes {
            return tail.iter().for_each(|inst| self.keep_all(*inst));
        }
        if !rest.is_empty() {
            self.guarded(rest, on);
        }
        self.builder().push(Op::Terminator(Terminator::Return), &[]);
    }

    /// Takes a block of a statement apart into the present block, for the threads of `on`.
    fn block(&mut self, block: Block, on: Value) -> End {
        let insts = self.rewrite.take(block);
        match self.instructions(&insts, on) {
            Ok(on) => Some((on, Vec::new())),
            Err(end) => end,
        }
    }

    /// Instructions for the threads of `on`. Gives the mask behind them, or, if they end the block, its end.
    fn instructions(&mut self, insts: &[Inst], on: Value) -> Result<Value, End> {
        let mut on = on;
        let mut run = Vec::new();
        for inst in insts {
            let part = self.part(*inst);
            if matches!(part, Part::Plain) {
                run.push(*inst);
                continue;
            }
            on = self.run(&std::mem::take(&mut run), on);
            self.loc = self.kernel().insts[*inst].loc;
            match part {
                Part::Plain => {}
                Part::Meeting => self.meet(*inst, on),
                Part::Together => self.together(*inst),
                Part::Counted => self.counted(*inst, on),
                Part::Apart => on = self.apart(*inst, on),
                Part::Exit => return Err(self.exit(*inst, on)),
            }
        }
        Ok(self.run(&run, on))
    }

    fn part(&self, inst: Inst) -> Part {
        let op = &self.kernel().insts[inst].op;
        if op.is_terminator() {
            return Part::Exit;
        }
        if self.plan.is_meeting(inst) {
            return Part::Meeting;
        }
        match op {
            Op::Region(Region::If { .. }) if !self.plan.holds(inst) => {
                if self.leaves_at_once(inst) {
                    Part::Apart
                } else {
                    Part::Plain
                }
            }
            _ if !self.plan.holds(inst) => Part::Plain,
            // What leaves a statement that is taken apart is taken apart, too.
            _ if self.plan.is_together(self.kernel(), inst) && (self.contexts.is_empty() || !self.leaves(inst, &[inst])) => Part::Together,
            Op::Region(Region::For { .. }) if self.is_counted(inst) => Part::Counted,
            Op::Compute(_)
            | Op::Memory(_)
            | Op::Texture(..)
            | Op::Intrinsic(..)
            | Op::Collective(_)
            | Op::Tensor(_)
            | Op::Engine(_)
            | Op::Message(_)
            | Op::Region(_)
            | Op::Terminator(_) => Part::Apart,
        }
    }

    /// A statement that the whole block goes through together stays one; its blocks are rewritten.
    fn together(&mut self, inst: Inst) {
        for block in self.kernel().insts[inst].op.blocks() {
            let outer = std::mem::replace(&mut self.at, block);
            self.keeping_known(|converge| {
                if let Some((_, values)) = converge.block(block, converge.yes) {
                    converge.builder().push(Op::Terminator(Terminator::Yield(values)), &[]);
                }
            });
            self.at = outer;
        }
        self.rewrite.resolve_operands(inst);
        self.rewrite.keep(self.at, inst);
    }

    /// Takes a statement apart. Gives the mask behind it.
    fn apart(&mut self, inst: Inst, on: Value) -> Value {
        let results = self.kernel().insts[inst].results.clone();
        self.masked.extend(results);
        match self.kernel().insts[inst].op {
            Op::Region(Region::If { condition, then_block, else_block }) => self.branch(inst, condition, [then_block, else_block], on),
            Op::Region(Region::Block { body }) => self.region(inst, body, on),
            Op::Compute(_)
            | Op::Memory(_)
            | Op::Texture(..)
            | Op::Intrinsic(..)
            | Op::Collective(_)
            | Op::Tensor(_)
            | Op::Engine(_)
            | Op::Message(_)
            | Op::Region(_)
            | Op::Terminator(_) => self.repeat(inst, on),
        }
    }

    /// Both sides of an `if`, one after the other.
    fn branch(&mut self, inst: Inst, condition: Value, [then_block, else_block]: [Block; 2], on: Value) -> Value {
        let condition = self.rewrite.resolve(condition);
        let then_on = self.and(on, condition);
        let otherwise = self.not(condition);
        let else_on = self.and(on, otherwise);
        let then_end = self.block(then_block, then_on);
        let else_end = self.block(else_block, else_on);
        let results = self.kernel().insts[inst].results.clone();
        match (then_end, else_end) {
            (Some((then_left, then_values)), Some((else_left, else_values))) => {
                for (n, result) in results.iter().enumerate() {
                    let value = self.select(condition, then_values[n], else_values[n]);
                    self.stand_for(*result, value);
                }
                if (then_left, else_left) == (then_on, else_on) { on } else { self.or(then_left, else_left) }
            }
            (Some((left, values)), None) | (None, Some((left, values))) => {
                results.iter().zip(values).for_each(|(result, value)| self.stand_for(*result, value));
                left
            }
            (None, None) => {
                self.zero_for(&results);
                self.no
            }
        }
    }

    // ---- making values

    fn kernel(&self) -> &Kernel {
        self.rewrite.kernel
    }

    fn builder(&mut self) -> Builder<'_> {
        let (at, loc) = (self.at, self.loc);
        self.rewrite.builder(at, loc)
    }

    /// From here on `value` stands for a value of the original kernel.
    fn stand_for(&mut self, original: Value, value: Value) {
        self.rewrite.replace(original, value);
    }

    fn zero_for(&mut self, results: &[Value]) {
        for result in results {
            let zero = self.zero(self.kernel().ty(*result));
            self.stand_for(*result, zero);
        }
    }

    /// A zero, for threads whose value is never looked at.
    fn zero(&mut self, ty: Type) -> Value {
        if let Some(zero) = self.zeros.get(&ty) {
            return *zero;
        }
        let kernel = &mut *self.rewrite.kernel;
        let inst = kernel.new_inst(Op::Compute(Compute::Const(Scalar { ty, bits: 0 })), &[ty], Loc(0));
        let body = kernel.body;
        kernel.blocks[body].insts.insert(0, inst);
        let zero = kernel.insts[inst].results[0];
        self.zeros.insert(ty, zero);
        zero
    }

    fn zeros(&mut self, types: &[Type]) -> Vec<Value> {
        types.iter().map(|ty| self.zero(*ty)).collect()
    }

    fn types(&self, values: &[Value]) -> Vec<Type> {
        values.iter().map(|value| self.kernel().ty(*value)).collect()
    }

    fn and(&mut self, a: Value, b: Value) -> Value {
        match (a, b) {
            _ if a == self.yes || b == self.no => b,
            _ if b == self.yes || a == self.no => a,
            _ => self.mask(BinaryOp::And, a, b),
        }
    }

    fn or(&mut self, a: Value, b: Value) -> Value {
        match (a, b) {
            _ if a == self.no || b == self.yes => b,
            _ if b == self.no || a == self.yes || a == b => a,
            _ => self.mask(BinaryOp::Or, a, b),
        }
    }

    fn mask(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        let mut builder = self.builder();
        let mask = builder.binary(op, a, b);
        builder.name(mask, "active");
        mask
    }

    fn not(&mut self, a: Value) -> Value {
        match a {
            _ if a == self.yes => self.no,
            _ if a == self.no => self.yes,
            _ => self.builder().unary(UnaryOp::Not, a),
        }
    }

    /// `if c { a } else { b }`.
    fn select(&mut self, c: Value, a: Value, b: Value) -> Value {
        match c {
            _ if c == self.yes || a == b => a,
            _ if c == self.no => b,
            _ => self.builder().select(c, a, b),
        }
    }
}
