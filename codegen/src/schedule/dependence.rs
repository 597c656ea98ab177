//! Whether two accesses may touch the same element: what moving loads and stores asks.
//!
//! `analysis::alias` compares what they touch. What the conditions round either access say of the indices counts, since both run. Across
//! iterations the counter is moved on, and what else an iteration computes may be anything of its range. What cannot be told apart counts as the same element, and the error says which accesses they are.

use super::around::Around;
use super::groups::Counted;
use super::rows::Rows;
use crate::analysis::access::AccessKind;
use crate::analysis::affine::{Affine, Atom, Facts, Polynomial};
use crate::analysis::alias::{MemoryLocation, PathStep};
use crate::collections::{HashMap, HashSet};
use crate::ir::{Address, Block, Inst, Kernel, Memory, Object, Op, Value};
use std::collections::BTreeSet;
use std::rc::Rc;

/// A load, store or atomic.
#[derive(Clone, Debug)]
pub(super) struct MemoryAccess {
    pub(super) inst: Inst,
    pub(super) kind: AccessKind,
    /// What it touches.
    pub(super) at: MemoryLocation,
    /// Values that may be others than where it stands in the kernel, if it is the access of another iteration.
    others: Option<Rc<HashSet<Value>>>,
}

impl MemoryAccess {
    /// Of an instruction, if it is one.
    pub(super) fn of(kernel: &Kernel, affine: &mut Affine, inst: Inst) -> Option<MemoryAccess> {
        let data = &kernel.insts[inst];
        let Op::Memory(memory @ Memory { op, at: Address::Path(access) }) = &data.op else { return None };
        let scalars = memory.scalars(&data.results).len();
        Some(MemoryAccess { inst, kind: AccessKind::of(op), at: MemoryLocation::of(kernel, affine, access, scalars), others: None })
    }

    /// Whether the two cannot be swapped if they touch the same element.
    pub(super) fn is_ordered_with(&self, other: &MemoryAccess) -> bool {
        // Atomics may go in any order among themselves.
        let orders = |a: AccessKind, b: AccessKind| a != AccessKind::Load && !(a == AccessKind::Atomic && b == AccessKind::Atomic);
        self.at.object == other.at.object && (orders(self.kind, other.kind) || orders(other.kind, self.kind))
    }

    /// Whether it changes its element.
    pub(super) fn writes(&self) -> bool {
        self.kind != AccessKind::Load
    }

    /// Whether they surely touch different elements.
    pub(super) fn is_apart(&self, other: &MemoryAccess, kernel: &Kernel, affine: &mut Affine) -> bool {
        if self.at.is_apart(&other.at, &|difference| affine.is_nonzero(difference)) {
            return true;
        }
        let facts = [self, other].map(|access| access.facts(kernel, affine));
        self.at.is_apart(&other.at, &|difference| affine.is_nonzero_given(difference, &[&facts[0], &facts[1]]))
    }

    /// What the conditions under which it runs say of numbers that are what they are where it stands.
    fn facts(&self, kernel: &Kernel, affine: &mut Affine) -> Facts {
        affine.facts(kernel, self.inst, &|affine, atom| {
            self.others.as_ref().is_none_or(|others| !affine.depends(atom, &|value| others.contains(&value)))
        })
    }

    /// The same access in another iteration: `later` by that much of the counter, all else that varies (`inside`) anew.
    fn moved(&self, counter: Atom, later: &Polynomial, others: &HashMap<Atom, Atom>, inside: &Rc<HashSet<Value>>) -> Option<MemoryAccess> {
        let at = self.at.with_indices(|index| {
            let (factor, _) = index.split(counter)?;
            Some(index.renamed(others).plus(&factor.times(later)?, 1))
        })?;
        Some(MemoryAccess { at, others: Some(Rc::clone(inside)), ..*self })
    }

    /// The same access in the next iteration of a loop.
    pub(super) fn in_next_iteration(
        &self,
        kernel: &Kernel,
        affine: &mut Affine,
        walk: &Counted,
        inside: &Rc<HashSet<Value>>,
    ) -> MemoryAccess {
        let counter = affine.counter(kernel, walk.counter);
        let step = affine.polynomial(kernel, walk.step);
        let others = self.differing(affine, Some(counter), inside);
        self.moved(counter, &step, &others, inside).unwrap_or_else(|| {
            // Of that iteration nothing is known.
            let at = self.at.renamed(&self.differing(affine, None, inside));
            MemoryAccess { at, others: Some(Rc::clone(inside)), ..*self }
        })
    }

    /// What its indices are made of that may be anything in another iteration, but for the counter; each with another in its place.
    fn differing(&self, affine: &mut Affine, counter: Option<Atom>, inside: &HashSet<Value>) -> HashMap<Atom, Atom> {
        self.at.varying(affine, &|affine, atom| Some(atom) != counter && affine.depends(atom, &|value| inside.contains(&value)))
    }

    /// The atoms of every index but the last.
    pub(super) fn outer_atoms(&self) -> impl Iterator<Item = Atom> + '_ {
        let outer = self.at.path.len().saturating_sub(1);
        self.at.path[..outer].iter().filter_map(PathStep::index).flat_map(Polynomial::atoms)
    }

    /// Whether what it touches is there for this thread only, or cannot change.
    fn is_private_or_constant(&self, kernel: &Kernel, privates: &BTreeSet<Object>) -> bool {
        kernel.objects[self.at.object].is_read_only() || privates.contains(&self.at.object)
    }
}

/// Two accesses that may touch the same element, the first of an earlier iteration.
#[derive(Clone, Debug)]
pub(super) struct Conflict {
    pub(super) earlier: MemoryAccess,
    pub(super) later: MemoryAccess,
    /// Iterations between them, at which they could not be told apart.
    pub(super) distance: u32,
    /// Whether they surely are the same element.
    pub(super) is_certain: bool,
    /// Whether that is the same one in all iterations.
    pub(super) is_fixed: bool,
}

/// Every access of a block and those in it, in program order.
pub(super) fn accesses(kernel: &Kernel, affine: &mut Affine, block: Block) -> Vec<MemoryAccess> {
    kernel.insts_in(block).filter_map(|inst| MemoryAccess::of(kernel, affine, inst)).collect()
}

/// Every value that a block defines, those of the blocks in it included.
pub(super) fn defined(kernel: &Kernel, block: Block) -> HashSet<Value> {
    let mut values: HashSet<Value> = kernel.blocks[block].params.iter().copied().collect();
    kernel.walk_block(block, &mut |kernel, _, inst| {
        values.extend(&kernel.insts[inst].results);
        for child in kernel.insts[inst].op.blocks() {
            values.extend(&kernel.blocks[child].params);
        }
    });
    values
}

/// Pairs of accesses, times the distances of their iterations, that are compared for one loop: what is behind them may be the same element.
const MOST_PAIRS: u32 = 300_000;

/// Two accesses of the body that may touch the same element in iterations fewer than `n` apart, and cannot be swapped; of the objects that
/// count.
pub(super) fn carried_through_memory(
    kernel: &Kernel,
    around: &Around,
    walk: &Counted,
    n: u32,
    counts: impl Fn(Object) -> bool,
) -> Option<Conflict> {
    let mut affine = around.affine();
    let privates = around.privates(kernel, walk.body);
    let mut all = accesses(kernel, &mut affine, walk.body);
    all.retain(|access| counts(access.at.object) && !access.is_private_or_constant(kernel, &privates));
    if all.iter().all(|access| access.kind == AccessKind::Load) {
        return None;
    }
    let inside = Rc::new(defined(kernel, walk.body));
    let counter = affine.counter(kernel, walk.counter);
    let step = affine.polynomial(kernel, walk.step);
    let rows = Rows::of(&affine, &all, counter, &step, &inside);
    let mut pairs = 0;
    for (k, earlier) in all.iter().enumerate() {
        let mut others = (usize::MAX, HashMap::default());
        for (l, distance) in rows.partners(k, &all, n) {
            let later = &all[l];
            if others.0 != l {
                others = (l, later.differing(&mut affine, Some(counter), &inside));
            }
            // A counter is not carried past its type's range: two of its values differ, whatever the step.
            let away = match step.as_constant() {
                Some(_) => step.scaled(i64::from(distance)),
                None => affine.some_number(step.bits()),
            };
            let moved = later.moved(counter, &away, &others.1, &inside);
            pairs += 1;
            if pairs > MOST_PAIRS || moved.as_ref().is_none_or(|moved| !earlier.is_apart(moved, kernel, &mut affine)) {
                let is_certain = moved.as_ref().is_some_and(|moved| moved.at == earlier.at);
                let is_fixed = moved.is_some_and(|moved| moved.at == later.at);
                return Some(Conflict { earlier: earlier.clone(), later: later.clone(), distance, is_certain, is_fixed });
            }
        }
    }
    None
}
