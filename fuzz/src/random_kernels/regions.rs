//! Regions of random kernels: branches, loops that count and loops that do not, blocks that are left.

use super::{Generator, Target};
use warpwright_codegen::ir::{BinaryOp, Block, CompareOp, Loc, Op, Region, Terminator, Type, Value};

impl Generator<'_> {
    pub(super) fn branch(&mut self, block: Block, depth: u32) {
        let (condition, is_alike) = self.condition(block);
        let kind = self.random.below(4);
        // Now and then the same is asked again at once.
        for _ in 0..1 + usize::from(self.random.chance(25)) {
            self.branch_on(condition, is_alike, kind, block, depth);
        }
    }

    pub(super) fn branch_on(&mut self, condition: Value, is_alike: bool, kind: usize, block: Block, depth: u32) {
        let types = if kind == 1 { Vec::new() } else { self.types() };
        let (then_block, else_block) = (self.kernel.new_block(&[]), self.kernel.new_block(&[]));
        let inst = self.kernel.new_inst(Op::Region(Region::If { condition, then_block, else_block }), &types, Loc(0));
        if kind == 1 {
            // What is done, or not.
            let array = self.random.pick(&["y", "g", "s", "l", "d"]);
            self.store(then_block, array);
            for side in [then_block, else_block] {
                self.b(side).push(Op::Terminator(Terminator::Yield(Vec::new())), &[]);
            }
            return self.place(block, inst);
        }
        if kind == 2 {
            // What is short enough for `select`.
            for side in [then_block, else_block] {
                let visible = self.scope.len();
                let value = self.operation(side);
                self.scope.push(value);
                let values = self.values(side, &types);
                self.b(side).push(Op::Terminator(Terminator::Yield(values)), &[]);
                self.scope.truncate(visible);
            }
            return self.place(block, inst);
        }
        self.apart(is_alike, |generator| {
            generator.fill(then_block, depth, &types, None, 30);
            generator.fill(else_block, depth, &types, None, 20);
        });
        self.place(block, inst);
    }

    pub(super) fn count(&mut self, block: Block, depth: u32) {
        let types = self.types();
        let init = self.values(block, &types);
        let mut is_alike = true;
        let end = if self.random.chance(50) {
            let n = self.random.below(6) as i128;
            self.b(block).int(Type::U32, n)
        } else {
            let mut value = self.value(block, Type::U32);
            is_alike = self.exchanges() && self.random.chance(75);
            let mut b = self.b(block);
            if is_alike {
                let first = b.int(Type::U32, 0);
                value = b.intrinsic(Self::row("shuffle", Type::U32), vec![value, first], Type::U32);
            }
            let mask = b.int(Type::U32, 7);
            b.binary(BinaryOp::And, value, mask)
        };
        let mut b = self.b(block);
        let start = b.int(Type::U32, 0);
        let step = b.int(Type::U32, 1 + i128::from(end.0 % 3));
        let params: Vec<Type> = std::iter::once(Type::U32).chain(types.iter().copied()).collect();
        let body = self.kernel.new_block(&params);
        let inst = self.kernel.new_inst(Op::Region(Region::For { start, end, step, init, body, keep_rolled: false }), &types, Loc(0));
        let visible = self.scope.len();
        self.scope.extend(self.kernel.blocks[body].params.clone());
        self.apart(is_alike, |generator| {
            generator.targets.push(Target { inst, breaks: types.clone(), continues: Some(types.clone()), counter: None });
            generator.counters.push(generator.kernel.blocks[body].params[0]);
            generator.fill(body, depth, &types, None, 10);
            generator.counters.pop();
            generator.targets.pop();
        });
        self.scope.truncate(visible);
        self.place(block, inst);
    }

    /// A `Loop` with a counter, which ends it.
    pub(super) fn repeat(&mut self, block: Block, depth: u32) {
        let results = self.types();
        let carried: Vec<Type> = std::iter::once(Type::U32).chain(self.types()).collect();
        let mut init = vec![self.b(block).int(Type::U32, 0)];
        init.extend(self.values(block, &carried[1..]));
        let body = self.kernel.new_block(&carried);
        let inst = self.kernel.new_inst(Op::Region(Region::Loop { init, body, keep_rolled: false }), &results, Loc(0));
        let visible = self.scope.len();
        self.scope.extend(self.kernel.blocks[body].params.clone());
        let counter = self.kernel.blocks[body].params[0];
        let rounds = self.random.below(6) as i128;
        let mut b = self.b(body);
        let one = b.int(Type::U32, 1);
        let next = b.binary(BinaryOp::Add, counter, one);
        let rounds = b.int(Type::U32, rounds);
        let condition = b.compare(CompareOp::Gt, next, rounds);
        let (out, stay) = (self.kernel.new_block(&[]), self.kernel.new_block(&[]));
        let values = self.values(out, &results);
        self.b(out).push(Op::Terminator(Terminator::Break(inst, values)), &[]);
        self.b(stay).push(Op::Terminator(Terminator::Yield(Vec::new())), &[]);
        self.b(body).push(Op::Region(Region::If { condition, then_block: out, else_block: stay }), &[]);
        self.targets.push(Target { inst, breaks: results, continues: Some(carried.clone()), counter: Some(next) });
        self.fill(body, depth, &carried, Some(next), 10);
        self.targets.pop();
        self.scope.truncate(visible);
        self.place(block, inst);
    }

    pub(super) fn region(&mut self, block: Block, depth: u32) {
        let types = self.types();
        let body = self.kernel.new_block(&[]);
        let inst = self.kernel.new_inst(Op::Region(Region::Block { body }), &types, Loc(0));
        self.targets.push(Target { inst, breaks: types.clone(), continues: None, counter: None });
        self.fill(body, depth, &types, None, 10);
        self.targets.pop();
        self.place(block, inst);
    }
}
