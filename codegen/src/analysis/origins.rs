//! Where an access comes from, by places in the source: what computes its index, and the conditions under which a thread comes to it. And what may end a wait: who writes what a loop reads.
//!
//! For people who look for a mistake: it follows values, and of memory says only who writes what is loaded.

use super::exits::Exits;
use crate::collections::{HashMap, HashSet};
use crate::ir::{
    Access, Address, Block, Compute, Inst, Kernel, Location, Memory, MemoryOp, Object, Op, Region, Space, Step, Terminator, Value, ValueDef,
};
use std::collections::VecDeque;

/// Where an access comes from; the nearest first, each line once, and not the line of the access.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origins {
    /// What computes the index.
    pub index: Vec<Location>,
    /// The conditions around it, and those before it that would have left, with what computes them.
    pub conditions: Vec<Location>,
    /// What these load, where the kernel writes it.
    pub loaded: Vec<Writers>,
}

/// An object that is read, and where the kernel writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Writers {
    /// What is read.
    pub object: Object,
    /// Where it is written, in program order, each line once.
    pub places: Vec<Location>,
}

/// The origins of what an instruction accesses; `is_guarded`: whether its conditions matter.
pub fn of_access(kernel: &Kernel, inst: Inst, is_guarded: bool) -> Origins {
    let graph = Graph::of(kernel);
    let here = kernel.location(inst);
    let is_elsewhere = |place: &Location| (place.file, place.line) != (here.file, here.line);
    let of_index = graph.slice(indices(&kernel.insts[inst].op));
    let conditions = if is_guarded { graph.conditions(inst) } else { Vec::new() };
    let of_conditions = conditions.into_iter().flat_map(|(owner, condition)| {
        let mut slice = graph.slice(vec![condition]);
        slice.insert(0, owner);
        slice
    });
    let of_conditions: Vec<Inst> = of_conditions.collect();
    let loaded = distinct(of_index.iter().chain(&of_conditions).flat_map(|inst| read_by(kernel, *inst)));
    let places = |insts: Vec<Inst>| lines(insts.into_iter().map(|inst| kernel.location(inst)).filter(is_elsewhere));
    let (index, conditions) = (places(of_index), places(of_conditions));
    let is_new = |place: &Location| {
        let is_same = |other: &Location| (place.file, place.line) == (other.file, other.line);
        is_elsewhere(place) && !index.iter().chain(&conditions).any(is_same)
    };
    let written = loaded.into_iter().map(|object| {
        let writing = writing(kernel, object).into_iter().map(|inst| kernel.location(inst));
        Writers { object, places: lines(writing.filter(is_new)) }
    });
    let loaded = written.filter(|one| !one.places.is_empty()).collect();
    Origins { index, conditions, loaded }
}

/// Who writes what the innermost loop around an instruction, or the instruction itself, reads; nothing where there is no loop, or it reads nothing that others can write.
pub fn writers(kernel: &Kernel, inst: Inst) -> Vec<Writers> {
    let graph = Graph::of(kernel);
    let Some(head) = std::iter::once(inst).chain(graph.around(inst)).find(|owner| kernel.insts[*owner].op.is_loop()) else {
        return Vec::new();
    };
    let inside: Vec<Inst> = kernel.insts[head].op.blocks().into_iter().flat_map(|block| kernel.insts_in(block)).collect();
    let read = distinct(inside.iter().flat_map(|inst| read_by(kernel, *inst)));
    let within: HashSet<Inst> = inside.into_iter().collect();
    let written = read.into_iter().map(|object| {
        let writing = writing(kernel, object).into_iter().filter(|inst| !within.contains(inst));
        Writers { object, places: lines(writing.map(|inst| kernel.location(inst))) }
    });
    written.collect()
}

/// What an instruction reads that threads may have written.
fn read_by(kernel: &Kernel, inst: Inst) -> impl Iterator<Item = Object> {
    let is_common = |object: &Object| matches!(kernel.objects[*object].space(), Space::Global | Space::Shared | Space::Cluster);
    let effects = kernel.effects(inst);
    let is_atomic = matches!(kernel.insts[inst].op, Op::Memory(Memory { op: MemoryOp::Atomic(..), .. }));
    effects.reads.iter().chain(effects.writes.filter(|_| is_atomic)).filter(is_common)
}

/// The instructions that write an object, in program order.
fn writing(kernel: &Kernel, object: Object) -> Vec<Inst> {
    let mut found = Vec::new();
    kernel.for_each_inst(|kernel, _, inst| {
        if kernel.effects(inst).writes == Some(object) {
            found.push(inst);
        }
    });
    found
}

/// Each once, in order.
fn distinct(objects: impl Iterator<Item = Object>) -> Vec<Object> {
    let mut seen = HashSet::default();
    objects.filter(|object| seen.insert(*object)).collect()
}

/// Each line once, in order.
fn lines(places: impl IntoIterator<Item = Location>) -> Vec<Location> {
    let mut seen = HashSet::default();
    places.into_iter().filter(|place| place.line != 0 && seen.insert((place.file, place.line))).collect()
}

/// The values that say where an instruction accesses.
fn indices(op: &Op) -> Vec<Value> {
    // Of what copies or multiplies, all that is not memory says where.
    let Op::Memory(Memory { at, .. }) = op else { return op.operands() };
    match at {
        Address::Path(Access { path, .. }) => {
            let index = |step: &Step| if let Step::Index(value) = step { Some(*value) } else { None };
            path.iter().filter_map(index).collect()
        }
        Address::Pointer { ptr, .. } => vec![*ptr],
    }
}

/// What a kernel's values and blocks belong to.
struct Graph<'k> {
    kernel: &'k Kernel,
    exits: Exits,
    /// The instruction that owns a block.
    owners: HashMap<Block, Inst>,
    /// The block that an instruction stands in.
    blocks: HashMap<Inst, Block>,
}

impl<'k> Graph<'k> {
    fn of(kernel: &'k Kernel) -> Graph<'k> {
        let (mut owners, mut blocks) = (HashMap::default(), HashMap::default());
        kernel.for_each_inst(|kernel, block, inst| {
            blocks.insert(inst, block);
            kernel.insts[inst].op.blocks().into_iter().for_each(|child| {
                owners.insert(child, inst);
            });
        });
        Graph { kernel, exits: Exits::of(kernel), owners, blocks }
    }

    /// The instructions that an instruction stands in, the innermost first.
    fn around(&self, inst: Inst) -> Vec<Inst> {
        let out = |inst: &Inst| self.blocks.get(inst).and_then(|block| self.owners.get(block)).copied();
        std::iter::successors(out(&inst), out).collect()
    }

    /// The conditions under which a thread comes to an instruction, the innermost first: those of the branches that it stands in, and of branches before these that lead out.
    fn conditions(&self, inst: Inst) -> Vec<(Inst, Value)> {
        let mut found = Vec::new();
        for at in std::iter::once(inst).chain(self.around(inst)) {
            if at != inst
                && let Op::Region(Region::If { condition, .. }) = self.kernel.insts[at].op
            {
                found.push((at, condition));
            }
            let Some(block) = self.blocks.get(&at) else { continue };
            let before = self.kernel.blocks[*block].insts.iter().take_while(|other| **other != at);
            let leaving = before.filter_map(|owner| {
                let Op::Region(Region::If { condition, then_block, else_block }) = self.kernel.insts[*owner].op else { return None };
                (self.leaves(then_block) || self.leaves(else_block)).then_some((*owner, condition))
            });
            let leaving: Vec<(Inst, Value)> = leaving.collect();
            found.extend(leaving.into_iter().rev());
        }
        found
    }

    /// Whether a block ends elsewhere than at its owner.
    fn leaves(&self, block: Block) -> bool {
        let last = self.kernel.blocks[block].insts.last().map(|last| &self.kernel.insts[*last].op);
        matches!(last, Some(Op::Terminator(Terminator::Break(..) | Terminator::Continue(..) | Terminator::Return)))
    }

    /// What computes values, the nearest first; of what is carried round a loop, the loop, too.
    fn slice(&self, values: Vec<Value>) -> Vec<Inst> {
        let mut seen: HashSet<Value> = values.iter().copied().collect();
        let mut work: VecDeque<Value> = values.into();
        let mut found = Vec::new();
        while let Some(value) = work.pop_front() {
            let (inst, operands) = match self.kernel.values[value].def {
                ValueDef::Result(inst, n) => (Some(inst), self.operands(inst, n.into())),
                ValueDef::Param(block, n) => match self.owners.get(&block) {
                    Some(owner) => (Some(*owner), self.carried(*owner, n.into())),
                    None => (None, Vec::new()),
                },
            };
            found.extend(inst.filter(|inst| !self.is_given(*inst)));
            work.extend(operands.into_iter().filter(|operand| seen.insert(*operand)));
        }
        found
    }

    /// Whether an instruction gives what is known before the kernel starts: nobody looks for a mistake there.
    fn is_given(&self, inst: Inst) -> bool {
        let op = &self.kernel.insts[inst].op;
        let is_parameter = |at: &Address| self.kernel.objects[at.object()].space() == Space::Param;
        matches!(op, Op::Compute(Compute::Const(_))) || matches!(op, Op::Memory(Memory { at, .. }) if is_parameter(at))
    }

    /// What the n-th result of an instruction is made of.
    fn operands(&self, inst: Inst, n: usize) -> Vec<Value> {
        let exits = self.exits.get(inst);
        let op = &self.kernel.insts[inst].op;
        let Op::Region(region) = op else {
            return if matches!(op, Op::Memory(_)) { Vec::new() } else { op.operands() };
        };
        let (mut values, is_loop) = match region {
            Region::If { condition, .. } => (vec![*condition], false),
            Region::For { init, .. } => (init.get(n).copied().into_iter().collect(), false),
            Region::Loop { .. } => (Vec::new(), true),
            Region::Block { .. } => (Vec::new(), false),
        };
        // What a `loop` yields goes round, and does not come out.
        let yields = exits.yields.iter().filter(|_| !is_loop);
        values.extend(yields.chain(&exits.breaks).filter_map(|exit| self.given(*exit, n)));
        values
    }

    /// What the n-th parameter of the body of a loop is made of.
    fn carried(&self, owner: Inst, n: usize) -> Vec<Value> {
        let exits = self.exits.get(owner);
        let Op::Region(region) = &self.kernel.insts[owner].op else { return Vec::new() };
        let (first, n) = match region {
            Region::For { start, end, step, .. } if n == 0 => return vec![*start, *end, *step],
            Region::For { init, .. } => (init.get(n - 1), n - 1),
            Region::Loop { init, .. } => (init.get(n), n),
            Region::If { .. } | Region::Block { .. } => return Vec::new(),
        };
        let round = exits.yields.iter().chain(&exits.continues).filter_map(|exit| self.given(*exit, n));
        first.copied().into_iter().chain(round).collect()
    }

    /// The n-th value that an exit gives.
    fn given(&self, exit: Inst, n: usize) -> Option<Value> {
        let Op::Terminator(terminator) = &self.kernel.insts[exit].op else { return None };
        match terminator {
            Terminator::Yield(values) | Terminator::Break(_, values) | Terminator::Continue(_, values) => values.get(n).copied(),
            Terminator::Return | Terminator::Trap(_) => None,
        }
    }
}
