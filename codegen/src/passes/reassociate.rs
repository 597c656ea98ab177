//! Integer sums in the order that serves: what stays the same longest first, the constant last.
//!
//! **Needs** constants joined (`fold`); stands before `licm`, which takes the first part of a sum out of the loop, and before
//! `address`, which puts the constant into the instruction. **Preserves** every sum, since integers add modulo 2ⁿ. **Refuses** floats; and
//! parts that something else uses as well, which would be computed twice.
//!
//! `((row + k) + 1) + column`, `k` being the loop's counter, becomes `((row + column) + k) + 1`. A sum is taken apart through its
//! additions and subtractions within one block, down to the *terms*: other instructions and sums of other blocks or with other
//! users. Terms are ordered by *depth*, the number of loops inside which they have to be computed; of equal ones the order
//! stays. A sum that is in order stays as it is. Of a term `(x + c) * k` the constant is taken out: `x * k + c * k`; of a product that is no mere
//! term, too: the vectors of a thread are at `(x + c) * k`, and share the address `x * k`.

use super::rewrite::Rewrite;
use crate::analysis::cost::is_speculable;
use crate::ir::{BinaryOp, Block, Builder, Compute, Inst, Kernel, Op, Scalar, Type, Value, ValueDef};

/// Runs it.
pub(super) fn run(kernel: &mut Kernel) -> bool {
    let sums = Sums::of(kernel);
    let depth = vec![0; kernel.values.len()];
    let body = kernel.body;
    let mut pass = Reassociate { rewrite: Rewrite::new(kernel), sums, depth, loops: 0 };
    pass.block(body);
    pass.rewrite.changed
}

/// Which values sums are made of.
struct Sums {
    /// By value: a sum whose one user is a sum of the same block.
    is_part: Vec<bool>,
    /// By value: whether something else than a sum uses it.
    is_used_elsewhere: Vec<bool>,
}

impl Sums {
    fn of(kernel: &Kernel) -> Sums {
        let uses = kernel.use_counts();
        let mut home: Vec<Option<Block>> = vec![None; kernel.insts.len()];
        let (mut is_part, mut in_sums) = (vec![false; kernel.values.len()], vec![0; kernel.values.len()]);
        kernel.for_each_inst(|kernel, block, inst| {
            home[usize::from(inst)] = Some(block);
            let Some((_, left, right)) = as_sum(kernel, inst) else { return };
            for operand in [left, right] {
                in_sums[usize::from(operand)] += 1;
                let ValueDef::Result(part, _) = kernel.values[operand].def else { continue };
                let same_block = home[usize::from(part)] == Some(block);
                is_part[usize::from(operand)] = uses[usize::from(operand)] == 1 && same_block && as_sum(kernel, part).is_some();
            }
        });
        Sums { is_part, is_used_elsewhere: uses.iter().zip(in_sums).map(|(uses, in_sums)| *uses > in_sums).collect() }
    }
}

/// Sign of the right side, and both sides, of an integer sum.
fn as_sum(kernel: &Kernel, inst: Inst) -> Option<(i128, Value, Value)> {
    let Op::Compute(Compute::Binary(op, a, b)) = kernel.insts[inst].op else { return None };
    op.sign().filter(|_| kernel.ty(a).is_int()).map(|sign| (sign, a, b))
}

/// One term of a sum: `sign * value * factor`.
#[derive(Clone, Copy)]
struct Term {
    sign: i128,
    value: Value,
    /// A product to be built anew.
    factor: Option<Value>,
}

/// A sum taken apart. No polynomial: what is built from it keeps the order of the source, and terms that are alike stay apart.
#[derive(Default)]
struct Terms {
    /// In the order of the source.
    list: Vec<Term>,
    /// Modulo 2¹²⁸, which is as good as modulo the type's.
    constant: i128,
}

struct Reassociate<'k> {
    rewrite: Rewrite<'k>,
    sums: Sums,
    /// By value: the loops inside which it has to be computed.
    depth: Vec<usize>,
    /// Loops round the current block.
    loops: usize,
}

impl Reassociate<'_> {
    fn block(&mut self, block: Block) {
        for inst in self.rewrite.take(block) {
            self.rewrite.resolve_operands(inst);
            let op = &self.rewrite.kernel.insts[inst].op;
            let is_loop = op.is_loop();
            let children = op.blocks();
            self.loops += usize::from(is_loop);
            for child in children {
                for param in self.rewrite.kernel.blocks[child].params.clone() {
                    self.set_depth(param, self.loops);
                }
                self.block(child);
            }
            self.loops -= usize::from(is_loop);
            self.find_depth(inst);
            if !self.reorder(block, inst) {
                self.rewrite.keep(block, inst);
            }
        }
    }

    /// Results of what can move belong where their operands are; of what cannot, where they stand.
    fn find_depth(&mut self, inst: Inst) {
        let kernel = &*self.rewrite.kernel;
        let mut depth = self.loops;
        if is_speculable(kernel, inst) {
            depth = 0;
            kernel.insts[inst].op.for_each_operand(|value| depth = depth.max(self.depth[usize::from(value)]));
        }
        for value in self.rewrite.kernel.insts[inst].results.clone() {
            self.set_depth(value, depth);
        }
    }

    fn set_depth(&mut self, value: Value, depth: usize) {
        if self.depth.len() <= usize::from(value) {
            self.depth.resize(usize::from(value) + 1, 0);
        }
        self.depth[usize::from(value)] = depth;
    }

    /// Rebuilds a whole sum in order, if it is not; whether it did.
    fn reorder(&mut self, block: Block, inst: Inst) -> bool {
        let kernel = &*self.rewrite.kernel;
        let Some((sign, left, right)) = as_sum(kernel, inst) else { return self.distribute(block, inst) };
        let Some(result) = self.rewrite.result(inst).filter(|value| !self.is_part(*value)) else { return false };
        let mut terms = Terms::default();
        self.collect(left, 1, &mut terms);
        let inner_constant = terms.constant;
        self.collect(right, sign, &mut terms);
        let constant_last = terms.constant == 0 || (kernel.constant(right).is_some() && inner_constant == 0);
        let in_order = terms.list.is_sorted_by_key(|term| self.depth[usize::from(term.value)]);
        if constant_last && in_order && terms.list.iter().all(|term| term.factor.is_none()) {
            return false;
        }
        terms.list.sort_by_key(|term| self.depth[usize::from(term.value)]);
        // Something to subtract from comes first.
        let Some(first) = terms.list.iter().position(|term| term.sign > 0) else { return false };
        let positive = terms.list.remove(first);
        terms.list.insert(0, positive);
        self.build(block, inst, result, &terms);
        true
    }

    /// Takes the constant out of a product `(x + c) * k` that is more than a term of sums; whether it did.
    fn distribute(&mut self, block: Block, inst: Inst) -> bool {
        let Op::Compute(Compute::Binary(BinaryOp::Mul, ..)) = self.rewrite.kernel.insts[inst].op else { return false };
        let is_used = |value: &Value| self.sums.is_used_elsewhere.get(usize::from(*value)).copied().unwrap_or(false);
        let Some(result) = self.rewrite.result(inst).filter(is_used) else { return false };
        let Some((inner, constant, factor, by)) = self.scaled_sum(result) else { return false };
        let term = Term { sign: 1, value: inner, factor: Some(factor) };
        self.build(block, inst, result, &Terms { list: vec![term], constant: constant.wrapping_mul(by) });
        true
    }

    fn is_part(&self, value: Value) -> bool {
        self.sums.is_part.get(usize::from(value)).copied().unwrap_or(false)
    }

    fn collect(&self, value: Value, sign: i128, terms: &mut Terms) {
        let kernel = &*self.rewrite.kernel;
        if let Some(constant) = kernel.constant(value) {
            terms.constant = terms.constant.wrapping_add(sign * constant.as_int());
            return;
        }
        match kernel.def(value).and_then(|(inst, _)| as_sum(kernel, inst)).filter(|_| self.is_part(value)) {
            Some((right_sign, left, right)) => {
                self.collect(left, sign, terms);
                self.collect(right, sign * right_sign, terms);
            }
            None => match self.scaled_sum(value) {
                Some((inner, constant, factor, by)) => {
                    terms.constant = terms.constant.wrapping_add(constant.wrapping_mul(sign * by));
                    terms.list.push(Term { sign, value: inner, factor: Some(factor) });
                }
                None => terms.list.push(Term { sign, value, factor: None }),
            },
        }
    }

    /// `(x ± c) * k`: x, ±c, and k as a value and a number.
    fn scaled_sum(&self, value: Value) -> Option<(Value, i128, Value, i128)> {
        let kernel = &*self.rewrite.kernel;
        let (_, Op::Compute(Compute::Binary(BinaryOp::Mul, sum, factor))) = kernel.def(value)? else { return None };
        let (sign, inner, constant) = as_sum(kernel, kernel.def(*sum)?.0)?;
        Some((inner, sign * kernel.constant(constant)?.as_int(), *factor, kernel.constant(*factor)?.as_int()))
    }

    fn build(&mut self, block: Block, inst: Inst, result: Value, terms: &Terms) {
        let (ty, loc) = (self.rewrite.kernel.ty(result), self.rewrite.kernel.insts[inst].loc);
        let mut depth = 0;
        let mut sum: Option<Value> = None;
        for term in &terms.list {
            depth = depth.max(self.depth[usize::from(term.value)]);
            let value = match term.factor {
                None => term.value,
                Some(factor) => {
                    let product = self.rewrite.builder(block, loc).binary(BinaryOp::Mul, term.value, factor);
                    self.set_depth(product, self.depth[usize::from(term.value)]);
                    product
                }
            };
            sum = Some(match sum {
                None => value,
                Some(sum) => {
                    let op = if term.sign > 0 { BinaryOp::Add } else { BinaryOp::Sub };
                    let next = self.rewrite.builder(block, loc).binary(op, sum, value);
                    self.set_depth(next, depth);
                    next
                }
            });
        }
        if let Some(sum) = sum {
            let whole = add_constant(&mut self.rewrite.builder(block, loc), sum, ty, terms.constant);
            self.set_depth(whole, depth);
            self.rewrite.replace(result, whole);
        }
    }
}

/// `sum ± constant`, with whichever sign makes the constant the smaller one.
fn add_constant(b: &mut Builder<'_>, sum: Value, ty: Type, constant: i128) -> Value {
    let (plus, minus) = (Scalar::int(ty, constant), Scalar::int(ty, constant.wrapping_neg()));
    if plus.bits == 0 {
        return sum;
    }
    let (op, constant) = if minus.bits < plus.bits { (BinaryOp::Sub, minus) } else { (BinaryOp::Add, plus) };
    let constant = b.constant(constant);
    b.binary(op, sum, constant)
}

#[cfg(test)]
mod tests {
    use super::run;
    use crate::passes::check::{check, check_refused};

    #[test]
    fn invariants_first_and_the_constant_last() {
        check(
            run,
            "v0: u32 = load m0
             v1: u32 = thread_idx.x
             v2: u32 = const 1
             for i9 (v3: u32 in v1..v0 step v2) {
               v4: u32 = add v0, v3
               v5: u32 = add v4, v2
               v6: u32 = sub v5, v1
               store m3[v6], v3
               yield
             }
             return",
            "v0: u32 = load m0
             v1: u32 = thread_idx.x
             v2: u32 = const 1
             for i9 (v3: u32 in v1..v0 step v2) {
               v4: u32 = sub v0, v1
               v5: u32 = add v4, v3
               v8: u32 = const 1
               v6: u32 = add v5, v8
               store m3[v6], v3
               yield
             }
             return",
        );
    }

    #[test]
    fn a_scaled_constant_is_taken_out() {
        check(
            run,
            "v0: u32 = load m0
             v1: u32 = const 1
             v2: u32 = const 18
             v3: u32 = thread_idx.x
             v4: u32 = sub v0, v1
             v5: u32 = mul v4, v2
             v6: u32 = add v5, v3
             store m3[v6], v3
             return",
            "v0: u32 = load m0
             v2: u32 = const 18
             v3: u32 = thread_idx.x
             v5: u32 = mul v0, v2
             v6: u32 = add v5, v3
             v7: u32 = const 18
             v8: u32 = sub v6, v7
             store m3[v8], v3
             return",
        );
    }

    #[test]
    fn a_scaled_constant_is_taken_out_of_a_product_that_is_no_mere_term() {
        check(
            run,
            "v0: u32 = load m0
             v1: u32 = thread_idx.x
             v2: u32 = const 32
             v3: u32 = add v0, v2
             v4: u32 = add v3, v1
             v5: u32 = const 2
             v6: u32 = mul v4, v5
             store m3[v6], v1
             return",
            "v0: u32 = load m0
             v1: u32 = thread_idx.x
             v4: u32 = add v0, v1
             v5: u32 = const 2
             v6: u32 = mul v4, v5
             v7: u32 = const 64
             v8: u32 = add v6, v7
             store m3[v8], v1
             return",
        );
    }

    #[test]
    fn constants_are_scaled_modulo_their_type() {
        check(
            run,
            "v0: u32 = thread_idx.x
             v1: u64 = cast v0
             v2: u64 = const 18446744073709551615
             v3: u64 = add v1, v2
             v4: u64 = mul v3, v2
             v5: u32 = cast v4
             store m3[v0], v5
             return",
            "v0: u32 = thread_idx.x
             v1: u64 = cast v0
             v2: u64 = const 18446744073709551615
             v4: u64 = mul v1, v2
             v6: u64 = const 1
             v7: u64 = add v4, v6
             v5: u32 = cast v7
             store m3[v0], v5
             return",
        );
    }

    #[test]
    fn sums_in_order_shared_parts_and_floats_stay() {
        check_refused(
            run,
            "v0: u32 = load m0
             v1: u32 = thread_idx.x
             v2: u32 = const 1
             v3: u32 = add v0, v2
             v4: u32 = add v3, v1
             store m3[v3], v4
             return",
        );
        check_refused(
            run,
            "v1: u32 = thread_idx.x
             v0: f32 = load m1[v1]
             v2: f32 = const 1.0
             v3: f32 = add v0, v2
             v4: f32 = add v3, v0
             store m2[v1], v4
             return",
        );
    }
}
