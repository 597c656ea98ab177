//! What the inside of each region may do to memory and to other threads, the nested regions counted in.

use crate::collections::HashMap;
use crate::intrinsics::Effect;
use crate::ir::{Block, Inst, Kernel, Object, Op, Space};

/// What some code may do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// Objects it stores to or changes atomically, each once, in order.
    pub written: Vec<Object>,
    /// Whether it waits for other threads or orders memory: afterwards every shared or global object may have changed.
    pub synchronises: bool,
}

impl Effects {
    fn write(&mut self, object: Object) {
        if let Err(place) = self.written.binary_search(&object) {
            self.written.insert(place, object);
        }
    }

    fn include(&mut self, other: &Effects) {
        other.written.iter().for_each(|object| self.write(*object));
        self.synchronises |= other.synchronises;
    }

    /// Whether afterwards `object` may hold something else.
    pub fn clobbers(&self, kernel: &Kernel, object: Object) -> bool {
        self.written.binary_search(&object).is_ok() || (self.synchronises && is_seen_by_others(kernel, object))
    }
}

/// Whether other threads may write the object.
pub fn is_seen_by_others(kernel: &Kernel, object: Object) -> bool {
    let data = &kernel.objects[object];
    !data.is_read_only() && matches!(data.space(), Space::Global | Space::Shared)
}

/// The effects of an instruction by itself, without the blocks it owns.
pub fn own_effects(op: &Op, into: &mut Effects) {
    match op {
        Op::Store(access, _) | Op::Atomic(_, access, _) => into.write(access.object),
        Op::StoreAt { object, .. } | Op::AtomicAt { object, .. } => into.write(*object),
        Op::Intrinsic(row, _) => into.synchronises |= !matches!(row.row().effect, Effect::Pure),
        _ => {}
    }
}

/// The effects of every region instruction of a kernel.
#[derive(Clone, Debug, Default)]
pub struct RegionEffects {
    by_owner: HashMap<Inst, Effects>,
    none: Effects,
}

impl RegionEffects {
    /// Finds them: one walk.
    pub fn of(kernel: &Kernel) -> RegionEffects {
        let mut all = RegionEffects::default();
        all.block(kernel, kernel.body);
        all
    }

    /// What the blocks of `owner` may do.
    pub fn get(&self, owner: Inst) -> &Effects {
        self.by_owner.get(&owner).unwrap_or(&self.none)
    }

    fn block(&mut self, kernel: &Kernel, block: Block) -> Effects {
        let mut effects = Effects::default();
        for inst in &kernel.blocks[block].insts {
            let op = &kernel.insts[*inst].op;
            own_effects(op, &mut effects);
            let children = op.blocks();
            if !children.is_empty() {
                let mut inner = Effects::default();
                for child in children {
                    inner.include(&self.block(kernel, child));
                }
                effects.include(&inner);
                self.by_owner.insert(*inst, inner);
            }
        }
        effects
    }
}
