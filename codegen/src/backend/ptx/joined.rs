//! Results of an `if` that stay where they were: a side that passes a sum of a warpgroup's product on, which nobody needs behind the `if`, costs no move.
//!
//! Such sums have registers that the instruction says, side by side, and `ptxas` (12.9 to 13.5) does not undo all moves of them: of an `if` that changes 64 it left 12 to 99 in the machine code, on the side
//! that changes nothing. Moves of others it undoes, and knows better: told so of 41 minima in a loop, it spilled.
//!
//! The register of such a value is that of the result. The other side may read the value wherever it likes, since what it yields is moved at its end, all at once.

use super::emitter::Emitter;
use crate::collections::{HashMap, HashSet};
use crate::ir::{Block, Inst, Op, Region, Tensor, Value, ValueDef};

impl Emitter<'_> {
    /// Gives results of an `if` the register of the value that one of its sides passes on. No instruction of a side may write a result before the side's end.
    pub(super) fn stay_joined(&mut self, inst: Inst, sides: [Block; 2]) {
        let kernel = self.kernel;
        let Some(home) = self.homes[inst.0 as usize] else { return };
        let results = &kernel.insts[inst].results;
        let yielded = sides.map(|side| kernel.yielded(side));
        let passed_on: HashSet<Value> = yielded
            .iter()
            .flatten()
            .flat_map(|values| values.iter())
            .copied()
            .filter(|value| self.is_of(*value, home) && self.is_sum(*value))
            .collect();
        if passed_on.is_empty() {
            return;
        }
        let mut uses_within: HashMap<Value, u32> = HashMap::default();
        for inner in sides.into_iter().flat_map(|side| kernel.insts_in(side)) {
            kernel.insts[inner].op.for_each_operand(|value| *uses_within.entry(value).or_default() += 1);
        }
        let mut taken = HashSet::default();
        for (n, result) in results.iter().enumerate() {
            let found = yielded.iter().flatten().map(|values| values[n]).find(|value| {
                let is_last_use = uses_within.get(value) == Some(&self.all_uses[value.0 as usize]);
                passed_on.contains(value) && is_last_use && !taken.contains(value)
            });
            if let Some((value, reg)) = found.and_then(|value| Some((value, self.known_register(value)?))) {
                taken.insert(value);
                self.alias(*result, reg);
                self.joined.insert(*result);
            }
        }
    }

    /// Whether a value is a sum of a warpgroup's product, as it was, out of a loop of them, or changed by an `if` before.
    fn is_sum(&self, value: Value) -> bool {
        let kernel = self.kernel;
        let ValueDef::Result(maker, n) = kernel.values[value].def else { return false };
        let is_product = |value: Value| matches!(self.op_of(value), Some(Op::Tensor(Tensor::WarpgroupMma { .. } | Tensor::Await { .. })));
        let of_loop = match kernel.insts[maker].op {
            Op::Region(Region::For { body, .. }) => kernel.yielded(body).and_then(|values| values.get(usize::from(n))),
            _ => None,
        };
        self.joined.contains(&value) || is_product(value) || of_loop.is_some_and(|value| is_product(*value))
    }

    /// Whether a value is made anew each time a block runs. A loop's counter, which may be the first parameter of its body, is needed behind that.
    fn is_of(&self, value: Value, home: Block) -> bool {
        match self.kernel.values[value].def {
            ValueDef::Param(block, n) => block == home && n > 0,
            ValueDef::Result(maker, _) => self.kernel.constant(value).is_none() && self.homes[maker.0 as usize] == Some(home),
        }
    }
}
