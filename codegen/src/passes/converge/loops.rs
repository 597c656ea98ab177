//! Loops: a thread that is done waits until no thread of the block wants another round.
//!
//! ```text
//! for k in begin..end {               k = begin, active = begin < end
//!     sum += warp_sum(x[k])           while any thread of the block is active {
//! }                                       if active { t = x[k] }
//!                                         t = warp_sum(t)
//!                                         sum = if active { sum + t } else { sum }
//!                                         active = active && end - k > 1
//!                                         k = k + 1
//!                                     }
//! ```
//!
//! What the loops and regions around it know of threads that left (`Context`) may change inside, so the new loop carries it, too; `fold` drops
//! what did not change.

use super::Converge;
use super::exits::Context;
use crate::ir::{BinaryOp, CompareOp, Inst, Op, Region, Terminator, Type, Value};

/// The range of a `For`.
#[derive(Clone, Copy)]
struct Range {
    start: Value,
    end: Value,
    step: Value,
}

impl Converge<'_> {
    /// Takes a loop apart. Gives the mask behind it.
    pub(super) fn repeat(&mut self, inst: Inst, on: Value) -> Value {
        self.rewrite.resolve_operands(inst);
        let (init, body, keep_rolled, range) = match self.kernel().insts[inst].op.clone() {
            Op::Region(Region::For { start, end, step, init, body, keep_rolled }) => {
                (init, body, keep_rolled, Some(Range { start, end, step }))
            }
            Op::Region(Region::Loop { init, body, keep_rolled }) => (init, body, keep_rolled, None),
            Op::Compute(_)
            | Op::Memory(_)
            | Op::Texture(..)
            | Op::Intrinsic(..)
            | Op::Collective(_)
            | Op::Tensor(_)
            | Op::Engine(_)
            | Op::Message(_)
            | Op::Region(_)
            | Op::Terminator(_) => {
                return on;
            }
        };
        let results = self.kernel().insts[inst].results.clone();
        let params = self.kernel().blocks[body].params.clone();
        self.masked.extend(&params);

        // What is carried: the loop's own values, the mask, who stays, the counter, its results so far, what is known outside.
        let mut carried = init.clone();
        let mut wants = on;
        if let Some(range) = range {
            let begins = self.builder().compare(CompareOp::Lt, range.start, range.end);
            wants = self.and(on, begins);
        }
        carried.extend([wants, on]);
        carried.extend(range.map(|range| range.start));
        let given = if range.is_some() { Vec::new() } else { self.types(&results) };
        carried.extend(self.zeros(&given));
        carried.extend(self.known());
        let types = self.types(&carried);

        let block = self.rewrite.kernel.new_block(&types);
        let mut inside = self.kernel().blocks[block].params.clone();
        let out: Vec<usize> = match range {
            Some(_) => (0..init.len()).chain([init.len() + 1]).chain(init.len() + 3..types.len()).collect(),
            None => (init.len() + 2..init.len() + 2 + given.len())
                .chain([init.len() + 1])
                .chain(init.len() + 2 + given.len()..types.len())
                .collect(),
        };
        let out_types: Vec<Type> = out.iter().map(|n| types[*n]).collect();
        let op = Op::Region(Region::Loop { init: carried, body: block, keep_rolled });
        let loc = self.loc;
        let new = self.rewrite.kernel.new_inst(op, &out_types, loc);
        let leaving: Vec<Value> = out.iter().map(|n| inside[*n]).collect();

        // The head of a round.
        let outer = std::mem::replace(&mut self.at, block);
        let known = inside.split_off(init.len() + 2 + usize::from(range.is_some()) + given.len());
        self.set_known(&known);
        let so_far = inside.split_off(inside.len() - given.len());
        let counter = range.map(|_| inside[init.len() + 2]);
        let (active, stay) = (inside[init.len()], inside[init.len() + 1]);
        self.rewrite.kernel.values[active].name = Some("active".into());
        let go = self.anyone(active);
        let (then_block, else_block) = (self.rewrite.kernel.new_block(&[]), self.rewrite.kernel.new_block(&[]));
        self.rewrite.builder(then_block, loc).push(Op::Terminator(Terminator::Yield(Vec::new())), &[]);
        self.rewrite.builder(else_block, loc).push(Op::Terminator(Terminator::Break(new, leaving)), &[]);
        self.builder().push(Op::Region(Region::If { condition: go, then_block, else_block }), &[]);

        // The round itself.
        let own = params.len() - init.len();
        params[own..].iter().zip(&inside).for_each(|(param, value)| self.stand_for(*param, *value));
        counter.into_iter().zip(&params).for_each(|(counter, param)| self.stand_for(*param, counter));
        let context = Context {
            inst,
            is_for: range.is_some(),
            results: so_far.iter().copied().map(Some).collect(),
            // Of a `For`, a thread that is done keeps what it carries: the results.
            next: inside[..init.len()].iter().map(|value| range.is_some().then_some(*value)).collect(),
            gone: self.no,
            stay,
            is_left: false,
        };
        self.contexts.push(context);
        let end = self.block(body, active);
        let Some(mut context) = self.contexts.pop() else { return on };
        let mut again = context.gone;
        if let Some((left, values)) = end {
            for (known, value) in context.next.iter_mut().zip(values) {
                *known = Some(self.or_earlier(left, value, *known));
            }
            again = self.or(left, again);
        }
        let mut next: Vec<Value> = Vec::new();
        for (value, ty) in context.next.iter().zip(&types) {
            next.push(value.unwrap_or_else(|| self.zero(*ty)));
        }
        let counted = range.zip(counter).map(|(range, counter)| self.count(range, counter));
        if let Some((more, _)) = counted {
            again = self.and(again, more);
        }
        next.extend([again, context.stay]);
        next.extend(counted.map(|(_, counter)| counter));
        next.extend(context.results.iter().flatten());
        next.extend(self.known());
        self.builder().push(Op::Terminator(Terminator::Yield(next)), &[]);
        self.at = outer;
        self.rewrite.keep(outer, new);

        // Behind it.
        let given = self.kernel().insts[new].results.clone();
        results.iter().zip(&given).for_each(|(result, value)| self.stand_for(*result, *value));
        self.set_known(&given[results.len() + 1..]);
        if context.is_left { given[results.len()] } else { on }
    }

    /// Whether a `For` has another round, and its counter then. Computed without wrapping, as a `For` is.
    fn count(&mut self, range: Range, counter: Value) -> (Value, Value) {
        let unsigned = self.kernel().ty(counter).to_unsigned();
        let mut b = self.builder();
        let left = b.binary(BinaryOp::Sub, range.end, counter);
        let (left, step) = (b.bitcast(left, unsigned), b.bitcast(range.step, unsigned));
        let more = b.compare(CompareOp::Gt, left, step);
        let next = b.binary(BinaryOp::Add, counter, range.step);
        (more, next)
    }

    /// What is known of threads that left something around this place.
    fn known(&mut self) -> Vec<Value> {
        let mut known = Vec::new();
        for n in 0..self.contexts.len() {
            let context = &self.contexts[n];
            let inst = context.inst;
            let (results, next) = (context.results.clone(), context.next.clone());
            let result_types = self.types(&self.kernel().insts[inst].results);
            let next_types = self.types_of(super::exits::Exit::Continue(inst));
            for (value, ty) in results.into_iter().zip(result_types).chain(next.into_iter().zip(next_types)) {
                known.push(value.unwrap_or_else(|| self.zero(ty)));
            }
            known.extend([self.contexts[n].gone, self.contexts[n].stay]);
        }
        known
    }

    /// Sets all of it.
    fn set_known(&mut self, known: &[Value]) {
        let mut known = known.iter().copied();
        for context in &mut self.contexts {
            context.results.iter_mut().chain(&mut context.next).for_each(|slot| *slot = known.next());
            context.gone = known.next().unwrap_or(context.gone);
            context.stay = known.next().unwrap_or(context.stay);
        }
    }

    /// Does what leaves nothing around this place: what is known of threads that left stays what it was, whatever carried it inside.
    pub(super) fn keeping_known(&mut self, inside: impl FnOnce(&mut Self)) {
        let known = |context: &Context| (context.results.clone(), context.next.clone(), context.gone, context.stay);
        let before: Vec<_> = self.contexts.iter().map(known).collect();
        inside(self);
        for (context, (results, next, gone, stay)) in self.contexts.iter_mut().zip(before) {
            (context.results, context.next, context.gone, context.stay) = (results, next, gone, stay);
        }
    }

    /// Whether something in a statement's blocks goes elsewhere than to their ends, or to what these `exits` may go to.
    pub(super) fn leaves(&self, inst: Inst, exits: &[Inst]) -> bool {
        let kernel = self.kernel();
        let mut owned = exits.to_vec();
        let mut leaves = false;
        for block in kernel.insts[inst].op.blocks() {
            kernel.walk_block(block, &mut |kernel, _, inst| {
                let Op::Terminator(terminator) = &kernel.insts[inst].op else { return owned.push(inst) };
                leaves |= match terminator {
                    Terminator::Break(target, _) | Terminator::Continue(target, _) => !owned.contains(target),
                    Terminator::Return => true,
                    Terminator::Yield(_) | Terminator::Trap(_) => false,
                };
            });
        }
        leaves
    }

    /// Whether all threads of the mask go through a `For` with meetings inside alike, and threads outside it can, too: its range is the same
    /// in all threads, and nothing leaves its body.
    pub(super) fn is_counted(&self, inst: Inst) -> bool {
        let kernel = self.kernel();
        let Op::Region(Region::For { start, end, step, .. }) = kernel.insts[inst].op else { return false };
        let is_everywhere = |value: Value| kernel.constant(value).is_some() || self.plan.is_uniform(value) && !self.masked.contains(&value);
        !self.leaves(inst, &[]) && [start, end, step].into_iter().all(is_everywhere)
    }

    /// Such a `For`: it stays one.
    pub(super) fn counted(&mut self, inst: Inst, on: Value) {
        self.rewrite.resolve_operands(inst);
        let Some(body) = self.kernel().insts[inst].op.blocks().first().copied() else { return };
        let carried = self.kernel().blocks[body].params[1..].to_vec();
        self.masked.extend(carried);
        let results = self.kernel().insts[inst].results.clone();
        self.masked.extend(results);
        let outer = std::mem::replace(&mut self.at, body);
        self.keeping_known(|converge| {
            if let Some((_, values)) = converge.block(body, on) {
                converge.builder().push(Op::Terminator(Terminator::Yield(values)), &[]);
            }
        });
        self.at = outer;
        self.rewrite.keep(outer, inst);
    }
}
