//! Appends instructions to a block: what lowering and passes build code with.

use super::intrinsic::IntrinsicId;
use super::{
    Axis, BinaryOp, Block, CompareOp, Compute, Engine, Inst, Kernel, Loc, Op, Region, Scalar, Special, StoreStage, Terminator, Type,
    UnaryOp, Value,
};

/// Appends to one block at a time, at one source location at a time. No simplification happens here: that is the passes' work.
pub struct Builder<'k> {
    /// The kernel being built.
    pub kernel: &'k mut Kernel,
    /// Where instructions go.
    pub block: Block,
    /// Where they come from.
    pub loc: Loc,
}

impl<'k> Builder<'k> {
    /// Appends to the end of `block`.
    pub fn new(kernel: &'k mut Kernel, block: Block, loc: Loc) -> Builder<'k> {
        Builder { kernel, block, loc }
    }

    /// Appends an instruction.
    pub fn push(&mut self, op: Op, results: &[Type]) -> Inst {
        let inst = self.kernel.new_inst(op, results, self.loc);
        self.kernel.blocks[self.block].insts.push(inst);
        inst
    }

    /// Appends an instruction with one result.
    pub fn push1(&mut self, op: Op, ty: Type) -> Value {
        let inst = self.push(op, &[ty]);
        self.kernel.insts[inst].results[0]
    }

    /// Whether the block already ended.
    pub fn is_terminated(&self) -> bool {
        self.kernel.blocks[self.block].insts.last().is_some_and(|i| self.kernel.insts[*i].op.is_terminator())
    }

    /// A constant.
    pub fn constant(&mut self, scalar: Scalar) -> Value {
        self.push1(Op::Compute(Compute::Const(scalar)), scalar.ty)
    }

    /// An integer constant.
    pub fn int(&mut self, ty: Type, value: i128) -> Value {
        self.constant(Scalar::int(ty, value))
    }

    /// A float constant.
    pub fn float(&mut self, ty: Type, value: f64) -> Value {
        self.constant(Scalar::float(ty, value))
    }

    /// A `bool` constant.
    pub fn bool(&mut self, value: bool) -> Value {
        self.constant(Scalar::bool(value))
    }

    /// A special register, `u32`.
    pub fn special(&mut self, special: Special, axis: Axis) -> Value {
        self.push1(Op::Compute(Compute::Special(special, axis)), Type::U32)
    }

    /// `op a`.
    pub fn unary(&mut self, op: UnaryOp, a: Value) -> Value {
        let ty = self.kernel.ty(a);
        self.push1(Op::Compute(Compute::Unary(op, a)), ty)
    }

    /// `a op b`.
    pub fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        let ty = self.kernel.ty(a);
        self.push1(Op::Compute(Compute::Binary(op, a, b)), ty)
    }

    /// `a * b + c`.
    pub fn mul_add(&mut self, a: Value, b: Value, c: Value) -> Value {
        let ty = self.kernel.ty(a);
        self.push1(Op::Compute(Compute::MulAdd(a, b, c)), ty)
    }

    /// `a op b`, a `bool`.
    pub fn compare(&mut self, op: CompareOp, a: Value, b: Value) -> Value {
        self.push1(Op::Compute(Compute::Compare(op, a, b)), Type::Bool)
    }

    /// `if c { a } else { b }`.
    pub fn select(&mut self, c: Value, a: Value, b: Value) -> Value {
        let ty = self.kernel.ty(a);
        self.push1(Op::Compute(Compute::Select(c, a, b)), ty)
    }

    /// `a as ty`; nothing if it already is.
    pub fn cast(&mut self, a: Value, ty: Type) -> Value {
        if self.kernel.ty(a) == ty { a } else { self.push1(Op::Compute(Compute::Cast(a)), ty) }
    }

    /// The bits of `a` as `ty`; nothing if it already is.
    pub fn bitcast(&mut self, a: Value, ty: Type) -> Value {
        if self.kernel.ty(a) == ty { a } else { self.push1(Op::Compute(Compute::Bitcast(a)), ty) }
    }

    /// An intrinsic with one result.
    pub fn intrinsic(&mut self, row: IntrinsicId, args: Vec<Value>, ty: Type) -> Value {
        self.push1(Op::Intrinsic(row, args), ty)
    }

    /// Whether this is the first thread of its block: the one that tells the copy engine.
    pub fn is_first_thread(&mut self) -> Value {
        let zero = self.constant(Scalar::u32(0));
        let mut all: Option<Value> = None;
        for (axis, _) in Axis::ALL.iter().copied() {
            // An axis of one thread has no other.
            if self.kernel.options.block.is_some_and(|block| block[axis as usize] == 1) {
                continue;
            }
            let at = self.special(Special::ThreadIdx, axis);
            all = Some(all.map_or(at, |all| self.binary(BinaryOp::Or, all, at)));
        }
        self.compare(CompareOp::Eq, all.unwrap_or(zero), zero)
    }

    /// Does something in the first thread of the block only.
    pub fn in_first_thread(&mut self, what: impl FnOnce(&mut Builder<'_>)) {
        let is_first = self.is_first_thread();
        self.only_if(is_first, what);
    }

    /// `if condition { what }`.
    pub fn only_if(&mut self, condition: Value, what: impl FnOnce(&mut Builder<'_>)) {
        let what = |b: &mut Builder<'_>| {
            what(b);
            Vec::new()
        };
        self.if_else(condition, what, |_| Vec::new());
    }

    /// Waits for all groups of the thread's stores by the copy engine but the last ones.
    pub fn await_stores(&mut self, but: u32, until: StoreStage) {
        self.push(Op::Engine(Engine::AwaitStores { but, until }), &[]);
    }

    /// `if condition { then } else { otherwise }`, each giving values of the same types. The builder then stands behind it.
    pub fn if_else(
        &mut self,
        condition: Value,
        then: impl FnOnce(&mut Builder<'_>) -> Vec<Value>,
        otherwise: impl FnOnce(&mut Builder<'_>) -> Vec<Value>,
    ) -> Vec<Value> {
        let (then_block, then_types) = self.nested(&[], |b, _| then(b));
        let (else_block, _) = self.nested(&[], |b, _| otherwise(b));
        let inst = self.push(Op::Region(Region::If { condition, then_block, else_block }), &then_types);
        self.kernel.insts[inst].results.clone()
    }

    /// `for i in (start..end).step_by(step)`: `body` gets the induction variable and the carried values and gives the next ones.
    pub fn for_each(
        &mut self,
        [start, end, step]: [Value; 3],
        init: &[Value],
        body: impl FnOnce(&mut Builder<'_>, Value, &[Value]) -> Vec<Value>,
    ) -> Vec<Value> {
        let mut params = vec![self.kernel.ty(start)];
        params.extend(init.iter().map(|v| self.kernel.ty(*v)));
        let (body, _) = self.nested(&params, |b, params| body(b, params[0], &params[1..]));
        let inst = self.push(Op::Region(Region::For { start, end, step, init: init.to_vec(), body, keep_rolled: false }), &params[1..]);
        self.kernel.insts[inst].results.clone()
    }

    /// A new block with parameters of these types, filled by `fill`, which gives what it yields; and the types of that.
    fn nested(&mut self, params: &[Type], fill: impl FnOnce(&mut Builder<'_>, &[Value]) -> Vec<Value>) -> (Block, Vec<Type>) {
        let block = self.kernel.new_block(params);
        let params = self.kernel.blocks[block].params.clone();
        let mut inner = Builder::new(self.kernel, block, self.loc);
        let values = fill(&mut inner, &params);
        let types = values.iter().map(|v| inner.kernel.ty(*v)).collect();
        inner.push(Op::Terminator(Terminator::Yield(values)), &[]);
        (block, types)
    }

    /// Gives a value the source's name, if it has none.
    pub fn name(&mut self, value: Value, name: &str) {
        self.kernel.values[value].name.get_or_insert_with(|| name.into());
    }
}
