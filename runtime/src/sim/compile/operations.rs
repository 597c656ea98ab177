//! Instructions that own no blocks.

use super::super::arithmetic as arith;
use super::super::order::Reach;
use super::super::program::{Barrier, Call, CallEval, CheckFailure, Preset, SimStep, Text};
use super::super::registers::{Operands, Pure, Reg};
use super::places::Work;
use super::{Compiler, Result, Verified, add};
use crate::error::mistake;
use crate::sim::texture::TextureRead;
use crate::sim::{AccessKind, InstructionClass};
use warpwright_codegen::ir::intrinsic::{self, Eval, Intrinsic, IntrinsicId};
use warpwright_codegen::ir::{
    Address, AtomicOp, Axis, BinaryOp, Compute, Effects, Inst, Memory, MemoryOp, Message, Object, Op, PrintPart, Scope, TextureOp, Type,
    UnaryOp, Value,
};

impl Compiler<'_> {
    /// Compiles an instruction; `results` is where a `Yield` gives its values.
    pub(super) fn instruction(&mut self, inst: Inst, results: &[Reg]) -> Result<()> {
        let kernel = self.kernel;
        let data = &kernel.insts[inst];
        match &data.op {
            Op::Compute(compute) => self.compute(compute, &data.op.operands(), one(&data.results)?),
            Op::Memory(memory) => self.memory(memory, &data.results),
            Op::Texture(op, object, at) => self.texture(*op, *object, at, &data.results),
            Op::Intrinsic(row, args) => self.intrinsic(*row, args, &data.results),
            Op::Message(Message::Print(parts, values)) => {
                self.count(InstructionClass::Other, 1);
                let message = self.message(parts, values)?;
                self.emit(SimStep::Print(message));
                Ok(())
            }
            Op::Message(Message::Assert(condition, parts, values)) => {
                self.count(InstructionClass::Control, 1);
                let message = self.message(parts, values)?;
                let condition = self.slot(*condition)?.index();
                self.emit(SimStep::Assert(condition, message));
                Ok(())
            }
            Op::Tensor(tensor) => self.tensor(tensor, &data.results),
            Op::Engine(engine) => self.engine(engine, &data.results),
            Op::Collective(_) => Err(
                "a collective that was not made loads and stores; give IR behind all passes, as `warpwright emit --format ir` prints it"
                    .into(),
            ),
            Op::Region(_) => self.construct(inst),
            Op::Terminator(_) => self.terminator(&data.op, results),
        }
    }

    fn compute(&mut self, compute: &Compute, operands: &[Value], result: Value) -> Result<()> {
        use Compute::*;
        match compute {
            Const(scalar) => self.known(Preset::Constant(scalar.ty, scalar.bits), result),
            Special(special, axis) => self.counted(Preset::Special(*special, *axis), result),
            Len(object) => self.counted(Preset::Len(usize::from(*object)), result),
            Address(object) => {
                let n = usize::from(*object);
                self.counted(Preset::Constant(self.ty(result), self.program.objects[n].address(n)), result)
            }
            PeerAddress(object, rank) => self.peer_address(*object, *rank, result),
            // The condition comes last in a step.
            Select(c, a, b) => self.arithmetic(compute, &[*a, *b, *c], result),
            Unary(..) | Binary(..) | MulAdd(..) | Compare(..) | Cast(_) | Bitcast(_) | Offset(..) => {
                self.arithmetic(compute, operands, result)
            }
        }
    }

    /// The arrays of a cluster's blocks are one behind another.
    fn peer_address(&mut self, object: Object, rank: Value, result: Value) -> Result<()> {
        let n = usize::from(object);
        let info = &self.program.objects[n];
        let (start, one) = (info.address(n), info.unit / u64::from(self.kernel.options.cluster_blocks()));
        let run = pure(&Compute::MulAdd(rank, rank, rank), Type::U32, Type::U32).verified()?;
        let [start, one] = [start, one].map(|bits| self.preset(Type::U32, Preset::Constant(Type::U32, bits)));
        let (start, one, rank) = (start?, one?, self.slot(rank)?);
        self.count(InstructionClass::Other, 1);
        let d = self.define(result)?;
        self.emit(SimStep::Pure(run, Operands { d: d.index(), a: rank.index(), b: one.index(), c: start.index() }));
        Ok(())
    }

    /// What is known before the kernel starts, and costs an instruction.
    fn counted(&mut self, preset: Preset, result: Value) -> Result<()> {
        self.count(InstructionClass::Other, 1);
        self.known(preset, result)
    }

    /// What is known before the kernel starts.
    fn known(&mut self, preset: Preset, result: Value) -> Result<()> {
        let reg = self.preset(self.ty(result), preset)?;
        self.slots[usize::from(result)] = Some(reg);
        Ok(())
    }

    fn arithmetic(&mut self, op: &Compute, values: &[Value], result: Value) -> Result<()> {
        let to = self.ty(result);
        let ty = self.ty(values[0]);
        let run = pure(op, ty, to).verified()?;
        self.count(if matches!(op, Compute::Cast(_)) { InstructionClass::Convert } else { class_of_type(ty) }, 1);
        let slots = self.slots(values)?;
        let d = self.define(result)?;
        let at = |n: usize| slots.get(n).map_or(0, |reg| reg.index());
        let operands = Operands { d: d.index(), a: at(0), b: at(1), c: at(2) };
        self.check_arithmetic(op, ty, operands, &slots);
        self.emit(SimStep::Pure(run, operands));
        Ok(())
    }

    fn check_arithmetic(&mut self, op: &Compute, ty: Type, operands: Operands, slots: &[Reg]) {
        if let Compute::Binary(BinaryOp::Div | BinaryOp::Rem, _, divisor) = op {
            let is_safe = self.kernel.constant(*divisor).is_some_and(|c| c.bits != 0);
            if let Some(find) = arith::divides_by_zero(ty).filter(|_| !is_safe) {
                self.check(find, operands, CheckFailure::DivisionByZero);
            }
        }
        if !self.program.options.overflow {
            return;
        }
        let find = if let Compute::Binary(op, ..) = op {
            arith::overflows(*op, ty)
        } else if let Compute::Unary(op, _) = op {
            arith::unary_overflows(*op, ty)
        } else {
            arith::mul_add_overflows(ty).filter(|_| matches!(op, Compute::MulAdd(..)))
        };
        if let Some(find) = find {
            self.check(find, operands, CheckFailure::Overflow { operation: word(op), ty, operands: slots.to_vec() });
        }
    }

    fn memory(&mut self, memory: &Memory, results: &[Value]) -> Result<()> {
        let work = match &memory.op {
            MemoryOp::LoadMatrix { is_transposed } => return self.load_matrix(&memory.at, *is_transposed, results),
            MemoryOp::StoreMatrix(words) => return self.store_matrix(&memory.at, words),
            MemoryOp::Load => Work { kind: AccessKind::Read, atomic: None, values: results.to_vec(), old: None },
            MemoryOp::Store(values) => Work { kind: AccessKind::Write, atomic: None, values: values.clone(), old: None },
            MemoryOp::Atomic(op, atomicity, operands) => Work {
                kind: if *op == AtomicOp::Load { AccessKind::AtomicRead } else { AccessKind::Atomic },
                atomic: Some((*op, *atomicity)),
                values: operands.clone(),
                // A load has nothing else.
                old: results.first().copied().filter(|old| operands.is_empty() || self.uses[usize::from(*old)] != 0),
            },
        };
        match &memory.at {
            Address::Path(place) => self.access(place, &work),
            Address::Pointer { object, ptr, offset } => self.access_at(*object, *ptr, *offset, &work),
        }
    }

    fn texture(&mut self, op: TextureOp, object: Object, at: &[Value], results: &[Value]) -> Result<()> {
        let n = usize::from(object);
        let axis = match op {
            TextureOp::Width => Some(Axis::X),
            TextureOp::Height => Some(Axis::Y),
            TextureOp::Fetch | TextureOp::Sample => None,
        };
        if let Some(axis) = axis {
            return self.counted(Preset::Extent(n, axis), one(results)?);
        }
        self.count(InstructionClass::Memory, 1);
        let (Some((component, _)), [x, y]) = (self.kernel.objects[object].texel(), at) else {
            return Err(mistake());
        };
        let at = [self.slot(*x)?, self.slot(*y)?];
        let results = self.define_all(results)?;
        let read = add(&mut self.program.textures, TextureRead { op, object: n, component, at, results });
        self.emit(SimStep::Texture(read));
        Ok(())
    }

    fn intrinsic(&mut self, row: IntrinsicId, args: &[Value], results: &[Value]) -> Result<()> {
        let row = row.row();
        let device = row.device().verified()?;
        let ty = if row.call == intrinsic::Call::Associated { results.first().or(args.first()) } else { args.first().or(results.first()) };
        let ty = ty.map_or(Type::U32, |v| self.ty(*v));
        self.count(class_of_row(row, ty), 1);
        let slots = self.slots(args)?;
        match device.eval {
            Eval::Fence(order) => {
                if let (true, Some(reach)) = (self.program.orders, row.effects.orders.and_then(Reach::of)) {
                    self.emit(SimStep::Fence(reach, order));
                }
            }
            Eval::Copies(step) => {
                self.emit(SimStep::Copies(step, slots.first().copied()));
            }
            Eval::Barrier(eval) => {
                let result = results.first().map(|v| self.define(*v)).transpose()?;
                let location = self.location();
                let is_of_cluster = row.effects.converges == Some(Scope::Cluster);
                let argument = slots.first().copied();
                let barrier =
                    add(&mut self.program.barriers, Barrier { eval, argument, result, is_of_work: self.is_work, is_of_cluster, location });
                self.emit(SimStep::Barrier(barrier));
            }
            lanes @ (Eval::Lane(_) | Eval::Warp(_) | Eval::Shuffle(_)) => {
                let result = results.first().map(|v| self.define(*v)).transpose()?;
                let eval = CallEval::new(lanes).verified()?;
                let name = self.location().call.map_or(row.name, |call| call.row().name);
                let call = add(&mut self.program.calls, Call { name, eval, ty, args: slots, result });
                self.emit(SimStep::Call(call));
                if row.effects == Effects::barrier(Scope::Warp) {
                    self.emit(SimStep::SyncWarp);
                }
            }
        }
        Ok(())
    }

    /// Adds a text to the program.
    pub(super) fn message(&mut self, parts: &[PrintPart], values: &[Value]) -> Result<u32> {
        let values = values.iter().map(|v| Ok((self.slot(*v)?, self.ty(*v)))).collect::<Result<_>>()?;
        Ok(add(&mut self.program.messages, Text { parts: parts.to_vec(), values }))
    }
}

fn one(results: &[Value]) -> Result<Value> {
    match results {
        [result] => Ok(*result),
        _ => Err(mistake()),
    }
}

fn pure(op: &Compute, ty: Type, to: Type) -> Option<Pure> {
    use Compute::*;
    match op {
        Unary(op, _) => arith::unary(*op, ty),
        Binary(op, ..) => arith::binary(*op, ty),
        Offset(..) => arith::binary(BinaryOp::Add, ty),
        MulAdd(..) => arith::mul_add(ty),
        Compare(op, ..) => arith::compare(*op, ty),
        Select(..) => Some(arith::selection(ty)),
        Cast(_) => arith::cast(ty, to),
        Bitcast(_) => arith::bitcast(ty, to),
        Const(_) | Special(..) | Len(_) | Address(_) | PeerAddress(..) => None,
    }
}

/// The operation's word, for messages.
fn word(op: &Compute) -> &'static str {
    use Compute::*;
    match op {
        Unary(UnaryOp::Neg, _) => "-",
        Unary(op, _) => op.word(),
        Binary(BinaryOp::Add, ..) => "+",
        Binary(BinaryOp::Sub, ..) => "-",
        Binary(BinaryOp::Mul, ..) => "*",
        Binary(BinaryOp::Div, ..) => "/",
        Binary(op, ..) => op.word(),
        MulAdd(..) => "mul_add",
        Compare(op, ..) => op.word(),
        Select(..) => "select",
        Cast(_) => "cast",
        Bitcast(_) => "bitcast",
        Const(_) | Special(..) | Len(_) | Address(_) | PeerAddress(..) | Offset(..) => "operation",
    }
}

fn class_of_type(ty: Type) -> InstructionClass {
    match ty {
        Type::E4M3 | Type::E5M2 | Type::F16 | Type::BF16 => InstructionClass::Half,
        Type::F32 => InstructionClass::F32,
        Type::F64 => InstructionClass::F64,
        Type::Bool | Type::I8 | Type::I16 | Type::I32 | Type::I64 | Type::U8 | Type::U16 | Type::U32 | Type::U64 | Type::Ptr(_) => {
            InstructionClass::Integer
        }
    }
}

fn class_of_row(row: &Intrinsic, ty: Type) -> InstructionClass {
    if row.effects.is_of_warp() {
        InstructionClass::Warp
    } else if row.copy_step().is_some() {
        InstructionClass::Other
    } else if row.effects.orders_blocks() {
        InstructionClass::Barrier
    } else if row.cost >= 4 && ty.is_float() {
        InstructionClass::Special
    } else {
        class_of_type(ty)
    }
}
