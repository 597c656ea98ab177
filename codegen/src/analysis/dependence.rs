//! What a value depends on of what changes from block to block and from round to round: the block's place along each axis, and the loops round it;
//! and whether memory has a say in it.
//!
//! The sums of `access/lanes.rs` name a block's place where arithmetic leads from it to an address. `slices[block_idx().x]` and `if y == 0 { n - 1 } else { y - 1 }`
//! are one number in all lanes and no more to them; that it is another one in the next block is known here.
//!
//! Everything depends on nothing until shown otherwise, and the walk is repeated until nothing changes.

use crate::collections::HashMap;
use crate::ir::{Access, Axis, Block, Compute, Inst, Kernel, Memory, MemoryOp, ObjectKind, Op, Region, Space, Special, Terminator, Value};

/// What is depended on, a bit each: the axes of the grid, what is in memory, then loops.
pub type Reasons = u64;

const AXES: Reasons = 0b111;

/// What is in memory: not parameters, which are the same for all.
pub const DATA: Reasons = 0b1000;

/// The bit of the first loop. Loops that are too many share the last one.
const FIRST_LOOP: u32 = 4;

/// By value: what it depends on.
#[derive(Debug)]
pub struct Dependence {
    of: Vec<Reasons>,
    loops: HashMap<Inst, Reasons>,
}

impl Dependence {
    /// Of every value of a kernel of stage `Legal` or `Addressed`.
    pub fn of(kernel: &Kernel) -> Dependence {
        let found = Dependence { of: vec![0; kernel.values.len()], loops: HashMap::default() };
        let mut walk = Walk { kernel, found, objects: vec![0; kernel.objects.len()], around: 0, under: 0, is_changed: true };
        while walk.is_changed {
            walk.is_changed = false;
            walk.block(kernel.body);
        }
        walk.found
    }

    /// What a value depends on.
    pub fn of_value(&self, value: Value) -> Reasons {
        self.of[usize::from(value)]
    }

    /// What the place depends on that an access goes to.
    pub fn of_place(&self, access: &Access) -> Reasons {
        access.indices().fold(0, |all, index| all | self.of_value(index))
    }

    /// The block's place along an axis.
    pub fn axis(axis: Axis) -> Reasons {
        1 << axis as usize
    }

    /// Whether the block's place along an axis is among the reasons.
    pub fn has_axis(reasons: Reasons, axis: usize) -> bool {
        reasons >> axis & 1 == 1
    }

    /// A loop's rounds.
    pub fn rounds(&self, inst: Inst) -> Reasons {
        self.loops.get(&inst).copied().unwrap_or(0)
    }

    /// Whether any loop's rounds are.
    pub fn has_any_loop(reasons: Reasons) -> bool {
        reasons & !(AXES | DATA) != 0
    }
}

struct Walk<'k> {
    kernel: &'k Kernel,
    found: Dependence,
    /// By object: what its contents depend on.
    objects: Vec<Reasons>,
    /// The loops round the present place.
    around: Reasons,
    /// What the conditions depend on under which it is reached.
    under: Reasons,
    is_changed: bool,
}

impl Walk<'_> {
    fn get(&self, value: Value) -> Reasons {
        self.found.of[usize::from(value)]
    }

    fn all(&self, values: &[Value]) -> Reasons {
        values.iter().fold(0, |all, value| all | self.get(*value))
    }

    fn add(&mut self, value: Value, reasons: Reasons) {
        let slot = &mut self.found.of[usize::from(value)];
        self.is_changed |= *slot | reasons != *slot;
        *slot |= reasons;
    }

    fn store(&mut self, object: usize, reasons: Reasons) {
        let slot = &mut self.objects[object];
        self.is_changed |= *slot | reasons != *slot;
        *slot |= reasons;
    }

    fn block(&mut self, block: Block) {
        let kernel = self.kernel;
        for inst in &kernel.blocks[block].insts {
            self.inst(*inst);
        }
    }

    fn inst(&mut self, inst: Inst) {
        let kernel = self.kernel;
        let data = &kernel.insts[inst];
        match &data.op {
            Op::Region(Region::If { condition, then_block, else_block }) => {
                let under = self.under;
                self.under |= self.get(*condition);
                let own = self.get(*condition);
                for block in [*then_block, *else_block] {
                    self.block(block);
                    self.yielded(block, inst, own, None);
                }
                self.under = under;
            }
            Op::Region(Region::Block { body }) => {
                self.block(*body);
                self.yielded(*body, inst, 0, None);
            }
            Op::Region(Region::For { start, end, step, init, body, .. }) => {
                let bounds = self.all(&[*start, *end, *step]);
                self.any_loop(inst, *body, init, Some(bounds));
            }
            Op::Region(Region::Loop { init, body, .. }) => self.any_loop(inst, *body, init, None),
            Op::Terminator(Terminator::Break(target, values)) => {
                for (result, value) in kernel.insts[*target].results.iter().zip(values) {
                    let reasons = self.get(*value) | self.under;
                    self.add(*result, reasons & !self.bit(*target));
                }
            }
            Op::Terminator(Terminator::Continue(target, values)) => {
                let params = kernel.carried(*target);
                for (param, value) in params.iter().zip(values) {
                    let reasons = self.get(*value) | self.under | self.bit(*target);
                    self.add(*param, reasons);
                }
            }
            Op::Compute(_)
            | Op::Memory(_)
            | Op::Texture(..)
            | Op::Intrinsic(..)
            | Op::Collective(_)
            | Op::Tensor(_)
            | Op::Engine(_)
            | Op::Message(_)
            | Op::Terminator(_) => self.plain(inst),
        }
    }

    fn plain(&mut self, inst: Inst) {
        let kernel = self.kernel;
        let data = &kernel.insts[inst];
        let mut reasons = 0;
        data.op.for_each_operand(|value| reasons |= self.get(value));
        match &data.op {
            Op::Compute(Compute::Special(Special::BlockIdx, axis)) => reasons |= Dependence::axis(*axis),
            // Threads that share an element come to it whenever they do.
            Op::Memory(Memory { op: MemoryOp::Atomic(..), at }) => {
                reasons |= AXES | DATA | self.around;
                self.store(usize::from(at.object()), reasons | self.under);
                if let ObjectKind::Peers(array) = kernel.objects[at.object()].kind {
                    self.store(usize::from(array), reasons | self.under);
                }
            }
            Op::Memory(Memory { op: MemoryOp::Store(_) | MemoryOp::StoreMatrix(_), at }) => {
                self.store(usize::from(at.object()), reasons | self.under);
                // The array of a block that is not this one.
                if let ObjectKind::Peers(array) = kernel.objects[at.object()].kind {
                    self.store(usize::from(array), AXES | DATA | self.around);
                }
            }
            Op::Texture(op, ..) if op.reads() => reasons |= DATA,
            Op::Memory(Memory { op: MemoryOp::Load | MemoryOp::LoadMatrix { .. }, at }) => {
                let object_number = usize::from(at.object());
                let object = &kernel.objects[at.object()];
                let is_own = matches!(object.kind, ObjectKind::Shared | ObjectKind::Local);
                reasons |= if object.kind == ObjectKind::Value { 0 } else { DATA };
                reasons |= if matches!(object.kind, ObjectKind::Peers(_)) { AXES | self.around } else { 0 };
                reasons |= if is_own { self.objects[object_number] } else { 0 };
                reasons |= if is_own || !object.is_read_only() && object.space() == Space::Global { self.around } else { 0 };
            }
            Op::Intrinsic(row, _) if row.row().effects.is_of_warp() => reasons |= self.under,
            Op::Compute(_)
            | Op::Texture(..)
            | Op::Intrinsic(..)
            | Op::Collective(_)
            | Op::Tensor(_)
            | Op::Engine(_)
            | Op::Message(_)
            | Op::Region(_)
            | Op::Terminator(_) => {}
        }
        for result in &data.results {
            self.add(*result, reasons);
        }
    }

    fn bit(&self, inst: Inst) -> Reasons {
        self.found.rounds(inst)
    }

    fn any_loop(&mut self, inst: Inst, body: Block, init: &[Value], bounds: Option<Reasons>) {
        let next = (FIRST_LOOP + self.found.loops.len() as u32).min(Reasons::BITS - 1);
        let bit = *self.found.loops.entry(inst).or_insert(1 << next);
        let kernel = self.kernel;
        if let (Some(bounds), Some(counter)) = (bounds, kernel.blocks[body].params.first()) {
            self.add(*counter, bounds | bit);
        }
        let params = kernel.carried(inst);
        for (param, value) in params.iter().zip(init) {
            let reasons = self.get(*value);
            self.add(*param, reasons);
        }
        let (around, under) = (self.around, self.under);
        self.around |= bit;
        self.under |= bounds.unwrap_or(0);
        self.block(body);
        (self.around, self.under) = (around, under);
        self.yielded(body, inst, bounds.unwrap_or(0), Some(params));
        if bounds.is_some() {
            // After the last round: what was carried by then.
            for (result, param) in kernel.insts[inst].results.iter().zip(params) {
                let reasons = self.get(*param) & !bit;
                self.add(*result, reasons);
            }
        }
    }

    /// What a block hands over at its end: to the next round of a loop, or to the results of what it stands in.
    fn yielded(&mut self, block: Block, inst: Inst, own: Reasons, carried: Option<&[Value]>) {
        let kernel = self.kernel;
        let Some(values) = kernel.yielded(block) else { return };
        let (to, bit): (&[Value], Reasons) = match carried {
            Some(params) => (params, self.bit(inst)),
            None => (&kernel.insts[inst].results, 0),
        };
        for (to, value) in to.iter().zip(values) {
            // What goes round as it is does not change.
            if to != value {
                let reasons = self.get(*value) | own | bit;
                self.add(*to, reasons);
            }
        }
    }
}
