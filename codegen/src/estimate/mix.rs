//! What a thread executes: instructions by pipe, bytes, floating-point operations.
//!
//! Counted on the `Addressed` kernel, whose instructions are those of the PTX, less what an assembler has for nothing: constants, parameters,
//! special registers once read, and the widening product and sum of an address, which are one instruction. A loop counts as often as it
//! runs; where the launch decides that, as [`UNKNOWN_TRIPS`] times, so that shares are those of the steady state. What a guard at the boundary
//! skips counts as run, what it has for the rest of the elements as not run.

use crate::analysis::access::{AccessFact, BranchFact, Divergence};
use crate::intrinsics::Effect;
use crate::ir::{BinaryOp, Block, Inst, Kernel, ObjectKind, Op, Space, Special, Type, Value};
use crate::math;
use crate::target::machine::{PIPES, Pipe};

/// How often a loop is taken to run where only the launch knows.
pub const UNKNOWN_TRIPS: f64 = 1000.0;

/// What one thread executes, *estimated*.
#[derive(Clone, Debug, PartialEq)]
pub struct Mix {
    /// Instructions by [`Pipe`], in its order.
    pub pipes: [f64; PIPES],
    /// Floating-point operations; a fused multiply-add is two.
    pub operations: f64,
    /// Bytes that loads from global memory ask for.
    pub read: f64,
    /// Bytes that stores to global memory and atomics write.
    pub written: f64,
    /// Bytes of shared memory read and written.
    pub shared: f64,
    /// Whether every loop's trips are known.
    pub exact: bool,
}

impl Mix {
    fn none() -> Mix {
        Mix { pipes: [0.0; PIPES], operations: 0.0, read: 0.0, written: 0.0, shared: 0.0, exact: true }
    }

    /// All instructions.
    pub fn instructions(&self) -> f64 {
        self.pipes.iter().sum()
    }

    /// Instructions of a pipe.
    pub fn of(&self, pipe: Pipe) -> f64 {
        self.pipes[pipe as usize]
    }

    /// Floating-point operations per byte of global memory; `None` without such bytes.
    pub fn intensity(&self) -> Option<f64> {
        let bytes = self.read + self.written;
        (bytes > 0.0).then(|| self.operations / bytes)
    }
}

/// What of a kernel runs how often.
#[derive(Clone, Debug)]
pub struct Weights {
    /// By instruction: how often a thread runs it.
    of: Vec<f64>,
    exact: bool,
}

impl Weights {
    /// Finds them; `branches` and `accesses` are facts about the kernel at an earlier stage, whose instructions have the same names.
    pub fn of(kernel: &Kernel, branches: &[BranchFact], accesses: &[AccessFact]) -> Weights {
        let mut marks = vec![Mark::default(); kernel.insts.len()];
        for branch in branches {
            if let Some(mark) = marks.get_mut(usize::from(branch.inst)) {
                mark.is_boundary = branch.divergence == Divergence::Boundary;
            }
        }
        for access in accesses {
            if let Some(mark) = marks.get_mut(usize::from(access.inst)) {
                mark.is_rare = access.is_rare;
            }
        }
        let mut weights = Weights { of: vec![0.0; kernel.insts.len()], exact: true };
        weights.block(kernel, kernel.body, 1.0, &marks);
        weights
    }

    /// How often a thread runs an instruction.
    pub fn get(&self, inst: Inst) -> f64 {
        self.of.get(usize::from(inst)).copied().unwrap_or(0.0)
    }

    fn block(&mut self, kernel: &Kernel, block: Block, weight: f64, marks: &[Mark]) {
        for inst in &kernel.blocks[block].insts {
            self.of[usize::from(*inst)] = weight;
            match &kernel.insts[*inst].op {
                Op::If { then_block, else_block, .. } => {
                    let (then, other) = arms(kernel, *then_block, *else_block, *inst, marks);
                    self.block(kernel, *then_block, weight * then, marks);
                    self.block(kernel, *else_block, weight * other, marks);
                }
                Op::Region { body } => self.block(kernel, *body, weight, marks),
                op @ (Op::For { body, .. } | Op::Loop { body, .. }) => {
                    let (trips, is_known) = trips(kernel, op);
                    self.exact &= is_known;
                    self.block(kernel, *body, weight * trips, marks);
                }
                _ => {}
            }
        }
    }
}

/// What is known of an instruction from an earlier stage.
#[derive(Clone, Copy, Default)]
struct Mark {
    /// A branch at a boundary.
    is_boundary: bool,
    /// An access that only lanes beyond a boundary make.
    is_rare: bool,
}

/// Whether a block accesses memory, and all that for what is left over at a boundary.
fn is_left_over(kernel: &Kernel, block: Block, marks: &[Mark]) -> bool {
    let (mut accesses, mut rare) = (0, 0);
    kernel.walk_block(block, &mut |kernel, _, inst| {
        if access(kernel, inst).is_some_and(|(space, ..)| space == Space::Global) {
            accesses += 1;
            rare += usize::from(marks[usize::from(inst)].is_rare);
        }
    });
    accesses > 0 && accesses == rare
}

/// Whether a block reads a table of the library of functions.
fn is_for_rare_arguments(kernel: &Kernel, block: Block) -> bool {
    let is_rare = |inst: &Inst| {
        let object = kernel.insts[*inst].op.object();
        object.is_some_and(|object| {
            let object = &kernel.objects[object];
            matches!(object.kind, ObjectKind::Table(_)) && object.name == math::TABLE
        })
    };
    kernel.blocks[block].insts.iter().any(is_rare)
}

/// The shares of an `if` that run its arms.
fn arms(kernel: &Kernel, then_block: Block, else_block: Block, inst: Inst, marks: &[Mark]) -> (f64, f64) {
    let (then, other) = (size(kernel, then_block), size(kernel, else_block));
    let is_boundary = marks[usize::from(inst)].is_boundary;
    let is_unlikely = |block: Block| is_left_over(kernel, block, marks) || is_for_rare_arguments(kernel, block);
    match (is_unlikely(then_block), is_unlikely(else_block)) {
        (true, false) => return (0.0, 1.0),
        (false, true) => return (1.0, 0.0),
        _ => {}
    }
    let leaves =
        |block: Block| kernel.blocks[block].insts.last().is_some_and(|last| matches!(kernel.insts[*last].op, Op::Return | Op::Trap(_)));
    match (leaves(then_block), leaves(else_block)) {
        // Who leaves is beyond the end of the data.
        (true, false) => (0.0, 1.0),
        (false, true) => (1.0, 0.0),
        // What has nothing on its other side is there to be run; of two sides of a boundary, the one written first is the common one.
        _ if other == 0 => (1.0, 0.0),
        _ if then == 0 => (0.0, 1.0),
        _ if is_boundary || repeats(kernel, then_block, else_block) => (1.0, 0.0),
        _ => (0.5, 0.5),
    }
}

/// Instructions of a block that are neither constants nor its end.
fn size(kernel: &Kernel, block: Block) -> usize {
    kernel.blocks[block].insts.iter().filter(|inst| !matches!(kernel.insts[**inst].op, Op::Const(_) | Op::Yield(_))).count()
}

/// Whether the second arm does what the first does, guarded one by one: what `ilp` and `vectorize` make of the last group.
fn repeats(kernel: &Kernel, then_block: Block, else_block: Block) -> bool {
    let accesses = |block: Block| {
        let (mut plain, mut guarded) = (0, 0);
        for inst in &kernel.blocks[block].insts {
            match &kernel.insts[*inst].op {
                Op::LoadAt { .. } | Op::StoreAt { .. } | Op::Load(_) | Op::Store(..) => plain += 1,
                op @ Op::If { .. } => {
                    let holds = |inner: &Inst| {
                        matches!(kernel.insts[*inner].op, Op::LoadAt { .. } | Op::StoreAt { .. } | Op::Load(_) | Op::Store(..))
                    };
                    guarded += usize::from(op.blocks().iter().any(|arm| kernel.blocks[*arm].insts.iter().any(holds)));
                }
                _ => {}
            }
        }
        (plain, guarded)
    };
    let (first, second) = (accesses(then_block), accesses(else_block));
    first.0 > 0 && first.1 == 0 && second.0 == 0 && second.1 > 0
}

/// How often a loop's body runs, and whether that is known. What goes on where an earlier loop ended is what that one left over: of a
/// long loop, next to nothing.
pub fn trips(kernel: &Kernel, op: &Op) -> (f64, bool) {
    let is_rest = matches!(op, Op::For { start, .. } if matches!(kernel.def(*start), Some((_, Op::For { .. }))));
    match known_trips(kernel, op) {
        Some(trips) => (trips, true),
        None if is_rest => (0.0, false),
        None => (UNKNOWN_TRIPS, false),
    }
}

fn known_trips(kernel: &Kernel, op: &Op) -> Option<f64> {
    let Op::For { start, end, step, .. } = op else { return None };
    let step = kernel.constant(*step)?.as_int();
    // `first..first + 4` is four trips, whatever `first` is.
    let ((from, start), (to, end)) = (and_constant(kernel, *start), and_constant(kernel, *end));
    let (start, end) = if from == to { (start, end) } else { (first_threads(kernel, from)? + start, first_threads(kernel, to)? + end) };
    (step > 0).then(|| ((end - start).max(0) as f64 / step as f64).ceil())
}

/// A value as a block's first thread has it, if that is known without the launch: where a thread begins with what is its own, that one goes round most often, and its
/// warp with it.
fn first_threads(kernel: &Kernel, value: Option<Value>) -> Option<i128> {
    value.map_or(Some(0), |value| of_the_first_thread(kernel, value, &mut { MOST_OPERATIONS }))
}

/// Operations of a loop's bound that are looked at: those of longer ones, the shared ones counted as often as they are used, are not known.
const MOST_OPERATIONS: u32 = 200;

fn of_the_first_thread(kernel: &Kernel, value: Value, left: &mut u32) -> Option<i128> {
    *left = left.checked_sub(1)?;
    let mut of = |value: &Value| of_the_first_thread(kernel, *value, left);
    match kernel.def(value)?.1 {
        Op::Const(constant) => Some(constant.as_int()),
        Op::Special(Special::ThreadIdx | Special::LaneId | Special::WarpId, _) => Some(0),
        Op::Cast(from) => of(from),
        Op::Binary(op, a, b) => {
            let (a, b) = (of(a)?, of(b)?);
            match op {
                BinaryOp::Add => a.checked_add(b),
                BinaryOp::Mul => a.checked_mul(b),
                _ => None,
            }
        }
        Op::MulAdd(a, b, c) => of(a)?.checked_mul(of(b)?)?.checked_add(of(c)?),
        _ => None,
    }
}

/// A value as another (none for a constant) and what is added to it. Sums that wrap are not thought of: this is for estimates.
fn and_constant(kernel: &Kernel, value: Value) -> (Option<Value>, i128) {
    if let Some(constant) = kernel.constant(value) {
        return (None, constant.as_int());
    }
    let Some((_, Op::Binary(BinaryOp::Add, a, b))) = kernel.def(value) else { return (Some(value), 0) };
    let (base, added) = match (kernel.constant(*a), kernel.constant(*b)) {
        (None, Some(constant)) => (*a, constant),
        (Some(constant), None) => (*b, constant),
        _ => return (Some(value), 0),
    };
    let (base, more) = and_constant(kernel, base);
    (base, more + added.as_int())
}

/// What an instruction takes of the pipes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Instructions by [`Pipe`].
    pub pipes: [f64; PIPES],
    /// Floating-point operations.
    pub operations: f64,
}

impl Cost {
    fn one(pipe: Pipe, count: f64) -> Cost {
        let mut cost = Cost::default();
        cost.pipes[pipe as usize] = count;
        cost
    }

    fn and(mut self, pipe: Pipe, count: f64) -> Cost {
        self.pipes[pipe as usize] += count;
        self
    }

    fn floating(mut self, operations: f64) -> Cost {
        self.operations = operations;
        self
    }

    /// All instructions.
    pub fn slots(&self) -> f64 {
        self.pipes.iter().sum()
    }

    /// The pipe that takes most of it.
    pub fn pipe(&self) -> Pipe {
        let most = (0..PIPES).max_by(|a, b| self.pipes[*a].total_cmp(&self.pipes[*b]));
        Pipe::ALL[most.unwrap_or(0)].0
    }
}

/// What one instruction of an `Addressed` kernel costs an assembler that knows its trade.
pub fn cost(kernel: &Kernel, inst: Inst) -> Cost {
    let data = &kernel.insts[inst];
    let ty = data.results.first().map_or(Type::Bool, |value| kernel.ty(*value));
    let wide = if ty.bytes() == 8 { 2.0 } else { 1.0 };
    match &data.op {
        Op::Const(_) | Op::Special(..) | Op::Len(_) | Op::Address(_) | Op::Bitcast(_) | Op::Region { .. } => Cost::default(),
        // A widening product and the sum with an address are one instruction, which `Offset` counts.
        Op::Cast(from) if ty.is_int() && kernel.ty(*from).is_int() => {
            if is_widening(kernel, *from, ty) {
                Cost::default()
            } else {
                Cost::one(Pipe::Integer, 1.0)
            }
        }
        Op::Binary(BinaryOp::Mul, a, b) if ty == Type::U64 && is_widened(kernel, *a) && kernel.constant(*b).is_some() => Cost::default(),
        Op::Offset(_, bytes) if is_scaled(kernel, *bytes) => Cost::one(Pipe::Product, 1.0),
        Op::Offset(..) => Cost::one(Pipe::Integer, wide),
        Op::Cast(_) if ty == Type::F64 => Cost::one(Pipe::Special, 1.0),
        Op::Cast(from) if kernel.ty(*from) == Type::F64 => Cost::one(Pipe::Special, 1.0),
        Op::Cast(_) => Cost::one(Pipe::Special, 1.0),
        Op::Unary(..) if ty.is_float() => Cost::default(),
        Op::Unary(..) => Cost::one(Pipe::Logic, wide),
        Op::Compare(_, a, _) if kernel.ty(*a) == Type::F64 => Cost::one(Pipe::Double, 1.0),
        Op::Compare(_, a, _) => Cost::one(Pipe::Logic, if kernel.ty(*a).bytes() == 8 { 2.0 } else { 1.0 }),
        Op::Select(..) => Cost::one(Pipe::Logic, wide),
        Op::Binary(op, a, b) => binary(kernel, *op, ty, *a, *b),
        Op::MulAdd(..) if ty == Type::F64 => Cost::one(Pipe::Double, 1.0).floating(2.0),
        Op::MulAdd(..) if ty.is_float() => Cost::one(Pipe::Single, 1.0).floating(2.0),
        Op::MulAdd(..) => Cost::one(Pipe::Product, if wide > 1.0 { 4.0 } else { 1.0 }),
        Op::LoadAt { object, .. } if matches!(kernel.objects[*object].space(), Space::Param) => Cost::default(),
        Op::LoadAt { .. } | Op::Load(_) => Cost::one(Pipe::Memory, vectors(kernel, &data.results)),
        Op::StoreAt { values, .. } | Op::Store(_, values) => Cost::one(Pipe::Memory, vectors(kernel, values)),
        Op::AtomicAt { .. } | Op::Atomic(..) => Cost::one(Pipe::Memory, 1.0),
        Op::Intrinsic(row, operands) => intrinsic(kernel, row.row(), ty, operands),
        // The counter's sum and comparison, and the branch.
        Op::For { .. } => Cost::default(),
        Op::If { then_block, else_block, .. } if size(kernel, *then_block) + size(kernel, *else_block) <= 4 => Cost::default(),
        Op::If { .. } => Cost::one(Pipe::Control, 1.0),
        Op::Print(..) => Cost::one(Pipe::Memory, 20.0),
        Op::Assert(..) => Cost::one(Pipe::Control, 1.0).and(Pipe::Integer, 1.0),
        Op::Loop { .. } | Op::Yield(_) | Op::Trap(_) => Cost::default(),
        Op::Break(..) | Op::Continue(..) | Op::Return => Cost::one(Pipe::Control, 1.0),
    }
}

/// What each iteration of a loop takes beside its body.
pub fn iteration(op: &Op) -> Cost {
    match op {
        Op::For { .. } => Cost::one(Pipe::Integer, 1.0).and(Pipe::Logic, 1.0).and(Pipe::Control, 1.0),
        _ => Cost::one(Pipe::Control, 1.0),
    }
}

fn binary(kernel: &Kernel, op: BinaryOp, ty: Type, a: Value, b: Value) -> Cost {
    let wide = if ty.bytes() == 8 { 2.0 } else { 1.0 };
    let is_division = matches!(op, BinaryOp::Div | BinaryOp::Rem);
    match ty {
        Type::F64 if is_division => Cost::one(Pipe::Double, 9.0).and(Pipe::Special, 1.0).and(Pipe::Control, 1.0).floating(1.0),
        Type::F64 if matches!(op, BinaryOp::Min | BinaryOp::Max) => Cost::one(Pipe::Double, 1.0).and(Pipe::Logic, 4.0).floating(1.0),
        Type::F64 => Cost::one(Pipe::Double, 1.0).floating(1.0),
        _ if ty.is_float() && is_division => Cost::one(Pipe::Single, 8.0).and(Pipe::Special, 1.0).and(Pipe::Control, 1.0).floating(1.0),
        _ if ty.is_float() && matches!(op, BinaryOp::Min | BinaryOp::Max) => Cost::one(Pipe::Logic, 1.0).floating(1.0),
        _ if ty.is_float() => Cost::one(Pipe::Single, 1.0).floating(1.0),
        _ if is_division && kernel.constant(b).is_some() => Cost::one(Pipe::Product, 2.0 * wide).and(Pipe::Integer, 2.0),
        _ if is_division => Cost::one(Pipe::Product, 6.0 * wide * wide).and(Pipe::Integer, 12.0 * wide * wide).and(Pipe::Special, 2.0),
        _ if op == BinaryOp::Mul && (kernel.constant(a).is_some() || kernel.constant(b).is_some()) => Cost::one(Pipe::Product, wide),
        _ if op == BinaryOp::Mul => Cost::one(Pipe::Product, if wide > 1.0 { 3.0 } else { 1.0 }),
        _ if matches!(op, BinaryOp::Add | BinaryOp::Sub) => Cost::one(Pipe::Integer, wide),
        _ => Cost::one(Pipe::Logic, wide),
    }
}

fn intrinsic(kernel: &Kernel, row: &crate::intrinsics::Row, ty: Type, operands: &[Value]) -> Cost {
    let slots = f64::from(row.cost);
    let is_float = ty.is_float() || operands.first().is_some_and(|value| kernel.ty(*value).is_float());
    match row.effect {
        Effect::Barrier => Cost::one(Pipe::Control, 1.0),
        Effect::Fence => Cost::one(Pipe::Control, 4.0),
        Effect::Warp => Cost::one(Pipe::Memory, 1.0),
        // The table counts a special function as four slots.
        Effect::Pure if is_float && ty != Type::F64 && row.cost >= 4 => {
            Cost::one(Pipe::Special, 1.0).and(Pipe::Single, (slots - 4.0).max(0.0)).floating(1.0)
        }
        Effect::Pure if ty == Type::F64 => Cost::one(Pipe::Double, slots).floating(1.0),
        Effect::Pure if is_float => Cost::one(Pipe::Single, slots).floating(1.0),
        Effect::Pure => Cost::one(Pipe::Logic, slots),
    }
}

/// Accesses of 16 bytes at most that these values take.
fn vectors(kernel: &Kernel, values: &[Value]) -> f64 {
    let bytes: u32 = values.iter().map(|value| kernel.ty(*value).bytes()).sum();
    f64::from(bytes.div_ceil(16).max(1))
}

fn is_widening(kernel: &Kernel, from: Value, to: Type) -> bool {
    to.bytes() == 8 && kernel.ty(from).is_unsigned_int() || to.bytes() == kernel.ty(from).bytes()
}

fn is_widened(kernel: &Kernel, value: Value) -> bool {
    matches!(kernel.def(value), Some((_, Op::Cast(from))) if kernel.ty(*from) == Type::U32)
}

/// Whether bytes added to a pointer are an index times a constant.
fn is_scaled(kernel: &Kernel, value: Value) -> bool {
    match kernel.def(value) {
        Some((_, Op::Binary(BinaryOp::Mul, a, b))) => is_widened(kernel, *a) && kernel.constant(*b).is_some(),
        Some((_, Op::Cast(from))) => kernel.ty(*from) == Type::U32,
        _ => false,
    }
}

/// Counts what a thread of an `Addressed` kernel executes.
pub fn mix(kernel: &Kernel, weights: &Weights) -> Mix {
    let mut mix = Mix { exact: weights.exact, ..Mix::none() };
    kernel.for_each_inst(|kernel, _, inst| {
        let weight = weights.get(inst);
        let cost = cost(kernel, inst);
        let data = &kernel.insts[inst];
        for (sum, count) in mix.pipes.iter_mut().zip(cost.pipes) {
            *sum += weight * count;
        }
        mix.operations += weight * cost.operations;
        if let op @ (Op::For { .. } | Op::Loop { .. }) = &data.op {
            let (trips, _) = trips(kernel, op);
            for (sum, count) in mix.pipes.iter_mut().zip(iteration(op).pipes) {
                *sum += weight * trips * count;
            }
        }
        if let Some((space, is_write, bytes)) = access(kernel, inst) {
            let bytes = weight * f64::from(bytes);
            match (space, is_write) {
                (Space::Global, false) => mix.read += bytes,
                (Space::Global, true) => mix.written += bytes,
                (Space::Shared, _) => mix.shared += bytes,
                _ => {}
            }
        }
    });
    mix
}

/// Which memory an instruction touches, whether it writes, and how many bytes of a thread.
pub fn access(kernel: &Kernel, inst: Inst) -> Option<(Space, bool, u32)> {
    let data = &kernel.insts[inst];
    let bytes = |values: &[Value]| values.iter().map(|value| kernel.ty(*value).bytes()).sum();
    match &data.op {
        Op::LoadAt { object, .. } => Some((kernel.objects[*object].space(), false, bytes(&data.results))),
        Op::Load(access) => Some((kernel.objects[access.object].space(), false, bytes(&data.results))),
        Op::StoreAt { object, values, .. } => Some((kernel.objects[*object].space(), true, bytes(values))),
        Op::Store(access, values) => Some((kernel.objects[access.object].space(), true, bytes(values))),
        Op::AtomicAt { object, operands, .. } => Some((kernel.objects[*object].space(), true, bytes(&operands[..operands.len().min(1)]))),
        Op::Atomic(_, access, operands) => Some((kernel.objects[access.object].space(), true, bytes(&operands[..operands.len().min(1)]))),
        _ => None,
    }
}
