//! Conditions that hold where an instruction runs: those of the `if`s around it, those of earlier `if`s whose other arm left, and assertions
//! that did not fail. What they say of an index is in `analysis::affine`.

use crate::collections::HashMap;
use crate::ir::{Address, Block, Inst, Kernel, Memory, Message, Op, Region, Value};
use std::rc::Rc;

/// A list of conditions, the innermost first, shared by all that runs under them.
pub type Holding = Option<Rc<Held>>;

/// A condition that holds, and those before it.
#[derive(Debug)]
pub struct Held {
    /// A `bool`.
    pub condition: Value,
    /// What it is known to be.
    pub is: bool,
    /// The others.
    pub outer: Holding,
}

/// By access to memory, and by loop: the conditions that hold where it runs.
#[derive(Debug, Default)]
pub struct Conditions {
    holding: HashMap<Inst, Holding>,
}

impl Conditions {
    /// One walk.
    pub fn of(kernel: &Kernel) -> Conditions {
        let mut conditions = Conditions::default();
        conditions.walk(kernel, kernel.body, None);
        conditions
    }

    /// Those in a loop as it stands now, of a kernel of which they were found before; of all of it if this loop is newer than that. So a kernel
    /// with many loops is not gone through for each of them.
    pub fn inside(kernel: &Kernel, inst: Inst, before: &Conditions) -> Conditions {
        let Some(holding) = before.holding.get(&inst) else { return Conditions::of(kernel) };
        let mut conditions = Conditions::default();
        for child in kernel.insts[inst].op.blocks() {
            conditions.walk(kernel, child, holding.clone());
        }
        conditions
    }

    /// The conditions that hold where a load, store or atomic runs.
    pub fn at(&self, access: Inst) -> Holding {
        self.holding.get(&access).cloned().flatten()
    }

    fn walk(&mut self, kernel: &Kernel, block: Block, mut holding: Holding) {
        let and = |condition, is, outer: &Holding| Some(Rc::new(Held { condition, is, outer: outer.clone() }));
        for inst in &kernel.blocks[block].insts {
            let op = &kernel.insts[*inst].op;
            if let Op::Region(Region::If { condition, then_block, else_block }) = *op {
                for (arm, is) in [(then_block, true), (else_block, false)] {
                    self.walk(kernel, arm, and(condition, is, &holding));
                }
                for (arm, is) in [(then_block, false), (else_block, true)] {
                    if !falls_through(kernel, arm) {
                        holding = and(condition, is, &holding);
                    }
                }
                continue;
            }
            if op.is_loop() || matches!(op, Op::Memory(Memory { at: Address::Path(_), .. })) {
                self.holding.insert(*inst, holding.clone());
            }
            op.blocks().into_iter().for_each(|child| self.walk(kernel, child, holding.clone()));
            if let Op::Message(Message::Assert(condition, ..)) = op {
                holding = and(*condition, true, &holding);
            }
        }
    }
}

/// Whether control comes to the end of a block and on to what stands behind its owner.
fn falls_through(kernel: &Kernel, block: Block) -> bool {
    kernel.terminator(block).is_none() || kernel.yielded(block).is_some()
}
