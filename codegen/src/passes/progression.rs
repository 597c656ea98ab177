//! Straight-line strength reduction: what grows by one term from one sum to the next is added to, not multiplied anew.
//!
//! **Needs** constants on the right of products (`fold`). **Preserves** every sum, since integers add and multiply modulo 2ⁿ. **Refuses** floats, and
//! products that stand elsewhere than the sum: an invariant one is there already.
//!
//! A loop over rows, unrolled, asks for `column + n`, `column + n * 2`, `column + n * 3`. Each is the one before it plus `n`: additions instead of products,
//! which share their pipe with the products that widen indices and with the floats. That is done for addresses alone, so that readers of other
//! stages see the factors they wrote.

use super::rewrite::Rewrite;
use crate::collections::HashMap;
use crate::ir::{BinaryOp, Block, Compute, Inst, Kernel, Op, Value};

/// Runs it.
pub(super) fn run(kernel: &mut Kernel) -> bool {
    let body = kernel.body;
    let mut pass = Progression { rewrite: Rewrite::new(kernel), sums: HashMap::default(), scope: Vec::new() };
    pass.block(body);
    pass.rewrite.changed
}

struct Progression<'k> {
    rewrite: Rewrite<'k>,
    /// By base and term: the factors there are sums for, and the sums. No polynomials: what a base is made of is of no interest, since it is there.
    sums: HashMap<(Value, Value), Vec<(i128, Value)>>,
    /// What was added to `sums`, in order.
    scope: Vec<(Value, Value)>,
}

impl Progression<'_> {
    fn block(&mut self, block: Block) {
        let outside = self.scope.len();
        let insts = self.rewrite.take(block);
        let mut products: HashMap<Value, (Value, i128)> = HashMap::default();
        for inst in insts {
            self.rewrite.resolve_operands(inst);
            for child in self.rewrite.kernel.insts[inst].op.blocks() {
                self.block(child);
            }
            if let Some((result, product)) = self.rewrite.result(inst).zip(as_product(self.rewrite.kernel, inst)) {
                products.insert(result, product);
            }
            if !self.sum(block, inst, &products) {
                self.rewrite.keep(block, inst);
            }
        }
        for key in self.scope.drain(outside..) {
            if let Some(list) = self.sums.get_mut(&key) {
                list.pop();
            }
        }
    }

    /// Notes a sum of a base and a product; whether it is made of another one instead.
    fn sum(&mut self, block: Block, inst: Inst, products: &HashMap<Value, (Value, i128)>) -> bool {
        let Op::Compute(Compute::Binary(BinaryOp::Add, left, right)) = self.rewrite.kernel.insts[inst].op else { return false };
        let Some(result) = self.rewrite.result(inst).filter(|value| self.rewrite.kernel.ty(*value).is_int()) else { return false };
        if self.rewrite.kernel.constant(right).is_some() {
            return false;
        }
        for (base, other) in [(left, right), (right, left)] {
            let Some((term, factor)) = products.get(&other).copied() else { continue };
            let next = self.neighbour(block, inst, (base, term), factor);
            self.note((base, term), factor, next.unwrap_or(result));
            if let Some(next) = next {
                self.rewrite.replace(result, next);
                return true;
            }
        }
        self.note((left, right), 1, result);
        self.note((right, left), 1, result);
        false
    }

    /// The sum by way of one whose factor is one less or one more.
    fn neighbour(&mut self, block: Block, inst: Inst, key: (Value, Value), factor: i128) -> Option<Value> {
        let known = self.sums.get(&key)?;
        let of = |factor: i128| known.iter().rev().find(|(known, _)| *known == factor).map(|(_, sum)| *sum);
        let (op, from) = of(factor - 1).map(|sum| (BinaryOp::Add, sum)).or_else(|| of(factor + 1).map(|sum| (BinaryOp::Sub, sum)))?;
        let loc = self.rewrite.kernel.insts[inst].loc;
        Some(self.rewrite.builder(block, loc).binary(op, from, key.1))
    }

    fn note(&mut self, key: (Value, Value), factor: i128, sum: Value) {
        self.sums.entry(key).or_default().push((factor, sum));
        self.scope.push(key);
    }
}

/// The term and the factor of an integer product by a constant.
fn as_product(kernel: &Kernel, inst: Inst) -> Option<(Value, i128)> {
    match kernel.insts[inst].op {
        Op::Compute(Compute::Binary(BinaryOp::Mul, term, factor)) => {
            Some((term, kernel.constant(factor).filter(|factor| factor.ty.is_int())?.as_int()))
        }
        Op::Compute(Compute::Binary(BinaryOp::Shl, term, count)) => {
            let count = kernel.constant(count)?.bits;
            (count < u64::from(kernel.ty(term).bits()) - 1).then(|| (term, 1 << count))
        }
        Op::Compute(_)
        | Op::Memory(_)
        | Op::Texture(..)
        | Op::Intrinsic(..)
        | Op::Collective(_)
        | Op::Tensor(_)
        | Op::Engine(_)
        | Op::Message(_)
        | Op::Region(_)
        | Op::Terminator(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::run;
    use crate::passes::check::{check, check_refused};

    #[test]
    fn rows_are_one_term_apart() {
        check(
            run,
            "v0: u32 = load m0
             v1: u32 = thread_idx.x
             v2: u32 = const 2
             v3: u32 = const 3
             v4: u32 = add v1, v0
             v5: u32 = mul v0, v2
             v6: u32 = add v1, v5
             v7: u32 = mul v0, v3
             v8: u32 = add v7, v1
             store m3[v1], v4
             store m3[v4], v6
             store m3[v6], v8
             return",
            "v0: u32 = load m0
             v1: u32 = thread_idx.x
             v4: u32 = add v1, v0
             v6: u32 = add v4, v0
             v8: u32 = add v6, v0
             store m3[v1], v4
             store m3[v4], v6
             store m3[v6], v8
             return",
        );
    }

    #[test]
    fn downwards_a_term_is_subtracted() {
        check(
            run,
            "v20: u32 = load m0
             v21: u32 = thread_idx.x
             v0: u64 = cast v20
             v1: u64 = cast v21
             v2: u32 = const 2
             v3: u64 = const 3
             v5: u64 = shl v0, v2
             v6: u64 = add v1, v5
             v7: u64 = mul v0, v3
             v8: u64 = add v1, v7
             v9: u32 = cast v6
             v10: u32 = cast v8
             store m3[v9], v10
             return",
            "v20: u32 = load m0
             v21: u32 = thread_idx.x
             v0: u64 = cast v20
             v1: u64 = cast v21
             v2: u32 = const 2
             v5: u64 = shl v0, v2
             v6: u64 = add v1, v5
             v8: u64 = sub v6, v0
             v9: u32 = cast v6
             v10: u32 = cast v8
             store m3[v9], v10
             return",
        );
    }

    #[test]
    fn what_is_not_next_or_not_visible_or_invariant_stays() {
        check_refused(
            run,
            "v0: u32 = load m0
             v1: u32 = thread_idx.x
             v2: u32 = const 2
             v3: u32 = const 4
             v4: u32 = const 0
             v5: u32 = mul v0, v2
             v6: u32 = add v1, v5
             v7: u32 = mul v0, v3
             v8: u32 = add v1, v7
             store m3[v6], v8
             v9: bool = lt v1, v0
             if v9 {
               v10: u32 = add v1, v0
               store m3[v10], v8
               yield
             }
             v12: u32 = const 1
             for i9 (v13: u32 in v4..v0 step v12) {
               v14: u32 = add v13, v0
               v15: u32 = add v13, v5
               store m3[v14], v15
               yield
             }
             return",
        );
    }
}
