//! Local arrays become SSA values.
//!
//! **Needs** constant indices (`fold` before, and whatever unrolls). **Preserves** every value loaded. **Refuses** an array with an index that is no
//! constant, or one out of range (it is undefined, and stays for the simulator to find); and all arrays once their scalars
//! together are more than [`LIMIT`], the registers of a thread: they would be spilled to the memory they came from.
//!
//! Every scalar of a promoted array is a *slot*. One forward walk carries the current value of each slot: a store sets it, a load is it. Where
//! control flow joins, the slots written inside a region are handed over like everything else in structured SSA: an `If` and a
//! `Block` get a result for each, a `For` and a `Loop` a carried value; every `Yield`, `Break` and `Continue` hands over the slots of the region
//! that it leaves or repeats, as they are where it stands. That is more than needed; `fold` removes what is handed on unchanged
//! and `dce` what nobody uses.
//!
//! A slot that is read before it is written is zero. The language does not allow such a read (locals are initialised), so that only
//! compilers can tell.

use super::rewrite::Rewrite;
use crate::analysis::exits::exit_values_mut;
use crate::analysis::place::{constant_place, scalars_of};
use crate::collections::HashMap;
use crate::ir::{
    Access, Address, Block, Inst, Kernel, Loc, Memory, MemoryOp, MemoryType, Object, ObjectKind, Op, Region, Scalar, Terminator, Type,
    Value,
};

/// Scalars of all promoted arrays together, at most: the registers a thread can have.
const LIMIT: usize = 256;

/// Runs it.
pub(super) fn run(kernel: &mut Kernel) -> bool {
    let slots = Slots::of(kernel);
    if slots.types.is_empty() {
        return false;
    }
    let written = Written::of(kernel, &slots);
    let current = vec![None; slots.types.len()];
    let body = kernel.body;
    let mut promote = Promote { rewrite: Rewrite::new(kernel), slots, written, current };
    promote.block(body);
    true
}

/// The promoted arrays' scalars.
struct Slots {
    /// By object: its first slot.
    first: HashMap<Object, usize>,
    types: Vec<Type>,
}

impl Slots {
    fn of(kernel: &Kernel) -> Slots {
        let mut slots = Slots { first: HashMap::default(), types: Vec::new() };
        let is_local = |object: &Object| kernel.objects[*object].kind == ObjectKind::Local;
        if !kernel.objects.keys().any(|object| is_local(&object)) {
            return slots;
        }
        let mut refused = vec![false; kernel.objects.len()];
        kernel.for_each_inst(|kernel, _, inst| {
            let data = &kernel.insts[inst];
            let Op::Memory(Memory { op, at: Address::Path(access) }) = &data.op else { return };
            let scalars = match op {
                MemoryOp::Load => data.results.len(),
                MemoryOp::Store(values) => values.len(),
                MemoryOp::LoadMatrix { .. } | MemoryOp::StoreMatrix(_) | MemoryOp::Atomic(..) => usize::MAX,
            };
            if is_local(&access.object) && constant_place(kernel, access, scalars).is_none() {
                refused[usize::from(access.object)] = true;
            }
        });
        for object in kernel.objects.keys().filter(|object| is_local(object) && !refused[usize::from(*object)]) {
            let ty = &kernel.objects[object].ty;
            if slots.types.len() + scalars_of(kernel, ty) <= LIMIT {
                slots.first.insert(object, slots.types.len());
                push_types(kernel, ty, &mut slots.types);
            }
        }
        slots
    }

    /// The first slot of an access, if its object is promoted.
    fn slot(&self, kernel: &Kernel, access: &Access, scalars: usize) -> Option<usize> {
        Some(self.first.get(&access.object)? + constant_place(kernel, access, scalars)?)
    }
}

fn push_types(kernel: &Kernel, ty: &MemoryType, types: &mut Vec<Type>) {
    match ty {
        MemoryType::Scalar(ty) => types.push(*ty),
        MemoryType::Array(element, n) | MemoryType::Padded(element, n, _) => (0..*n).for_each(|_| push_types(kernel, element, types)),
        MemoryType::Slice(_) => {}
        MemoryType::Struct(id) => kernel.structs[*id].fields.iter().for_each(|field| push_types(kernel, &field.ty, types)),
    }
}

/// The slots written inside each region, nested ones counted in, in order.
struct Written {
    by_owner: HashMap<Inst, Vec<usize>>,
}

impl Written {
    fn of(kernel: &Kernel, slots: &Slots) -> Written {
        let mut written = Written { by_owner: HashMap::default() };
        written.block(kernel, slots, kernel.body);
        written
    }

    fn block(&mut self, kernel: &Kernel, slots: &Slots, block: Block) -> Vec<usize> {
        let mut here = Vec::new();
        for inst in &kernel.blocks[block].insts {
            let op = &kernel.insts[*inst].op;
            if let Op::Memory(Memory { op: MemoryOp::Store(values), at: Address::Path(access) }) = op
                && let Some(slot) = slots.slot(kernel, access, values.len())
            {
                here.extend(slot..slot + values.len());
            }
            let children = op.blocks();
            if !children.is_empty() {
                let mut inside: Vec<usize> = children.into_iter().flat_map(|child| self.block(kernel, slots, child)).collect();
                inside.sort_unstable();
                inside.dedup();
                here.extend(&inside);
                self.by_owner.insert(*inst, inside);
            }
        }
        here
    }

    fn get(&self, owner: Inst) -> Vec<usize> {
        self.by_owner.get(&owner).cloned().unwrap_or_default()
    }
}

struct Promote<'k> {
    rewrite: Rewrite<'k>,
    slots: Slots,
    written: Written,
    /// By slot: its value here, if it was written.
    current: Vec<Option<Value>>,
}

impl Promote<'_> {
    fn block(&mut self, block: Block) {
        self.owned_block(block, None);
    }

    /// A block of `owner`.
    fn owned_block(&mut self, block: Block, owner: Option<Inst>) {
        for inst in self.rewrite.take(block) {
            self.rewrite.resolve_operands(inst);
            if !self.access(block, inst) {
                self.keep(block, inst, owner);
            }
        }
    }

    /// A load or store of a promoted array: it goes. Whether it was one.
    fn access(&mut self, block: Block, inst: Inst) -> bool {
        let kernel = &*self.rewrite.kernel;
        let data = &kernel.insts[inst];
        let Op::Memory(Memory { op, at: Address::Path(access) }) = &data.op else { return false };
        match op {
            MemoryOp::Load => {
                let Some(slot) = self.slots.slot(kernel, access, data.results.len()) else { return false };
                let (results, loc) = (data.results.clone(), data.loc);
                for (n, result) in results.into_iter().enumerate() {
                    let value = self.value(block, slot + n, loc);
                    self.rewrite.replace(result, value);
                }
                true
            }
            MemoryOp::Store(values) => {
                let Some(slot) = self.slots.slot(kernel, access, values.len()) else { return false };
                for (n, value) in values.iter().enumerate() {
                    self.current[slot + n] = Some(*value);
                }
                true
            }
            MemoryOp::LoadMatrix { .. } | MemoryOp::StoreMatrix(_) | MemoryOp::Atomic(..) => false,
        }
    }

    /// The value of a slot: zero if it has none yet.
    fn value(&mut self, block: Block, slot: usize, loc: Loc) -> Value {
        match self.current[slot] {
            Some(value) => value,
            None => self.rewrite.builder(block, loc).constant(Scalar::new(self.slots.types[slot], 0)),
        }
    }

    fn values(&mut self, block: Block, slots: &[usize], loc: Loc) -> Vec<Value> {
        slots.iter().map(|slot| self.value(block, *slot, loc)).collect()
    }

    /// Anything else: regions and exits hand over the slots.
    fn keep(&mut self, block: Block, inst: Inst, owner: Option<Inst>) {
        let loc = self.rewrite.kernel.insts[inst].loc;
        match self.rewrite.kernel.insts[inst].op {
            Op::Region(Region::If { then_block, else_block, .. }) => {
                let slots = self.written.get(inst);
                let before: Vec<_> = slots.iter().map(|slot| self.current[*slot]).collect();
                self.owned_block(then_block, Some(inst));
                self.restore(&slots, &before);
                self.owned_block(else_block, Some(inst));
                self.rewrite.keep(block, inst);
                self.add_results(inst, &slots);
            }
            Op::Region(Region::Block { body }) => {
                let slots = self.written.get(inst);
                self.owned_block(body, Some(inst));
                self.rewrite.keep(block, inst);
                self.add_results(inst, &slots);
            }
            Op::Region(Region::For { body, .. } | Region::Loop { body, .. }) => {
                let slots = self.written.get(inst);
                let first = self.values(block, &slots, loc);
                if let Op::Region(Region::For { init, .. } | Region::Loop { init, .. }) = &mut self.rewrite.kernel.insts[inst].op {
                    init.extend(first);
                }
                for slot in &slots {
                    self.current[*slot] = Some(self.rewrite.kernel.add_param(body, self.slots.types[*slot]));
                }
                self.owned_block(body, Some(inst));
                self.rewrite.keep(block, inst);
                self.add_results(inst, &slots);
            }
            Op::Terminator(Terminator::Yield(_)) => self.hand_over(block, inst, owner, loc),
            Op::Terminator(Terminator::Break(target, _) | Terminator::Continue(target, _)) => {
                self.hand_over(block, inst, Some(target), loc);
            }
            Op::Compute(_)
            | Op::Memory(_)
            | Op::Texture(..)
            | Op::Intrinsic(..)
            | Op::Collective(_)
            | Op::Tensor(_)
            | Op::Engine(_)
            | Op::Message(_)
            | Op::Terminator(_) => {
                self.rewrite.keep(block, inst);
            }
        }
    }

    fn restore(&mut self, slots: &[usize], values: &[Option<Value>]) {
        slots.iter().zip(values).for_each(|(slot, value)| self.current[*slot] = *value);
    }

    /// An exit of `target` hands over what was written in it.
    fn hand_over(&mut self, block: Block, inst: Inst, target: Option<Inst>, loc: Loc) {
        let slots = target.map(|target| self.written.get(target)).unwrap_or_default();
        let values = self.values(block, &slots, loc);
        if let Some(list) = exit_values_mut(&mut self.rewrite.kernel.insts[inst].op) {
            list.extend(values);
        }
        self.rewrite.keep(block, inst);
    }

    /// After a region the slots written in it are its new results.
    fn add_results(&mut self, inst: Inst, slots: &[usize]) {
        for slot in slots {
            self.current[*slot] = Some(self.rewrite.kernel.add_result(inst, self.slots.types[*slot]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::run;
    use crate::ir::Kernel;
    use crate::passes::check::{check, check_refused};
    use crate::passes::fold;

    fn run_and_fold(kernel: &mut Kernel) -> bool {
        run(kernel) | fold::run(kernel)
    }

    #[test]
    fn through_arms_loops_and_exits() {
        check(
            run_and_fold,
            "v0: u32 = const 0
             v1: u32 = const 1
             v2: u32 = load m0
             v3: f32 = load m1[v0]
             store m6[v0], v3
             store m6[v1], v3
             for i9 (v4: u32 in v0..v2 step v1) {
               v5: f32 = load m6[v0]
               v6: f32 = load m1[v4]
               v7: bool = lt v5, v6
               if v7 {
                 v8: f32 = add v5, v6
                 store m6[v0], v8
                 yield
               } else {
                 break i9
               }
               yield
             }
             v9: f32 = load m6[v0]
             store m2[v0], v9
             v10: f32 = load m6[v1]
             store m2[v1], v10
             return",
            "v0: u32 = const 0
             v1: u32 = const 1
             v2: u32 = load m0
             v3: f32 = load m1[v0]
             v9: f32 = for i9 (v4: u32 in v0..v2 step v1; v5: f32 = v3) {
               v6: f32 = load m1[v4]
               v7: bool = lt v5, v6
               v11: f32 = if v7 {
                 v8: f32 = add v5, v6
                 yield v8
               } else {
                 break i9 v5
               }
               yield v11
             }
             store m2[v0], v9
             store m2[v1], v3
             return",
        );
    }

    #[test]
    fn the_loop_hands_over_what_a_break_of_it_saw() {
        check(
            run_and_fold,
            "v0: u32 = const 0
             v1: f32 = load m1[v0]
             loop i9 () {
               store m6[v0], v1
               v2: f32 = load m1[v0]
               v3: bool = lt v1, v2
               if v3 {
                 store m6[v0], v2
                 break i9
               }
               yield
             }
             v4: f32 = load m6[v0]
             store m2[v0], v4
             return",
            "v0: u32 = const 0
             v1: f32 = load m1[v0]
             v4: f32 = loop i9 () {
               v2: f32 = load m1[v0]
               v3: bool = lt v1, v2
               if v3 {
                 break i9 v2
               }
               yield
             }
             store m2[v0], v4
             return",
        );
    }

    #[test]
    fn an_index_that_is_no_constant_or_out_of_range_refuses_the_array() {
        check_refused(
            run,
            "v0: u32 = load m0
             v1: u32 = const 1
             v2: f32 = load m1[v0]
             store m6[v1], v2
             v3: f32 = load m6[v0]
             store m2[v0], v3
             return",
        );
        check_refused(
            run,
            "v0: u32 = const 1
             v1: u32 = const 4
             v2: f32 = load m1[v0]
             store m6[v0], v2
             v3: f32 = load m6[v1]
             store m2[v0], v3
             return",
        );
    }

    #[test]
    fn read_before_written_is_zero() {
        check(
            run,
            "v0: u32 = const 0
             v1: f32 = load m6[v0]
             store m2[v0], v1
             return",
            "v0: u32 = const 0
             v1: f32 = const 0.0
             store m2[v0], v1
             return",
        );
    }
}
