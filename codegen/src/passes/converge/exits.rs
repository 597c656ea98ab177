//! Exits: a thread that leaves goes out of the mask, and its values are kept for where it goes.

use super::{Converge, End};
use crate::ir::{Block, Inst, Op, Region, Terminator, Type, Value};

/// Where an exit goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    /// Behind a loop or region.
    Break(Inst),
    /// To the next round of a loop.
    Continue(Inst),
    /// Out of the kernel.
    Return,
}

/// A loop or region that is being taken apart. `None` in a list: no thread has given a value yet.
pub(super) struct Context {
    /// Its original instruction.
    pub(super) inst: Inst,
    /// Whether it is a `For`, whose results are what it carries.
    pub(super) is_for: bool,
    /// What the threads that have left it give as its results. (Of a `For`: nothing; see `next`.)
    pub(super) results: Vec<Option<Value>>,
    /// What it carries into the next round, or out of the last.
    pub(super) next: Vec<Option<Value>>,
    /// The threads that have left it by `break` (regions), that have ended this round by `continue` (loops).
    pub(super) gone: Value,
    /// Of the threads that came to it, those that have not left something around it as well.
    pub(super) stay: Value,
    /// Whether there are others.
    pub(super) is_left: bool,
}

impl Converge<'_> {
    /// A region: where threads that break out of it wait for the others.
    pub(super) fn region(&mut self, inst: Inst, body: Block, on: Value) -> Value {
        let results = self.kernel().insts[inst].results.clone();
        let context =
            Context { inst, is_for: false, results: vec![None; results.len()], next: Vec::new(), gone: self.no, stay: on, is_left: false };
        self.contexts.push(context);
        let end = self.block(body, on);
        let Some(mut context) = self.contexts.pop() else { return on };
        let mut behind = context.gone;
        if let Some((left, values)) = end {
            for (known, value) in context.results.iter_mut().zip(values) {
                *known = Some(self.or_earlier(left, value, *known));
            }
            behind = self.or(left, behind);
        }
        for (result, value) in results.iter().zip(context.results) {
            match value {
                Some(value) => self.stand_for(*result, value),
                None => self.zero_for(&[*result]),
            }
        }
        if context.is_left { behind } else { on }
    }

    /// `value` in the threads of `on`, in others what is known already.
    pub(super) fn or_earlier(&mut self, on: Value, value: Value, known: Option<Value>) -> Value {
        match known {
            Some(known) => self.select(on, value, known),
            None => value,
        }
    }

    /// The end of a block, for the threads of `on`.
    pub(super) fn exit(&mut self, inst: Inst, on: Value) -> End {
        if let Some(exit) = self.escape(inst) {
            let values = self.resolved(&self.kernel().insts[inst].op.operands());
            self.leave(exit, on, &values);
            return None;
        }
        if let Op::Terminator(Terminator::Yield(values)) = &self.kernel().insts[inst].op {
            return Some((on, self.resolved(values)));
        }
        // A thread that cannot get here ends the launch; an exit of all threads stays one.
        if on == self.yes {
            self.keep_all(inst);
        } else {
            self.guarded(&[inst], on);
        }
        None
    }

    fn resolved(&self, values: &[Value]) -> Vec<Value> {
        values.iter().map(|value| self.rewrite.resolve(*value)).collect()
    }

    /// Where an instruction of the original kernel leaves to, if what it leaves is taken apart.
    pub(super) fn escape(&self, inst: Inst) -> Option<Exit> {
        let is_apart = |target: Inst| self.contexts.iter().any(|context| context.inst == target);
        let Op::Terminator(terminator) = &self.kernel().insts[inst].op else { return None };
        match *terminator {
            Terminator::Break(target, _) => is_apart(target).then_some(Exit::Break(target)),
            Terminator::Continue(target, _) => is_apart(target).then_some(Exit::Continue(target)),
            Terminator::Return => (!self.plan.is_for_all(inst)).then_some(Exit::Return),
            Terminator::Yield(_) | Terminator::Trap(_) => None,
        }
    }

    /// The exits inside a statement that leave what is taken apart.
    pub(super) fn escapes_within(&self, inst: Inst) -> Vec<Inst> {
        let mut found = Vec::new();
        for block in self.kernel().insts[inst].op.blocks() {
            self.kernel().walk_block(block, &mut |_, _, inst| found.extend(self.escape(inst).map(|_| inst)));
        }
        found
    }

    /// Whether a side of an `if` without meetings ends in such an exit: it is shorter taken apart.
    pub(super) fn leaves_at_once(&self, inst: Inst) -> bool {
        let kernel = self.kernel();
        let ends = |block: Block| kernel.blocks[block].insts.last().is_some_and(|last| self.escape(*last).is_some());
        kernel.insts[inst].op.blocks().into_iter().any(ends)
    }

    /// The types of what an exit hands over.
    pub(super) fn types_of(&self, exit: Exit) -> Vec<Type> {
        match exit {
            Exit::Break(target) => self.types(&self.kernel().insts[target].results),
            Exit::Continue(target) => {
                if let Op::Region(Region::For { init, .. } | Region::Loop { init, .. }) = &self.kernel().insts[target].op {
                    self.types(init)
                } else {
                    Vec::new()
                }
            }
            Exit::Return => Vec::new(),
        }
    }

    /// The threads of `gone` take an exit, with these values.
    pub(super) fn leave(&mut self, exit: Exit, gone: Value, values: &[Value]) {
        let target = match exit {
            Exit::Break(inst) | Exit::Continue(inst) => self.contexts.iter().position(|context| context.inst == inst),
            Exit::Return => None,
        };
        let crossed = target.map_or(0, |target| target + 1);
        for n in crossed..self.contexts.len() {
            let others = self.not(gone);
            self.contexts[n].stay = self.and(self.contexts[n].stay, others);
            self.contexts[n].is_left = true;
        }
        let Some(target) = target else { return };
        let is_result = matches!(exit, Exit::Break(_)) && !self.contexts[target].is_for;
        for (n, value) in values.iter().enumerate() {
            let context = &self.contexts[target];
            let known = if is_result { context.results[n] } else { context.next[n] };
            let value = Some(self.or_earlier(gone, *value, known));
            let context = &mut self.contexts[target];
            *(if is_result { &mut context.results[n] } else { &mut context.next[n] }) = value;
        }
        // A thread that breaks out of a loop is not in its next round; that is all.
        let is_loop = !matches!(self.kernel().insts[self.contexts[target].inst].op, Op::Region(Region::Block { .. }));
        if !(is_loop && matches!(exit, Exit::Break(_))) {
            self.contexts[target].gone = self.or(self.contexts[target].gone, gone);
        }
    }
}
