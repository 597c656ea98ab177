//! Common subexpressions: what was computed or loaded already is not computed or loaded again.
//!
//! **Needs** constants on the right of commutative operations (`fold`), else it finds less. **Preserves** the order of everything that
//! stays. **Refuses** to look across arms: a value of one arm is not there in the other, nor behind the `If`.
//!
//! One forward walk with a table of what is available, scoped by the structure: entries made inside a block are taken back at its
//! end, so that what the table offers always stands before its user. Memory has *versions*: a store, an atomic, a barrier or a
//! fence gives the objects it may change a new one, and so does entering or leaving a region that may; a load is the same as an
//! earlier one if place and version are. A load right after a store to the same place gives what was stored.
//!
//! That another thread writes between two loads of one thread with nothing between them to order it would be a race, whose
//! outcome the kernel cannot depend on; a loop that waits for another thread must have a fence or an atomic in it.

use super::fold::is_commutative;
use super::rewrite::Rewrite;
use crate::analysis::clobbers::{Clobbers, RegionClobbers};
use crate::collections::{FxHasher, HashMap};
use crate::ir::{Address, Block, Compute, Inst, Kernel, Memory, MemoryOp, Object, Op, Type, Value};
use std::hash::{Hash, Hasher};

/// Runs it.
pub(super) fn run(kernel: &mut Kernel) -> bool {
    let clobbers = RegionClobbers::of(kernel);
    let (body, objects) = (kernel.body, kernel.objects.len());
    let rewrite = Rewrite::new(kernel);
    let mut cse = Cse { rewrite, clobbers, table: HashMap::default(), scope: Vec::new(), versions: vec![0; objects], newest: 0 };
    cse.block(body);
    cse.rewrite.changed
}

/// Something computed, loaded or stored earlier.
struct Available {
    inst: Inst,
    /// Of the object it loads or stores; 0 for the rest.
    version: u32,
}

struct Cse<'k> {
    rewrite: Rewrite<'k>,
    clobbers: RegionClobbers,
    table: HashMap<u64, Vec<Available>>,
    /// Keys in the order of their entries: what to take back at the end of a block.
    scope: Vec<u64>,
    /// By object.
    versions: Vec<u32>,
    newest: u32,
}

impl Cse<'_> {
    fn block(&mut self, block: Block) {
        let mark = self.scope.len();
        for inst in self.rewrite.take(block) {
            self.rewrite.resolve_operands(inst);
            match self.available(inst) {
                Some(values) => {
                    let results = self.rewrite.kernel.insts[inst].results.clone();
                    results.into_iter().zip(values).for_each(|(result, value)| self.rewrite.replace(result, value));
                }
                None => {
                    self.inside(inst);
                    self.rewrite.keep(block, inst);
                }
            }
        }
        for key in self.scope.drain(mark..) {
            if let Some(entries) = self.table.get_mut(&key) {
                entries.pop();
            }
        }
    }

    /// What an earlier instruction gave that this one would give again. If there is none, this one is available from now on.
    fn available(&mut self, inst: Inst) -> Option<Vec<Value>> {
        let kernel = &*self.rewrite.kernel;
        let data = &kernel.insts[inst];
        let effects = data.op.effects(kernel);
        let version = if let Op::Memory(Memory { op: MemoryOp::Load, at: Address::Path(access) }) = &data.op {
            self.versions[usize::from(access.object)]
        } else if effects.is_pure() && data.results.len() == 1 {
            0
        } else {
            self.write(inst, &Clobbers::of(&effects));
            return None;
        };
        let key = key(&data.op, data.results.first().map(|value| kernel.ty(*value)));
        let entries = self.table.entry(key).or_default();
        let found = entries.iter().rev().filter(|entry| entry.version == version).find_map(|entry| given(kernel, entry.inst, inst));
        if found.is_none() {
            entries.push(Available { inst, version });
            self.scope.push(key);
        }
        found
    }

    /// An instruction that changes memory: new versions, and what a store leaves in its place.
    fn write(&mut self, inst: Inst, clobbers: &Clobbers) {
        self.renew(clobbers);
        let data = &self.rewrite.kernel.insts[inst];
        if let Op::Memory(Memory { op: MemoryOp::Store(values), at: Address::Path(access) }) = &data.op {
            let key = load_key(access.object, values.first().map(|value| self.rewrite.kernel.ty(*value)), |state| access.path.hash(state));
            let version = self.versions[usize::from(access.object)];
            self.table.entry(key).or_default().push(Available { inst, version });
            self.scope.push(key);
        }
    }

    fn renew(&mut self, clobbers: &Clobbers) {
        if clobbers.synchronises || !clobbers.written.is_empty() {
            for object in self.rewrite.kernel.objects.keys().filter(|object| clobbers.changes(self.rewrite.kernel, *object)) {
                self.newest += 1;
                self.versions[usize::from(object)] = self.newest;
            }
        }
    }

    /// The blocks of an instruction, and what they do to memory.
    fn inside(&mut self, inst: Inst) {
        let children = self.rewrite.kernel.insts[inst].op.blocks();
        if children.is_empty() {
            return;
        }
        let clobbers = self.clobbers.get(inst).clone();
        if self.rewrite.kernel.insts[inst].op.is_loop() {
            self.renew(&clobbers);
        }
        let objects = self.rewrite.kernel.objects.keys();
        let before: Vec<(Object, u32)> = objects
            .filter(|object| clobbers.changes(self.rewrite.kernel, *object))
            .map(|object| (object, self.versions[usize::from(object)]))
            .collect();
        for child in children {
            before.iter().for_each(|(object, version)| self.versions[usize::from(*object)] = *version);
            self.block(child);
        }
        self.renew(&clobbers);
    }
}

/// The values `earlier` gave that `later` would give, if it would.
fn given(kernel: &Kernel, earlier: Inst, later: Inst) -> Option<Vec<Value>> {
    let (earlier, later) = (&kernel.insts[earlier], &kernel.insts[later]);
    let values = match (&earlier.op, &later.op) {
        (
            Op::Memory(Memory { op: MemoryOp::Store(values), at: Address::Path(to) }),
            Op::Memory(Memory { op: MemoryOp::Load, at: Address::Path(from) }),
        ) if to == from => values,
        (left, right) if left == right || is_swapped(left, right) => &earlier.results,
        _ => return None,
    };
    let same_type = |(a, b): (&Value, &Value)| kernel.ty(*a) == kernel.ty(*b);
    (values.len() == later.results.len() && values.iter().zip(&later.results).all(same_type)).then(|| values.clone())
}

/// `a op b` and `b op a`.
fn is_swapped(left: &Op, right: &Op) -> bool {
    matches!((left, right), (Op::Compute(Compute::Binary(op, a, b)), Op::Compute(Compute::Binary(other, c, d))) if op == other && is_commutative(*op) && a == d && b == c)
}

/// Equal for instructions that may be equal.
fn key(op: &Op, ty: Option<Type>) -> u64 {
    if let Op::Memory(Memory { op: MemoryOp::Load, at: Address::Path(access) }) = op {
        return load_key(access.object, ty, |state| access.path.hash(state));
    }
    let mut state = FxHasher::default();
    std::mem::discriminant(op).hash(&mut state);
    ty.hash(&mut state);
    match op {
        Op::Compute(Compute::Const(scalar)) => scalar.hash(&mut state),
        Op::Compute(Compute::Special(special, axis)) => (special, axis).hash(&mut state),
        Op::Compute(Compute::Len(object) | Compute::Address(object) | Compute::PeerAddress(object, _)) => object.hash(&mut state),
        Op::Texture(op, object, _) => (op, object).hash(&mut state),
        Op::Compute(Compute::Unary(op, _)) => op.hash(&mut state),
        Op::Compute(Compute::Compare(op, ..)) => op.hash(&mut state),
        Op::Intrinsic(row, _) => row.hash(&mut state),
        Op::Compute(Compute::Binary(op, a, b)) => {
            op.hash(&mut state);
            if is_commutative(*op) {
                (a.min(b), a.max(b)).hash(&mut state);
                return state.finish();
            }
        }
        Op::Compute(Compute::MulAdd(..) | Compute::Select(..) | Compute::Cast(_) | Compute::Bitcast(_) | Compute::Offset(..))
        | Op::Memory(_)
        | Op::Collective(_)
        | Op::Engine(_)
        | Op::Message(_)
        | Op::Region(_)
        | Op::Terminator(_) => {}
    }
    op.for_each_operand(|value| value.hash(&mut state));
    state.finish()
}

fn load_key(object: Object, ty: Option<Type>, path: impl FnOnce(&mut FxHasher)) -> u64 {
    let mut state = FxHasher::default();
    (u32::MAX, object, ty).hash(&mut state);
    path(&mut state);
    state.finish()
}

#[cfg(test)]
mod tests {
    use super::run;
    use crate::passes::check::{check, check_refused};

    #[test]
    fn equal_operations_and_read_only_loads_are_one() {
        check(
            run,
            "v0: u32 = thread_idx.x
             v1: u32 = thread_idx.x
             v2: u32 = len m2
             v3: u32 = add v0, v2
             v4: u32 = add v2, v1
             v5: f32 = load m1[v3]
             store m2[v0], v5
             v6: f32 = load m1[v4]
             store m2[v3], v6
             return",
            "v0: u32 = thread_idx.x
             v2: u32 = len m2
             v3: u32 = add v0, v2
             v5: f32 = load m1[v3]
             store m2[v0], v5
             store m2[v3], v5
             return",
        );
    }

    #[test]
    fn a_load_after_a_store_to_its_place_is_what_was_stored() {
        check(
            run,
            "v0: u32 = thread_idx.x
             v1: f32 = load m1[v0]
             store m5[v0][v0], v1
             v2: f32 = load m5[v0][v0]
             store m2[v0], v2
             return",
            "v0: u32 = thread_idx.x
             v1: f32 = load m1[v0]
             store m5[v0][v0], v1
             store m2[v0], v1
             return",
        );
    }

    #[test]
    fn a_store_to_the_object_parts_loads_and_so_does_one_round_the_loop() {
        check_refused(
            run,
            "v0: u32 = thread_idx.x
             v1: f32 = load m2[v0]
             v2: u32 = const 1
             v3: u32 = add v0, v2
             store m2[v3], v1
             v4: f32 = load m2[v0]
             store m2[v3], v4
             return",
        );
        check_refused(
            run,
            "v0: u32 = thread_idx.x
             v1: f32 = load m2[v0]
             v2: u32 = const 0
             v3: u32 = const 1
             for i9 (v4: u32 in v2..v0 step v3) {
               v5: f32 = load m2[v0]
               v6: f32 = add v5, v1
               store m2[v4], v6
               yield
             }
             v7: f32 = load m2[v0]
             store m2[v2], v7
             return",
        );
    }

    #[test]
    fn what_one_arm_computes_is_not_there_in_the_other() {
        check_refused(
            run,
            "v0: u32 = thread_idx.x
             v1: u32 = len m2
             v2: bool = lt v0, v1
             if v2 {
               v3: u32 = add v0, v1
               store m3[v0], v3
               yield
             } else {
               v4: u32 = add v0, v1
               store m3[v1], v4
               yield
             }
             return",
        );
    }

    #[test]
    fn a_store_in_the_first_arm_does_not_part_loads_of_the_second() {
        check(
            run,
            "v0: u32 = thread_idx.x
             v1: f32 = load m2[v0]
             v2: f32 = load m1[v0]
             v3: bool = lt v1, v2
             if v3 {
               store m2[v0], v2
               yield
             } else {
               v4: f32 = load m2[v0]
               v5: f32 = add v4, v2
               store m2[v0], v5
               yield
             }
             return",
            "v0: u32 = thread_idx.x
             v1: f32 = load m2[v0]
             v2: f32 = load m1[v0]
             v3: bool = lt v1, v2
             if v3 {
               store m2[v0], v2
               yield
             } else {
               v5: f32 = add v1, v2
               store m2[v0], v5
               yield
             }
             return",
        );
    }
}
