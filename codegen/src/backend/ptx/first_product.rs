//! Where sums begin: the first product of them is told not to add (`scale-d` of `wgmma`), so that no register is set to zero before.
//!
//! ```text
//! sums = 0.0; for k in start..end { sums = warpgroup_mma a[k], b[k], sums }        wgmma {sums}, a, b, k != start
//! sums = warpgroup_mma a, b, 0.0                                                   wgmma {sums}, a, b, false
//! ```
//!
//! 128 zeros take a warp 128 issue slots, and stand between two tiles of a persistent product. A sum that comes to zero is +0 either way, as of zeros that were added to.

use super::code::{Operand, Reg};
use super::emitter::Emitter;
use crate::ir::{Block, Inst, Op, Tensor, Value, ValueDef};
use std::collections::BTreeMap;

/// Whether a product adds to its sums.
#[derive(Clone, Copy)]
pub(super) enum Adds {
    Always,
    /// The sums are zeros.
    Never,
    /// In all iterations of a loop but the first: the loop's counter, and its first value.
    ButFirst(Reg, Value),
}

/// What becomes zero where a loop was not entered (`entered` is false), once nothing runs any more.
pub(super) struct LateZeros {
    entered: Reg,
    moves: Vec<(Reg, Operand)>,
}

impl Emitter<'_> {
    /// Which values that a loop carries are zero at first, and sums of a product that stands in its body, and are nothing else: by number. An iteration that passes over the product would hand the sum on,
    /// which is something else.
    ///
    /// With them who awaits the product behind the loop, where it is left running. On no path from the loop's entry to that wait may anything but a product write the sums, not even where the loop is passed over:
    /// else the assembler lets each product wait for the one before (C7515).
    pub(super) fn begun_by_products(&self, inst: Inst, init: &[Value], body: Block) -> BTreeMap<usize, Option<Inst>> {
        let kernel = self.kernel;
        let number = |sum: &Value| match kernel.values[*sum].def {
            ValueDef::Param(block, n) if block == body => usize::from(n).checked_sub(1),
            _ => None,
        };
        let is_begun = |sum: &Value| number(sum).is_some_and(|n| self.is_zero(init[n]) && self.all_uses[sum.0 as usize] == 1);
        let mut begun = BTreeMap::new();
        for (_, sums, running) in self.products_of(body).filter(|(_, sums, _)| sums.iter().all(is_begun)) {
            let numbers: Vec<usize> = sums.iter().filter_map(number).collect();
            let awaited: Option<Vec<Inst>> =
                if running { numbers.iter().map(|n| self.awaiting(inst, *n)).collect() } else { Some(Vec::new()) };
            if let Some(awaited) = awaited {
                begun.extend(numbers.into_iter().enumerate().map(|(n, number)| (number, awaited.get(n).copied())));
            }
        }
        begun
    }

    /// Who awaits a result of a loop, in the block of the loop.
    fn awaiting(&self, inst: Inst, result: usize) -> Option<Inst> {
        let kernel = self.kernel;
        let result = *kernel.insts[inst].results.get(result)?;
        let awaits = |inst: &&Inst| matches!(&kernel.insts[**inst].op, Op::Tensor(Tensor::Await { sums }) if sums.contains(&result));
        kernel.blocks[self.homes[inst.0 as usize]?].insts.iter().find(awaits).copied()
    }

    /// Has a carried value become zero where the loop was not entered, behind who awaits it.
    pub(super) fn zero_late(&mut self, awaits: Inst, entered: Reg, carried: Reg, zero: Value) {
        let zero = self.raw(zero);
        let of_loops = self.late_zeros.entry(awaits).or_default();
        match of_loops.iter_mut().find(|late| late.entered == entered) {
            Some(late) => late.moves.push((carried, zero)),
            None => of_loops.push(LateZeros { entered, moves: vec![(carried, zero)] }),
        }
    }

    pub(super) fn zero_what_was_not_entered(&mut self, awaits: Inst) {
        for late in self.late_zeros.remove(&awaits).unwrap_or_default() {
            let done = self.new_label();
            self.jump_if(late.entered, true, done);
            self.parallel_moves(late.moves);
            self.label(done);
        }
    }

    /// Remembers it of the products themselves, whose loop counts here.
    pub(super) fn begin_products(&mut self, begun: &BTreeMap<usize, Option<Inst>>, body: Block, counter: Reg, start: Value) {
        let params = &self.kernel.blocks[body].params;
        let begins = |sums: &[Value]| sums.iter().any(|sum| begun.keys().any(|n| params[n + 1] == *sum));
        let products: Vec<Inst> = self.products_of(body).filter(|(_, sums, _)| begins(sums)).map(|(inst, ..)| inst).collect();
        self.first_products.extend(products.into_iter().map(|inst| (inst, Adds::ButFirst(counter, start))));
    }

    /// Whether a product adds to these sums.
    pub(super) fn adds(&self, inst: Inst, sums: &[Value]) -> Adds {
        let begins = || if sums.iter().all(|sum| self.is_zero(*sum)) { Adds::Never } else { Adds::Always };
        self.first_products.get(&inst).copied().unwrap_or_else(begins)
    }

    fn is_zero(&self, value: Value) -> bool {
        self.kernel.constant(value).is_some_and(|scalar| scalar.bits == 0)
    }

    /// The products that stand in a block itself, with their sums, and whether they are left running.
    fn products_of(&self, block: Block) -> impl Iterator<Item = (Inst, &[Value], bool)> {
        let kernel = self.kernel;
        kernel.blocks[block].insts.iter().filter_map(|inst| match &kernel.insts[*inst].op {
            Op::Tensor(Tensor::WarpgroupMma { sums, running, .. }) => Some((*inst, sums.as_slice(), *running > 0)),
            _ => None,
        })
    }
}
