//! Going over a kernel: operands, uses, and every instruction in program order.

use super::{
    Access, Address, BatchIndex, Block, Collective, Compute, Engine, Inst, Kernel, LeftFactor, Memory, MemoryOp, Message, Object, Op,
    PitchedMatrix, Region, Share, Step, Tensor, Terminator, Value, WarpgroupFactor,
};
use crate::collections::HashSet;

/// The indices of a path.
macro_rules! path_steps {
    ($path:expr, $f:ident, $iter:ident) => {
        $path.$iter().for_each(|step| match step {
            Step::Index(value) => $f(value),
            Step::Field(_) => {}
        })
    };
}

/// What a matrix is made of, but for its buffer.
macro_rules! matrix_values {
    ($matrix:expr, $f:expr, $iter:ident) => {{
        let PitchedMatrix { rows, columns, pitch, batch, .. } = $matrix;
        [rows, columns, pitch].into_iter().for_each(&mut $f);
        batch.$iter().for_each(|BatchIndex { index, count, stride }| [index, count, stride].into_iter().for_each(&mut $f));
    }};
}

/// Calls `$f` on every operand of `$op`; `$iter` is `iter` or `iter_mut`, as `$op` is borrowed.
macro_rules! visit_operands {
    ($op:expr, $f:ident, $iter:ident) => {
        match $op {
            Op::Compute(Compute::Const(_) | Compute::Special(..) | Compute::Len(_) | Compute::Address(_))
            | Op::Terminator(Terminator::Return | Terminator::Trap(_))
            | Op::Region(Region::Block { .. }) => {}
            Op::Compute(Compute::Unary(_, a) | Compute::Cast(a) | Compute::Bitcast(a) | Compute::PeerAddress(_, a)) => $f(a),
            Op::Compute(Compute::Binary(_, a, b) | Compute::Compare(_, a, b) | Compute::Offset(a, b)) => {
                $f(a);
                $f(b);
            }
            Op::Compute(Compute::MulAdd(a, b, c) | Compute::Select(a, b, c)) => {
                $f(a);
                $f(b);
                $f(c);
            }
            Op::Memory(Memory { op, at }) => {
                match at {
                    Address::Path(Access { path, .. }) => path_steps!(path, $f, $iter),
                    Address::Pointer { ptr, .. } => $f(ptr),
                }
                match op {
                    MemoryOp::Load | MemoryOp::LoadMatrix { .. } => {}
                    MemoryOp::Store(values) | MemoryOp::StoreMatrix(values) | MemoryOp::Atomic(_, _, values) => values.$iter().for_each($f),
                }
            }
            Op::Collective(collective) => match collective {
                Collective::LoadRun { to: Access { path, .. }, start, .. } => {
                    path_steps!(path, $f, $iter);
                    $f(start);
                }
                Collective::LoadTile { to: Access { path, .. }, from: matrix, row, column }
                | Collective::StoreTile { from: Access { path, .. }, to: matrix, row, column } => {
                    path_steps!(path, $f, $iter);
                    matrix_values!(matrix, $f, $iter);
                    [row, column].into_iter().for_each($f);
                }
            },
            Op::Tensor(tensor) => match tensor {
                Tensor::MultiplyAdd { a, b, sums } => {
                    match a {
                        LeftFactor::Tile(tile) => path_steps!(tile.array.path, $f, $iter),
                        LeftFactor::Sums { values, .. } => values.$iter().for_each(&mut $f),
                    }
                    path_steps!(b.array.path, $f, $iter);
                    sums.$iter().for_each($f);
                }
                Tensor::WarpgroupMma { a, b, sums, .. } => {
                    match a {
                        WarpgroupFactor::Tile { tile, row } => {
                            path_steps!(tile.array.path, $f, $iter);
                            $f(row);
                        }
                        WarpgroupFactor::Words(words) => words.$iter().for_each(&mut $f),
                    }
                    path_steps!(b.array.path, $f, $iter);
                    sums.$iter().for_each($f);
                }
                Tensor::Await { sums } => sums.$iter().for_each($f),
                Tensor::Store { to, from, sums, .. } => {
                    path_steps!(to.path, $f, $iter);
                    from.$iter().for_each(&mut $f);
                    sums.$iter().for_each($f);
                }
                Tensor::Position { element, .. } => $f(element),
                Tensor::Mma { a, b, c, .. } => {
                    a.$iter().for_each(&mut $f);
                    b.$iter().for_each(&mut $f);
                    c.$iter().for_each($f);
                }
            },
            Op::Engine(engine) => match engine {
                Engine::Init { .. }
                | Engine::CommitStores
                | Engine::AwaitStores { .. }
                | Engine::Fence
                | Engine::Is(_)
                | Engine::Turn(_) => {}
                Engine::Meet { warpgroup } => $f(warpgroup),
                Engine::Arrive { barrier: Access { path, .. }, of_block } => {
                    path_steps!(path, $f, $iter);
                    of_block.$iter().for_each(&mut $f);
                }
                Engine::KeepTurn { slot, parity, .. } => [slot, parity].into_iter().for_each(&mut $f),
                Engine::Expect { barrier: Access { path, .. }, bytes: value }
                | Engine::Wait { barrier: Access { path, .. }, parity: value } => {
                    path_steps!(path, $f, $iter);
                    $f(value);
                }
                Engine::CopyRun { to, start, barrier, .. } => {
                    path_steps!(to.path, $f, $iter);
                    $f(start);
                    path_steps!(barrier.path, $f, $iter);
                }
                Engine::CopyTile { to, from, row, column, barrier, share } => {
                    path_steps!(to.path, $f, $iter);
                    matrix_values!(from, $f, $iter);
                    [row, column].into_iter().for_each(&mut $f);
                    path_steps!(barrier.path, $f, $iter);
                    if let Some(Share { part, blocks, .. }) = share {
                        [part, blocks].into_iter().for_each(&mut $f);
                    }
                }
                Engine::StoreTile { from, to, row, column } => {
                    path_steps!(from.path, $f, $iter);
                    matrix_values!(to, $f, $iter);
                    [row, column].into_iter().for_each(&mut $f);
                }
            },
            Op::Intrinsic(_, values) | Op::Message(Message::Print(_, values)) | Op::Texture(_, _, values) => values.$iter().for_each($f),
            Op::Message(Message::Assert(condition, _, values)) => {
                $f(condition);
                values.$iter().for_each($f);
            }
            Op::Region(Region::If { condition, .. }) => $f(condition),
            Op::Region(Region::For { start, end, step, init, .. }) => {
                $f(start);
                $f(end);
                $f(step);
                init.$iter().for_each($f);
            }
            Op::Region(Region::Loop { init, .. }) => init.$iter().for_each($f),
            Op::Terminator(Terminator::Yield(values) | Terminator::Break(_, values) | Terminator::Continue(_, values)) => {
                values.$iter().for_each($f)
            }
        }
    };
}

impl Op {
    /// Calls `f` on every operand, in a fixed order; `f` may replace it.
    pub fn for_each_operand_mut(&mut self, mut f: impl FnMut(&mut Value)) {
        visit_operands!(self, f, iter_mut);
    }

    /// Calls `f` on every operand, in the order of [`Op::for_each_operand_mut`].
    pub fn for_each_operand(&self, mut f: impl FnMut(Value)) {
        let mut f = |value: &Value| f(*value);
        visit_operands!(self, f, iter);
    }

    /// Every operand, in the order of [`Op::for_each_operand_mut`].
    pub fn operands(&self) -> Vec<Value> {
        let mut all = Vec::new();
        self.for_each_operand(|value| all.push(value));
        all
    }
}

impl Op {
    /// Calls `f` on every block it owns, in order; `f` may replace it.
    pub fn for_each_block_mut(&mut self, mut f: impl FnMut(&mut Block)) {
        match self {
            Op::Region(Region::If { then_block, else_block, .. }) => {
                f(then_block);
                f(else_block);
            }
            Op::Region(Region::For { body, .. } | Region::Loop { body, .. } | Region::Block { body }) => f(body),
            _ => {}
        }
    }

    /// The object it touches or asks about; of a collective the shared array, beside which it touches [`Collective::buffer`].
    pub fn object(&self) -> Option<Object> {
        match self {
            Op::Collective(collective) => Some(collective.array().object),
            Op::Engine(engine) => engine.copied().map(|(array, _)| array.object).or(engine.barriers()),
            Op::Tensor(Tensor::Store { to, .. }) => Some(to.object),
            Op::Compute(Compute::Len(object) | Compute::Address(object) | Compute::PeerAddress(object, _)) | Op::Texture(_, object, _) => {
                Some(*object)
            }
            Op::Memory(memory) => Some(memory.at.object()),
            Op::Compute(_) | Op::Tensor(_) | Op::Intrinsic(..) | Op::Message(_) | Op::Region(_) | Op::Terminator(_) => None,
        }
    }

    /// Whether it touches or asks about an object.
    pub fn touches(&self, object: Object) -> bool {
        match self {
            Op::Tensor(tensor) => tensor.arrays().iter().any(|array| array.object == object),
            op => op.object() == Some(object),
        }
    }

    /// Calls `f` on every object it touches or asks about; `f` may replace it.
    pub fn for_each_object_mut(&mut self, mut f: impl FnMut(&mut Object)) {
        match self {
            Op::Compute(Compute::Len(object) | Compute::Address(object) | Compute::PeerAddress(object, _)) | Op::Texture(_, object, _) => {
                f(object);
            }
            Op::Memory(Memory { at: Address::Path(Access { object, .. }) | Address::Pointer { object, .. }, .. }) => f(object),
            Op::Collective(collective) => {
                f(&mut collective.array_mut().object);
                f(collective.buffer_mut());
            }
            Op::Tensor(tensor) => tensor.arrays_mut().into_iter().for_each(|array| f(&mut array.object)),
            Op::Engine(Engine::Init { barriers: object, .. } | Engine::Turn(object) | Engine::KeepTurn { barriers: object, .. }) => {
                f(object);
            }
            Op::Engine(Engine::Arrive { barrier, .. } | Engine::Expect { barrier, .. } | Engine::Wait { barrier, .. }) => {
                f(&mut barrier.object);
            }
            Op::Engine(
                Engine::CopyRun { to, from, barrier, .. } | Engine::CopyTile { to, from: PitchedMatrix { data: from, .. }, barrier, .. },
            ) => {
                f(&mut to.object);
                f(from);
                f(&mut barrier.object);
            }
            Op::Engine(Engine::StoreTile { from, to, .. }) => {
                f(&mut from.object);
                f(&mut to.data);
            }
            Op::Engine(Engine::CommitStores | Engine::AwaitStores { .. } | Engine::Fence | Engine::Meet { .. } | Engine::Is(_)) => {}
            Op::Compute(_) | Op::Intrinsic(..) | Op::Message(_) | Op::Region(_) | Op::Terminator(_) => {}
        }
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
            // Most own none, and all analyses come by here.
            match self.insts[*inst].op {
                Op::Region(Region::If { then_block, else_block, .. }) => {
                    self.walk_block(then_block, f);
                    self.walk_block(else_block, f);
                }
                Op::Region(Region::For { body, .. } | Region::Loop { body, .. } | Region::Block { body }) => self.walk_block(body, f),
                _ => {}
            }
        }
    }

    /// Every instruction from `block` down, in program order.
    pub fn insts_in(&self, block: Block) -> impl Iterator<Item = Inst> + use<> {
        let mut insts = Vec::new();
        self.walk_block(block, &mut |_, _, inst| insts.push(inst));
        insts.into_iter()
    }

    /// Whether something in a block leaves or repeats what the block stands in, `owner`, but for its end.
    pub fn is_exited(&self, owner: Inst, block: Block) -> bool {
        let is_exit = |inst: Inst| matches!(self.insts[inst].op, Op::Terminator(Terminator::Break(to, _) | Terminator::Continue(to, _)) if to == owner);
        self.insts_in(block).any(is_exit)
    }

    /// Calls `f` on these values and on what they are computed from, each once: on the operands of those for which `f` says to go on.
    ///
    /// Whatever asks something of a whole expression asks it so. Values are shared: followed as a tree, a chain of `a = a ^ (a << 5)` has twice
    /// as many branches with each link, and recursion goes as deep as the chain is long.
    pub fn for_each_needed(&self, values: &[Value], mut f: impl FnMut(Value) -> bool) {
        let mut seen: HashSet<Value> = values.iter().copied().collect();
        let mut work = values.to_vec();
        while let Some(value) = work.pop() {
            if !f(value) {
                continue;
            }
            if let Some((_, op)) = self.def(value) {
                op.for_each_operand(|operand| {
                    if seen.insert(operand) {
                        work.push(operand);
                    }
                });
            }
        }
    }

    /// A value and what it is computed from, each once, operands before what uses them; of those for which `goes_on` holds, and of the operands
    /// of those alone. For questions about a whole expression that are answered from its operands' answers.
    pub fn operands_first(&self, value: Value, goes_on: impl Fn(Value) -> bool) -> Vec<Value> {
        let mut seen = HashSet::default();
        let mut order = Vec::new();
        // Each value comes twice: for its operands, and behind them.
        let mut work = vec![(value, false)];
        while let Some((value, is_ready)) = work.pop() {
            if is_ready {
                order.push(value);
            } else if goes_on(value) && seen.insert(value) {
                work.push((value, true));
                let from = work.len();
                if let Some((_, op)) = self.def(value) {
                    op.for_each_operand(|operand| work.push((operand, false)));
                }
                work[from..].reverse();
            }
        }
        order
    }

    /// How often each value is used by reachable instructions, indexed by value.
    pub fn use_counts(&self) -> Vec<u32> {
        let mut counts = vec![0; self.values.len()];
        self.for_each_inst(|kernel, _, inst| {
            kernel.insts[inst].op.for_each_operand(|value| counts[value.0 as usize] += 1);
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
        for inst in self.insts_in(self.body) {
            self.insts[inst].op.for_each_operand_mut(|v| *v = resolve(*v));
        }
    }
}
