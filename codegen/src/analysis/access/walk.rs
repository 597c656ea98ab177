//! Goes through a kernel as a warp does, with what is known of its lanes, and notes every access and branch.
//!
//! A loop's body is gone through once, for all iterations, its counter an atom; where that leaves something open that the iteration's
//! number would decide (`t % (2 * s)` with `s` doubled every time), iteration by iteration. In the same way the warps of a block: any of them
//! at first, each of them where it matters.

use super::condition::{Condition, Uncertainty};
use super::evaluate::{Evaluator, LaneValue, Threads, Unknown, needs_warps};
use super::lanes::{Atom, AtomSource, Atoms, Mask, Sum, Varies};
use super::{Divergence, Numbers, Ways, loops};
use crate::analysis::exits::Exits;
use crate::collections::HashMap;
use crate::ir::{Access, Address, Block, Effects, Inst, Kernel, Memory, MemoryType, Op, Region, Scope, Space, Step, Terminator, Value};

/// An access as a warp makes it.
#[derive(Clone, Debug)]
pub(super) struct Record {
    /// The instruction.
    pub(super) inst: Inst,
    /// Bytes from the object's begin, by lane.
    pub(super) address: Result<Sum, Unknown>,
    /// Lanes that may make it.
    pub(super) mask: Mask,
    /// Whether they do.
    pub(super) uncertainty: Uncertainty,
    /// The warp's number; 0 for any warp.
    pub(super) warp: u32,
    /// Whether only lanes beyond some boundary make it.
    pub(super) is_rare: bool,
    /// Loops round it whose next iteration this is: gone through once more for the sake of what an iteration leaves to the next.
    pub(super) again: Vec<Inst>,
    /// How many barriers came before.
    pub(super) interval: u32,
    /// How many orderings of the warp's own accesses came before.
    pub(super) warp_interval: u32,
    /// Branches that all threads of a block take together, and which way this is.
    pub(super) sides: Vec<(Inst, bool)>,
}

/// A branch as a warp takes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct BranchRecord {
    /// The instruction.
    pub(super) inst: Inst,
    /// Whether it parts the warp.
    pub(super) divergence: Divergence,
    /// And how.
    pub(super) ways: Ways,
    /// Whether that may be otherwise for lack of knowledge.
    pub(super) uncertainty: Uncertainty,
    /// Whether only lanes beyond some boundary get there.
    pub(super) is_rare: bool,
}

/// Lanes that have left some construct.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leave {
    /// What they leave; `None`: the kernel.
    pub(super) target: Option<Inst>,
    /// The lanes.
    pub(super) mask: Mask,
    /// Whether they do.
    pub(super) uncertainty: Uncertainty,
    /// Whether they go on with the next iteration.
    pub(super) goes_on: bool,
}

/// A walk.
pub(super) struct Walk<'k> {
    pub(super) kernel: &'k Kernel,
    pub(super) exits: Exits,
    pub(super) values: Evaluator<'k>,
    /// What was noted of accesses.
    pub(super) records: Vec<Record>,
    /// What was noted of branches.
    pub(super) branches: Vec<BranchRecord>,
    /// What should be gone through.
    pub(super) wanted: Varies,
    pub(super) loops: HashMap<Inst, loops::LoopState>,
    pub(super) active: Mask,
    pub(super) uncertainty: Uncertainty,
    pub(super) left: Vec<Leave>,
    /// Loops round the present place.
    pub(super) depth: u32,
    /// Those of which this is the next iteration.
    pub(super) again: Vec<Inst>,
    pub(super) interval: u32,
    warp_interval: u32,
    sides: Vec<(Inst, bool)>,
    is_rare: bool,
    warp: u32,
    /// Instructions that were gone over, loops and warps counted as often as they were.
    pub(super) visits: u32,
}

impl<'k> Walk<'k> {
    /// Before the kernel's begin.
    pub(super) fn new(kernel: &'k Kernel, threads: Threads, atoms: Atoms, numbers: &'k Numbers) -> Walk<'k> {
        Walk {
            kernel,
            exits: Exits::of(kernel),
            active: threads.mask,
            values: Evaluator::new(kernel, threads, atoms, numbers),
            records: Vec::new(),
            branches: Vec::new(),
            wanted: 0,
            loops: HashMap::default(),
            uncertainty: Uncertainty::None,
            left: Vec::new(),
            depth: 0,
            again: Vec::new(),
            interval: 0,
            warp_interval: 0,
            sides: Vec::new(),
            is_rare: false,
            warp: 0,
            visits: 0,
        }
    }

    /// Goes through the kernel as the warp it was made for.
    pub(super) fn run(&mut self) {
        self.block(self.kernel.body);
    }

    /// The same as another warp.
    pub(super) fn run_as(&mut self, warp: u32, threads: Threads) {
        (self.active, self.uncertainty, self.depth) = (threads.mask, Uncertainty::None, 0);
        (self.interval, self.warp_interval, self.warp) = (0, 0, warp);
        self.left.clear();
        self.values.restart(threads);
        self.run();
    }

    /// Whether each warp is worth a look of its own.
    pub(super) fn wants_warps(&self) -> bool {
        needs_warps(self.wanted)
    }

    pub(super) fn block(&mut self, block: Block) {
        let kernel = self.kernel;
        for inst in &kernel.blocks[block].insts {
            if self.active == 0 {
                return;
            }
            self.visits += 1;
            self.inst(*inst);
        }
    }

    fn inst(&mut self, inst: Inst) {
        let kernel = self.kernel;
        match &kernel.insts[inst].op {
            Op::Memory(Memory { at: Address::Path(access), .. }) => self.access(inst, access),
            Op::Region(Region::If { condition, then_block, else_block }) => self.branch(inst, *condition, *then_block, *else_block),
            Op::Region(Region::For { .. } | Region::Loop { .. }) => self.any_loop(inst),
            Op::Region(Region::Block { body }) => self.region(inst, *body),
            Op::Terminator(Terminator::Break(target, _)) => self.leave(Some(*target), false),
            Op::Terminator(Terminator::Continue(target, _)) => self.leave(Some(*target), true),
            Op::Terminator(Terminator::Return | Terminator::Trap(_)) => self.leave(None, false),
            Op::Intrinsic(row, _) if row.row().effects.is_barrier() => self.interval += 1,
            Op::Intrinsic(row, _) if row.row().effects == Effects::barrier(Scope::Warp) => self.warp_interval += 1,
            Op::Compute(_)
            | Op::Memory(_)
            | Op::Texture(..)
            | Op::Intrinsic(..)
            | Op::Collective(_)
            | Op::Tensor(_)
            | Op::Engine(_)
            | Op::Message(_)
            | Op::Terminator(_) => {}
        }
    }

    fn leave(&mut self, target: Option<Inst>, goes_on: bool) {
        self.left.push(Leave { target, mask: self.active, uncertainty: self.uncertainty, goes_on });
        self.active = 0;
    }

    // --- accesses ---

    fn access(&mut self, inst: Inst, access: &Access) {
        if !matches!(self.kernel.objects[access.object].space(), Space::Global | Space::Shared | Space::Constant) {
            return;
        }
        let address = self.address(access);
        if let Err(why) = &address {
            self.want(*why);
        }
        let uncertainty = match &address {
            Ok(sum) if sum.is_clamped => self.uncertainty.max(Uncertainty::Limit),
            _ => self.uncertainty,
        };
        self.records.push(Record {
            inst,
            address,
            mask: self.active,
            uncertainty,
            warp: self.warp,
            is_rare: self.is_rare,
            again: self.again.clone(),
            interval: self.interval,
            warp_interval: self.warp_interval,
            sides: self.sides.clone(),
        });
    }

    fn want(&mut self, why: Unknown) {
        if !why.is_data {
            self.wanted |= why.varies;
        }
    }

    /// Bytes from the object's begin, by lane.
    fn address(&mut self, access: &Access) -> Result<Sum, Unknown> {
        let kernel = self.kernel;
        let mut ty = &kernel.objects[access.object].ty;
        let mut sum = Sum::number(64, 0);
        for step in &access.path {
            let (index, element) = match (step, ty) {
                (Step::Field(field), MemoryType::Struct(id)) => {
                    let Some(field) = kernel.structs[*id].fields.get(*field as usize) else { break };
                    sum = sum.plus(&Sum::number(64, field.offset as i64), 1);
                    ty = &field.ty;
                    continue;
                }
                (Step::Index(index), MemoryType::Array(element, _) | MemoryType::Padded(element, ..) | MemoryType::Slice(element)) => {
                    (*index, element)
                }
                _ => break,
            };
            let index = self.values.sum(index)?.resized(64);
            sum = sum.plus(&index, element.size(&kernel.structs) as i64);
            ty = element;
        }
        Ok(sum)
    }

    // --- branches ---

    fn branch(&mut self, inst: Inst, condition: Value, then_block: Block, else_block: Block) {
        let is_together = self.values.uniformity.is_uniform(condition) && self.values.uniformity.runs_together(inst);
        let condition = self.values.condition(condition);
        self.note_branch(inst, &condition);
        let (active, uncertainty) = (self.active, self.uncertainty);
        let first = self.side(&condition, active & !condition.no, (inst, true, is_together), then_block);
        (self.active, self.uncertainty) = (active, uncertainty);
        let second = self.side(&condition, active & !condition.yes, (inst, false, is_together), else_block);
        self.active = first.active | second.active;
        // Lanes meet again, unless some of them left.
        self.uncertainty = if first.is_whole && second.is_whole {
            uncertainty
        } else {
            let of = |side: &Side| if side.active == 0 { uncertainty } else { side.uncertainty };
            uncertainty.max(of(&first)).max(of(&second))
        };
    }

    fn side(&mut self, condition: &Condition, mask: Mask, (inst, way, is_together): (Inst, bool, bool), block: Block) -> Side {
        let open = mask & condition.open();
        if open != 0 {
            // All of these lanes together, or none: but others come for sure.
            let is_part = open != mask && condition.rest <= Uncertainty::Uniform;
            self.uncertainty = self.uncertainty.max(if is_part { Uncertainty::Limit } else { condition.rest });
        }
        self.active = mask;
        let (uncertainty, is_rare) = (self.uncertainty, self.is_rare);
        self.is_rare |= condition.open() & mask == mask && condition.usually == Some(!way);
        if is_together {
            self.sides.push((inst, way));
        }
        self.block(block);
        self.is_rare = is_rare;
        if is_together {
            self.sides.pop();
        }
        Side { active: self.active, uncertainty: self.uncertainty, is_whole: self.active == mask && self.uncertainty == uncertainty }
    }

    pub(super) fn note_branch(&mut self, inst: Inst, condition: &Condition) {
        let active = self.active;
        let open = condition.open() & active;
        let is_sure_of_some = (condition.yes | condition.no) & active != 0;
        if open != 0 && condition.rest > Uncertainty::Uniform {
            self.wanted |= condition.varies;
        }
        let (divergence, uncertainty) = match condition.rest {
            _ if open == 0 && (condition.yes & active == 0 || condition.no & active == 0) => (Divergence::Uniform, Uncertainty::None),
            _ if open == 0 => (Divergence::Splits, Uncertainty::None),
            Uncertainty::None | Uncertainty::Uniform | Uncertainty::Boundary if is_sure_of_some => (Divergence::Splits, Uncertainty::Data),
            Uncertainty::None | Uncertainty::Uniform => (Divergence::Uniform, Uncertainty::None),
            Uncertainty::Boundary => (Divergence::Boundary, Uncertainty::Boundary),
            Uncertainty::Limit | Uncertainty::Data => (Divergence::Unknown, Uncertainty::Data),
        };
        if self.again.is_empty() {
            let ways = Ways { active, taken: condition.yes & active };
            self.branches.push(BranchRecord {
                inst,
                divergence,
                ways,
                uncertainty: uncertainty.max(self.uncertainty),
                is_rare: self.is_rare,
            });
        }
    }

    fn region(&mut self, inst: Inst, body: Block) {
        let (uncertainty, left) = (self.uncertainty, self.left.len());
        self.block(body);
        self.rejoin(inst, uncertainty, left);
    }

    /// Takes back the lanes that left `inst`; `left`: how many had left something before it.
    pub(super) fn rejoin(&mut self, inst: Inst, uncertainty: Uncertainty, left: usize) {
        let back = self.left[left..].iter().filter(|leave| leave.target == Some(inst));
        self.active |= back.fold(0, |mask, leave| mask | leave.mask);
        let mut kept = self.left.split_off(left);
        kept.retain(|leave| leave.target != Some(inst));
        // What left further out is missing now.
        self.uncertainty = kept.iter().fold(uncertainty, |uncertainty, leave| uncertainty.max(leave.uncertainty));
        self.left.append(&mut kept);
    }

    /// The parameters of a loop's body, bound.
    pub(super) fn bind_all(&mut self, values: &[Value], are: Vec<LaneValue>) {
        for (value, is) in values.iter().zip(are) {
            self.values.bind(*value, is);
        }
    }

    /// Whether an atom is made within a loop: none of those that were there before `first` and none that stands for one thing everywhere.
    pub(super) fn is_new(&self, atom: Atom, first: &Atom) -> bool {
        match self.values.atoms.source(atom) {
            AtomSource::Other(_) => atom >= *first,
            AtomSource::Iteration(_) => true,
            AtomSource::Geometry(..) | AtomSource::Length(_) | AtomSource::Parameter(..) | AtomSource::Warp => false,
        }
    }
}

/// How a side of a branch ends.
struct Side {
    active: Mask,
    uncertainty: Uncertainty,
    /// Whether no lane left.
    is_whole: bool,
}
