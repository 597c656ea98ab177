//! Early exits of a `Block` (a `return` of an inlined function, a `break` of a labelled block) become the arms of an `If`.
//!
//! A *tail block* is one whose `Yield` gives the results of the region: its body at first. In a tail block
//!
//! ```text
//! A; if c { B; break r, x } else { C; yield y }; REST; yield t      is      A; if c { B; yield x } else { C; REST[y]; yield t }
//! ```
//!
//! and both arms are tail blocks then. No code is copied. A `Loop` that nothing breaks out of is the end of its tail block: breaks
//! to the region from inside it break out of the loop instead. Breaks from inside a `For`, from an `If` in the middle of an arm, or out of several
//! loops stay what they are.

use super::Fold;
use crate::analysis::exits::{exit_values, exit_values_mut};
use crate::ir::{Block, Inst, Op, Region, Terminator, Type, ValueDef};

impl Fold<'_> {
    /// Rewrites the exits of a region as far as they can be, and counts again what is left of them.
    pub(super) fn structure_exits(&mut self, region: Inst, body: Block) {
        let results = &self.rewrite.kernel.insts[region].results;
        let types: Vec<Type> = results.iter().map(|value| self.rewrite.kernel.ty(*value)).collect();
        self.tail(body, region, &types);
        let breaks = self.breaks_inside(body, region);
        self.exits.get_mut(region).breaks = breaks;
    }

    /// `Break`s to `region` from inside `block`.
    fn breaks_inside(&self, block: Block, region: Inst) -> Vec<Inst> {
        let kernel = &*self.rewrite.kernel;
        let is_break = |inst: &Inst| matches!(kernel.insts[*inst].op, Op::Terminator(Terminator::Break(target, _)) if target == region);
        kernel.insts_in(block).filter(is_break).collect()
    }

    fn is_break_to(&self, block: Block, region: Inst) -> bool {
        let last = self.rewrite.kernel.terminator(block);
        last.is_some_and(
            |last| matches!(self.rewrite.kernel.insts[last].op, Op::Terminator(Terminator::Break(target, _)) if target == region),
        )
    }

    fn tail(&mut self, block: Block, region: Inst, types: &[Type]) {
        if self.is_break_to(block, region) {
            self.break_to_yield(block);
        }
        for n in 0..self.rewrite.kernel.blocks[block].insts.len() {
            let inst = self.rewrite.kernel.blocks[block].insts[n];
            let Op::Region(found) = &self.rewrite.kernel.insts[inst].op else { continue };
            match *found {
                Region::If { then_block, else_block, .. } => {
                    let leaves = [then_block, else_block].map(|arm| self.is_break_to(arm, region));
                    let goes_on = match leaves {
                        [true, _] => else_block,
                        [_, true] => then_block,
                        _ => continue,
                    };
                    self.nest_rest(block, n, inst, goes_on, types);
                    self.tail(then_block, region, types);
                    self.tail(else_block, region, types);
                    return;
                }
                Region::Loop { body, .. } if self.exits.get(inst).breaks.is_empty() => {
                    self.end_with_loop(block, n, inst, body, region, types);
                    return;
                }
                Region::For { .. } | Region::Loop { .. } | Region::Block { .. } => {}
            }
        }
    }

    /// `break r, x` at the end of a tail block is `yield x`.
    fn break_to_yield(&mut self, block: Block) {
        let Some(last) = self.rewrite.kernel.terminator(block) else { return };
        let values = exit_values(&self.rewrite.kernel.insts[last].op).to_vec();
        self.rewrite.kernel.insts[last].op = Op::Terminator(Terminator::Yield(values));
        self.rewrite.changed = true;
    }

    /// Moves what follows the n-th instruction, an `If`, into the arm that goes on, if that arm comes back at all; the `If` then
    /// gives the results of the region.
    fn nest_rest(&mut self, block: Block, n: usize, branch: Inst, goes_on: Block, types: &[Type]) {
        self.rewrite.changed = true;
        let rest = self.rewrite.kernel.blocks[block].insts.split_off(n + 1);
        let last = self.rewrite.kernel.terminator(goes_on);
        if let Some(last) = last
            && let Op::Terminator(Terminator::Yield(values)) = &self.rewrite.kernel.insts[last].op
        {
            let values = values.clone();
            self.rewrite.kernel.blocks[goes_on].insts.pop();
            self.rewrite.kernel.blocks[goes_on].insts.extend(rest);
            let results = self.rewrite.kernel.insts[branch].results.clone();
            results.into_iter().zip(values).for_each(|(result, value)| self.rewrite.replace(result, value));
        }
        self.end_with_results(block, branch, types);
    }

    /// Gives `inst`, the last of a tail block, the region's results, and the block a `Yield` of them.
    fn end_with_results(&mut self, block: Block, inst: Inst, types: &[Type]) {
        let kernel = &mut *self.rewrite.kernel;
        kernel.insts[inst].results.clear();
        let values: Vec<_> = types.iter().map(|ty| kernel.add_result(inst, *ty)).collect();
        debug_assert!(values.iter().all(|value| matches!(kernel.values[*value].def, ValueDef::Result(..))));
        let loc = kernel.insts[inst].loc;
        self.rewrite.builder(block, loc).push(Op::Terminator(Terminator::Yield(values)), &[]);
    }

    /// The n-th instruction is a `Loop` that nothing breaks out of: what follows is never reached, and breaks to the region from
    /// inside it leave the loop.
    fn end_with_loop(&mut self, block: Block, n: usize, inst: Inst, body: Block, region: Inst, types: &[Type]) {
        let inside = self.breaks_inside(body, region);
        if inside.is_empty() {
            return;
        }
        self.rewrite.changed = true;
        self.rewrite.kernel.blocks[block].insts.truncate(n + 1);
        for exit in &inside {
            let values = exit_values_mut(&mut self.rewrite.kernel.insts[*exit].op).map(std::mem::take).unwrap_or_default();
            self.rewrite.kernel.insts[*exit].op = Op::Terminator(Terminator::Break(inst, values));
        }
        self.exits.get_mut(inst).breaks.extend(inside);
        self.end_with_results(block, inst, types);
    }
}
