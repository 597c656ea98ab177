//! One instruction without control flow.

// A new instruction is to make the compiler list what must know it.
#![cfg_attr(not(test), deny(clippy::wildcard_enum_match_arm))]

use super::code::{Operand, Reg, RegisterClass};
use super::emitter::{Emitter, ptx};
use super::fuse::Fused;
use super::truths::selects_truth;
use super::types::signed;
use crate::ir::intrinsic::{DeviceForm, Intrinsic};
use crate::ir::{Address, Axis, Compute, Inst, Memory, MemoryOp, Message, Op, Special, Type, Value};

impl Emitter<'_> {
    pub(super) fn instruction(&mut self, inst: Inst) {
        let data = &self.kernel.insts[inst];
        if matches!(data.op, Op::Compute(Compute::Const(_))) || self.is_unread(inst) {
            return;
        }
        if self.is_part_of_copies(inst) {
            return;
        }
        match &data.op {
            Op::Compute(compute) => {
                let d = self.register(data.results[0]);
                self.computation(inst, compute, d);
            }
            Op::Memory(memory) => self.access(inst, memory, &data.results),
            Op::Texture(op, object, coordinates) => self.texture(*op, *object, coordinates, &data.results),
            Op::Intrinsic(row, args) => self.intrinsic(row.row(), args, data.results.first().copied()),
            Op::Message(Message::Print(parts, values)) => self.print(parts, values),
            Op::Message(Message::Assert(condition, parts, values)) => self.assert(*condition, parts, values),
            Op::Tensor(tensor) => self.tensor(inst, tensor, &data.results),
            Op::Engine(engine) => self.engine(engine, &data.results),
            Op::Collective(_) => self.refuse("a collective reached the PTX back end, which takes loads and stores".into(), String::new()),
            Op::Region(_) | Op::Terminator(_) => self.refuse("control flow is no single instruction".into(), String::new()),
        }
    }

    fn access(&mut self, inst: Inst, Memory { op, at }: &Memory, results: &[Value]) {
        let Address::Pointer { object, ptr, offset } = at else {
            return self.refuse("an access by path reached the PTX back end, which takes addresses".into(), String::new());
        };
        let place = self.place(*ptr, *offset);
        match op {
            MemoryOp::Load => self.load(*object, &place, results),
            MemoryOp::LoadMatrix { is_transposed } => self.load_matrix(*is_transposed, place, results),
            MemoryOp::StoreMatrix(words) => self.store_matrix(words, place),
            MemoryOp::Store(values) => {
                if !self.async_copy(inst, *object, &place, values) {
                    self.store(*object, &place, values);
                }
            }
            MemoryOp::Atomic(op, atomicity, operands) => {
                self.atomic((*op, *atomicity), *object, place, operands, results.first().copied());
            }
        }
    }

    /// An instruction that computes one result from its operands.
    fn computation(&mut self, inst: Inst, compute: &Compute, d: Reg) {
        let kernel = self.kernel;
        let to = kernel.ty(kernel.insts[inst].results[0]);
        match compute {
            Compute::Special(special, axis) => self.special(*special, *axis, d),
            Compute::Unary(op, a) => {
                let a = self.operand(*a);
                self.unary(*op, to, d, a);
            }
            Compute::Binary(op, a, b) => match self.fused[inst.0 as usize] {
                Some(Fused::Product(wide)) => self.wide_product(d, wide),
                Some(Fused::Halves(halves)) => {
                    let halves = halves.map(|half| self.in_register(half));
                    ptx!(self, Mov.B32 d, halves);
                }
                None => {
                    let (a, b) = (self.operand(*a), self.operand(*b));
                    self.binary(*op, to, d, a, b);
                }
            },
            Compute::MulAdd(a, b, c) => {
                let operands = [*a, *b, *c].map(|v| self.operand(v));
                self.mul_add(to, d, operands);
            }
            Compute::Compare(op, a, b) => {
                let ty = kernel.ty(*a);
                let (a, b) = (self.operand(*a), self.operand(*b));
                self.compare(*op, ty, d, a, b);
            }
            Compute::Select(c, a, b) => {
                let c = self.in_register(*c);
                if self.selects_half(inst, [*a, *b]) {
                    let (a, b) = (self.register(*a), self.register(*b));
                    self.select_half(d, c, a, b);
                } else {
                    let is_truth = selects_truth(kernel, to, [*a, *b]);
                    let (a, b) = (self.operand(*a), self.operand(*b));
                    if is_truth {
                        let bits = self.temp(d.class);
                        self.select(to, bits, c, a, b);
                        self.float_of_truth(to, d, bits.into());
                    } else {
                        self.select(to, d, c, a, b);
                    }
                }
            }
            Compute::Cast(a) => {
                let (from, a) = (kernel.ty(*a), self.in_register(*a));
                self.cast(from, to, d, a);
            }
            Compute::Bitcast(a) => {
                let (from, bits) = (kernel.ty(*a), self.in_register(*a));
                if matches!(to, Type::F16 | Type::F32) && self.truths.contains(a) {
                    self.float_of_truth(to, d, bits.into());
                } else {
                    self.bitcast(from, to, d, bits.into());
                }
            }
            Compute::Len(object) => self.length(*object, d),
            Compute::Address(object) => self.address(*object, d),
            Compute::PeerAddress(object, rank) => self.peer_address(*object, *rank, d),
            Compute::Offset(ptr, bytes) => {
                let (ptr, bytes) = (self.operand(*ptr), self.operand(*bytes));
                ptx!(self, Add.(signed(to.bits())) d, ptr, bytes);
            }
            // It is written where it is used.
            Compute::Const(_) => {}
        }
    }

    fn special(&mut self, special: Special, axis: Axis, d: Reg) {
        match (special, self.kernel.options.block) {
            (Special::WarpId, _) => self.warp_id(d),
            (Special::AskedGrid, _) => self.asked_grid(axis, d),
            (Special::BlockDim, Some(block)) => ptx!(self, Mov.U32 d, block[axis as usize]),
            _ => ptx!(self, Mov.U32 d, Operand::Special(special, axis)),
        }
    }

    /// The number of the thread over 32: `%warpid` is where the warp happens to run, which may change.
    fn warp_id(&mut self, d: Reg) {
        let block = self.kernel.options.block;
        let thread = self.temp(RegisterClass::Word);
        ptx!(self, Mov.U32 thread, Operand::Special(Special::ThreadIdx, Axis::X));
        if block.is_none_or(|[_, y, z]| y > 1 || z > 1) {
            let [row, height, width] = [(); 3].map(|()| self.temp(RegisterClass::Word));
            ptx!(self, Mov.U32 row, Operand::Special(Special::ThreadIdx, Axis::Z));
            ptx!(self, Mov.U32 height, Operand::Special(Special::BlockDim, Axis::Y));
            ptx!(self, Mov.U32 width, Operand::Special(Special::ThreadIdx, Axis::Y));
            ptx!(self, Mad.Lo.U32 row, row, height, width);
            ptx!(self, Mov.U32 width, Operand::Special(Special::BlockDim, Axis::X));
            ptx!(self, Mad.Lo.U32 thread, row, width, thread);
        }
        ptx!(self, Shr.U32 d, thread, 5);
    }

    fn intrinsic(&mut self, row: &'static Intrinsic, args: &[Value], result: Option<Value>) {
        // `T` is the type of the first argument; of the result where there is none.
        let ty = args.first().or(result.as_ref()).map(|v| self.kernel.ty(*v));
        let Some(device) = row.device() else {
            return self.refuse(format!("`{}` was not expanded", row.name), String::new());
        };
        let Some(form) = device.ptx_on(self.target, ty) else {
            return self.refuse_intrinsic(row, device, ty);
        };
        self.needs(form.needs.ptx_version);
        let is_number = |n: usize| form.text.contains(&format!("{{#{n}}}"));
        let args: Vec<Operand> =
            args.iter().enumerate().map(|(n, v)| if is_number(n) { self.raw(*v) } else { self.in_register(*v).into() }).collect();
        let d = result.map(|v| self.register(v));
        self.template(form.text, d, &args);
    }

    fn refuse_intrinsic(&mut self, row: &Intrinsic, device: &DeviceForm, ty: Option<Type>) {
        let of = ty.map(|ty| format!(" of `{ty}`")).unwrap_or_default();
        let forms = device.ptx.iter().filter(|form| form.is_for(ty));
        match forms.filter_map(|form| form.needs.missing(self.target).map(|missing| (form.needs.capability, missing))).min() {
            Some((_, (missing, help))) => self.refuse(format!("`{}`{of} {missing}", row.name), help),
            // The tests hold that the table has one or the library has it.
            None => self.refuse(format!("`{}`{of} has no form in PTX", row.name), String::new()),
        }
    }
}
