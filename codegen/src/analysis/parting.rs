//! What parts threads on their way to an instruction: a condition, a loop, or an exit that some of them take and others do not.
//!
//! Threads that have returned from the kernel do not count: nobody waits for them.

use super::uniformity::Uniformity;
use crate::collections::HashSet;
use crate::ir::{Block, Inst, Kernel, Op, Region, Terminator};

/// What parts threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parting {
    /// This `If` round the instruction: its condition differs.
    Condition(Inst),
    /// This loop round the instruction: it does not go on equally long for all.
    Loop(Inst),
    /// This `If` before the instruction: some leave there what is round both, an inlined function or a labelled block.
    Exit(Inst),
}

impl Parting {
    /// The instruction that does it.
    pub fn inst(self) -> Inst {
        match self {
            Parting::Condition(inst) | Parting::Loop(inst) | Parting::Exit(inst) => inst,
        }
    }

    /// Where it parts the lanes of a warp on their way to a call of `name`: what a label at it says, and the edit that brings them together.
    pub fn of_warp(self, name: &str) -> (&'static str, String) {
        match self {
            Parting::Condition(_) => (
                "lanes of one warp may differ in this",
                format!(
                    "call `{name}` before the condition, and put only the use of its result under it; or, if all lanes agree, write `if any(…)`"
                ),
            ),
            Parting::Loop(_) => (
                "lanes of one warp may run this loop a different number of times",
                format!("go on until no lane of the warp is left, `while any(…)`, and call `{name}` for all of them"),
            ),
            Parting::Exit(_) => (
                "lanes of one warp may differ in this, and those that leave here do not come by",
                format!("call `{name}` before the exit; or, if all lanes agree, write `if any(…)`"),
            ),
        }
    }
}

/// The instructions that are looked for and that not all threads come to together, each with the outermost construct that parts the threads,
/// in program order.
pub fn partings(kernel: &Kernel, uniformity: &Uniformity, is_wanted: &dyn Fn(&Op) -> bool) -> Vec<(Inst, Parting)> {
    let mut search = Search { kernel, uniformity, is_wanted, around: Vec::new(), exits: Vec::new(), found: Vec::new() };
    search.block(kernel.body);
    search.found
}

/// The instructions that are looked for and that some threads have returned before, each with what parts those threads from the others, in program
/// order. What comes round again in a loop does too.
pub fn behind_returns(kernel: &Kernel, uniformity: &Uniformity, is_wanted: &dyn Fn(&Op) -> bool) -> Vec<(Inst, Inst)> {
    let search = Search { kernel, uniformity, is_wanted, around: Vec::new(), exits: Vec::new(), found: Vec::new() };
    let mut behind = Behind { search, returned: None, found: Vec::new(), known: HashSet::default() };
    behind.block(kernel.body);
    behind.found
}

/// The walk of [`behind_returns`].
struct Behind<'k> {
    search: Search<'k>,
    /// What parts the threads that have returned before the present place from the others.
    returned: Option<Inst>,
    found: Vec<(Inst, Inst)>,
    /// Those found: a loop's body may be gone through twice.
    known: HashSet<Inst>,
}

impl Behind<'_> {
    fn block(&mut self, block: Block) {
        let kernel = self.search.kernel;
        for inst in &kernel.blocks[block].insts {
            let op = &kernel.insts[*inst].op;
            if let Some(parting) = self.returned
                && (self.search.is_wanted)(op)
                && self.known.insert(*inst)
            {
                self.found.push((*inst, parting));
            }
            self.search.note_exit(op);
            if let Op::Terminator(Terminator::Return) = op {
                self.returned = self.returned.or_else(|| self.search.parting().map(Parting::inst));
            }
            self.search.around.push(*inst);
            let before = self.returned;
            let mut behind = before;
            for child in op.blocks() {
                // Who returns on one side of an `If` does not come to the other.
                self.returned = before;
                self.block(child);
                if op.is_loop() && self.returned != before {
                    self.block(child);
                }
                behind = behind.or(self.returned);
            }
            self.returned = behind;
            self.search.around.pop();
        }
    }
}

struct Search<'k> {
    kernel: &'k Kernel,
    uniformity: &'k Uniformity,
    is_wanted: &'k dyn Fn(&Op) -> bool,
    /// The constructs around the present place.
    around: Vec<Inst>,
    /// Exits before the present place that some threads take: what they leave, and the outermost condition in it that parts the threads.
    exits: Vec<(Inst, Inst)>,
    found: Vec<(Inst, Parting)>,
}

impl Search<'_> {
    fn block(&mut self, block: Block) {
        let kernel = self.kernel;
        for inst in &kernel.blocks[block].insts {
            let op = &kernel.insts[*inst].op;
            if (self.is_wanted)(op) && !self.uniformity.runs_together(*inst) {
                self.found.extend(self.parting().map(|parting| (*inst, parting)));
            }
            self.note_exit(op);
            for child in op.blocks() {
                self.around.push(*inst);
                self.block(child);
                self.around.pop();
            }
        }
    }

    /// Remembers an exit that some threads take and others do not.
    fn note_exit(&mut self, op: &Op) {
        if let Op::Terminator(Terminator::Break(target, _)) = op {
            let left = self.around.iter().rposition(|owner| owner == target).unwrap_or(0);
            let condition = self.around[left..].iter().find(|owner| self.is_parting_condition(**owner));
            self.exits.extend(condition.map(|condition| (*target, *condition)));
        }
    }

    fn is_parting_condition(&self, inst: Inst) -> bool {
        matches!(&self.kernel.insts[inst].op, Op::Region(Region::If { condition, .. }) if !self.uniformity.is_uniform(*condition))
    }

    /// The outermost construct that parts the threads that reach it together.
    fn parting(&self) -> Option<Parting> {
        self.around.iter().find_map(|inst| match &self.kernel.insts[*inst].op {
            Op::Region(Region::If { .. }) => self.is_parting_condition(*inst).then_some(Parting::Condition(*inst)),
            Op::Region(Region::For { start, end, step, .. }) => {
                let is_even = [start, end, step].into_iter().all(|value| self.uniformity.is_uniform(*value));
                (!is_even || self.is_left_apart(*inst)).then_some(Parting::Loop(*inst))
            }
            Op::Region(Region::Loop { .. }) => self.is_left_apart(*inst).then_some(Parting::Loop(*inst)),
            Op::Region(Region::Block { .. }) => {
                let exit = self.exits.iter().find(|(target, _)| target == inst);
                exit.map(|(_, condition)| Parting::Exit(*condition))
            }
            Op::Compute(_)
            | Op::Memory(_)
            | Op::Texture(..)
            | Op::Intrinsic(..)
            | Op::Collective(_)
            | Op::Tensor(_)
            | Op::Engine(_)
            | Op::Message(_)
            | Op::Terminator(_) => None,
        })
    }

    /// Whether some threads leave a loop, or begin its next iteration, before others.
    fn is_left_apart(&self, owner: Inst) -> bool {
        self.kernel.insts[owner].op.blocks().into_iter().any(|block| self.leaves_apart(block, owner, false))
    }

    /// Whether a block has an exit that leaves `owner` or begins it anew, and is not every thread's. `apart`: the threads have parted in it.
    fn leaves_apart(&self, block: Block, owner: Inst, apart: bool) -> bool {
        self.kernel.blocks[block].insts.iter().any(|inst| {
            if let Op::Terminator(Terminator::Break(target, _) | Terminator::Continue(target, _)) = &self.kernel.insts[*inst].op {
                *target == owner && apart
            } else {
                let apart = apart || self.is_parting_condition(*inst);
                self.kernel.insts[*inst].op.blocks().into_iter().any(|child| self.leaves_apart(child, owner, apart))
            }
        })
    }
}
