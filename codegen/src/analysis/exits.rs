//! Which `Break`s and `Continue`s leave or repeat each region, and which `Yield`s end it.

use crate::collections::HashMap;
use crate::ir::{Block, Inst, Kernel, Op, Terminator, Value};

/// The exits of one `If`, `For`, `Loop` or `Block`.
#[derive(Clone, Debug, Default)]
pub struct RegionExits {
    /// `Break`s to it.
    pub breaks: Vec<Inst>,
    /// `Continue`s of it.
    pub continues: Vec<Inst>,
    /// `Yield`s that end a block of it.
    pub yields: Vec<Inst>,
}

/// The exits of every reachable region.
#[derive(Clone, Debug, Default)]
pub struct Exits {
    by_owner: HashMap<Inst, RegionExits>,
    none: RegionExits,
}

impl Exits {
    /// Finds them: one walk.
    pub fn of(kernel: &Kernel) -> Exits {
        let mut exits = Exits::default();
        exits.block(kernel, kernel.body, None);
        exits
    }

    /// The exits of `owner`.
    pub fn get(&self, owner: Inst) -> &RegionExits {
        self.by_owner.get(&owner).unwrap_or(&self.none)
    }

    /// The exits of `owner`, to keep up with changes.
    pub fn get_mut(&mut self, owner: Inst) -> &mut RegionExits {
        self.by_owner.entry(owner).or_default()
    }

    fn block(&mut self, kernel: &Kernel, block: Block, owner: Option<Inst>) {
        for inst in &kernel.blocks[block].insts {
            let op = &kernel.insts[*inst].op;
            op.blocks().into_iter().for_each(|child| self.block(kernel, child, Some(*inst)));
            let Op::Terminator(terminator) = op else { continue };
            match terminator {
                Terminator::Break(target, _) => self.get_mut(*target).breaks.push(*inst),
                Terminator::Continue(target, _) => self.get_mut(*target).continues.push(*inst),
                Terminator::Yield(_) => {
                    if let Some(owner) = owner {
                        self.get_mut(owner).yields.push(*inst);
                    }
                }
                Terminator::Return | Terminator::Trap(_) => {}
            }
        }
    }
}

/// The values an exit hands over.
pub fn exit_values(op: &Op) -> &[Value] {
    if let Op::Terminator(Terminator::Yield(values) | Terminator::Break(_, values) | Terminator::Continue(_, values)) = op {
        values
    } else {
        &[]
    }
}

/// The same, to change.
pub fn exit_values_mut(op: &mut Op) -> Option<&mut Vec<Value>> {
    if let Op::Terminator(Terminator::Yield(values) | Terminator::Break(_, values) | Terminator::Continue(_, values)) = op {
        Some(values)
    } else {
        None
    }
}
