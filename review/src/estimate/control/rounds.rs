//! Rounds of loops that do not follow from threads' numbers and the launch.
//!
//! A `loop` that counts by a constant up to a known bound makes as many as that says, if nothing leaves it before. Where data decides, buffers tell how much
//! there is to go through: rows of a sparse matrix have together as many elements as the buffer has that they lie in. Where not even that is known, it is a guess:
//! few, since rows, lists and searches that each thread has for itself are short; or very many, where a number of the launch decides.

use super::{LANES, Mask, Walk};
use crate::estimate::weights::{DATA_TRIPS, UNKNOWN_TRIPS};
use warpwright_codegen::analysis::dependence::{DATA, Dependence};
use warpwright_codegen::collections::HashSet;
use warpwright_codegen::ir::{Address, BinaryOp, Block, CompareOp, Compute, Inst, Kernel, Memory, MemoryOp, Op, Region, Terminator, Value};
use warpwright_codegen::target::limits::WARP;

impl Walk<'_> {
    /// The rounds of a `for` from `start` to `end`, run `weight` times by a warp.
    pub(super) fn guess_of_range(&mut self, counter: Value, body: Block, range: [Value; 3], weight: f64) -> f64 {
        if !range.into_iter().any(|value| self.is_data(value)) {
            self.weights.is_open = true;
            return UNKNOWN_TRIPS;
        }
        self.weights.is_guessed = true;
        self.as_buffers_have(counter, body, weight).unwrap_or(DATA_TRIPS)
    }

    /// The rounds of a `loop` that came to no end.
    pub(super) fn guess_of_loop(&mut self, inst: Inst, init: &[Value], body: Block, active: Mask) -> f64 {
        let kernel = self.kernel;
        let mut conditions = Vec::new();
        leaving(kernel, inst, body, &mut conditions);
        let by_data: Vec<bool> = conditions.iter().map(|(condition, _)| self.is_data(*condition)).collect();
        let counted = conditions.iter().find_map(|(condition, stays)| self.counted_up_to(init, body, (*condition, *stays), active));
        // Where the launch has a say, too, it is taken to have the last one.
        let is_all_data = !by_data.is_empty() && by_data.iter().all(|by_data| *by_data);
        self.weights.is_guessed |= by_data.into_iter().any(|by_data| by_data);
        self.weights.is_open |= !is_all_data && counted.is_none();
        counted.unwrap_or(if is_all_data { DATA_TRIPS } else { UNKNOWN_TRIPS })
    }

    fn is_data(&mut self, value: Value) -> bool {
        let kernel = self.kernel;
        self.dependence.get_or_insert_with(|| Dependence::of(kernel)).of_value(value) & DATA != 0
    }

    /// Rounds until a number that grows by a constant reaches a bound.
    fn counted_up_to(&self, init: &[Value], body: Block, (condition, stays): (Value, bool), active: Mask) -> Option<f64> {
        let kernel = self.kernel;
        let Some((_, Op::Compute(Compute::Compare(op, a, bound)))) = kernel.def(condition) else { return None };
        let is_last_in = match (op, stays) {
            (CompareOp::Lt, true) | (CompareOp::Ge, false) => false,
            (CompareOp::Le, true) | (CompareOp::Gt, false) => true,
            _ => return None,
        };
        let (Some(counter), ahead) = super::loops::and_constant(kernel, *a) else { return None };
        let number = kernel.blocks[body].params.iter().position(|param| *param == counter)?;
        let Some(Op::Terminator(Terminator::Yield(next))) = kernel.blocks[body].insts.last().map(|last| &kernel.insts[*last].op) else {
            return None;
        };
        let (Some(from), step) = super::loops::and_constant(kernel, *next.get(number)?) else { return None };
        if from != counter || step <= 0 {
            return None;
        }
        let (start, bound) = (self.row(*init.get(number)?), self.row(*bound));
        let rounds = |lane: usize| {
            let left = bound[lane]?.as_int() - start[lane]?.as_int() - ahead + i128::from(is_last_in);
            Some((left.max(0) + step - 1) / step)
        };
        let all: Option<Vec<i128>> = (0..LANES).filter(|lane| active >> lane & 1 == 1).map(rounds).collect();
        all?.into_iter().max().map(|rounds| rounds as f64)
    }

    /// Rounds with which all threads together go once through the shortest buffer that the counter walks along.
    fn as_buffers_have(&self, counter: Value, body: Block, weight: f64) -> Option<f64> {
        let kernel = self.kernel;
        let blocks: f64 = self.launched.grid?.iter().map(|blocks| f64::from(*blocks)).product();
        let warps = f64::from(self.block?.iter().product::<u32>().div_ceil(WARP));
        let mut along: HashSet<Value> = HashSet::default();
        along.insert(counter);
        let mut rounds: Option<f64> = None;
        kernel.walk_block(body, &mut |kernel, _, inst| {
            let data = &kernel.insts[inst];
            let is_along = |value: &Value| along.contains(value);
            match &data.op {
                Op::Compute(
                    Compute::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Shl, a, b) | Compute::Offset(a, b),
                ) if is_along(a) || is_along(b) => {
                    along.extend(&data.results);
                }
                Op::Compute(Compute::MulAdd(a, b, c)) if [a, b, c].into_iter().any(is_along) => along.extend(&data.results),
                Op::Compute(Compute::Cast(a)) if is_along(a) => along.extend(&data.results),
                Op::Memory(Memory { op: MemoryOp::Load, at: Address::Pointer { object, ptr, .. } }) if is_along(ptr) => {
                    let Some(length) = self.launched.lengths.get(object) else { return };
                    let own = *length as f64 / (blocks * warps * self.marks.elements(inst) * weight);
                    rounds = Some(rounds.map_or(own, |other| other.min(own)));
                }
                _ => {}
            }
        });
        // A warp that has anything to do at all goes round once.
        rounds.map(|rounds| rounds.max(1.0))
    }
}

/// The conditions under which a loop is left, and whether it goes on where they hold.
fn leaving(kernel: &Kernel, target: Inst, block: Block, found: &mut Vec<(Value, bool)>) {
    for inst in &kernel.blocks[block].insts {
        if let Op::Region(Region::If { condition, then_block, else_block }) = &kernel.insts[*inst].op {
            for (arm, way) in [(*then_block, true), (*else_block, false)] {
                let last = kernel.blocks[arm].insts.last();
                if last.is_some_and(|last| matches!(kernel.insts[*last].op, Op::Terminator(Terminator::Break(to, _)) if to == target)) {
                    found.push((*condition, !way));
                }
            }
        }
        kernel.insts[*inst].op.blocks().into_iter().for_each(|child| leaving(kernel, target, child, found));
    }
}
