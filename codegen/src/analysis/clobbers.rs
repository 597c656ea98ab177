//! What the inside of each region may leave changed in memory, the nested regions counted in.

use crate::collections::HashMap;
use crate::ir::{Block, Effects, Inst, Kernel, Object, Space};

/// What some code may leave changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clobbers {
    /// Objects it stores to or changes atomically, each once, in order.
    pub written: Vec<Object>,
    /// Whether it waits for other threads or orders memory: afterwards every shared or global object may have changed.
    pub synchronises: bool,
}

impl Clobbers {
    /// Of a single instruction, without the blocks it owns.
    pub fn of(effects: &Effects) -> Clobbers {
        // Lanes that exchange values may rely on what others wrote before.
        let synchronises = effects.orders.is_some() || effects.is_convergent();
        Clobbers { written: effects.writes.into_iter().collect(), synchronises }
    }

    fn include(&mut self, other: &Clobbers) {
        for object in &other.written {
            if let Err(place) = self.written.binary_search(object) {
                self.written.insert(place, *object);
            }
        }
        self.synchronises |= other.synchronises;
    }

    /// Whether afterwards `object` may hold something else.
    pub fn changes(&self, kernel: &Kernel, object: Object) -> bool {
        self.written.binary_search(&object).is_ok() || (self.synchronises && is_seen_by_others(kernel, object))
    }
}

/// Whether other threads may write the object.
pub fn is_seen_by_others(kernel: &Kernel, object: Object) -> bool {
    let data = &kernel.objects[object];
    !data.is_read_only() && matches!(data.space(), Space::Global | Space::Shared | Space::Cluster)
}

/// What every region instruction of a kernel may leave changed.
#[derive(Clone, Debug, Default)]
pub struct RegionClobbers {
    by_owner: HashMap<Inst, Clobbers>,
    none: Clobbers,
}

impl RegionClobbers {
    /// Finds them: one walk.
    pub fn of(kernel: &Kernel) -> RegionClobbers {
        let mut all = RegionClobbers::default();
        all.block(kernel, kernel.body);
        all
    }

    /// What the blocks of `owner` may leave changed.
    pub fn get(&self, owner: Inst) -> &Clobbers {
        self.by_owner.get(&owner).unwrap_or(&self.none)
    }

    fn block(&mut self, kernel: &Kernel, block: Block) -> Clobbers {
        let mut clobbers = Clobbers::default();
        for inst in &kernel.blocks[block].insts {
            clobbers.include(&Clobbers::of(&kernel.effects(*inst)));
            let children = kernel.insts[*inst].op.blocks();
            if !children.is_empty() {
                let mut inner = Clobbers::default();
                for child in children {
                    inner.include(&self.block(kernel, child));
                }
                clobbers.include(&inner);
                self.by_owner.insert(*inst, inner);
            }
        }
        clobbers
    }
}
