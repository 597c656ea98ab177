//! Atomics: `atom`, `red` where nobody wants the old value, and loops of compare-and-swap where PTX has neither; `ld` and `st` of one value that others
//! change.
//!
//! From sm_70 on the instruction says what it orders and for whom (PTX ISA, memory consistency model). Before, `membar` before it releases, `membar`
//! behind it acquires, and `volatile` accesses are what others see. A sequentially consistent operation is a `fence.sc` before one that acquires.

use super::code::{AddressOperand, Base, Opcode, Operand, Reg, RegisterClass};
use super::emitter::{Emitter, ptx};
use super::memory::space_word;
use super::types::{bits_suffix, logic_suffix, memory_suffix, signed, suffix, unsigned, untyped};
use super::words::{Mnemonic, Word};
use crate::ir::{AtomicOp, Atomicity, BinaryOp, MemoryOrder, Object, ObjectKind, Scope, Space, Type, UnaryOp, Value};

/// An atomic to be printed. `d`: where the old value goes, if somebody wants it.
struct Atomic {
    op: AtomicOp,
    ty: Type,
    /// What it orders and for whom, where the instruction says so.
    modifiers: Vec<Word>,
    space: Word,
    place: AddressOperand,
    d: Option<Reg>,
}

impl Emitter<'_> {
    pub(super) fn atomic(
        &mut self,
        (op, atomicity): (AtomicOp, Atomicity),
        object: Object,
        place: AddressOperand,
        operands: &[Value],
        result: Option<Value>,
    ) {
        let Some(ty) = operands.first().copied().or(result).map(|value| self.kernel.ty(value)) else { return };
        let space = self.kernel.objects[object].space();
        let scope = self.atomic_scope(object, space, atomicity.scope);
        let order = atomicity.order;
        if scope == Scope::System && !self.has(60) {
            let message = format!("atomics of the system need sm_60; this is {}", self.target.name);
            return self.refuse(message, "use `ThreadScope::Device`".into());
        }
        if order == MemoryOrder::SeqCst || order.releases() && !self.has(70) {
            self.fence(order, scope);
        }
        let d = result.filter(|v| self.uses[v.0 as usize] > 0).map(|v| self.register(v));
        let is_plain = order == MemoryOrder::Relaxed && (scope == Scope::Device || matches!(space, Space::Shared | Space::Cluster));
        let modifiers =
            if is_plain && !matches!(op, AtomicOp::Load | AtomicOp::Store) { Vec::new() } else { self.modifiers(op, order, scope) };
        self.unordered(Atomic { op, ty, modifiers, space: space_word(space), place, d }, operands);
        if order.acquires() && op != AtomicOp::Store && !self.has(70) {
            self.fence(order, scope);
        }
    }

    /// The threads that an atomic is for: whoever can come to the memory, and of these the ones that the source names.
    fn atomic_scope(&self, object: Object, space: Space, asked: Scope) -> Scope {
        let has_peers = || self.kernel.objects.values().any(|data| data.kind == ObjectKind::Peers(object));
        match space {
            Space::Shared if has_peers() => Scope::Cluster,
            Space::Shared => Scope::Block,
            Space::Cluster => Scope::Cluster,
            Space::Param | Space::Global | Space::Constant | Space::Local => asked,
        }
    }

    /// A fence for these threads. Those before sm_70 are all sequentially consistent.
    fn fence(&mut self, order: MemoryOrder, scope: Scope) {
        let word = scope_word(scope);
        if self.has(70) {
            self.needs(60);
            let order = if order == MemoryOrder::SeqCst { Word::Sc } else { Word::AcqRel };
            ptx!(self, Fence.(order).(word));
        } else {
            ptx!(self, Membar.(if word == Word::Gpu { Word::Gl } else { word }));
        }
    }

    /// What the instruction itself says of its order and scope.
    fn modifiers(&mut self, op: AtomicOp, order: MemoryOrder, scope: Scope) -> Vec<Word> {
        let is_access = matches!(op, AtomicOp::Load | AtomicOp::Store);
        if !self.has(70) {
            return match (is_access, scope) {
                (true, _) => vec![Word::Volatile],
                // Others are for the device, which is more.
                (false, Scope::System) => vec![Word::Sys],
                (false, Scope::Warp | Scope::Block | Scope::Cluster | Scope::Device) => Vec::new(),
            };
        }
        self.needs(60);
        let order = match (order, op) {
            // The fence before it has released.
            (MemoryOrder::SeqCst, AtomicOp::Store) | (MemoryOrder::Relaxed, _) => Word::Relaxed,
            (MemoryOrder::SeqCst | MemoryOrder::Acquire, _) => Word::Acquire,
            (MemoryOrder::Release, _) => Word::Release,
            (MemoryOrder::AcqRel, _) => Word::AcqRel,
        };
        vec![order, scope_word(scope)]
    }

    fn unordered(&mut self, atomic: Atomic, operands: &[Value]) {
        let (op, ty) = (atomic.op, atomic.ty);
        let operands: Vec<Operand> = operands.iter().map(|v| self.operand(*v)).collect();
        if ty == Type::Bool {
            return self.refuse("`bool` has no atomics".into(), "use a `u32`".into());
        }
        if ty.bytes() < 4 {
            self.narrow_atomic(atomic, &operands);
        } else if op == AtomicOp::Load {
            let d = atomic.d.unwrap_or_else(|| self.temp_of(ty));
            self.put(atomic.opcode(Mnemonic::Ld, &[memory_suffix(ty)]), vec![d.into(), (&atomic.place).into()]);
        } else if op == AtomicOp::Store {
            self.put(atomic.opcode(Mnemonic::St, &[memory_suffix(ty)]), vec![(&atomic.place).into(), operands[0].clone()]);
        } else if op == AtomicOp::Sub {
            self.atomic_sub(atomic, operands[0].clone());
        } else {
            match self.direct_form(&atomic) {
                Some(form) => self.direct_atomic(&atomic, form, &operands),
                None => self.swap_loop(&atomic, operands[0].clone()),
            }
        }
    }

    /// The same as [`Emitter::form`], but for what shared memory has no instruction for: 64 bits and sums of floats. `ptxas` (11.8 to 13.5) makes a loop of those, too, but where address and operand are the
    /// warp's it takes the loop for one that all lanes leave together: the next barrier then finds the warp apart. A loop that it is given is put together again.
    fn direct_form(&mut self, atomic: &Atomic) -> Option<[Word; 2]> {
        let is_swap = matches!(atomic.op, AtomicOp::Exchange | AtomicOp::CompareExchange);
        let is_loop = atomic.space == Word::Shared && !is_swap && (atomic.ty.bytes() == 8 || atomic.ty.is_float());
        if is_loop { None } else { self.form(atomic.op, atomic.ty) }
    }

    /// The operation and type in PTX, if this target has it. Sums wrap, so signed 64-bit ones are unsigned.
    fn form(&mut self, op: AtomicOp, ty: Type) -> Option<[Word; 2]> {
        let bits = untyped(ty.bits());
        match op {
            AtomicOp::Add if ty == Type::F64 => {
                self.has(60).then(|| self.needs(50))?;
                Some([Word::Add, Word::F64])
            }
            AtomicOp::Add if ty == Type::F32 => Some([Word::Add, Word::F32]),
            AtomicOp::Add => Some([Word::Add, unsigned(ty.bits())]),
            AtomicOp::Min | AtomicOp::Max if ty.is_float() => None,
            AtomicOp::Min => Some([Word::Min, suffix(ty)]),
            AtomicOp::Max => Some([Word::Max, suffix(ty)]),
            AtomicOp::And => Some([Word::And, bits]),
            AtomicOp::Or => Some([Word::Or, bits]),
            AtomicOp::Xor => Some([Word::Xor, bits]),
            AtomicOp::Exchange => Some([Word::Exch, bits]),
            AtomicOp::CompareExchange => Some([Word::Cas, bits]),
            AtomicOp::Sub | AtomicOp::Load | AtomicOp::Store => None,
        }
    }

    fn direct_atomic(&mut self, atomic: &Atomic, [word, suffix]: [Word; 2], operands: &[Operand]) {
        let Atomic { op, ty, place, d, .. } = atomic;
        let is_swap = matches!(op, AtomicOp::Exchange | AtomicOp::CompareExchange);
        if d.is_none() && !is_swap {
            // `red` releases, and has nothing to acquire with.
            let is_red = !atomic.modifiers.iter().any(|word| matches!(word, Word::Acquire | Word::AcqRel));
            let old = if is_red { None } else { Some(self.temp_of(*ty).into()) };
            let opcode = atomic.opcode(if is_red { Mnemonic::Red } else { Mnemonic::Atom }, &[word, suffix]);
            self.put(opcode, old.into_iter().chain([place.into(), operands[0].clone()]).collect());
            return;
        }
        let d = d.unwrap_or_else(|| self.temp_of(*ty));
        // `.b32` takes no float constant.
        let operands: Vec<Operand> =
            operands.iter().map(|o| if is_swap { self.constant_register(o.clone(), *ty).into() } else { o.clone() }).collect();
        self.put(atomic.opcode(Mnemonic::Atom, &[word, suffix]), [d.into(), place.into()].into_iter().chain(operands).collect());
    }

    /// a − b is a + (−b), for wrapping integers and for floats.
    fn atomic_sub(&mut self, atomic: Atomic, operand: Operand) {
        let negated = self.temp_of(atomic.ty);
        self.unary(UnaryOp::Neg, atomic.ty, negated, operand);
        let atomic = Atomic { op: AtomicOp::Add, ..atomic };
        match self.direct_form(&atomic) {
            Some(form) => self.direct_atomic(&atomic, form, &[negated.into()]),
            None => self.swap_loop(&atomic, negated.into()),
        }
    }

    /// `do { new = old op operand } while the swap fails`.
    fn swap_loop(&mut self, atomic: &Atomic, operand: Operand) {
        let Atomic { op, ty, space, place, d, .. } = atomic;
        let (suffix, bits) = (bits_suffix(*ty), logic_suffix(*ty));
        let (old, new, found) = (d.unwrap_or_else(|| self.temp_of(*ty)), self.temp_of(*ty), self.temp_of(*ty));
        let [expected, replaced] = [(); 2].map(|()| self.temp(if ty.bytes() == 8 { RegisterClass::Long } else { RegisterClass::Word }));
        let (again, top) = (self.temp(RegisterClass::Predicate), self.new_label());
        ptx!(self, Ld.(*space).(suffix) found, place);
        self.label(top);
        ptx!(self, Mov.(suffix) old, found);
        match binary_op(*op) {
            Some(op) => self.binary(op, *ty, new, old.into(), operand),
            None => self.copy(new, operand),
        }
        ptx!(self, Mov.(bits) expected, old);
        ptx!(self, Mov.(bits) replaced, new);
        self.put(atomic.opcode(Mnemonic::Atom, &[Word::Cas, bits]), vec![replaced.into(), place.into(), expected.into(), replaced.into()]);
        ptx!(self, Mov.(bits) found, replaced);
        // Bits are compared, not numbers: of NaN and −0 the swap would never be seen to succeed, or too soon.
        ptx!(self, Setp.Ne.(bits) again, replaced, expected);
        self.jump_if(again, true, top);
    }

    /// 8 and 16 bits: in the 32-bit word around them, which the arrays' alignment and padding put within the allocation.
    fn narrow_atomic(&mut self, atomic: Atomic, operands: &[Operand]) {
        let Atomic { op, ty, space, ref place, d, .. } = atomic;
        let (base, shift) = self.word_around(place);
        let mask = (1u32 << ty.bits()) - 1;
        let [kept, word, found, part, bits] = [(); 5].map(|()| self.temp(RegisterClass::Word));
        let (old, new) = (d.unwrap_or_else(|| self.temp_of(ty)), self.temp_of(ty));
        let (again, top, done) = (self.temp(RegisterClass::Predicate), self.new_label(), self.new_label());
        ptx!(self, Shl.B32 kept, mask, shift);
        ptx!(self, Not.B32 kept, kept);
        ptx!(self, Ld.(space).U32 found, &base);
        self.label(top);
        ptx!(self, Mov.B32 word, found);
        ptx!(self, Shr.U32 part, word, shift);
        ptx!(self, Cvt.U16.U32 old, part);
        self.normalize(ty, old);
        match (binary_op(op), operands) {
            (Some(op), _) => self.binary(op, ty, new, old.into(), operands[0].clone()),
            (None, [expected, replacement]) => {
                ptx!(self, Setp.Ne.B16 again, old, expected);
                self.jump_if(again, true, done);
                self.copy(new, replacement.clone());
            }
            (None, _) => self.copy(new, operands[0].clone()),
        }
        ptx!(self, Cvt.U32.U16 bits, new);
        ptx!(self, And.B32 bits, bits, mask);
        ptx!(self, Shl.B32 bits, bits, shift);
        ptx!(self, And.B32 part, word, kept);
        ptx!(self, Or.B32 part, part, bits);
        self.put(atomic.opcode(Mnemonic::Atom, &[Word::Cas, Word::B32]), vec![found.into(), (&base).into(), word.into(), part.into()]);
        ptx!(self, Setp.Ne.U32 again, found, word);
        self.jump_if(again, true, top);
        self.label(done);
    }

    /// The place of the 32-bit word that a place is in, and the bits before it in the word.
    fn word_around(&mut self, place: &AddressOperand) -> (AddressOperand, Reg) {
        let shift = self.temp(RegisterClass::Word);
        let address = match &place.base {
            Base::Reg(reg) => {
                let address = self.temp(reg.class);
                let width = if reg.class == RegisterClass::Long { 64 } else { 32 };
                ptx!(self, Add.(signed(width)) address, reg, place.offset.unwrap_or(0));
                address
            }
            Base::Symbol(symbol) => {
                let address = self.temp(RegisterClass::Word);
                ptx!(self, Mov.U32 address, symbol);
                ptx!(self, Add.S32 address, address, place.offset.unwrap_or(0));
                address
            }
        };
        let base = self.temp(address.class);
        if address.class == RegisterClass::Long {
            ptx!(self, Cvt.U32.U64 shift, address);
            ptx!(self, And.B64 base, address, -4);
        } else {
            ptx!(self, Mov.B32 shift, address);
            ptx!(self, And.B32 base, address, -4);
        }
        ptx!(self, And.B32 shift, shift, 3);
        ptx!(self, Shl.B32 shift, shift, 3);
        (AddressOperand { base: Base::Reg(base), offset: None }, shift)
    }
}

impl Atomic {
    /// An opcode on its place; `rest` comes behind the space.
    fn opcode(&self, mnemonic: Mnemonic, rest: &[Word]) -> Opcode {
        // `volatile` has no order and no scope beside it, and stands at the same place.
        let words = self.modifiers.iter().copied().chain([self.space]).chain(rest.iter().copied()).collect();
        Opcode { mnemonic, words }
    }
}

/// The threads that a scope is, in PTX.
fn scope_word(scope: Scope) -> Word {
    match scope {
        Scope::Warp | Scope::Block => Word::Cta,
        Scope::Cluster => Word::Cluster,
        Scope::Device => Word::Gpu,
        Scope::System => Word::Sys,
    }
}

/// What an atomic computes, if it does not exchange.
fn binary_op(op: AtomicOp) -> Option<BinaryOp> {
    Some(match op {
        AtomicOp::Add => BinaryOp::Add,
        AtomicOp::Sub => BinaryOp::Sub,
        AtomicOp::Min => BinaryOp::Min,
        AtomicOp::Max => BinaryOp::Max,
        AtomicOp::And => BinaryOp::And,
        AtomicOp::Or => BinaryOp::Or,
        AtomicOp::Xor => BinaryOp::Xor,
        AtomicOp::Exchange | AtomicOp::CompareExchange | AtomicOp::Load | AtomicOp::Store => return None,
    })
}
