//! Arms of an `if` printed without a jump: every instruction that has an effect under the condition's predicate.
//!
//! Two kinds of arms are. A **short** one, whatever it computes, since jumping over it would take longer. And one that is nothing but
//! **accesses** and the arithmetic of their addresses, up to [`MOST_ACCESSES`] of them: a group of guarded loads must leave the
//! multiprocessor together, which a jump before each, or a label that the assembler may not schedule across, would prevent. The
//! addresses are computed whether or not the condition holds, which nobody sees.
//!
//! What `ptxas` does with predicated accesses (11.8 to 13, `sm_90`, as `nvdisasm` shows) sets two more rules:
//!
//! * From three stores under one predicate on it makes a jump of its own round each. So an arm with more than [`MOST_STORES`] keeps
//!   the one jump round all.
//! * `ld.global.nc` under several predicates is scheduled behind stores that follow it, since no store can change what it reads: eight
//!   guarded loads and eight stores become a mixture. So a predicated load does not say `.nc` (`memory`); the cache it takes is the same.
//!
//! Where the `if` gives values, the other arm's are moved first, and the accesses write over them:
//!
//! ```text
//! mov.f32 %f1, 0f00000000;
//! @%p1 ld.global.f32 %f1, [%rd4];
//! ```
//!
//! A register that is not itself the value, for what is loaded is packed, begins with zero instead (`memory`).

// A new instruction is to make the compiler list what must know it.
#![cfg_attr(not(test), deny(clippy::wildcard_enum_match_arm))]

use super::code::{Guard, Reg};
use super::emitter::Emitter;
use crate::ir::{BinaryOp, Block, Compute, Inst, Memory, MemoryOp, Op, Terminator, Type, Value};

/// Most instructions of any kind that are predicated rather than jumped over.
const MOST_PREDICATED: usize = 3;

/// Most loads and stores that are predicated where an arm is nothing else.
const MOST_ACCESSES: usize = 16;

/// Most stores that are predicated.
const MOST_STORES: usize = 2;

/// Most instructions that compute the addresses of those, done in any case.
const MOST_ADDRESSES: usize = 3 * MOST_ACCESSES;

impl Emitter<'_> {
    /// Whether an arm is to be printed by [`Emitter::predicated`].
    pub(super) fn is_predicable(&self, arm: Block) -> bool {
        self.is_short(arm) || self.is_all_accesses(arm)
    }

    /// Prints an arm under a predicate, without what it yields.
    pub(super) fn predicated(&mut self, condition: Reg, wanted: bool, arm: Block) {
        let kernel = self.kernel;
        let is_batch = self.is_all_accesses(arm);
        for inst in &kernel.blocks[arm].insts {
            let op = &kernel.insts[*inst].op;
            if op.is_terminator() {
                break;
            }
            self.enter(*inst);
            self.predicate = if is_batch && op.effects(self.kernel).is_pure() { None } else { Some(Guard { reg: condition, wanted }) };
            self.instruction(*inst);
        }
        self.predicate = None;
    }

    /// Whether [`Emitter::predicated_values`] prints an `if` of these arms.
    pub(super) fn is_predicated(&self, then_block: Block, else_block: Block) -> bool {
        [(then_block, else_block), (else_block, then_block)]
            .iter()
            .any(|(arm, other)| self.is_all_accesses(*arm) && self.only_yields(*other))
    }

    /// An `if` that gives values, one arm of which is accesses and the other only passes values on: whether it was printed so.
    pub(super) fn predicated_values(&mut self, condition: Reg, wanted: bool, arm: Block, other: Block, results: &[Reg]) -> bool {
        if !self.is_all_accesses(arm) || !self.only_yields(other) {
            return false;
        }
        self.yield_into(other, results);
        let values = self.kernel.yielded(arm).unwrap_or_default();
        // What is loaded arrives where the result is; the second result of the same value is a copy.
        for (value, result) in values.iter().zip(results) {
            if self.is_loaded_in(*value, arm) && self.known_register(*value).is_none() {
                self.alias(*value, *result);
            }
        }
        self.predicated(condition, wanted, arm);
        self.predicate = Some(Guard { reg: condition, wanted });
        self.move_values(results, values);
        self.predicate = None;
        true
    }

    fn is_loaded_in(&self, value: Value, arm: Block) -> bool {
        let is_load = |op: &Op| matches!(op, Op::Memory(Memory { op: MemoryOp::Load, .. }));
        self.kernel.def(value).is_some_and(|(inst, op)| is_load(op) && self.kernel.blocks[arm].insts.contains(&inst))
    }

    /// Whether an arm does nothing but pass constants or values from outside on.
    fn only_yields(&self, arm: Block) -> bool {
        let mut others = self.kernel.ops(arm).rev().skip(1);
        self.kernel.yielded(arm).is_some() && others.all(|op| matches!(op, Op::Compute(Compute::Const(_))))
    }

    /// Whether predicating an arm's instructions is shorter than jumping over them: few, and each one line.
    fn is_short(&self, arm: Block) -> bool {
        let insts = &self.kernel.blocks[arm].insts;
        let is_simple = |inst: &Inst| {
            let data = &self.kernel.insts[*inst];
            let is_wide = |v: &Value| self.kernel.ty(*v).bytes() >= 4;
            match &data.op {
                Op::Compute(Compute::Const(_)) | Op::Terminator(Terminator::Yield(_)) => true,
                Op::Memory(memory @ Memory { op: MemoryOp::Load | MemoryOp::Store(_), .. }) => {
                    matches!(memory.scalars(&data.results), [one] if is_wide(one))
                }
                Op::Compute(Compute::Binary(op, a, _)) => is_wide(a) && !matches!(op, BinaryOp::Div | BinaryOp::Rem),
                Op::Compute(Compute::MulAdd(a, ..) | Compute::Offset(a, _)) => is_wide(a),
                Op::Compute(Compute::Special(..) | Compute::Unary(..) | Compute::Compare(..) | Compute::Select(..))
                | Op::Compute(Compute::Cast(_) | Compute::Bitcast(_) | Compute::Len(_) | Compute::Address(_) | Compute::PeerAddress(..))
                | Op::Memory(Memory { op: MemoryOp::Atomic(..) | MemoryOp::LoadMatrix { .. } | MemoryOp::StoreMatrix(_), .. }) => false,
                Op::Texture(..)
                | Op::Intrinsic(..)
                | Op::Collective(_)
                | Op::Tensor(_)
                | Op::Engine(_)
                | Op::Message(_)
                | Op::Region(_)
                | Op::Terminator(_) => false,
            }
        };
        let count = |is_counted: fn(&Op) -> bool| self.kernel.ops(arm).filter(|op| is_counted(op)).count();
        insts.iter().all(is_simple)
            && count(|op| !matches!(op, Op::Compute(Compute::Const(_)) | Op::Terminator(Terminator::Yield(_)))) <= MOST_PREDICATED
            && count(|op| matches!(op, Op::Memory(Memory { op: MemoryOp::Store(_), .. }))) <= MOST_STORES
    }

    /// Whether an arm has accesses, few enough, and besides them only what computes their addresses from outside.
    fn is_all_accesses(&self, arm: Block) -> bool {
        let (mut loads, mut stores, mut addresses) = (0, 0, 0);
        for inst in &self.kernel.blocks[arm].insts {
            let data = &self.kernel.insts[*inst];
            match &data.op {
                Op::Compute(Compute::Const(_)) | Op::Terminator(Terminator::Yield(_)) => {}
                Op::Memory(Memory { op: MemoryOp::Load, .. }) => loads += 1,
                Op::Memory(Memory { op: MemoryOp::Store(_), .. }) => stores += 1,
                Op::Compute(compute) if self.is_address_arithmetic(compute, &data.results) => {
                    if data.op.operands().iter().any(|operand| self.is_loaded_in(*operand, arm)) {
                        return false;
                    }
                    addresses += 1;
                }
                Op::Compute(_)
                | Op::Memory(Memory { op: MemoryOp::Atomic(..) | MemoryOp::LoadMatrix { .. } | MemoryOp::StoreMatrix(_), .. }) => {
                    return false;
                }
                Op::Texture(..)
                | Op::Intrinsic(..)
                | Op::Collective(_)
                | Op::Tensor(_)
                | Op::Engine(_)
                | Op::Message(_)
                | Op::Region(_)
                | Op::Terminator(_) => {
                    return false;
                }
            }
        }
        (1..=MOST_ACCESSES).contains(&(loads + stores)) && stores <= MOST_STORES && addresses <= MOST_ADDRESSES
    }

    /// What addresses are made with: sums, products and conversions of whole numbers, which cannot fail.
    fn is_address_arithmetic(&self, compute: &Compute, results: &[Value]) -> bool {
        let is_index = |ty: Type| matches!(ty, Type::U32 | Type::U64 | Type::I32 | Type::I64 | Type::Ptr(_));
        let is_sum = match compute {
            Compute::Binary(op, ..) => matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Shl),
            Compute::Cast(from) => is_index(self.kernel.ty(*from)),
            Compute::MulAdd(..)
            | Compute::Address(_)
            | Compute::PeerAddress(..)
            | Compute::Offset(..)
            | Compute::Special(..)
            | Compute::Len(_) => true,
            Compute::Const(_) | Compute::Unary(..) | Compute::Compare(..) | Compute::Select(..) | Compute::Bitcast(_) => false,
        };
        is_sum && results.iter().all(|result| is_index(self.kernel.ty(*result)))
    }
}
