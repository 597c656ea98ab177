//! Contraction: a product that is only added becomes part of a fused multiply-add.
//!
//! **Needs** `contract = true` (the default; docs/language.md, "Numbers": one rounding instead of two). **Preserves** everything else; runs
//! after `licm`, so that an invariant product stays outside its loop. **Refuses** `f16` and `bf16`, whose operations are rounded one by
//! one; products of another block (an invariant one is cheaper added than multiplied again); and products with a use that is not such a
//! sum: they are computed anyway, and fusing would save nothing and give the two uses different values of one product.
//!
//! ```text
//! a * b + c = c + a * b = mul_add(a, b, c)      a * b - c = mul_add(a, b, -c)      c - a * b = mul_add(-a, b, c)
//! ```
//!
//! Of a sum of two products the left one is fused and the right one is the addend. A product that several sums of its block use is fused into
//! each: as many operations as before, less the product itself.

use super::rewrite::Rewrite;
use crate::ir::{BinaryOp, Block, Builder, Compute, Inst, Kernel, Op, Type, UnaryOp, Value, eval};

/// Runs it.
pub(super) fn run(kernel: &mut Kernel) -> bool {
    if !kernel.options.contract {
        return false;
    }
    let uses = kernel.use_counts();
    let body = kernel.body;
    let mut contract = Contract { rewrite: Rewrite::new(kernel), uses, sums: Vec::new(), home: Vec::new() };
    contract.block(body);
    contract.rewrite.changed
}

struct Contract<'k> {
    rewrite: Rewrite<'k>,
    /// By value.
    uses: Vec<u32>,
    /// By value: the sums of the product's own block that it could be fused into.
    sums: Vec<u32>,
    /// By value: the block of a product.
    home: Vec<Option<Block>>,
}

/// Which operand of a sum is the product.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

impl Contract<'_> {
    fn block(&mut self, block: Block) {
        let insts = self.rewrite.take(block);
        self.count_sums(block, &insts);
        for inst in insts {
            self.rewrite.resolve_operands(inst);
            for child in self.rewrite.kernel.insts[inst].op.blocks() {
                self.block(child);
            }
            match self.product_side(inst) {
                Some(side) => self.fuse(block, inst, side),
                None => self.rewrite.keep(block, inst),
            }
        }
    }

    /// Counts for each product of a block how many sums of the block would take it. The same product on both sides of a sum is
    /// counted once and so never fused; of two products the left one is.
    fn count_sums(&mut self, block: Block, insts: &[Inst]) {
        let kernel = &*self.rewrite.kernel;
        self.sums.resize(kernel.values.len(), 0);
        self.home.resize(kernel.values.len(), None);
        for inst in insts {
            let data = &kernel.insts[*inst];
            let Op::Compute(Compute::Binary(op, a, b)) = data.op else { continue };
            if op == BinaryOp::Mul {
                for value in data.results.iter().filter(|value| is_fusible(kernel.ty(**value))) {
                    self.home[usize::from(*value)] = Some(block);
                }
            } else if op.sign().is_some() {
                let product = [a, b].into_iter().find(|value| self.home[usize::from(*value)] == Some(block));
                if let Some(product) = product {
                    self.sums[usize::from(product)] += 1;
                }
            }
        }
    }

    /// The operand of a sum that is a product all of whose uses are sums that take it.
    fn product_side(&self, inst: Inst) -> Option<Side> {
        let Op::Compute(Compute::Binary(BinaryOp::Add | BinaryOp::Sub, a, b)) = self.rewrite.kernel.insts[inst].op else { return None };
        let taken = |value: Value| {
            let n = usize::from(value);
            let is_product = matches!(self.rewrite.kernel.def(value), Some((_, Op::Compute(Compute::Binary(BinaryOp::Mul, ..)))));
            is_product && self.sums.get(n).is_some_and(|sums| *sums > 0 && *sums == self.uses[n])
        };
        match (taken(a), taken(b)) {
            (true, _) => Some(Side::Left),
            (_, true) => Some(Side::Right),
            _ => None,
        }
    }

    fn fuse(&mut self, block: Block, inst: Inst, side: Side) {
        let kernel = &*self.rewrite.kernel;
        let Op::Compute(Compute::Binary(op, left, right)) = kernel.insts[inst].op else { return };
        let (product, mut addend) = if side == Side::Left { (left, right) } else { (right, left) };
        let Some((_, Op::Compute(Compute::Binary(_, mut a, b)))) = kernel.def(product).map(|(i, op)| (i, op.clone())) else { return };
        let (result, loc) = (kernel.insts[inst].results[0], kernel.insts[inst].loc);
        let mut builder = self.rewrite.builder(block, loc);
        match (op, side) {
            (BinaryOp::Sub, Side::Left) => addend = negated(&mut builder, addend),
            (BinaryOp::Sub, Side::Right) => a = negated(&mut builder, a),
            _ => {}
        }
        let fused = builder.mul_add(a, b, addend);
        self.rewrite.replace(result, fused);
    }
}

/// `-value`, at once if it is a constant.
fn negated(builder: &mut Builder<'_>, value: Value) -> Value {
    match builder.kernel.constant(value).and_then(|c| eval::unary(UnaryOp::Neg, c)) {
        Some(negative) => builder.constant(negative),
        None => builder.unary(UnaryOp::Neg, value),
    }
}

fn is_fusible(ty: Type) -> bool {
    matches!(ty, Type::F32 | Type::F64)
}

#[cfg(test)]
mod tests {
    use super::run;
    use crate::passes::check::{body, check, check_refused, kernel};

    const LOADS: &str = "v0: u32 = thread_idx.x\n v1: f32 = load m1[v0]\n v2: f32 = load m2[v0]\n";

    fn check_sum(sum: &str, fused: &str) {
        check(
            run,
            &format!("{LOADS} v3: f32 = mul v1, v2\n v9: f32 = {sum}\n store m2[v0], v9\n return"),
            &format!("{LOADS} {fused}\n store m2[v0], v9\n return"),
        );
    }

    #[test]
    fn the_three_shapes() {
        check_sum("add v3, v1", "v9: f32 = mul_add v1, v2, v1");
        check_sum("add v1, v3", "v9: f32 = mul_add v1, v2, v1");
        check_sum("sub v3, v1", "v4: f32 = neg v1\n v9: f32 = mul_add v1, v2, v4");
        check_sum("sub v1, v3", "v4: f32 = neg v1\n v9: f32 = mul_add v4, v2, v1");
    }

    #[test]
    fn of_two_products_the_left_is_fused() {
        check(
            run,
            &format!("{LOADS} v3: f32 = mul v1, v2\n v4: f32 = mul v2, v2\n v9: f32 = add v3, v4\n store m2[v0], v9\n return"),
            &format!("{LOADS} v4: f32 = mul v2, v2\n v9: f32 = mul_add v1, v2, v4\n store m2[v0], v9\n return"),
        );
    }

    #[test]
    fn a_product_that_is_needed_anyway_stays() {
        check_refused(run, &format!("{LOADS} v3: f32 = mul v1, v2\n v9: f32 = add v3, v1\n store m2[v0], v9\n store m2[v0], v3\n return"));
        check_refused(run, &format!("{LOADS} v3: f32 = mul v1, v2\n v9: f32 = add v3, v3\n store m2[v0], v9\n return"));
    }

    #[test]
    fn nothing_is_fused_without_leave() {
        let text = format!("{LOADS} v3: f32 = mul v1, v2\n v9: f32 = add v3, v1\n store m2[v0], v9\n return");
        let mut strict = kernel(&text);
        strict.options.contract = false;
        run(&mut strict);
        assert!(!body(&strict).contains("mul_add"));
    }
}
