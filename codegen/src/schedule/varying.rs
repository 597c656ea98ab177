//! Which values of a loop's body may differ between iterations: through what they are computed from, through which way control went, and
//! through memory that the body writes. What is not among them is the same in every iteration.

use super::around::Around;
use crate::collections::{HashMap, HashSet};
use crate::ir::{Address, Block, Inst, Kernel, Memory, MemoryOp, Object, Op, Region, Terminator, Value};

/// The values of `body` that may differ, its own parameters first of all.
pub(super) fn varying(kernel: &Kernel, around: &Around, body: Block) -> HashSet<Value> {
    let mut written: HashSet<Object> = around.privates(kernel, body).into_iter().collect();
    kernel.walk_block(body, &mut |kernel, _, inst| {
        if let Op::Memory(Memory { op: MemoryOp::Store(_) | MemoryOp::StoreMatrix(_) | MemoryOp::Atomic(..), at: Address::Path(access) }) =
            &kernel.insts[inst].op
        {
            written.insert(access.object);
        }
    });
    let mut ways = Ways { kernel, next: HashMap::default(), found: HashSet::default(), work: Vec::new() };
    ways.differ(&kernel.blocks[body].params);
    kernel.walk_block(body, &mut |_, _, inst| ways.inst(inst, &written));
    ways.follow()
}

/// How values come to differ.
struct Ways<'k> {
    kernel: &'k Kernel,
    /// By value: those that differ if it does.
    next: HashMap<Value, Vec<Value>>,
    found: HashSet<Value>,
    /// Those found whose followers are not.
    work: Vec<Value>,
}

impl Ways<'_> {
    fn differ(&mut self, values: &[Value]) {
        let new = values.iter().filter(|value| self.found.insert(**value));
        self.work.extend(new);
    }

    fn makes_differ(&mut self, from: Value, to: &[Value]) {
        self.next.entry(from).or_default().extend(to);
    }

    /// Each value is followed once, however they go round.
    fn follow(mut self) -> HashSet<Value> {
        while let Some(value) = self.work.pop() {
            if let Some(next) = self.next.remove(&value) {
                self.differ(&next);
            }
        }
        self.found
    }

    fn inst(&mut self, inst: Inst, written: &HashSet<Object>) {
        let kernel = self.kernel;
        let data = &kernel.insts[inst];
        let yielded = |block: Block| kernel.yielded(block).unwrap_or_default();
        match &data.op {
            Op::Region(Region::If { condition, then_block, else_block }) => {
                self.makes_differ(*condition, &data.results);
                for arm in [*then_block, *else_block] {
                    yielded(arm).iter().zip(&data.results).for_each(|(value, result)| self.makes_differ(*value, &[*result]));
                }
            }
            Op::Region(Region::For { start, end, step, init, body, .. }) => {
                let params = &kernel.blocks[*body].params;
                for bound in [start, end, step] {
                    self.makes_differ(*bound, params);
                    self.makes_differ(*bound, &data.results);
                }
                if has_exits(kernel, *body) {
                    self.differ(params);
                    self.differ(&data.results);
                }
                for values in [init, yielded(*body)] {
                    for (value, carried) in values.iter().zip(params[1..].iter().zip(&data.results)) {
                        self.makes_differ(*value, &[*carried.0, *carried.1]);
                    }
                }
            }
            // Where these are left depends on control that is not followed here.
            Op::Region(Region::Loop { body, .. } | Region::Block { body }) => {
                self.differ(&kernel.blocks[*body].params);
                self.differ(&data.results);
            }
            Op::Memory(Memory { op: MemoryOp::Load, at: Address::Path(access) }) if written.contains(&access.object) => {
                self.differ(&data.results);
            }
            Op::Memory(Memory { op: MemoryOp::Atomic(..), at: Address::Path(_) }) => self.differ(&data.results),
            Op::Intrinsic(row, _) if !row.row().effects.is_pure() => self.differ(&data.results),
            _ if data.results.is_empty() => {}
            op @ (Op::Compute(_)
            | Op::Memory(_)
            | Op::Texture(..)
            | Op::Intrinsic(..)
            | Op::Collective(_)
            | Op::Tensor(_)
            | Op::Engine(_)
            | Op::Message(_)
            | Op::Terminator(_)) => {
                op.for_each_operand(|operand| self.makes_differ(operand, &data.results));
            }
        }
    }
}

/// Whether a loop's body may end otherwise than by its last instruction.
fn has_exits(kernel: &Kernel, body: Block) -> bool {
    let is_exit = |op: &Op| matches!(op, Op::Terminator(Terminator::Break(..) | Terminator::Continue(..) | Terminator::Return));
    kernel.insts_in(body).any(|inner| is_exit(&kernel.insts[inner].op))
}
