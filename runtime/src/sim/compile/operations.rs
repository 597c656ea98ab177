//! Instructions that own no blocks.

use super::super::arithmetic as arith;
use super::super::order::Reach;
use super::super::program::{Barrier, Call, CallEval, CheckFailure, Preset, SimStep, Text};
use super::super::registers::{Operands, Pure, Reg};
use super::places::Work;
use super::{Compiler, Result};
use crate::sim::texture::TextureRead;
use crate::sim::{AccessKind, InstructionClass};
use warpwright_codegen::ir::intrinsic::{self, Eval, Row, RowId};
use warpwright_codegen::ir::{
    Address, Axis, BinaryOp, Compute, Effects, Inst, Memory, MemoryOp, Message, Object, Op, PrintPart, Scope, TextureOp, Type, UnaryOp,
    Value,
};

impl Compiler<'_> {
    /// Compiles an instruction; `results` is where a `Yield` gives its values.
    pub(super) fn instruction(&mut self, inst: Inst, results: &[Reg]) -> Result<()> {
        let kernel = self.kernel;
        let data = &kernel.insts[inst];
        match &data.op {
            Op::Compute(Compute::Const(_) | Compute::Special(..) | Compute::Len(_) | Compute::Address(_)) => {
                self.known(&data.op, one(&data.results)?)
            }
            Op::Compute(
                Compute::Unary(..)
                | Compute::Binary(..)
                | Compute::MulAdd(..)
                | Compute::Compare(..)
                | Compute::Select(..)
                | Compute::Cast(_)
                | Compute::Bitcast(_)
                | Compute::Offset(..),
            ) => self.arithmetic(&data.op, one(&data.results)?),
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
            Op::Region(_) => self.construct(inst),
            Op::Terminator(_) => self.terminator(&data.op, results),
        }
    }

    /// What is known before the kernel starts.
    fn known(&mut self, op: &Op, result: Value) -> Result<()> {
        let ty = self.ty(result);
        let preset = match op {
            Op::Compute(Compute::Const(scalar)) => Preset::Constant(scalar.ty, scalar.bits),
            Op::Compute(Compute::Special(special, axis)) => Preset::Special(*special, *axis),
            Op::Compute(Compute::Len(object)) => Preset::Len(usize::from(*object)),
            Op::Compute(Compute::Address(object)) => {
                let n = usize::from(*object);
                Preset::Constant(ty, self.program.objects[n].address(n))
            }
            _ => return Err("not a known value".into()),
        };
        if !matches!(op, Op::Compute(Compute::Const(_))) {
            self.count(InstructionClass::Other, 1);
        }
        let reg = self.preset(ty, preset)?;
        self.slots[usize::from(result)] = Some(reg);
        Ok(())
    }

    fn arithmetic(&mut self, op: &Op, result: Value) -> Result<()> {
        let to = self.ty(result);
        let (values, ty) = operands(op, |v| self.ty(v));
        let run = pure(op, ty, to).ok_or_else(|| format!("`{}` on `{ty}` giving `{to}`", word(op)))?;
        self.count(class_of(op, ty), 1);
        let slots = self.slots(&values)?;
        let d = self.define(result)?;
        let at = |n: usize| slots.get(n).map_or(0, |reg| reg.index());
        let operands = Operands { d: d.index(), a: at(0), b: at(1), c: at(2) };
        self.check_arithmetic(op, ty, operands, &slots);
        self.emit(SimStep::Pure(run, operands));
        Ok(())
    }

    fn check_arithmetic(&mut self, op: &Op, ty: Type, operands: Operands, slots: &[Reg]) {
        if let Op::Compute(Compute::Binary(BinaryOp::Div | BinaryOp::Rem, _, divisor)) = op {
            let is_safe = self.kernel.constant(*divisor).is_some_and(|c| c.bits != 0);
            if let Some(find) = arith::divides_by_zero(ty).filter(|_| !is_safe) {
                self.check(find, operands, CheckFailure::DivisionByZero);
            }
        }
        if !self.program.options.overflow {
            return;
        }
        let find = match op {
            Op::Compute(Compute::Binary(op, ..)) => arith::overflows(*op, ty),
            Op::Compute(Compute::Unary(op, _)) => arith::unary_overflows(*op, ty),
            Op::Compute(Compute::MulAdd(..)) => arith::mul_add_overflows(ty),
            _ => None,
        };
        if let Some(find) = find {
            self.check(find, operands, CheckFailure::Overflow { operation: word(op), ty, operands: slots.to_vec() });
        }
    }

    fn memory(&mut self, memory: &Memory, results: &[Value]) -> Result<()> {
        let work = match &memory.op {
            MemoryOp::Load => Work { kind: AccessKind::Read, atomic: None, values: results.to_vec(), old: None },
            MemoryOp::Store(values) => Work { kind: AccessKind::Write, atomic: None, values: values.clone(), old: None },
            MemoryOp::Atomic(op, operands) => {
                Work { kind: AccessKind::Atomic, atomic: Some(*op), values: operands.clone(), old: results.first().copied() }
            }
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
            let result = one(results)?;
            self.count(InstructionClass::Other, 1);
            let reg = self.preset(self.ty(result), Preset::Extent(n, axis))?;
            self.slots[usize::from(result)] = Some(reg);
            return Ok(());
        }
        self.count(InstructionClass::Memory, 1);
        let (Some((component, _)), [x, y]) = (self.kernel.objects[object].texel(), at) else {
            return Err("not a read of a texture".into());
        };
        let at = [self.slot(*x)?, self.slot(*y)?];
        let results = self.define_all(results)?;
        self.program.textures.push(TextureRead { op, object: n, component, at, results });
        self.emit(SimStep::Texture(self.program.textures.len() as u32 - 1));
        Ok(())
    }

    fn intrinsic(&mut self, row: RowId, args: &[Value], results: &[Value]) -> Result<()> {
        let row = row.row();
        let device = row.device().ok_or_else(|| format!("intrinsic `{}` was not expanded", row.name))?;
        let ty = if row.call == intrinsic::Call::Associated { results.first().or(args.first()) } else { args.first().or(results.first()) };
        let ty = ty.map_or(Type::U32, |v| self.ty(*v));
        self.count(class_of_row(row, ty), 1);
        let slots = self.slots(args)?;
        match device.eval {
            Eval::Nothing => {
                if let (true, Some(reach)) = (self.program.orders, row.effects.orders.and_then(reach)) {
                    self.emit(SimStep::Fence(reach));
                }
            }
            Eval::Barrier(eval) => {
                let result = results.first().map(|v| self.define(*v)).transpose()?;
                let location = self.location;
                self.program.barriers.push(Barrier { eval, argument: slots.first().copied(), result, location });
                self.emit(SimStep::Barrier(self.program.barriers.len() as u32 - 1));
            }
            lanes => {
                let result = results.first().map(|v| self.define(*v)).transpose()?;
                let eval = CallEval::new(lanes).ok_or("an intrinsic without a meaning")?;
                let name = self.location.call.map_or(row.name, |call| call.row().name);
                self.program.calls.push(Call { name, eval, ty, args: slots, result });
                self.emit(SimStep::Call(self.program.calls.len() as u32 - 1));
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
        self.program.messages.push(Text { parts: parts.to_vec(), values });
        Ok(self.program.messages.len() as u32 - 1)
    }
}

/// How far a fence reaches.
fn reach(scope: Scope) -> Option<Reach> {
    match scope {
        Scope::Warp => None,
        Scope::Block => Some(Reach::Block),
        Scope::Device | Scope::System => Some(Reach::Device),
    }
}

fn one(results: &[Value]) -> Result<Value> {
    match results {
        [result] => Ok(*result),
        _ => Err(format!("an instruction with {} results where one is expected", results.len())),
    }
}

/// An operation's operands as the steps take them, and the type it works on.
fn operands(op: &Op, ty: impl Fn(Value) -> Type) -> (Vec<Value>, Type) {
    if let Op::Compute(Compute::Select(c, a, b)) = op {
        (vec![*a, *b, *c], ty(*a))
    } else {
        let values = op.operands();
        let first = values.first().map_or(Type::U32, |v| ty(*v));
        (values, first)
    }
}

fn pure(op: &Op, ty: Type, to: Type) -> Option<Pure> {
    match op {
        Op::Compute(Compute::Unary(op, _)) => arith::unary(*op, ty),
        Op::Compute(Compute::Binary(op, ..)) => arith::binary(*op, ty),
        Op::Compute(Compute::Offset(..)) => arith::binary(BinaryOp::Add, ty),
        Op::Compute(Compute::MulAdd(..)) => arith::mul_add(ty),
        Op::Compute(Compute::Compare(op, ..)) => arith::compare(*op, ty),
        Op::Compute(Compute::Select(..)) => Some(arith::selection(ty)),
        Op::Compute(Compute::Cast(_)) => arith::cast(ty, to),
        Op::Compute(Compute::Bitcast(_)) => arith::bitcast(ty, to),
        _ => None,
    }
}

/// The operation's word, for messages.
fn word(op: &Op) -> &'static str {
    match op {
        Op::Compute(Compute::Unary(UnaryOp::Neg, _)) => "-",
        Op::Compute(Compute::Unary(op, _)) => op.word(),
        Op::Compute(Compute::Binary(BinaryOp::Add, ..)) => "+",
        Op::Compute(Compute::Binary(BinaryOp::Sub, ..)) => "-",
        Op::Compute(Compute::Binary(BinaryOp::Mul, ..)) => "*",
        Op::Compute(Compute::Binary(BinaryOp::Div, ..)) => "/",
        Op::Compute(Compute::Binary(op, ..)) => op.word(),
        Op::Compute(Compute::MulAdd(..)) => "mul_add",
        Op::Compute(Compute::Compare(op, ..)) => op.word(),
        Op::Compute(Compute::Select(..)) => "select",
        Op::Compute(Compute::Cast(_)) => "cast",
        Op::Compute(Compute::Bitcast(_)) => "bitcast",
        _ => "operation",
    }
}

fn class_of(op: &Op, ty: Type) -> InstructionClass {
    if matches!(op, Op::Compute(Compute::Cast(_))) { InstructionClass::Convert } else { class_of_type(ty) }
}

fn class_of_type(ty: Type) -> InstructionClass {
    match ty {
        Type::F16 | Type::BF16 => InstructionClass::Half,
        Type::F32 => InstructionClass::F32,
        Type::F64 => InstructionClass::F64,
        _ => InstructionClass::Integer,
    }
}

fn class_of_row(row: &Row, ty: Type) -> InstructionClass {
    if row.effects.is_of_warp() {
        InstructionClass::Warp
    } else if row.effects.orders_blocks() {
        InstructionClass::Barrier
    } else if row.cost >= 4 && ty.is_float() {
        InstructionClass::Special
    } else {
        class_of_type(ty)
    }
}
