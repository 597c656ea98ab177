//! Whether two accesses may touch the same element: what moving loads and stores asks.
//!
//! Different objects never do. Of one object, the indices are compared as polynomials (`analysis::affine`), index by index: one that
//! surely differs is enough. What the conditions round either access say of the indices counts, since both run. Across iterations the counter is moved on, and what else an iteration computes may be anything of its
//! range. What cannot be told apart counts as the same element, and the error says which accesses they are.

use super::around::Around;
use super::groups::Counted;
use super::rows::Rows;
use crate::analysis::affine::{Affine, Atom, Facts, Polynomial};
use crate::collections::{HashMap, HashSet};
use crate::ir::{Access, Address, Block, Inst, Kernel, Memory, MemoryOp, Object, Op, Step, Value};
use std::collections::BTreeSet;
use std::rc::Rc;

/// What an access does to its element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    Write,
    /// Atomics may go in any order among themselves.
    Atomic,
}

/// A load, store or atomic.
#[derive(Clone, Debug)]
pub(super) struct MemoryAccess {
    pub(super) inst: Inst,
    pub(super) object: Object,
    pub(super) kind: Kind,
    /// Scalars it touches, from its index on.
    pub(super) width: i64,
    pub(super) path: Vec<PathStep>,
    /// Values that may be others than where it stands in the kernel, if it is the access of another iteration.
    others: Option<Rc<HashSet<Value>>>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum PathStep {
    Field(u32),
    Index(Polynomial),
}

impl MemoryAccess {
    /// Of an instruction, if it is one.
    pub(super) fn of(kernel: &Kernel, affine: &mut Affine, inst: Inst) -> Option<MemoryAccess> {
        let data = &kernel.insts[inst];
        let (access, kind, width): (&Access, Kind, usize) = match &data.op {
            Op::Memory(Memory { op: MemoryOp::Load, at: Address::Path(access) }) => (access, Kind::Read, data.results.len()),
            Op::Memory(Memory { op: MemoryOp::Store(values), at: Address::Path(access) }) => (access, Kind::Write, values.len()),
            Op::Memory(Memory { op: MemoryOp::Atomic(..), at: Address::Path(access) }) => (access, Kind::Atomic, 1),
            _ => return None,
        };
        let path = access.path.iter().map(|step| match step {
            Step::Field(field) => PathStep::Field(*field),
            Step::Index(index) => PathStep::Index(affine.polynomial(kernel, *index)),
        });
        Some(MemoryAccess { inst, object: access.object, kind, width: width as i64, path: path.collect(), others: None })
    }

    /// Whether the two cannot be swapped if they touch the same element.
    pub(super) fn is_ordered_with(&self, other: &MemoryAccess) -> bool {
        let orders = |a: Kind, b: Kind| a != Kind::Read && !(a == Kind::Atomic && b == Kind::Atomic);
        self.object == other.object && (orders(self.kind, other.kind) || orders(other.kind, self.kind))
    }

    /// Whether it changes its element.
    pub(super) fn writes(&self) -> bool {
        self.kind != Kind::Read
    }

    /// Whether they surely touch different elements.
    pub(super) fn is_apart(&self, other: &MemoryAccess, kernel: &Kernel, affine: &mut Affine) -> bool {
        if self.object != other.object || self.differs(other, &|difference| affine.is_nonzero(difference)) {
            return true;
        }
        let facts = [self, other].map(|access| access.facts(kernel, affine));
        self.differs(other, &|difference| affine.is_nonzero_given(difference, &[&facts[0], &facts[1]]))
    }

    /// What the conditions under which it runs say of numbers that are what they are where it stands.
    fn facts(&self, kernel: &Kernel, affine: &mut Affine) -> Facts {
        affine.facts(kernel, self.inst, &|affine, atom| {
            self.others.as_ref().is_none_or(|others| !affine.depends(atom, &|value| others.contains(&value)))
        })
    }

    fn differs(&self, other: &MemoryAccess, is_nonzero: &dyn Fn(&Polynomial) -> bool) -> bool {
        let last = self.path.len().max(other.path.len()).saturating_sub(1);
        self.path.iter().zip(&other.path).enumerate().any(|(n, pair)| match pair {
            (PathStep::Field(a), PathStep::Field(b)) => a != b,
            (PathStep::Index(a), PathStep::Index(b)) => {
                let difference = a.minus(b);
                let (wide, other_wide) = if n == last { (self.width, other.width) } else { (1, 1) };
                // Elements a … a + wide − 1 and b … b + other − 1 have none in common.
                ((1 - wide)..other_wide).all(|k| {
                    let k = Polynomial::constant(difference.bits(), k);
                    is_nonzero(&difference.minus(&k))
                })
            }
            _ => false,
        })
    }

    /// The same access in another iteration: `later` by that much of the counter, all else that varies (`inside`) anew.
    fn moved(&self, counter: Atom, later: &Polynomial, others: &HashMap<Atom, Atom>, inside: &Rc<HashSet<Value>>) -> Option<MemoryAccess> {
        let step = |step: &PathStep| match step {
            PathStep::Field(field) => Some(PathStep::Field(*field)),
            PathStep::Index(index) => {
                let (factor, _) = index.split(counter)?;
                let away = factor.times(later)?;
                Some(PathStep::Index(index.renamed(others).plus(&away, 1)))
            }
        };
        let path = self.path.iter().map(step).collect::<Option<Vec<PathStep>>>()?;
        Some(MemoryAccess { path, others: Some(Rc::clone(inside)), ..self.clone() })
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
        let others = self.differing(affine, counter, inside);
        self.moved(counter, &step, &others, inside).unwrap_or_else(|| self.in_any_iteration(affine, inside))
    }

    /// What its indices are made of that may be anything in another iteration, but for the counter; each with another in its place.
    fn differing(&self, affine: &mut Affine, counter: Atom, inside: &HashSet<Value>) -> HashMap<Atom, Atom> {
        let mut others = HashMap::default();
        for step in &self.path {
            let PathStep::Index(index) = step else { continue };
            for atom in index.atoms().filter(|atom| *atom != counter) {
                if affine.depends(atom, &|value| inside.contains(&value)) && !others.contains_key(&atom) {
                    others.insert(atom, affine.fresh(atom));
                }
            }
        }
        others
    }

    /// The same access in an iteration of which nothing is known.
    fn in_any_iteration(&self, affine: &mut Affine, inside: &Rc<HashSet<Value>>) -> MemoryAccess {
        let mut others = HashMap::default();
        let mut path = Vec::new();
        for step in &self.path {
            path.push(match step {
                PathStep::Field(field) => PathStep::Field(*field),
                PathStep::Index(index) => {
                    for atom in index.atoms() {
                        if affine.depends(atom, &|value| inside.contains(&value)) && !others.contains_key(&atom) {
                            others.insert(atom, affine.fresh(atom));
                        }
                    }
                    PathStep::Index(index.renamed(&others))
                }
            });
        }
        MemoryAccess { path, others: Some(Rc::clone(inside)), ..self.clone() }
    }

    /// The last index, if the path ends in one.
    pub(super) fn last_index(&self) -> Option<&Polynomial> {
        match self.path.last() {
            Some(PathStep::Index(index)) => Some(index),
            _ => None,
        }
    }

    /// The atoms of every index but the last.
    pub(super) fn outer_atoms(&self) -> impl Iterator<Item = Atom> + '_ {
        let outer = self.path.len().saturating_sub(1);
        self.path[..outer].iter().flat_map(|step| match step {
            PathStep::Index(index) => index.atoms().collect::<Vec<Atom>>(),
            PathStep::Field(_) => Vec::new(),
        })
    }

    /// Whether what it touches is there for this thread only, or cannot change.
    fn is_private_or_constant(&self, kernel: &Kernel, privates: &BTreeSet<Object>) -> bool {
        kernel.objects[self.object].is_read_only() || privates.contains(&self.object)
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
    let mut insts = Vec::new();
    kernel.walk_block(block, &mut |_, _, inst| insts.push(inst));
    insts.into_iter().filter_map(|inst| MemoryAccess::of(kernel, affine, inst)).collect()
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
    let all: Vec<MemoryAccess> = accesses(kernel, &mut affine, walk.body);
    let all: Vec<MemoryAccess> =
        all.into_iter().filter(|access| counts(access.object) && !access.is_private_or_constant(kernel, &privates)).collect();
    if all.iter().all(|access| access.kind == Kind::Read) {
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
                others = (l, later.differing(&mut affine, counter, &inside));
            }
            // A counter is not carried past its type's range: two of its values differ, whatever the step.
            let away = match step.as_constant() {
                Some(_) => Polynomial::constant(step.bits(), 0).plus(&step, i64::from(distance)),
                None => affine.some_number(step.bits()),
            };
            let moved = later.moved(counter, &away, &others.1, &inside);
            pairs += 1;
            if pairs > MOST_PAIRS || moved.as_ref().is_none_or(|moved| !earlier.is_apart(moved, kernel, &mut affine)) {
                let is_certain = moved.as_ref().is_some_and(|moved| moved.path == earlier.path);
                let is_fixed = moved.is_some_and(|moved| moved.path == later.path);
                return Some(Conflict { earlier: earlier.clone(), later: later.clone(), distance, is_certain, is_fixed });
            }
        }
    }
    None
}
