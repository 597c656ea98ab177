//! What of a kernel a thread needs that makes certain instructions only, the roots: what these are computed of, the loops and conditions round them, and the exits that
//! decide whether they are come to.
//!
//! All else may be left out, and what is needed may be computed by another thread: arithmetic of parameters, block indices, lengths, constants and counters, and loads of what no
//! kernel writes.

use crate::collections::{HashMap, HashSet};
use crate::ir::{Block, Compute, Inst, Kernel, Memory, MemoryOp, Op, Region, Space, Special, Terminator, Type, Value};

/// Where an instruction stands: its number in program order, that of the last one inside it, and what owns its block.
#[derive(Clone, Copy)]
struct Place {
    number: usize,
    end: usize,
    owner: Option<Inst>,
}

/// A part of a kernel.
pub(super) struct Slice {
    needed: HashSet<Inst>,
    /// Results of regions, and values that loops carry, by their numbers.
    results: HashSet<(Inst, usize)>,
    carried: HashSet<(Inst, usize)>,
}

/// What is still to be looked at.
enum Wanted {
    Inst(Inst),
    Result(Inst, usize),
    Carried(Inst, usize),
}

struct Search<'k> {
    kernel: &'k Kernel,
    roots: &'k HashSet<Inst>,
    places: HashMap<Inst, Place>,
    /// What a parameter of a loop's body is to the loop.
    params: HashMap<Value, (Inst, usize)>,
    exits: Vec<Inst>,
    found: Slice,
    open: Vec<Wanted>,
}

impl Slice {
    /// What the roots need, or an instruction that no other thread may make.
    pub(super) fn of(kernel: &Kernel, roots: &HashSet<Inst>) -> Result<Slice, Inst> {
        let found = Slice { needed: HashSet::default(), results: HashSet::default(), carried: HashSet::default() };
        let mut search = Search {
            kernel,
            roots,
            places: HashMap::default(),
            params: HashMap::default(),
            exits: Vec::new(),
            found,
            open: roots.iter().copied().map(Wanted::Inst).collect(),
        };
        let mut number = 0;
        search.place(kernel.body, None, &mut number);
        loop {
            while let Some(wanted) = search.open.pop() {
                match wanted {
                    Wanted::Inst(inst) => search.inst(inst)?,
                    Wanted::Result(inst, n) => search.result(inst, n),
                    Wanted::Carried(inst, n) => search.carried(inst, n),
                }
            }
            let more: Vec<Inst> = search.exits.iter().copied().filter(|exit| search.decides(*exit)).collect();
            if more.is_empty() {
                return Ok(search.found);
            }
            search.open.extend(more.into_iter().map(Wanted::Inst));
        }
    }

    /// Puts the part that is in `from`, the kernel's body, at the end of `into`.
    pub(super) fn copy(&self, kernel: &mut Kernel, from: Block, into: Block) {
        Copier { slice: self, values: HashMap::default(), owners: HashMap::default() }.block(kernel, from, into, None);
    }
}

impl Search<'_> {
    fn place(&mut self, block: Block, owner: Option<Inst>, number: &mut usize) {
        for inst in &self.kernel.blocks[block].insts {
            *number += 1;
            let begin = *number;
            let op = &self.kernel.insts[*inst].op;
            for (n, value) in self.kernel.carried(*inst).iter().enumerate() {
                self.params.insert(*value, (*inst, n));
            }
            if matches!(op, Op::Terminator(Terminator::Return | Terminator::Break(..) | Terminator::Continue(..))) {
                self.exits.push(*inst);
            }
            for inner in op.blocks() {
                self.place(inner, Some(*inst), number);
            }
            self.places.insert(*inst, Place { number: begin, end: *number, owner });
        }
    }

    fn inst(&mut self, inst: Inst) -> Result<(), Inst> {
        if !self.found.needed.insert(inst) {
            return Ok(());
        }
        if !self.roots.contains(&inst) && !self.may_be_repeated(inst) {
            return Err(inst);
        }
        let op = &self.kernel.insts[inst].op;
        match op {
            Op::Region(Region::If { condition, .. }) => self.value(*condition),
            Op::Region(Region::For { start, end, step, .. }) => [*start, *end, *step].into_iter().for_each(|value| self.value(value)),
            // What they hand on is asked for one by one.
            Op::Region(Region::Loop { .. } | Region::Block { .. }) | Op::Terminator(_) => {}
            Op::Compute(_)
            | Op::Memory(_)
            | Op::Texture(..)
            | Op::Intrinsic(..)
            | Op::Collective(_)
            | Op::Engine(_)
            | Op::Tensor(_)
            | Op::Message(_) => {
                op.operands().into_iter().for_each(|value| self.value(value));
            }
        }
        self.open.extend(self.places.get(&inst).and_then(|place| place.owner).map(Wanted::Inst));
        Ok(())
    }

    fn value(&mut self, value: Value) {
        if let Some((inst, n)) = self.params.get(&value) {
            self.open.push(Wanted::Carried(*inst, *n));
            return self.open.push(Wanted::Inst(*inst));
        }
        if let Some((inst, op)) = self.kernel.def(value) {
            let n = self.kernel.insts[inst].results.iter().position(|result| *result == value).unwrap_or(0);
            if matches!(op, Op::Region(_)) {
                self.open.push(Wanted::Result(inst, n));
            }
            self.open.push(Wanted::Inst(inst));
        }
        // What is left are counters of loops round what needs them.
    }

    /// A result of a region.
    fn result(&mut self, inst: Inst, n: usize) {
        if !self.found.results.insert((inst, n)) {
            return;
        }
        let kernel = self.kernel;
        match &kernel.insts[inst].op {
            Op::Region(Region::For { .. }) => self.open.push(Wanted::Carried(inst, n)),
            Op::Region(Region::If { then_block, else_block, .. }) => {
                for block in [then_block, else_block] {
                    if let Some(value) = kernel.yielded(*block).and_then(|values| values.get(n)) {
                        self.value(*value);
                    }
                }
            }
            Op::Region(Region::Block { body }) => {
                if let Some(value) = kernel.yielded(*body).and_then(|values| values.get(n)) {
                    self.value(*value);
                }
                self.left_with(inst, n, false);
            }
            Op::Region(Region::Loop { .. }) => self.left_with(inst, n, false),
            Op::Compute(_)
            | Op::Memory(_)
            | Op::Texture(..)
            | Op::Intrinsic(..)
            | Op::Collective(_)
            | Op::Engine(_)
            | Op::Tensor(_)
            | Op::Message(_)
            | Op::Terminator(_) => {}
        }
    }

    /// What a loop carries.
    fn carried(&mut self, inst: Inst, n: usize) {
        if !self.found.carried.insert((inst, n)) {
            return;
        }
        let kernel = self.kernel;
        if let Op::Region(Region::For { init, body, .. } | Region::Loop { init, body, .. }) = &kernel.insts[inst].op {
            let next = kernel.yielded(*body).and_then(|values| values.get(n));
            init.get(n).into_iter().chain(next).for_each(|value| self.value(*value));
            self.left_with(inst, n, true);
            if matches!(kernel.insts[inst].op, Op::Region(Region::For { .. })) {
                self.left_with(inst, n, false);
            }
        }
    }

    /// What exits of a region hand on.
    fn left_with(&mut self, inst: Inst, n: usize, goes_on: bool) {
        for exit in self.exits.clone() {
            let ((Op::Terminator(Terminator::Continue(target, values)), true) | (Op::Terminator(Terminator::Break(target, values)), false)) =
                (&self.kernel.insts[exit].op, goes_on)
            else {
                continue;
            };
            if let Some(value) = values.get(n).filter(|_| *target == inst) {
                self.value(*value);
            }
        }
    }

    /// Whether an exit that is not needed yet decides whether roots are come to, or what is handed on.
    fn decides(&self, exit: Inst) -> bool {
        let (needed, place) = (&self.found.needed, self.places[&exit]);
        if needed.contains(&exit) {
            return false;
        }
        let roots = || self.roots.iter().map(|root| self.places[root]);
        let around = |outer: &Place| outer.number < place.number && place.number <= outer.end;
        let comes_again = || {
            let is_loop = |inst: &&Inst| self.kernel.insts[**inst].op.is_loop() && around(&self.places[*inst]);
            needed.iter().filter(is_loop).any(|inst| {
                roots().any(|root| {
                    let outer = &self.places[inst];
                    outer.number < root.number && root.number <= outer.end
                })
            })
        };
        match &self.kernel.insts[exit].op {
            Op::Terminator(Terminator::Return) => roots().any(|root| root.number > place.number) || comes_again(),
            Op::Terminator(Terminator::Break(target, _) | Terminator::Continue(target, _)) => needed.contains(target),
            Op::Compute(_)
            | Op::Memory(_)
            | Op::Texture(..)
            | Op::Intrinsic(..)
            | Op::Collective(_)
            | Op::Engine(_)
            | Op::Tensor(_)
            | Op::Message(_)
            | Op::Region(_)
            | Op::Terminator(_) => false,
        }
    }

    /// Whether another thread may make an instruction, with the same result.
    fn may_be_repeated(&self, inst: Inst) -> bool {
        let kernel = self.kernel;
        match &kernel.insts[inst].op {
            Op::Compute(Compute::Special(special, _)) => {
                matches!(special, Special::BlockIdx | Special::BlockDim | Special::GridDim | Special::AskedGrid)
            }
            Op::Compute(_) | Op::Texture(..) | Op::Region(_) | Op::Terminator(_) => true,
            Op::Intrinsic(..) => kernel.effects(inst).is_pure(),
            Op::Memory(Memory { op: MemoryOp::Load, at }) => {
                let data = &kernel.objects[at.object()];
                match data.space() {
                    Space::Constant | Space::Param => true,
                    Space::Global => data.is_read_only(),
                    Space::Shared | Space::Cluster | Space::Local => false,
                }
            }
            Op::Memory(_) | Op::Collective(_) | Op::Engine(_) | Op::Tensor(_) | Op::Message(_) => false,
        }
    }
}

struct Copier<'s> {
    slice: &'s Slice,
    values: HashMap<Value, Value>,
    owners: HashMap<Inst, Inst>,
}

impl Copier<'_> {
    fn get(&self, value: Value) -> Value {
        self.values.get(&value).copied().unwrap_or(value)
    }

    /// Those of a list whose numbers are wanted.
    fn kept<T: Copy>(wanted: &HashSet<(Inst, usize)>, inst: Inst, all: &[T]) -> Vec<T> {
        all.iter().enumerate().filter(|(n, _)| wanted.contains(&(inst, *n))).map(|(_, one)| *one).collect()
    }

    fn all(&self, values: &[Value]) -> Vec<Value> {
        values.iter().map(|value| self.get(*value)).collect()
    }

    /// `owner`: the region whose block it is.
    fn block(&mut self, kernel: &mut Kernel, from: Block, into: Block, owner: Option<Inst>) {
        for inst in kernel.blocks[from].insts.clone() {
            let (op, loc) = (kernel.insts[inst].op.clone(), kernel.insts[inst].loc);
            let made = match op {
                Op::Terminator(terminator) => {
                    let op = Op::Terminator(self.terminator(kernel, &terminator, owner));
                    kernel.new_inst(op, &[], loc)
                }
                _ if !self.slice.needed.contains(&inst) => continue,
                Op::Region(region) => {
                    // Exits inside name it.
                    let made = kernel.new_inst(Op::Terminator(Terminator::Return), &[], loc);
                    self.owners.insert(inst, made);
                    let region = self.region(kernel, inst, &region);
                    kernel.insts[made].op = Op::Region(region);
                    made
                }
                Op::Compute(_)
                | Op::Memory(_)
                | Op::Texture(..)
                | Op::Intrinsic(..)
                | Op::Collective(_)
                | Op::Engine(_)
                | Op::Tensor(_)
                | Op::Message(_) => {
                    let mut op = op;
                    op.for_each_operand_mut(|value| *value = self.get(*value));
                    kernel.new_inst(op, &[], loc)
                }
            };
            kernel.blocks[into].insts.push(made);
            for value in self.results(kernel, inst) {
                let new = kernel.add_result(made, kernel.ty(value));
                kernel.values[new].name = kernel.values[value].name.clone();
                self.values.insert(value, new);
            }
        }
    }

    /// The results of an instruction that its copy has.
    fn results(&self, kernel: &Kernel, inst: Inst) -> Vec<Value> {
        let all = &kernel.insts[inst].results;
        match kernel.insts[inst].op {
            Op::Region(Region::For { .. }) => Copier::kept(&self.slice.carried, inst, all),
            Op::Region(_) => Copier::kept(&self.slice.results, inst, all),
            Op::Compute(_)
            | Op::Memory(_)
            | Op::Texture(..)
            | Op::Intrinsic(..)
            | Op::Collective(_)
            | Op::Engine(_)
            | Op::Tensor(_)
            | Op::Message(_)
            | Op::Terminator(_) => all.clone(),
        }
    }

    fn region(&mut self, kernel: &mut Kernel, inst: Inst, region: &Region) -> Region {
        match region {
            Region::If { condition, then_block, else_block } => {
                let condition = self.get(*condition);
                let [then_block, else_block] = [*then_block, *else_block].map(|block| self.nested(kernel, inst, block, &[]));
                Region::If { condition, then_block, else_block }
            }
            Region::For { start, end, step, init, body, keep_rolled } => {
                let [start, end, step] = [*start, *end, *step].map(|value| self.get(value));
                let init = self.all(&Copier::kept(&self.slice.carried, inst, init));
                let counter = kernel.blocks[*body].params[0];
                let carried = Copier::kept(&self.slice.carried, inst, kernel.carried(inst));
                let body = self.nested(kernel, inst, *body, &[vec![counter], carried].concat());
                Region::For { start, end, step, init, body, keep_rolled: *keep_rolled }
            }
            Region::Loop { init, body, keep_rolled } => {
                let init = self.all(&Copier::kept(&self.slice.carried, inst, init));
                let carried = Copier::kept(&self.slice.carried, inst, kernel.carried(inst));
                let body = self.nested(kernel, inst, *body, &carried);
                Region::Loop { init, body, keep_rolled: *keep_rolled }
            }
            Region::Block { body } => Region::Block { body: self.nested(kernel, inst, *body, &[]) },
        }
    }

    fn nested(&mut self, kernel: &mut Kernel, owner: Inst, block: Block, params: &[Value]) -> Block {
        let types: Vec<Type> = params.iter().map(|value| kernel.ty(*value)).collect();
        let new = kernel.new_block(&types);
        for (from, to) in params.iter().zip(kernel.blocks[new].params.clone()) {
            kernel.values[to].name = kernel.values[*from].name.clone();
            self.values.insert(*from, to);
        }
        self.block(kernel, block, new, Some(owner));
        new
    }

    fn terminator(&self, kernel: &Kernel, terminator: &Terminator, owner: Option<Inst>) -> Terminator {
        let is_loop = |inst: Inst| kernel.insts[inst].op.is_loop();
        let is_for = |inst: Inst| matches!(kernel.insts[inst].op, Op::Region(Region::For { .. }));
        let target = |inst: &Inst| self.owners.get(inst).copied().unwrap_or(*inst);
        let (results, carried) = (&self.slice.results, &self.slice.carried);
        match (terminator, owner) {
            // The end of the body is that of the role.
            (_, None) => Terminator::Yield(Vec::new()),
            (Terminator::Yield(values), Some(owner)) => {
                let wanted = if is_loop(owner) { carried } else { results };
                Terminator::Yield(self.all(&Copier::kept(wanted, owner, values)))
            }
            (Terminator::Continue(to, values), _) => Terminator::Continue(target(to), self.all(&Copier::kept(carried, *to, values))),
            (Terminator::Break(to, values), _) => {
                let wanted = if is_for(*to) { carried } else { results };
                Terminator::Break(target(to), self.all(&Copier::kept(wanted, *to, values)))
            }
            (Terminator::Return, _) => Terminator::Return,
            (Terminator::Trap(message), _) => Terminator::Trap(message.clone()),
        }
    }
}
