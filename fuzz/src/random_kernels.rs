//! Random kernels in the IR, made of everything that passes rewrite: arithmetic of several types with its awkward constants, branches,
//! loops and regions that are left early, loads and stores of global, shared and local arrays. Every thread writes only its own
//! elements, and every index is in range, so that a result is one.
//!
//! A [`Style`] says whether the threads go alone, or exchange values in their warps: then conditions and trip counts are made alike in
//! a warp by votes and shuffles, most of the time, and where they are not, nothing is exchanged and nothing left.

mod regions;

use crate::random::Random;
use std::collections::BTreeMap;
use warpwright_codegen::annotations::PREFETCH;
use warpwright_codegen::intrinsics;
use warpwright_codegen::ir::KernelOptions;
use warpwright_codegen::ir::intrinsic::IntrinsicId;
use warpwright_codegen::ir::{
    Access, Axis, BinaryOp, Block, Builder, CompareOp, EarlyLoads, Inst, Kernel, Loc, Memory, MemoryOp, MemoryType, Object, ObjectData,
    ObjectKind, Op, Region, Scalar, Special, Step, Terminator, Type, UnaryOp, Value,
};
use warpwright_runtime::sim::{SimArgument, SimLaunch, SimProgram};

/// How the threads of a random kernel are to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// One warp, each thread for itself.
    Alone,
    /// Three warps that exchange values inside, each going its own way: whole ones, or the last of 16 threads.
    Warps {
        /// Threads of the block.
        threads: u32,
    },
}

impl Style {
    /// Threads of the block.
    pub fn threads(self) -> u32 {
        match self {
            Style::Alone => 32,
            Style::Warps { threads } => threads,
        }
    }
}

/// Elements of an array that each thread calls its own.
const OWN: u64 = 4;
/// Elements of the read-only buffers.
const READ: usize = 64;

/// Where an exit can go.
#[derive(Clone)]
struct Target {
    inst: Inst,
    /// Types of what a `Break` hands over; of what a `Continue` does, if it can.
    breaks: Vec<Type>,
    continues: Option<Vec<Type>>,
    /// The first value a `Continue` hands over, if it is a counter.
    counter: Option<Value>,
}

struct Generator<'r> {
    kernel: Kernel,
    random: &'r mut Random,
    /// Values visible here.
    scope: Vec<Value>,
    targets: Vec<Target>,
    /// `thread_idx.x`, and four times that.
    thread: Value,
    base: Value,
    objects: BTreeMap<&'static str, Object>,
    /// Statements left.
    budget: u32,
    style: Style,
    /// Whether the threads of a warp may have parted.
    is_apart: bool,
    /// Counters of the loops round here, innermost last: at most 7.
    counters: Vec<Value>,
}

/// A random kernel.
pub fn random_kernel(random: &mut Random, style: Style) -> Kernel {
    let mut kernel = Generator::kernel(random, style);
    // As if `prefetch` had issued what is loaded of shared arrays, whose order a pass of its own decides.
    let is_of_shared = |op: &Op| op.object().is_some_and(|object| kernel.objects[object].kind == ObjectKind::Shared);
    let is_load = |op: &Op| matches!(op, Op::Memory(Memory { op: MemoryOp::Load, .. }));
    let loads =
        kernel.insts_in(kernel.body).filter(|inst| is_load(&kernel.insts[*inst].op) && is_of_shared(&kernel.insts[*inst].op)).collect();
    kernel.early_loads.push(EarlyLoads { annotation: &PREFETCH, place: Loc(0), loads });
    kernel.compact();
    kernel
}

/// One whose threads exchange values: whole warps, or a last one of 16 threads.
pub fn random_kernel_of_warps(random: &mut Random) -> Kernel {
    let threads = random.pick(&[96, 80]);
    random_kernel(random, Style::Warps { threads })
}

const TYPES: [Type; 5] = [Type::U32, Type::I32, Type::U64, Type::F32, Type::Bool];

impl<'r> Generator<'r> {
    fn kernel(random: &'r mut Random, style: Style) -> Kernel {
        let options = KernelOptions { block: Some([style.threads(), 1, 1]), contract: false, ..KernelOptions::default() };
        let mut kernel = Kernel::new("random", options);
        let mut objects = BTreeMap::new();
        let slice = |ty| MemoryType::Slice(Box::new(MemoryType::Scalar(ty)));
        let array = |ty, n| MemoryType::Array(Box::new(ty), n);
        let list = [
            ("n", ObjectKind::Value, MemoryType::Scalar(Type::U32)),
            ("x", ObjectKind::Global { writable: false }, slice(Type::U32)),
            ("f", ObjectKind::Global { writable: false }, slice(Type::F32)),
            ("y", ObjectKind::Global { writable: true }, slice(Type::U32)),
            ("g", ObjectKind::Global { writable: true }, slice(Type::F32)),
            ("s", ObjectKind::Shared, array(array(MemoryType::Scalar(Type::F32), OWN), u64::from(style.threads()))),
            ("l", ObjectKind::Local, array(MemoryType::Scalar(Type::U32), OWN)),
            ("d", ObjectKind::Local, array(MemoryType::Scalar(Type::F32), OWN)),
        ];
        for (name, kind, ty) in list {
            let is_param = !matches!(kind, ObjectKind::Shared | ObjectKind::Local);
            let object = kernel.objects.push(ObjectData { name: name.into(), kind, ty, loc: Loc(0) });
            if is_param {
                kernel.params.push(object);
            }
            objects.insert(name, object);
        }
        let body = kernel.body;
        let mut b = Builder::new(&mut kernel, body, Loc(0));
        let thread = b.special(Special::ThreadIdx, Axis::X);
        let own = b.int(Type::U32, i128::from(OWN));
        let base = b.binary(BinaryOp::Mul, thread, own);
        let mut generator = Generator {
            kernel,
            random,
            scope: vec![thread],
            targets: Vec::new(),
            thread,
            base,
            objects,
            budget: 60,
            style,
            is_apart: false,
            counters: Vec::new(),
        };
        generator.initialise(body);
        generator.statements(body, 0);
        generator.finish(body);
        generator.kernel
    }

    fn b(&mut self, block: Block) -> Builder<'_> {
        Builder::new(&mut self.kernel, block, Loc(0))
    }

    /// Arrays have values before they are read.
    fn initialise(&mut self, block: Block) {
        for k in 0..OWN {
            for array in ["l", "d", "s"] {
                let ty = if array == "l" { Type::U32 } else { Type::F32 };
                let value = self.constant(block, ty);
                let index = self.b(block).int(Type::U32, i128::from(k));
                let access = self.own(array, block, index);
                self.b(block).push(Op::store(access, vec![value]), &[]);
            }
        }
    }

    /// What everything came to is written.
    fn finish(&mut self, block: Block) {
        for array in ["y", "g", "y", "g"] {
            self.store(block, array);
        }
        for array in ["l", "d", "s"] {
            let value = self.load_own(block, array);
            self.scope.push(value);
        }
        self.store(block, "y");
        self.store(block, "g");
        self.b(block).push(Op::Terminator(Terminator::Return), &[]);
    }

    /// The thread's own element of an array, `index` being in 0..4.
    fn own(&mut self, array: &str, block: Block, index: Value) -> Access {
        let (object, thread, base) = (self.objects[array], self.thread, self.base);
        let path = match array {
            "y" | "g" => vec![Step::Index(self.b(block).binary(BinaryOp::Add, base, index))],
            "s" => vec![Step::Index(thread), Step::Index(index)],
            _ => vec![Step::Index(index)],
        };
        Access { object, path }
    }

    /// An index in 0..4: mostly a constant.
    fn small(&mut self, block: Block) -> Value {
        let k = self.random.below(OWN as usize) as i128;
        if self.random.chance(85) {
            return self.b(block).int(Type::U32, k);
        }
        let value = self.value(block, Type::U32);
        let mut b = self.b(block);
        let mask = b.int(Type::U32, i128::from(OWN) - 1);
        b.binary(BinaryOp::And, value, mask)
    }

    fn store(&mut self, block: Block, array: &str) {
        let ty = if matches!(array, "y" | "l") { Type::U32 } else { Type::F32 };
        let value = self.value(block, ty);
        let index = self.small(block);
        let access = self.own(array, block, index);
        self.b(block).push(Op::store(access, vec![value]), &[]);
    }

    fn load_own(&mut self, block: Block, array: &str) -> Value {
        let ty = if matches!(array, "y" | "l") { Type::U32 } else { Type::F32 };
        let index = self.small(block);
        let access = self.own(array, block, index);
        self.b(block).push1(Op::load(access), ty)
    }

    /// From a read-only buffer: `x[v & 63]`, `x[(v & 31) ± c]`, or `x[k * c + d]` with a loop's counter.
    fn load(&mut self, block: Block) -> Value {
        let (name, ty) = if self.random.chance(50) { ("x", Type::U32) } else { ("f", Type::F32) };
        let object = self.objects[name];
        if let Some(counter) = self.counters.last().copied()
            && self.random.chance(60)
        {
            let (c, d) = (1 + self.random.below(4) as i128, self.random.below(16) as i128);
            let mut b = self.b(block);
            let (c, d) = (b.int(Type::U32, c), b.int(Type::U32, d));
            let first = b.binary(BinaryOp::Mul, counter, c);
            let index = b.binary(BinaryOp::Add, first, d);
            return b.push1(Op::load(Access { object, path: vec![Step::Index(index)] }), ty);
        }
        let value = self.value(block, Type::U32);
        let c = self.random.below(16) as i128;
        let mut b = self.b(block);
        let mask = b.int(Type::U32, 31);
        let low = b.binary(BinaryOp::And, value, mask);
        let (sixteen, c) = (b.int(Type::U32, 16), b.int(Type::U32, c));
        let middle = b.binary(BinaryOp::Add, low, sixteen);
        let index = match self.random.below(3) {
            0 => low,
            1 => self.b(block).binary(BinaryOp::Add, middle, c),
            _ => self.b(block).binary(BinaryOp::Sub, middle, c),
        };
        self.b(block).push1(Op::load(Access { object, path: vec![Step::Index(index)] }), ty)
    }

    fn constant(&mut self, block: Block, ty: Type) -> Value {
        let scalar = match ty {
            Type::F32 => Scalar::float(ty, self.random.pick(&[0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 3.0, -7.25, 1e30, f64::INFINITY])),
            Type::Bool => Scalar::bool(self.random.chance(50)),
            _ => {
                let special = self.random.pick(&[0, 1, 2, 3, 4, 7, 8, 10, 16, 31, 32, 100, -1, -2, -8, i64::from(i32::MIN), i64::MAX]);
                Scalar::int(ty, i128::from(special))
            }
        };
        self.b(block).constant(scalar)
    }

    /// A value of this type: one in scope, or a constant.
    fn value(&mut self, block: Block, ty: Type) -> Value {
        let of_type: Vec<Value> = self.scope.iter().copied().filter(|value| self.kernel.ty(*value) == ty).collect();
        if of_type.is_empty() || self.random.chance(25) { self.constant(block, ty) } else { self.random.pick(&of_type) }
    }

    fn values(&mut self, block: Block, types: &[Type]) -> Vec<Value> {
        types.iter().map(|ty| self.value(block, *ty)).collect()
    }

    fn types(&mut self) -> Vec<Type> {
        (0..self.random.below(3)).map(|_| self.random.pick(&TYPES)).collect()
    }

    fn statements(&mut self, block: Block, depth: u32) {
        for _ in 0..3 + self.random.below(8) {
            if self.budget == 0 {
                return;
            }
            self.budget -= 1;
            match self.random.below(21) {
                0..=1 if depth < 4 => self.branch(block, depth),
                2 | 16 if depth < 4 => self.count(block, depth),
                3 if depth < 4 => self.repeat(block, depth),
                4..=5 if depth < 4 => self.region(block, depth),
                6..=7 => {
                    let array = self.random.pick(&["y", "g", "s", "l", "d"]);
                    self.store(block, array);
                }
                8..=9 => {
                    let array = self.random.pick(&["y", "g", "s", "l", "d"]);
                    // What the buffers hold at first is the same every time.
                    let value = self.load_own(block, array);
                    self.scope.push(value);
                }
                10..=11 => {
                    let value = self.load(block);
                    self.scope.push(value);
                }
                12..=14 if self.exchanges() => self.exchange(block, depth),
                15 => self.rows(block),
                17 => self.products(block),
                _ => {
                    let value = self.operation(block);
                    self.scope.push(value);
                }
            }
        }
    }

    /// Sums that are one term apart, as the indices of rows are.
    fn rows(&mut self, block: Block) {
        let ty = self.random.pick(&[Type::U32, Type::I32, Type::U64]);
        let (base, term) = (self.value(block, ty), self.value(block, ty));
        for factor in 1..4 {
            let mut b = self.b(block);
            let factor = b.int(ty, factor);
            let product = b.binary(BinaryOp::Mul, term, factor);
            let sum = b.binary(BinaryOp::Add, base, product);
            self.scope.push(sum);
        }
    }

    /// A loop that adds the products of rows and columns to sums, as tiles are multiplied: of `f32`, begun by a vector load, of which a vector is stored.
    fn products(&mut self, block: Block) {
        let (rows, columns) = (self.random.pick(&[2, 4, 5]), self.random.pick(&[3, 4, 8]));
        let types = vec![Type::F32; rows * columns];
        let own = Access { object: self.objects["g"], path: vec![Step::Index(self.base)] };
        let begun = self.b(block).push(Op::load(own.clone()), &[Type::F32; 4]);
        let mut init = self.kernel.insts[begun].results.clone();
        init.extend(self.values(block, &types[4..]));
        let trips = self.random.below(4) as i128;
        let mut b = self.b(block);
        let (start, end, step) = (b.int(Type::U32, 0), b.int(Type::U32, trips), b.int(Type::U32, 1));
        let params: Vec<Type> = std::iter::once(Type::U32).chain(types.iter().copied()).collect();
        let body = self.kernel.new_block(&params);
        let sums = self.kernel.blocks[body].params[1..].to_vec();
        let is_of_shared = self.random.chance(50);
        let factors = (0..rows + columns).map(|_| if is_of_shared { self.load_own(body, "s") } else { self.load(body) });
        let factors: Vec<Value> = factors.collect();
        let factors: Vec<Value> = factors.into_iter().map(|value| self.b(body).cast(value, Type::F32)).collect();
        let (left, right) = factors.split_at(rows);
        let pairs = (0..rows * columns).map(|n| (left[n / columns], right[n % columns], sums[n]));
        let next: Vec<Value> = pairs.map(|(a, b, sum)| self.b(body).mul_add(a, b, sum)).collect();
        self.b(body).push(Op::Terminator(Terminator::Yield(next)), &[]);
        let op = Op::Region(Region::For { start, end, step, init, body, keep_rolled: false });
        let inst = self.kernel.new_inst(op, &types, Loc(0));
        self.place(block, inst);
        let results = self.kernel.insts[inst].results.clone();
        let first = self.random.below(rows * columns - 3);
        self.b(block).push(Op::store(own, results[first..first + 4].to_vec()), &[]);
        self.scope.push(results[self.random.below(results.len())]);
    }

    /// Whether values may be exchanged here.
    fn exchanges(&self) -> bool {
        self.style != Style::Alone && !self.is_apart
    }

    fn row(name: &str, ty: Type) -> IntrinsicId {
        intrinsics::function_for(name, ty).expect("the table has it")
    }

    /// A value from other lanes of the warp, all of which are there. Outside all statements, a barrier, too.
    fn exchange(&mut self, block: Block, depth: u32) {
        let words = [Type::U32, Type::I32, Type::F32];
        let ty = self.random.pick(&words);
        let is_whole = self.style.threads().is_multiple_of(32);
        let (name, given) = match self.random.below(if depth == 0 { 12 } else { 9 }) {
            0 => ("ballot", Type::U32),
            1 => ("any", Type::Bool),
            2 => ("all", Type::Bool),
            3 => ("match_any", Type::U32),
            4 => ("shuffle_up", ty),
            5 if is_whole => ("shuffle_down", ty),
            6 => ("shuffle", ty),
            7 => {
                self.b(block).push(Op::Intrinsic(Self::row("sync_warp", ty), Vec::new()), &[]);
                return;
            }
            9 => ("sync_threads_count", Type::U32),
            10 => ("sync_threads_and", Type::Bool),
            11 => ("sync_threads_or", Type::Bool),
            _ => ("shuffle_xor", ty),
        };
        let mut arguments = Vec::new();
        if name.starts_with("shuffle") {
            arguments.push(self.value(block, ty));
            let lane = self.value(block, Type::U32);
            // The last warp may have 16 lanes.
            let lanes = if is_whole { 31 } else { 15 };
            let mut b = self.b(block);
            let mask = b.int(Type::U32, lanes);
            arguments.push(b.binary(BinaryOp::And, lane, mask));
        } else {
            arguments.push(self.value(block, if name == "match_any" { ty } else { Type::Bool }));
        }
        let value = self.b(block).intrinsic(Self::row(name, ty), arguments, given);
        self.scope.push(value);
    }

    /// A condition that is the same in a warp, if it is to be.
    fn condition(&mut self, block: Block) -> (Value, bool) {
        let condition = self.value(block, Type::Bool);
        if !self.exchanges() || self.random.chance(25) {
            return (condition, false);
        }
        let name = self.random.pick(&["any", "all"]);
        (self.b(block).intrinsic(Self::row(name, Type::Bool), vec![condition], Type::Bool), true)
    }

    /// Fills blocks that the threads of a warp may come to apart, and do not leave but by their ends.
    fn apart(&mut self, is_alike: bool, fill: impl FnOnce(&mut Generator)) {
        if self.style == Style::Alone || is_alike {
            return fill(self);
        }
        let (was_apart, targets) = (std::mem::replace(&mut self.is_apart, true), std::mem::take(&mut self.targets));
        fill(self);
        (self.is_apart, self.targets) = (was_apart, targets);
    }

    fn operation(&mut self, block: Block) -> Value {
        let ty = self.random.pick(&TYPES);
        match (self.random.below(10), ty) {
            (0, _) => {
                let of = self.random.pick(&TYPES);
                let op = self.random.pick(CompareOp::ALL).0;
                let (a, b) = (self.value(block, of), self.value(block, of));
                let op = if of == Type::Bool { CompareOp::Eq } else { op };
                self.b(block).compare(op, a, b)
            }
            (1, _) => {
                let (c, a, b) = (self.value(block, Type::Bool), self.value(block, ty), self.value(block, ty));
                self.b(block).select(c, a, b)
            }
            (2, Type::U32 | Type::I32 | Type::U64) => {
                let from = self.random.pick(&TYPES);
                let a = self.value(block, from);
                let through = self.random.pick(&[Type::I8, Type::U8, Type::U16, Type::I64, ty]);
                let mut b = self.b(block);
                let a = b.cast(a, through);
                b.cast(a, ty)
            }
            (2, Type::F32) => {
                let from = self.random.pick(&[Type::U32, Type::I32, Type::U64, Type::F32]);
                let a = self.value(block, from);
                let through = self.random.pick(&[Type::F64, Type::F16, Type::BF16]);
                let op = self.random.pick(&[BinaryOp::Add, BinaryOp::Mul, BinaryOp::Max]);
                let mut b = self.b(block);
                let mut a = b.cast(a, through);
                if through != Type::F64 {
                    a = b.binary(op, a, a);
                }
                b.cast(a, ty)
            }
            (8, Type::F32) => {
                // What is a function of the library in PTX.
                let name = self.random.pick(&["exp", "ln", "sin", "atan", "cbrt"]);
                let row = intrinsics::method(name, ty).expect("the table has it");
                let a = self.value(block, ty);
                self.b(block).intrinsic(row, vec![a], ty)
            }
            (3, _) => {
                let op = match ty {
                    Type::Bool => UnaryOp::Not,
                    Type::F32 => self.random.pick(&[UnaryOp::Neg, UnaryOp::Abs]),
                    _ => self.random.pick(&[UnaryOp::Neg, UnaryOp::Not, UnaryOp::Abs]),
                };
                let a = self.value(block, ty);
                self.b(block).unary(op, a)
            }
            (4..=5, Type::U32 | Type::I32 | Type::U64) => {
                let op = self.random.pick(&[BinaryOp::Div, BinaryOp::Rem, BinaryOp::Mul]);
                let d = self.random.pick(&[1, -1, 2, 3, 7, 10, 16, 100, -16, 641, i128::from(i32::MIN)]);
                let a = self.value(block, ty);
                let d = self.b(block).int(ty, d);
                // `MIN as u64` and the like are no zero either.
                self.b(block).binary(op, a, d)
            }
            (6, Type::U32 | Type::I32 | Type::U64) => {
                let op = self.random.pick(&[BinaryOp::Shl, BinaryOp::Shr]);
                let (a, count) = (self.value(block, ty), self.value(block, Type::U32));
                self.b(block).binary(op, a, count)
            }
            (7, Type::U32 | Type::I32 | Type::F32) => {
                let (x, y, z) = (self.value(block, ty), self.value(block, ty), self.value(block, ty));
                self.b(block).mul_add(x, y, z)
            }
            _ => {
                use BinaryOp::{Add, And, Div, Max, Min, Mul, Or, Sub, Xor};
                let op = match ty {
                    Type::Bool => self.random.pick(&[And, Or, Xor]),
                    Type::F32 => self.random.pick(&[Add, Sub, Mul, Min, Max, Div]),
                    _ => self.random.pick(&[Add, Add, Sub, Sub, Mul, And, Or, Xor, Min, Max]),
                };
                let (a, b) = (self.value(block, ty), self.value(block, ty));
                self.b(block).binary(op, a, b)
            }
        }
    }

    /// Fills a block and ends it, by `Yield` of these types or by an exit.
    fn fill(&mut self, block: Block, depth: u32, types: &[Type], counter: Option<Value>, may_leave: usize) {
        let visible = self.scope.len();
        self.statements(block, depth + 1);
        if self.random.chance(may_leave) && self.leave(block) {
            self.scope.truncate(visible);
            return;
        }
        let mut values: Vec<Value> = counter.into_iter().collect();
        values.extend(self.values(block, &types[values.len()..]));
        self.b(block).push(Op::Terminator(Terminator::Yield(values)), &[]);
        self.scope.truncate(visible);
    }

    /// Ends a block by an exit, if there is somewhere to go.
    fn leave(&mut self, block: Block) -> bool {
        if self.is_apart && self.targets.is_empty() {
            return false;
        }
        if self.targets.is_empty() || self.random.chance(5) && !self.is_apart {
            // What the thread did so far must be seen.
            self.b(block).push(Op::Terminator(Terminator::Return), &[]);
            return true;
        }
        let n = self.targets.len() - 1 - self.random.below(self.targets.len().min(2));
        let target = self.targets[n].clone();
        let op = match target.continues {
            Some(types) if self.random.chance(40) => {
                let mut values: Vec<Value> = target.counter.into_iter().collect();
                values.extend(self.values(block, &types[values.len()..]));
                Op::Terminator(Terminator::Continue(target.inst, values))
            }
            _ => Op::Terminator(Terminator::Break(target.inst, self.values(block, &target.breaks))),
        };
        self.b(block).push(op, &[]);
        true
    }

    /// A region instruction around new blocks; its results come into scope.
    fn place(&mut self, block: Block, inst: Inst) {
        self.kernel.blocks[block].insts.push(inst);
        let results = self.kernel.insts[inst].results.clone();
        self.scope.extend(results);
    }
}

/// What the two written buffers hold afterwards, NaNs made one.
///
/// # Errors
/// What the simulator says.
pub fn simulated(kernel: &Kernel) -> Result<Vec<u32>, String> {
    let program = SimProgram::compile(kernel).map_err(|error| error.to_string())?;
    let threads = kernel.options.block.map_or(0, |block| block[0]);
    let [n, x, f, mut y, mut g] = contents(threads);
    let mut arguments = [
        SimArgument::Value(&n),
        SimArgument::GlobalReadOnly { bytes: &x },
        SimArgument::GlobalReadOnly { bytes: &f },
        SimArgument::Global { bytes: &mut y },
        SimArgument::Global { bytes: &mut g },
    ];
    let launch = SimLaunch { grid: [1, 1, 1], block: [threads, 1, 1], shared_bytes: 0 };
    program.run(&launch, &mut arguments).map_err(|error| error.to_string())?;
    Ok(written(&y, &g))
}

/// The kernel's arguments before a launch of one block, as bytes.
pub fn contents(threads: u32) -> [Vec<u8>; 5] {
    let mut random = Random::new(77);
    let bytes = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let x: Vec<u32> = (0..READ).map(|_| random.next() as u32 >> (random.next() % 32)).collect();
    let f: Vec<u32> = (0..READ).map(|n| (n as f32 * 0.37 - 9.0).to_bits()).collect();
    let own = threads as usize * OWN as usize;
    [vec![11, 0, 0, 0], bytes(&x), bytes(&f), bytes(&vec![5; own]), bytes(&vec![1.5f32.to_bits(); own])]
}

/// Elements of each parameter.
pub fn lengths(threads: u32) -> [usize; 5] {
    let own = threads as usize * OWN as usize;
    [0, READ, READ, own, own]
}

/// The two written buffers as words, NaNs made one.
pub fn written(y: &[u8], g: &[u8]) -> Vec<u32> {
    let words = |bytes: &[u8]| bytes.chunks(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect::<Vec<u32>>();
    let canonical = |bits: u32| if f32::from_bits(bits).is_nan() { 0x7fc0_0000 } else { bits };
    words(y).into_iter().chain(words(g).into_iter().map(canonical)).collect()
}
