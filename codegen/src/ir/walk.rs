//! Going over a kernel: operands, uses, and every instruction in program order.

use super::{Access, Block, Inst, Kernel, Op, Step, Value};

impl Access {
    fn for_each_value(&mut self, f: &mut impl FnMut(&mut Value)) {
        for step in &mut self.path {
            if let Step::Index(value) = step {
                f(value);
            }
        }
    }
}

impl Op {
    /// Calls `f` on every operand, in a fixed order; `f` may replace it.
    pub fn for_each_operand_mut(&mut self, mut f: impl FnMut(&mut Value)) {
        let f = &mut f;
        match self {
            Op::Const(_) | Op::Special(..) | Op::Len(_) | Op::Address(_) | Op::Return | Op::Trap(_) | Op::Region { .. } => {}
            Op::Unary(_, a) | Op::Cast(a) | Op::Bitcast(a) => f(a),
            Op::Binary(_, a, b) | Op::Compare(_, a, b) | Op::Offset(a, b) => {
                f(a);
                f(b);
            }
            Op::MulAdd(a, b, c) | Op::Select(a, b, c) => {
                f(a);
                f(b);
                f(c);
            }
            Op::Load(access) => access.for_each_value(f),
            Op::Store(access, values) | Op::Atomic(_, access, values) => {
                access.for_each_value(f);
                values.iter_mut().for_each(f);
            }
            Op::Intrinsic(_, values) | Op::Print(_, values) => values.iter_mut().for_each(f),
            Op::Assert(condition, _, values) => {
                f(condition);
                values.iter_mut().for_each(f);
            }
            Op::LoadAt { ptr, .. } => f(ptr),
            Op::StoreAt { ptr, values: operands, .. } | Op::AtomicAt { ptr, operands, .. } => {
                f(ptr);
                operands.iter_mut().for_each(f);
            }
            Op::If { condition, .. } => f(condition),
            Op::For { start, end, step, init, .. } => {
                f(start);
                f(end);
                f(step);
                init.iter_mut().for_each(f);
            }
            Op::Loop { init, .. } => init.iter_mut().for_each(f),
            Op::Yield(values) | Op::Break(_, values) | Op::Continue(_, values) => values.iter_mut().for_each(f),
        }
    }

    /// Every operand, in the order of [`Op::for_each_operand_mut`].
    pub fn operands(&self) -> Vec<Value> {
        let mut all = Vec::new();
        self.clone().for_each_operand_mut(|v| all.push(*v));
        all
    }
}

impl Kernel {
    /// Calls `f` on every instruction reachable from the body, in program order: an owner before its blocks.
    pub fn for_each_inst(&self, mut f: impl FnMut(&Kernel, Block, Inst)) {
        self.walk_block(self.body, &mut f);
    }

    /// The same from `block` down.
    pub fn walk_block(&self, block: Block, f: &mut impl FnMut(&Kernel, Block, Inst)) {
        for inst in &self.blocks[block].insts {
            f(self, block, *inst);
            for child in self.insts[*inst].op.blocks() {
                self.walk_block(child, f);
            }
        }
    }

    /// How often each value is used by reachable instructions, indexed by value.
    pub fn use_counts(&self) -> Vec<u32> {
        let mut counts = vec![0; self.values.len()];
        self.for_each_inst(|kernel, _, inst| {
            for value in kernel.insts[inst].op.operands() {
                counts[value.0 as usize] += 1;
            }
        });
        counts
    }

    /// Replaces operands of every reachable instruction by what `map` says (indexed by value; chains are followed).
    pub fn replace_values(&mut self, map: &[Option<Value>]) {
        let resolve = |mut value: Value| {
            while let Some(Some(next)) = map.get(value.0 as usize) {
                value = *next;
            }
            value
        };
        let mut reachable = Vec::new();
        self.for_each_inst(|_, _, inst| reachable.push(inst));
        for inst in reachable {
            self.insts[inst].op.for_each_operand_mut(|v| *v = resolve(*v));
        }
    }
}
