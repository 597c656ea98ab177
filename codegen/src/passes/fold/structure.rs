//! Regions that are decided: their code moves to where they stand, or goes.

use super::Fold;
use crate::analysis::exits::exit_values;
use crate::ir::{Block, Inst, Op, Region, Terminator, Value};

impl Fold<'_> {
    /// One `If`, `For`, `Loop` or `Block`; whether the block ends with it.
    pub(super) fn region(&mut self, block: Block, inst: Inst) -> bool {
        match self.rewrite.kernel.insts[inst].op {
            Op::Region(Region::If { condition, then_block, else_block }) => match self.rewrite.kernel.constant(condition) {
                Some(c) => self.splice(block, inst, if c.is_true() { then_block } else { else_block }),
                None => self.branch(block, inst, then_block, else_block),
            },
            // What is asked of a loop is asked of a loop.
            Op::Region(Region::For { body, .. }) if self.rewrite.kernel.annotations.contains_key(&inst) => self.repeated(block, inst, body),
            Op::Region(Region::For { body, .. }) => match self.rewrite.kernel.trips(inst) {
                Some(0) => self.zero_trips(inst),
                Some(1) if self.runs_through(inst) => self.one_trip(block, inst, body),
                _ => self.repeated(block, inst, body),
            },
            Op::Region(Region::Loop { body, .. }) if self.breaks_at_once(inst, body) => self.one_trip(block, inst, body),
            Op::Region(Region::Loop { body, .. }) => self.repeated(block, inst, body),
            Op::Region(Region::Block { body }) => {
                if !self.exits.get(inst).breaks.is_empty() {
                    self.structure_exits(inst, body);
                }
                if self.exits.get(inst).breaks.is_empty() {
                    self.splice(block, inst, body)
                } else {
                    self.block(body);
                    self.rewrite.keep(block, inst);
                    false
                }
            }
            Op::Compute(_)
            | Op::Memory(_)
            | Op::Texture(..)
            | Op::Intrinsic(..)
            | Op::Collective(_)
            | Op::Tensor(_)
            | Op::Engine(_)
            | Op::Message(_)
            | Op::Terminator(_) => false,
        }
    }

    /// The code of `inner`, a block of `inst`, runs in any case: it moves to where `inst` stands. What it yields are the results.
    fn splice(&mut self, block: Block, inst: Inst, inner: Block) -> bool {
        self.rewrite.changed = true;
        let insts = self.rewrite.take(inner);
        let Some((last, rest)) = insts.split_last() else { return false };
        if self.list(block, rest) {
            return true;
        }
        self.rewrite.resolve_operands(*last);
        match &self.rewrite.kernel.insts[*last].op {
            Op::Terminator(Terminator::Yield(values)) => self.finish(inst, values.clone()),
            Op::Terminator(Terminator::Break(target, values)) if *target == inst => self.finish(inst, values.clone()),
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
                self.rewrite.keep(block, *last);
                return true;
            }
        }
        false
    }

    /// The results of `inst` are these.
    fn finish(&mut self, inst: Inst, values: Vec<Value>) {
        let results = self.rewrite.kernel.insts[inst].results.clone();
        results.into_iter().zip(values).for_each(|(result, value)| self.rewrite.replace(result, value));
    }

    /// An undecided `If`. A result that both arms give is that value. If neither arm comes back, the second one's code follows the
    /// `If` instead, and the block ends with it.
    fn branch(&mut self, block: Block, inst: Inst, then_block: Block, else_block: Block) -> bool {
        self.block(then_block);
        self.block(else_block);
        self.rewrite.keep(block, inst);
        let kernel = &*self.rewrite.kernel;
        match (kernel.yielded(then_block), kernel.yielded(else_block)) {
            (None, None) => {
                self.rewrite.changed = true;
                let rest = self.rewrite.take(else_block);
                let loc = self.rewrite.kernel.insts[inst].loc;
                self.rewrite.kernel.insts[inst].results.clear();
                self.rewrite.builder(else_block, loc).push(Op::Terminator(Terminator::Yield(Vec::new())), &[]);
                rest.into_iter().for_each(|inst| self.rewrite.keep(block, inst));
                true
            }
            (Some(left), Some(right)) => {
                let same = |n: &usize| left[*n] == right[*n];
                let shared: Vec<(Value, Value)> = (0..left.len()).filter(same).map(|n| (kernel.insts[inst].results[n], left[n])).collect();
                shared.into_iter().for_each(|(result, value)| self.rewrite.replace(result, value));
                false
            }
            _ => false,
        }
    }

    /// Whether nothing breaks out of, or continues, a loop.
    fn runs_through(&self, inst: Inst) -> bool {
        let exits = self.exits.get(inst);
        exits.breaks.is_empty() && exits.continues.is_empty()
    }

    /// Whether a `Loop`'s body always ends in the one break it has.
    fn breaks_at_once(&self, inst: Inst, body: Block) -> bool {
        let exits = self.exits.get(inst);
        exits.continues.is_empty() && exits.breaks.len() == 1 && self.rewrite.kernel.terminator(body) == Some(exits.breaks[0])
    }

    /// The carried values stay the first ones.
    fn zero_trips(&mut self, inst: Inst) -> bool {
        if let Op::Region(Region::For { init, .. }) = &self.rewrite.kernel.insts[inst].op {
            let init = init.clone();
            self.rewrite.changed = true;
            self.finish(inst, init);
        }
        false
    }

    /// The body runs once, with the first values.
    fn one_trip(&mut self, block: Block, inst: Inst, body: Block) -> bool {
        let first = match &self.rewrite.kernel.insts[inst].op {
            Op::Region(Region::For { start, init, .. }) => std::iter::once(start).chain(init).copied().collect(),
            Op::Region(Region::Loop { init, .. }) => init.clone(),
            Op::Compute(_)
            | Op::Memory(_)
            | Op::Texture(..)
            | Op::Intrinsic(..)
            | Op::Collective(_)
            | Op::Tensor(_)
            | Op::Engine(_)
            | Op::Message(_)
            | Op::Region(_)
            | Op::Terminator(_) => Vec::new(),
        };
        let params = self.rewrite.kernel.blocks[body].params.clone();
        params.into_iter().zip(first).for_each(|(param, value)| self.rewrite.replace(param, value));
        self.splice(block, inst, body)
    }

    /// A loop that stays. A carried value that every way round hands on as it came is the first value.
    fn repeated(&mut self, block: Block, inst: Inst, body: Block) -> bool {
        let kernel = &*self.rewrite.kernel;
        let (init, offset) = match &kernel.insts[inst].op {
            Op::Region(Region::For { init, .. }) => (init, 1),
            Op::Region(Region::Loop { init, .. }) => (init, 0),
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
                return false;
            }
        };
        let exits = self.exits.get(inst);
        let mut constant = Vec::new();
        for (n, first) in init.iter().enumerate() {
            let param = kernel.blocks[body].params[n + offset];
            let same = |exit: &Inst| {
                let value = exit_values(&kernel.insts[*exit].op).get(n).map(|value| self.rewrite.resolve(*value));
                value == Some(param) || value == Some(*first)
            };
            if exits.yields.iter().chain(&exits.continues).all(same) && self.rewrite.resolve(param) == param {
                constant.push((param, *first));
                if offset == 1 && exits.breaks.iter().all(same) {
                    constant.push((kernel.insts[inst].results[n], *first));
                }
            }
        }
        constant.into_iter().for_each(|(value, first)| self.rewrite.replace(value, first));
        self.block(body);
        self.rewrite.keep(block, inst);
        false
    }
}
