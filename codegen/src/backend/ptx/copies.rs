//! Stores to rings that are copies the multiprocessor makes by itself: `cp.async`, from sm_80 on.
//!
//! The store of what a load of global memory gives, and nobody else uses, is one instruction with the load. Where the load stands under a condition, and
//! else there are zeros, the copy says how many bytes it reads, none or all, and fills the rest with zeros; the address is computed in any case. It
//! moves 4, 8 or 16 bytes. 16 go past L1, which keeps nothing of what is read once.

use super::code::{AddressOperand, Operand, RegisterClass};
use super::emitter::{Emitter, ptx};
use super::words::Word;
use crate::collections::{HashMap, HashSet};
use crate::intrinsics::ASYNC_COPIES;
use crate::ir::intrinsic::Call;
use crate::ir::{Address, Block, Fill, Inst, Kernel, Memory, MemoryOp, Object, Op, Region, Space, Terminator, Value};
use crate::target::Target;

/// The most that one copies.
const MOST_BYTES: u32 = 16;

/// Where a copy comes from.
#[derive(Clone, Copy)]
struct Source {
    load: Inst,
    /// The `if` round the load, its condition, and what it must be.
    under: Option<(Inst, Value, bool)>,
}

/// The copies of a kernel.
#[derive(Default)]
pub(super) struct AsyncCopies {
    /// By store.
    sources: HashMap<Inst, Source>,
    /// Loads that are part of copies alone.
    loads: HashSet<Inst>,
    /// `if`s round such loads, and the arm that has them.
    branches: HashMap<Inst, Block>,
}

impl AsyncCopies {
    /// Those of a kernel on a target.
    pub(super) fn of(kernel: &Kernel, target: &Target) -> AsyncCopies {
        let mut copies = AsyncCopies::default();
        if kernel.rings.is_empty() || !ASYNC_COPIES.is_met_by(target) {
            return copies;
        }
        kernel.for_each_inst(|kernel, block, inst| {
            if let Op::Memory(Memory { op: MemoryOp::Store(values), at }) = &kernel.insts[inst].op
                && kernel.is_filled_by(at.object(), Fill::Groups)
                && let Some(source) = source(kernel, block, values)
            {
                copies.sources.insert(inst, source);
            }
        });
        copies.keep_what_is_whole(kernel);
        copies
    }

    /// Leaves loads and `if`s out that copies alone use; the copies of other `if`s are stores.
    fn keep_what_is_whole(&mut self, kernel: &Kernel) {
        let uses = kernel.use_counts();
        let mut stored: HashMap<Value, u32> = HashMap::default();
        for store in self.sources.keys() {
            if let Op::Memory(Memory { op: MemoryOp::Store(values), .. }) = &kernel.insts[*store].op {
                values.iter().for_each(|value| *stored.entry(*value).or_default() += 1);
            }
        }
        let is_only_stored =
            |inst: Inst| kernel.insts[inst].results.iter().all(|value| Some(&uses[usize::from(*value)]) == stored.get(value));
        self.sources.retain(|_, source| source.under.is_none_or(|(branch, ..)| is_only_stored(branch)));
        for source in self.sources.values() {
            match source.under {
                Some((branch, _, wanted)) => {
                    if let Op::Region(Region::If { then_block, else_block, .. }) = kernel.insts[branch].op {
                        self.branches.insert(branch, if wanted { then_block } else { else_block });
                    }
                }
                None if is_only_stored(source.load) => {
                    self.loads.insert(source.load);
                }
                None => {}
            }
        }
    }
}

/// Where values that are stored in a block come from, if they are what one load of it gives, under a condition or not.
fn source(kernel: &Kernel, block: Block, values: &[Value]) -> Option<Source> {
    let (maker, op) = kernel.def(*values.first()?)?;
    if !kernel.blocks[block].insts.contains(&maker) {
        return None;
    }
    if is_load_of(kernel, maker, values) {
        return Some(Source { load: maker, under: None });
    }
    let Op::Region(Region::If { condition, then_block, else_block }) = op else { return None };
    let results = &kernel.insts[maker].results;
    let places: Option<Vec<usize>> = values.iter().map(|value| results.iter().position(|result| result == value)).collect();
    let places = places?;
    let yielded = |block: Block| {
        let all = kernel.yielded(block)?;
        Some(places.iter().map(|n| all[*n]).collect::<Vec<Value>>())
    };
    [(*then_block, *else_block, true), (*else_block, *then_block, false)].into_iter().find_map(|(arm, other, wanted)| {
        let is_zero = |value: &Value| kernel.constant(*value).is_some_and(|scalar| scalar.bits == 0);
        let loaded = yielded(arm)?;
        let (load, _) = kernel.def(*loaded.first()?)?;
        let is_harmless = |inst: &Inst| {
            let op = &kernel.insts[*inst].op;
            let is_load = matches!(op, Op::Memory(Memory { op: MemoryOp::Load, .. }));
            is_load || matches!(op, Op::Terminator(Terminator::Yield(_))) || kernel.effects(*inst).is_speculatable()
        };
        // An address that is made of what the arm loads is computed under the condition only.
        let needs_load = |inst: &Inst| {
            let of_load =
                |value: &Value| matches!(kernel.def(*value), Some((maker, Op::Memory(_))) if kernel.blocks[arm].insts.contains(&maker));
            !kernel.insts[*inst].op.is_terminator() && kernel.insts[*inst].op.operands().iter().any(of_load)
        };
        let insts = &kernel.blocks[arm].insts;
        let is_plain = insts.iter().all(is_harmless) && !insts.iter().any(needs_load);
        let is_copy = is_load_of(kernel, load, &loaded) && yielded(other)?.iter().all(is_zero) && insts.contains(&load);
        (is_plain && is_copy).then_some(Source { load, under: Some((maker, *condition, wanted)) })
    })
}

/// Whether an instruction loads these values, all that it loads, from global memory.
fn is_load_of(kernel: &Kernel, inst: Inst, values: &[Value]) -> bool {
    let Op::Memory(Memory { op: MemoryOp::Load, at: Address::Pointer { object, .. } }) = &kernel.insts[inst].op else { return false };
    let bytes: u32 = values.iter().map(|value| kernel.ty(*value).bytes()).sum();
    let fits = bytes >= 4 && (bytes <= MOST_BYTES || bytes.is_multiple_of(MOST_BYTES));
    kernel.objects[*object].space() == Space::Global && kernel.insts[inst].results == values && fits
}

impl Emitter<'_> {
    /// Whether an instruction is part of copies and nothing by itself.
    pub(super) fn is_part_of_copies(&self, inst: Inst) -> bool {
        self.copies.loads.contains(&inst)
    }

    /// An `if` whose loads are copies': what computes their addresses, in any case. Whether it is one.
    pub(super) fn addresses_of_copies(&mut self, branch: Inst) -> bool {
        let Some(arm) = self.copies.branches.get(&branch).copied() else { return false };
        let kernel = self.kernel;
        for inst in &kernel.blocks[arm].insts {
            if matches!(kernel.insts[*inst].op, Op::Compute(_)) {
                self.enter(*inst);
                self.instruction(*inst);
            }
        }
        true
    }

    /// A store to a ring that is a copy. Whether it is one; if not, and the promise is that it is, that is refused.
    pub(super) fn async_copy(&mut self, store: Inst, object: Object, to: &AddressOperand, values: &[Value]) -> bool {
        let kernel = self.kernel;
        let Some(ring) = kernel.rings.get(&object).filter(|ring| ring.fill == Fill::Groups && ASYNC_COPIES.is_met_by(self.target)) else {
            return false;
        };
        let bytes: u32 = values.iter().map(|value| kernel.ty(*value).bytes()).sum();
        let Some(source) = self.copies.sources.get(&store).copied() else {
            let is_constant = values.iter().all(|value| kernel.constant(*value).is_some());
            // Collectives choose the width: what is left at an edge may be as narrow as an element.
            let call = kernel.location(store).call;
            let is_of_collective = call.is_some_and(|call| call.row().call == Call::Collective);
            if ring.is_required && !is_constant && !is_of_collective {
                self.refuse_copy(object, bytes);
            }
            return false;
        };
        let Op::Memory(Memory { op: MemoryOp::Load, at: Address::Pointer { object: from, ptr, offset } }) = kernel.insts[source.load].op
        else {
            return false;
        };
        self.needs(ASYNC_COPIES.ptx_version);
        let from_place = self.place(ptr, offset);
        let policy = self.hint(from, true).policy;
        let each = bytes.min(MOST_BYTES);
        let read = source.under.map(|(_, condition, wanted)| {
            let condition = self.in_register(condition);
            let size = self.temp(RegisterClass::Word);
            let (then, otherwise) = if wanted { (each, 0) } else { (0, each) };
            ptx!(self, Selp.B32 size, then, otherwise, condition);
            size
        });
        for at in (0..bytes).step_by(each as usize) {
            let level = if each == MOST_BYTES { Word::Cg } else { Word::Ca };
            let words = [Word::Async, level, Word::Shared, Word::Global].into_iter().chain(policy.as_ref().map(|_| Word::L2CacheHint));
            let opcode = super::code::Opcode { mnemonic: super::words::Mnemonic::Cp, words: words.collect() };
            let places = [to.after(at as i32).into(), from_place.after(at as i32).into(), each.into()];
            let operands = places.into_iter().chain(read.map(Operand::from)).chain(policy.clone());
            self.put(opcode, operands.collect());
        }
        true
    }

    fn refuse_copy(&mut self, object: Object, bytes: u32) {
        let name = &self.kernel.objects[object].name;
        if bytes < 4 {
            let message = format!(
                "`pipeline`: this copies {bytes} byte{} at a time into `{name}`, and `cp.async` moves 4, 8 or 16",
                if bytes == 1 { "" } else { "s" }
            );
            let n = (4 / bytes.max(1)).max(2);
            self.refuse(
                message,
                format!("copy several elements at once: `#[vectorize({n})]` on the loop that copies, or `load::<{n}>` and `store::<{n}>`"),
            );
        } else {
            let message = format!("`pipeline`: this store into `{name}` is not a copy that `cp.async` makes");
            self.refuse(
                message,
                "store what one load of a buffer gives, or `if inside { x[i] } else { 0.0 }`; or write `best_effort` behind the stages"
                    .into(),
            );
        }
    }
}
