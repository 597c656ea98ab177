//! How often a thread runs each instruction, and a loop its body.
//!
//! A few threads of each warp go through the kernel's control (`control`): what their numbers and the launch decide is decided, loops
//! run as often as they say. Where neither tells, a loop counts [`UNKNOWN_TRIPS`] rounds, so that shares are those of the steady state, or few if data decides; of a branch,
//! what a guard at the boundary skips counts as run, what it has for the rest of the elements as not run.

use super::control;
use super::launched::Launched;
use super::mix::access;
use warpwright_codegen::analysis::access::{AccessFact, BranchFact, Divergence, Pattern};
use warpwright_codegen::ir::intrinsic::Call;
use warpwright_codegen::ir::{Block, Compute, Inst, Kernel, Loc, Memory, MemoryOp, ObjectKind, Op, Region, Space, Terminator};
use warpwright_codegen::library;

/// How often a loop is taken to run where only the launch knows.
pub const UNKNOWN_TRIPS: f64 = 1000.0;

/// How often a loop is taken to run whose end data decides, and no buffer bounds.
pub const DATA_TRIPS: f64 = 16.0;

/// What is known of how often loops run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    /// All of it.
    Known,
    /// Data decides some of it, whatever the launch: it is guessed, by the lengths of buffers where they are known.
    Guessed,
    /// Numbers of a launch decide some of it that are not known.
    Open,
}

/// What of a kernel runs how often.
#[derive(Clone, Debug)]
pub struct Weights {
    /// By instruction: how often a warp runs it, the mean of a block's warps.
    pub(super) of: Vec<f64>,
    /// By loop: how many rounds all its runs take together.
    pub(super) rounds: Vec<f64>,
    /// By loop: the most rounds of one run.
    pub(super) most: Vec<f64>,
    /// By instruction: whether the warp runs it that has most to do.
    pub(super) runs: Vec<bool>,
    /// Whether a loop's rounds are decided by a number of the launch that is not known.
    pub(super) is_open: bool,
    /// Whether a loop's rounds are decided by data.
    pub(super) is_guessed: bool,
}

impl Weights {
    /// Finds them; `branches` and `accesses` are facts about the kernel at an earlier stage, whose instructions have the same names.
    pub fn of(kernel: &Kernel, branches: &[BranchFact], accesses: &[AccessFact], launched: &Launched) -> Weights {
        control::run(kernel, &Marks::of(kernel, branches, accesses), launched)
    }

    /// What is known of loops' rounds.
    pub fn certainty(&self) -> Certainty {
        match (self.is_open, self.is_guessed) {
            (true, _) => Certainty::Open,
            (false, true) => Certainty::Guessed,
            (false, false) => Certainty::Known,
        }
    }

    /// How often a warp runs an instruction.
    pub fn get(&self, inst: Inst) -> f64 {
        self.of.get(usize::from(inst)).copied().unwrap_or(0.0)
    }

    /// Whether the warp that a block waits for runs an instruction: the one that has most to do.
    pub fn is_run(&self, inst: Inst) -> bool {
        self.runs.get(usize::from(inst)).copied().unwrap_or(false)
    }

    /// How many rounds a warp makes in a loop, all its runs together.
    pub fn rounds(&self, inst: Inst) -> f64 {
        self.rounds.get(usize::from(inst)).copied().unwrap_or(0.0)
    }

    /// The most rounds of one run of a loop: those of the warp that the block waits for.
    pub fn most_rounds(&self, inst: Inst) -> f64 {
        self.most.get(usize::from(inst)).copied().unwrap_or(0.0)
    }
}

/// What is known of instructions from an earlier stage, and of blocks with all in them.
pub(super) struct Marks {
    insts: Vec<Mark>,
    blocks: Vec<Inside>,
}

#[derive(Clone, Copy)]
struct Mark {
    /// A branch at a boundary.
    is_boundary: bool,
    /// An access that only lanes beyond a boundary make.
    is_rare: bool,
    /// Different elements of a request, those that other warps of the block ask for as well counted as their share.
    elements: f64,
}

/// What stands in a block, the blocks in it counted in.
#[derive(Clone, Copy, Default)]
struct Inside {
    /// Accesses to global memory, and those of them that only lanes beyond a boundary make.
    accesses: u32,
    rare: u32,
    /// Whether the table of the library of functions is read.
    reads_table: bool,
    /// Where its instructions come from: all from one place, or from several.
    place: Option<Result<Loc, Several>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Several;

impl Inside {
    fn add(&mut self, other: Inside) {
        self.accesses += other.accesses;
        self.rare += other.rare;
        self.reads_table |= other.reads_table;
        self.place = match (self.place, other.place) {
            (Some(a), Some(b)) if a != b => Some(Err(Several)),
            (a, b) => a.or(b),
        };
    }
}

impl Marks {
    fn of(kernel: &Kernel, branches: &[BranchFact], accesses: &[AccessFact]) -> Marks {
        let mut marks = vec![Mark { is_boundary: false, is_rare: false, elements: 32.0 }; kernel.insts.len()];
        for branch in branches {
            if let Some(mark) = marks.get_mut(usize::from(branch.inst)) {
                mark.is_boundary = branch.divergence == Divergence::Boundary;
            }
        }
        for access in accesses {
            if let Some(mark) = marks.get_mut(usize::from(access.inst)) {
                mark.is_rare = access.is_rare;
                if let Pattern::Global { bytes, .. } = access.pattern {
                    let sharing = f64::from(access.sharing.unwrap_or(1).max(1));
                    mark.elements = f64::from(bytes.least.max(1)) / f64::from(access.bytes.max(1)) / sharing;
                }
            }
        }
        let mut found = Marks { insts: marks, blocks: vec![Inside::default(); kernel.blocks.len()] };
        found.look_inside(kernel, kernel.body);
        found
    }

    fn look_inside(&mut self, kernel: &Kernel, block: Block) {
        let mut all = Inside::default();
        for inst in &kernel.blocks[block].insts {
            let data = &kernel.insts[*inst];
            let is_global = access(kernel, *inst).is_some_and(|(space, ..)| space == Space::Global);
            let reads_table = data.op.object().is_some_and(|object| {
                let object = &kernel.objects[object];
                matches!(object.kind, ObjectKind::Table(_)) && object.name == library::TABLE
            });
            let rare = is_global && self.insts[usize::from(*inst)].is_rare;
            all.add(Inside { accesses: is_global.into(), rare: rare.into(), reads_table, place: Some(Ok(data.loc)) });
            for child in data.op.blocks() {
                self.look_inside(kernel, child);
                all.add(self.blocks[usize::from(child)]);
            }
        }
        self.blocks[usize::from(block)] = all;
    }

    /// Different elements that a request of a warp brings to the block.
    pub(super) fn elements(&self, inst: Inst) -> f64 {
        self.insts[usize::from(inst)].elements
    }

    /// The shares of an `if` that run its arms, where its condition is not known.
    pub(super) fn arms(&self, kernel: &Kernel, then_block: Block, else_block: Block, inst: Inst) -> (f64, f64) {
        // What copies for a whole block copies elements one by one only at an edge of the data: the other way.
        if kernel.location(inst).call.is_some_and(|call| call.row().call == Call::Collective) {
            return (1.0, 0.0);
        }
        let (then, other) = (size(kernel, then_block), size(kernel, else_block));
        let is_boundary = self.insts[usize::from(inst)].is_boundary;
        let is_unlikely = |block: Block| self.is_left_over(block) || self.is_for_rare_arguments(block, kernel.insts[inst].loc);
        match (is_unlikely(then_block), is_unlikely(else_block)) {
            (true, false) => return (0.0, 1.0),
            (false, true) => return (1.0, 0.0),
            _ => {}
        }
        let leaves = |block: Block| {
            kernel.blocks[block]
                .insts
                .last()
                .is_some_and(|last| matches!(kernel.insts[*last].op, Op::Terminator(Terminator::Return | Terminator::Trap(_))))
        };
        match (leaves(then_block), leaves(else_block)) {
            // Who leaves is beyond the end of the data.
            (true, false) => (0.0, 1.0),
            (false, true) => (1.0, 0.0),
            // What has nothing on its other side is there to be run; of two sides of a boundary, the one written first is the common one.
            _ if other == 0 => (1.0, 0.0),
            _ if then == 0 => (0.0, 1.0),
            _ if is_boundary || repeats(kernel, then_block, else_block) => (1.0, 0.0),
            _ => (0.5, 0.5),
        }
    }

    /// Whether a block accesses memory, and all that for what is left over at a boundary.
    fn is_left_over(&self, block: Block) -> bool {
        let inside = &self.blocks[usize::from(block)];
        inside.accesses > 0 && inside.accesses == inside.rare
    }

    /// Whether an arm is one of the library of functions that reads its table. All of a function stands where its call does; an arm of the kernel's
    /// own that holds a call, and a read of the table that was taken out of a loop, has instructions from elsewhere, too.
    fn is_for_rare_arguments(&self, block: Block, branch: Loc) -> bool {
        let inside = &self.blocks[usize::from(block)];
        inside.reads_table && inside.place == Some(Ok(branch))
    }
}

/// Instructions of a block that are neither constants nor its end.
pub(super) fn size(kernel: &Kernel, block: Block) -> usize {
    kernel.blocks[block]
        .insts
        .iter()
        .filter(|inst| !matches!(kernel.insts[**inst].op, Op::Compute(Compute::Const(_)) | Op::Terminator(Terminator::Yield(_))))
        .count()
}

/// Whether the second arm does what the first does, guarded one by one: what `ilp` and `vectorize` make of the last group.
fn repeats(kernel: &Kernel, then_block: Block, else_block: Block) -> bool {
    let is_access = |inst: &Inst| matches!(kernel.insts[*inst].op, Op::Memory(Memory { op: MemoryOp::Load | MemoryOp::Store(_), .. }));
    let accesses = |block: Block| {
        let (mut plain, mut guarded) = (0, 0);
        for inst in &kernel.blocks[block].insts {
            plain += usize::from(is_access(inst));
            if let op @ Op::Region(Region::If { .. }) = &kernel.insts[*inst].op {
                guarded += usize::from(op.blocks().iter().any(|arm| kernel.blocks[*arm].insts.iter().any(is_access)));
            }
        }
        (plain, guarded)
    };
    let (first, second) = (accesses(then_block), accesses(else_block));
    first.0 > 0 && first.1 == 0 && second.0 == 0 && second.1 > 0
}
