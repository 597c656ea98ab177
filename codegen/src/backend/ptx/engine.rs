//! The copy engine (sm_90 on; PTX ISA, "Data movement: asynchronous copy" and "mbarrier"): its barriers, and bulk copies.

use super::code::{AddressOperand, Base, Opcode, Operand, RegisterClass};
use super::emitter::{Emitter, ptx};
use super::words::{Mnemonic, Word};
use crate::intrinsics::ENGINE;
use crate::ir::{Access, BARRIER, Engine, MemoryType, Object, Step, Type, Value};

impl Emitter<'_> {
    pub(super) fn engine(&mut self, engine: &Engine) {
        if !ENGINE.is_met_by(self.target) {
            let message = format!("bulk copies need sm_90; this is {}", self.target.name);
            return self.refuse(message, "leave `by` out".into());
        }
        self.needs(ENGINE.ptx_version);
        match engine {
            Engine::Init(object) => {
                self.each_barrier(*object, |emitter, barrier| ptx!(emitter, Mbarrier.Init.SharedCta.B64 barrier, 1));
                // The engine sees barriers and not what was there before.
                ptx!(self, Fence.MbarrierInit.Release.Cluster);
                ptx!(self, Fence.Proxy.Async.SharedCta);
            }
            Engine::Expect { barrier, bytes } => {
                let barrier = self.place_of(barrier);
                let bytes = self.operand(*bytes);
                ptx!(self, Mbarrier.Arrive.ExpectTx.SharedCta.B64 Operand::Bits("_"), barrier, bytes);
            }
            Engine::Wait { barrier, parity } => {
                let barrier = self.place_of(barrier);
                let (parity, is_over) = (self.operand(*parity), self.temp(RegisterClass::Predicate));
                let again = self.new_label();
                self.label(again);
                // Sleeps for a while by itself.
                ptx!(self, Mbarrier.TryWait.Parity.SharedCta.B64 is_over, barrier, parity);
                self.jump_if(is_over, false, again);
            }
            Engine::CopyRun { to, from, start, barrier } => self.copy_run(to, *from, *start, barrier),
            Engine::Fence => ptx!(self, Fence.Proxy.Async.SharedCta),
        }
    }

    fn copy_run(&mut self, to: &Access, from: Object, start: Value, barrier: &Access) {
        let kernel = self.kernel;
        let bytes = kernel.bytes_of(to) as u32;
        let element = match &kernel.objects[from].ty {
            MemoryType::Slice(element) => element.size(&kernel.structs) as u32,
            _ => 1,
        };
        let (to, barrier) = (self.place_of(to), self.place_of(barrier));
        let [base, distance, place] = [(); 3].map(|()| self.temp(RegisterClass::Long));
        self.address(from, base);
        let is_wide = kernel.ty(start).bytes() == 8;
        let start = self.operand(start);
        if is_wide {
            ptx!(self, Mul.Lo.U64 distance, start, element);
        } else {
            ptx!(self, Mul.Wide.U32 distance, start, element);
        }
        ptx!(self, Add.S64 place, base, distance);
        let policy = self.hint(from, true).policy;
        let words = [Word::Async, Word::Bulk, Word::SharedCluster, Word::Global, Word::CompleteTx].into_iter();
        let words = words.chain(policy.as_ref().map(|_| Word::L2CacheHint)).collect();
        let from = AddressOperand { base: Base::Reg(place), offset: None };
        let operands = [Operand::from(to), from.into(), bytes.into(), barrier.into()];
        self.put(Opcode { mnemonic: Mnemonic::Cp, words }, operands.into_iter().chain(policy).collect());
    }

    /// Every barrier of an array.
    fn each_barrier(&mut self, object: Object, f: impl Fn(&mut Self, AddressOperand)) {
        let count = match &self.kernel.objects[object].ty {
            MemoryType::Array(_, count) => *count as u32,
            _ => 0,
        };
        let first = self.place_of(&Access { object, path: Vec::new() });
        for n in 0..count {
            f(self, first.after((n * BARRIER.bytes()) as i32));
        }
    }

    /// The first byte of what an access to shared memory leads to.
    fn place_of(&mut self, access: &Access) -> AddressOperand {
        let kernel = self.kernel;
        let base = self.temp(RegisterClass::Word);
        self.address(access.object, base);
        let (mut base, mut fixed) = (base, 0u64);
        let mut ty = &kernel.objects[access.object].ty;
        for step in &access.path {
            match (step, ty) {
                (Step::Field(field), MemoryType::Struct(id)) => {
                    let field = &kernel.structs[*id].fields[*field as usize];
                    fixed += field.offset;
                    ty = &field.ty;
                }
                (Step::Index(index), MemoryType::Array(element, _) | MemoryType::Padded(element, ..) | MemoryType::Slice(element)) => {
                    let size = element.size(&kernel.structs);
                    match kernel.constant(*index) {
                        Some(index) => fixed += index.bits * size,
                        None => base = self.further(base, *index, size as u32),
                    }
                    ty = element;
                }
                // The verifier has seen to it that paths fit.
                _ => {}
            }
        }
        AddressOperand { base: Base::Reg(base), offset: None }.after(fixed as i32)
    }

    /// `base + index * size`, in shared memory.
    fn further(&mut self, base: super::code::Reg, index: Value, size: u32) -> super::code::Reg {
        let mut low = self.in_register(index);
        if self.kernel.ty(index) != Type::U32 {
            let word = self.temp(RegisterClass::Word);
            ptx!(self, Cvt.U32.U64 word, low);
            low = word;
        }
        let sum = self.temp(RegisterClass::Word);
        ptx!(self, Mad.Lo.U32 sum, low, size, base);
        sum
    }
}
