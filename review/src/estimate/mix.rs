//! What a thread executes: instructions by pipe, bytes, floating-point operations.
//!
//! Counted on the `Addressed` kernel, whose instructions are those of the PTX, less what an assembler has for nothing: constants, parameters,
//! special registers once read, and the widening product and sum of an address, which are one instruction. How often each runs is what
//! `weights.rs` says.

use super::engine;
use super::traffic::Merged;
use super::weights::{Certainty, Weights, size};
use crate::machine::{PIPES, Pipe, instructions};
use warpwright_codegen::ir::{
    Address, AtomicOp, BARRIER, BinaryOp, Compute, Engine, Inst, Kernel, Memory, MemoryOp, Message, Op, Region, Space, Tensor, Terminator,
    TextureOp, Type, Value, WARPGROUP,
};
use warpwright_codegen::target::limits::WARP;

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
    /// Barriers.
    pub barriers: f64,
    /// Registers that loads and shuffles return.
    pub returned: f64,
    /// Fused multiply-adds of three different registers.
    pub three_registers: f64,
    /// Bytes of shared memory that tensor cores read by themselves, of a warp.
    pub operands: f64,
    /// Bytes of global memory that the copy engine brings.
    pub copied: f64,
    /// What is known of loops' trips.
    pub certainty: Certainty,
}

impl Mix {
    fn none() -> Mix {
        Mix {
            pipes: [0.0; PIPES],
            operations: 0.0,
            read: 0.0,
            written: 0.0,
            shared: 0.0,
            barriers: 0.0,
            returned: 0.0,
            three_registers: 0.0,
            operands: 0.0,
            copied: 0.0,
            certainty: Certainty::Known,
        }
    }

    /// Whether every loop's trips are known.
    pub fn is_exact(&self) -> bool {
        self.certainty == Certainty::Known
    }

    /// All instructions.
    pub fn instructions(&self) -> f64 {
        instructions(&self.pipes)
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
        instructions(&self.pipes)
    }

    /// Instructions of a pipe.
    pub fn of(&self, pipe: Pipe) -> f64 {
        self.pipes[pipe as usize]
    }

    /// The pipe that takes most of it.
    pub fn pipe(&self) -> Pipe {
        let most = (0..PIPES).max_by(|a, b| self.pipes[*a].total_cmp(&self.pipes[*b]));
        Pipe::ALL[most.unwrap_or(0)].0
    }
}

/// A read of a texture in loads: texture units give 4 texels a cycle and multiprocessor, and a multiprocessor's loads 16 words.
const TEXTURE: f64 = 4.0;

/// What one instruction of an `Addressed` kernel costs an assembler that knows its trade.
pub fn cost(kernel: &Kernel, inst: Inst) -> Cost {
    let data = &kernel.insts[inst];
    let ty = data.results.first().map_or(Type::Bool, |value| kernel.ty(*value));
    let wide = if ty.bytes() == 8 { 2.0 } else { 1.0 };
    match &data.op {
        Op::Compute(Compute::Const(_) | Compute::Special(..) | Compute::Len(_) | Compute::Address(_) | Compute::Bitcast(_))
        | Op::Region(Region::Block { .. }) => Cost::default(),
        // A widening product and the sum with an address are one instruction, which `Offset` counts.
        Op::Compute(Compute::Cast(from)) if ty.is_int() && kernel.ty(*from).is_int() => {
            if is_widening(kernel, *from, ty) || kernel.ty(*from).bytes() == 8 && ty.bytes() == 4 {
                Cost::default()
            } else {
                Cost::one(Pipe::Integer, 1.0)
            }
        }
        Op::Compute(Compute::Binary(BinaryOp::Mul, a, b)) if ty == Type::U64 && is_widened(kernel, *a) && kernel.constant(*b).is_some() => {
            Cost::default()
        }
        Op::Compute(Compute::PeerAddress(..)) => Cost::one(Pipe::Special, 1.0),
        // Bytes by themselves are added with a carry.
        Op::Compute(Compute::Offset(_, bytes)) if is_widened(kernel, *bytes) => Cost::one(Pipe::Integer, 2.0),
        Op::Compute(Compute::Offset(_, bytes)) if is_scaled(kernel, *bytes) => Cost::one(Pipe::Product, 1.0),
        Op::Compute(Compute::Offset(..)) => Cost::one(Pipe::Integer, wide),
        Op::Compute(Compute::Cast(_)) if ty == Type::F64 => Cost::one(Pipe::Special, 1.0),
        Op::Compute(Compute::Cast(from)) if kernel.ty(*from) == Type::F64 => Cost::one(Pipe::Special, 1.0),
        Op::Compute(Compute::Cast(_)) => Cost::one(Pipe::Special, 1.0),
        Op::Compute(Compute::Unary(..)) if ty.is_float() => Cost::default(),
        Op::Compute(Compute::Unary(..)) => Cost::one(Pipe::Logic, wide),
        Op::Compute(Compute::Compare(_, a, _)) if kernel.ty(*a) == Type::F64 => Cost::one(Pipe::Double, 1.0),
        Op::Compute(Compute::Compare(_, a, _)) => Cost::one(Pipe::Logic, if kernel.ty(*a).bytes() == 8 { 2.0 } else { 1.0 }),
        Op::Compute(Compute::Select(..)) => Cost::one(Pipe::Logic, wide),
        Op::Compute(Compute::Binary(op, a, b)) => binary(kernel, *op, ty, *a, *b),
        Op::Compute(Compute::MulAdd(..)) if ty == Type::F64 => Cost::one(Pipe::Double, 1.0).floating(2.0),
        Op::Compute(Compute::MulAdd(..)) if ty.is_float() => Cost::one(Pipe::Single, 1.0).floating(2.0),
        Op::Compute(Compute::MulAdd(..)) => Cost::one(Pipe::Product, if wide > 1.0 { 4.0 } else { 1.0 }),
        Op::Memory(Memory { op: MemoryOp::Load, at: Address::Pointer { object, .. } })
            if matches!(kernel.objects[*object].space(), Space::Param) =>
        {
            Cost::default()
        }
        // A constant at a known place is an operand of what uses it.
        Op::Memory(Memory { op: MemoryOp::Load, at: Address::Pointer { object, ptr, .. } })
            if matches!(kernel.objects[*object].space(), Space::Constant)
                && matches!(kernel.def(*ptr), Some((_, Op::Compute(Compute::Address(_))))) =>
        {
            Cost::default()
        }
        Op::Memory(Memory { op: MemoryOp::Load | MemoryOp::LoadMatrix { .. }, .. }) => {
            Cost::one(Pipe::Memory, vectors(kernel, &data.results))
        }
        Op::Memory(Memory { op: MemoryOp::Store(values) | MemoryOp::StoreMatrix(values), .. }) => {
            Cost::one(Pipe::Memory, vectors(kernel, values))
        }
        Op::Texture(op, ..) if !op.reads() => Cost::default(),
        // An integer coordinate becomes the middle of its texel: a conversion and a sum for each.
        Op::Texture(TextureOp::Fetch, ..) => Cost::one(Pipe::Memory, TEXTURE).and(Pipe::Special, 2.0).and(Pipe::Single, 2.0),
        Op::Texture(..) => Cost::one(Pipe::Memory, TEXTURE),
        Op::Memory(Memory { op: MemoryOp::Atomic(..), .. }) => Cost::one(Pipe::Memory, 1.0),
        Op::Intrinsic(row, operands) => intrinsic(kernel, row.row(), ty, operands),
        // Of an earlier stage.
        Op::Tensor(Tensor::Mma { shape, .. }) => product(Pipe::WarpTensor, shape.mnk, u64::from(WARP), shape.factors),
        Op::Tensor(Tensor::WarpgroupMma { mnk, factors, .. }) => product(Pipe::Tensor, *mnk, WARPGROUP, *factors),
        Op::Collective(_) | Op::Tensor(_) => Cost::default(),
        Op::Engine(engine) => of_engine(kernel, engine),
        // The counter's sum and comparison, and the branch.
        Op::Region(Region::For { .. }) => Cost::default(),
        Op::Region(Region::If { then_block, else_block, .. }) if size(kernel, *then_block) + size(kernel, *else_block) <= 4 => {
            Cost::default()
        }
        Op::Region(Region::If { .. }) => Cost::one(Pipe::Control, 1.0),
        Op::Message(Message::Print(..)) => Cost::one(Pipe::Memory, 20.0),
        Op::Message(Message::Assert(..)) => Cost::one(Pipe::Control, 1.0).and(Pipe::Integer, 1.0),
        Op::Region(Region::Loop { .. }) | Op::Terminator(Terminator::Yield(_) | Terminator::Trap(_)) => Cost::default(),
        Op::Terminator(Terminator::Break(..) | Terminator::Continue(..) | Terminator::Return) => Cost::one(Pipe::Control, 1.0),
    }
}

/// A product that tensor cores make for so many threads. Factors of twice the bits take twice as long; those of `f64` have cores of their own.
fn product(pipe: Pipe, mnk: [u64; 3], threads: u64, factors: Type) -> Cost {
    let each = mnk.iter().product::<u64>() as f64 / threads as f64;
    let (pipe, taken) = match factors {
        Type::F64 => (Pipe::DoubleTensor, each),
        _ => (pipe, each * f64::from(factors.bytes()) / 2.0),
    };
    Cost::one(Pipe::Control, 1.0).and(pipe, taken).floating(2.0 * each)
}

/// Bytes of shared memory that tensor cores read for a warp: the rows of A that are its own, if they lie there, and its share of B, which they read once for a warpgroup.
fn operand_bytes(op: &Op) -> f64 {
    let Op::Tensor(Tensor::WarpgroupMma { mnk: [m, n, k], a, factors, .. }) = op else { return 0.0 };
    let rows = if a.tile().is_some() { *m } else { 0 };
    ((rows + n) * k * u64::from(factors.bytes())) as f64 * f64::from(WARP) / WARPGROUP as f64
}

/// What an instruction to the copy engine, or about it, takes of the thread that comes to it: an access each, and what makes its address.
fn of_engine(kernel: &Kernel, engine: &Engine) -> Cost {
    let accesses = |count: f64| Cost::one(Pipe::Memory, count).and(Pipe::Integer, count);
    match engine {
        Engine::Init { barriers, .. } => accesses((kernel.objects[*barriers].ty.size(&kernel.structs) / u64::from(BARRIER.bytes())) as f64),
        Engine::Arrive { .. } | Engine::Expect { .. } | Engine::CopyRun { .. } => accesses(1.0),
        Engine::Is(_) => Cost::one(Pipe::Logic, 1.0),
        Engine::CopyTile { to: array, .. } | Engine::StoreTile { from: array, .. } => {
            let parts = |(rows, columns, ty): (u64, u64, Type)| {
                Kernel::tile_parts(rows, columns * u64::from(ty.bytes()), kernel.tile_align(array.object))
            };
            accesses(kernel.tile_of(array).and_then(parts).unwrap_or(1) as f64)
        }
        Engine::Wait { .. } => accesses(1.0).and(Pipe::Control, 1.0),
        Engine::Fence | Engine::Meet { .. } | Engine::CommitStores | Engine::AwaitStores { .. } => Cost::one(Pipe::Control, 1.0),
        Engine::Turn(_) | Engine::KeepTurn { .. } => Cost::default(),
    }
}

/// What each iteration of a loop takes beside its body.
pub fn iteration(op: &Op) -> Cost {
    if matches!(op, Op::Region(Region::For { .. })) {
        Cost::one(Pipe::Integer, 1.0).and(Pipe::Logic, 1.0).and(Pipe::Control, 1.0)
    } else {
        Cost::one(Pipe::Control, 1.0)
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
        // Words that change places, or are put together, are registers under another name.
        Type::U64 if is_by_word(kernel, op, b) || op == BinaryOp::Or && is_two_words(kernel, a, b) => Cost::default(),
        // A funnel shift gives the word that lies across both.
        Type::U64 if op == BinaryOp::Shr && is_pair(kernel, a) && kernel.constant(b).is_some() => Cost::one(Pipe::Logic, 1.0),
        // Products by powers of two, where there is room among products.
        _ if op == BinaryOp::Shl && wide == 1.0 && kernel.constant(b).is_some() => Cost::one(Pipe::Integer, 1.0),
        _ => Cost::one(Pipe::Logic, wide),
    }
}

/// Whether it is a shift by 32.
fn is_by_word(kernel: &Kernel, op: BinaryOp, count: Value) -> bool {
    matches!(op, BinaryOp::Shl | BinaryOp::Shr) && kernel.constant(count).is_some_and(|count| count.as_int() == 32)
}

/// Whether one of them has only an upper word, the other only a lower one.
fn is_two_words(kernel: &Kernel, a: Value, b: Value) -> bool {
    let is_upper = |value: Value| matches!(kernel.def(value), Some((_, Op::Compute(Compute::Binary(BinaryOp::Shl, _, count)))) if is_by_word(kernel, BinaryOp::Shl, *count));
    is_upper(a) && is_widened(kernel, b) || is_upper(b) && is_widened(kernel, a)
}

/// Whether a value is two words that were put together.
fn is_pair(kernel: &Kernel, value: Value) -> bool {
    matches!(kernel.def(value), Some((_, Op::Compute(Compute::Binary(BinaryOp::Or, a, b)))) if is_two_words(kernel, *a, *b))
}

fn intrinsic(kernel: &Kernel, row: &warpwright_codegen::ir::intrinsic::Intrinsic, ty: Type, operands: &[Value]) -> Cost {
    let slots = f64::from(row.cost);
    let is_float = ty.is_float() || operands.first().is_some_and(|value| kernel.ty(*value).is_float());
    if row.effects.is_of_warp() {
        return Cost::one(Pipe::Memory, 1.0);
    }
    if row.effects.is_barrier() {
        return Cost::one(Pipe::Control, 1.0);
    }
    if row.effects.orders.is_some() {
        return Cost::one(Pipe::Control, 4.0);
    }
    if ty == Type::F64 {
        return Cost::one(Pipe::Double, slots).floating(1.0);
    }
    if !is_float {
        return Cost::one(Pipe::Logic, slots);
    }
    if row.cost < 4 {
        return Cost::one(Pipe::Single, slots).floating(1.0);
    }
    // The table counts a special function as four slots.
    let special = Cost::one(Pipe::Special, 1.0).and(Pipe::Single, (slots - 4.0).max(0.0)).floating(1.0);
    // Subnormal arguments are scaled before and after.
    if row.takes_subnormals { special } else { special.and(Pipe::Single, 2.0).and(Pipe::Logic, 1.0) }
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
    matches!(kernel.def(value), Some((_, Op::Compute(Compute::Cast(from)))) if kernel.ty(*from) == Type::U32)
}

/// Whether bytes added to a pointer are an index times a constant.
fn is_scaled(kernel: &Kernel, value: Value) -> bool {
    match kernel.def(value) {
        Some((_, Op::Compute(Compute::Binary(BinaryOp::Mul, a, b)))) => is_widened(kernel, *a) && kernel.constant(*b).is_some(),
        Some((_, Op::Compute(Compute::Cast(from)))) => kernel.ty(*from) == Type::U32,
        _ => false,
    }
}

/// Registers in which a load or a shuffle returns values, whenever they come. What an operand can name is not loaded.
fn returned(kernel: &Kernel, inst: Inst) -> f64 {
    let data = &kernel.insts[inst];
    let returns = match &data.op {
        Op::Memory(Memory { op: MemoryOp::Load, .. }) => cost(kernel, inst).of(Pipe::Memory) > 0.0,
        Op::Texture(op, ..) => op.reads(),
        Op::Intrinsic(row, _) => row.row().effects.is_of_warp(),
        _ => false,
    };
    let words = data.results.iter().map(|value| kernel.ty(*value).bytes().div_ceil(4)).sum::<u32>();
    if returns { f64::from(words) } else { 0.0 }
}

/// Whether an instruction is a product and sum of three different registers.
fn reads_three_registers(kernel: &Kernel, inst: Inst) -> bool {
    let Op::Compute(Compute::MulAdd(a, b, c)) = kernel.insts[inst].op else { return false };
    let is_register = |value: Value| kernel.constant(value).is_none();
    kernel.ty(a).bytes() == 4 && [a, b, c].into_iter().all(is_register) && a != b && b != c && a != c
}

/// Counts what a thread of an `Addressed` kernel executes.
pub fn mix(kernel: &Kernel, weights: &Weights) -> Mix {
    let merged = Merged::of(kernel);
    let mut mix = Mix { certainty: weights.certainty(), ..Mix::none() };
    kernel.for_each_inst(|kernel, _, inst| {
        let weight = weights.get(inst);
        let cost = if merged.rides_along(inst) { Cost::default() } else { cost(kernel, inst) };
        let data = &kernel.insts[inst];
        for (sum, count) in mix.pipes.iter_mut().zip(cost.pipes) {
            *sum += weight * count;
        }
        mix.operations += weight * cost.operations;
        mix.operands += weight * operand_bytes(&data.op);
        if let Op::Intrinsic(row, _) = &data.op
            && row.row().effects.is_barrier()
        {
            mix.barriers += weight;
        }
        mix.returned += weight * returned(kernel, inst);
        if reads_three_registers(kernel, inst) {
            mix.three_registers += weight;
        }
        if let op @ Op::Region(Region::For { .. } | Region::Loop { .. }) = &data.op {
            let rounds = weights.rounds(inst);
            for (sum, count) in mix.pipes.iter_mut().zip(iteration(op).pipes) {
                *sum += rounds * count;
            }
        }
        if let Some((_, bytes)) = engine::copied(kernel, inst) {
            mix.read += engine::of_thread(kernel, bytes, weight);
            mix.copied += engine::of_thread(kernel, bytes, weight);
        }
        if let Some(bytes) = engine::stored(kernel, inst) {
            mix.written += engine::of_thread(kernel, bytes, weight);
        }
        if let Some((space, is_write, bytes)) = access(kernel, inst) {
            let bytes = weight * f64::from(bytes);
            match (space, is_write) {
                (Space::Global, false) => mix.read += bytes,
                (Space::Global, true) => mix.written += bytes,
                (Space::Shared | Space::Cluster, _) => mix.shared += bytes,
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
    let Op::Memory(Memory { op, at }) = &data.op else { return None };
    let (writes, bytes) = match op {
        MemoryOp::Load | MemoryOp::LoadMatrix { .. } => (false, bytes(&data.results)),
        MemoryOp::Store(values) | MemoryOp::StoreMatrix(values) => (true, bytes(values)),
        MemoryOp::Atomic(AtomicOp::Load, ..) => (false, bytes(&data.results)),
        MemoryOp::Atomic(_, _, operands) => (true, bytes(&operands[..operands.len().min(1)])),
    };
    Some((kernel.objects[at.object()].space(), writes, bytes))
}
