//! What the conditions under which an access runs say of its indices: under `i < n`, `n` is not 0 and `n + i` is no `i`.
//!
//! A comparison `a < b` that holds says three things: the difference `b − a` is at least 1 and does not wrap round; `b` is not 0, and if it is a
//! product none of its factors is; and if `a` or `b` is a single atom its range is smaller.

use super::{Affine, Atom, Polynomial, has_no_multiple, range};
use crate::analysis::bounds::type_max;
use crate::collections::{HashMap, HashSet};
use crate::ir::{BinaryOp, CompareOp, Compute, Inst, Kernel, Op, Region, UnaryOp, Value};

/// How many conditions, and parts of them, are looked at, the innermost first.
const MOST: usize = 32;

/// What is known of numbers where some access runs.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Least and greatest, by atom, where that is less than the atom's own range.
    ranges: HashMap<Atom, (u64, u64)>,
    gaps: Vec<Gap>,
}

/// A difference that is known, as an integer that does not wrap round.
#[derive(Clone, Debug)]
struct Gap {
    difference: Polynomial,
    least: u64,
    greatest: u64,
}

impl Affine {
    /// What the conditions round an access say of numbers that `keeps` accepts.
    pub fn facts(&mut self, kernel: &Kernel, access: Inst, keeps: &dyn Fn(&Affine, Atom) -> bool) -> Facts {
        let mut comparisons = Comparisons { kernel, seen: HashSet::default(), found: Vec::new() };
        let mut next = self.conditions(kernel).at(access);
        while let Some(held) = next.filter(|_| comparisons.seen.len() < MOST) {
            comparisons.look(held.condition, held.is);
            next = held.outer.clone();
        }
        let mut facts = Facts::default();
        // From the outermost on: ranges get smaller.
        for (op, a, b) in comparisons.found.into_iter().rev() {
            self.learn(kernel, op, a, b, &mut facts);
        }
        facts.ranges.retain(|atom, _| keeps(self, *atom));
        facts.gaps.retain(|gap| gap.difference.atoms().all(|atom| keeps(self, atom)));
        facts
    }

    /// Whether the number is surely not 0 where all of these facts hold.
    pub fn is_nonzero_given(&self, difference: &Polynomial, facts: &[&Facts]) -> bool {
        let ranges = |atom: Atom| {
            let own = self.ranges[atom.0 as usize];
            let known = facts.iter().filter_map(|facts| facts.ranges.get(&atom));
            known.fold(own, |(least, greatest), known| (least.max(known.0), greatest.min(known.1)))
        };
        if self.is_nonzero_within(difference, &ranges) {
            return true;
        }
        let gaps = facts.iter().flat_map(|facts| &facts.gaps).filter(|gap| gap.difference.bits() == difference.bits());
        gaps.into_iter().any(|gap| {
            // difference = ±gap + rest
            [1, -1].into_iter().any(|sign| {
                let rest = range(&difference.plus(&gap.difference, -sign), &ranges);
                let ends = [i128::from(gap.least), i128::from(gap.greatest)].map(|end| end * i128::from(sign));
                rest.is_some_and(|(least, greatest)| {
                    let sum = (least.checked_add(ends[0].min(ends[1])), greatest.checked_add(ends[0].max(ends[1])));
                    matches!(sum, (Some(least), Some(greatest)) if has_no_multiple((least, greatest), difference.bits()))
                })
            })
        })
    }

    /// What `a op b` says, which holds.
    fn learn(&mut self, kernel: &Kernel, op: CompareOp, a: Value, b: Value, facts: &mut Facts) {
        let (op, a, b) = match op {
            CompareOp::Gt => (CompareOp::Lt, b, a),
            CompareOp::Ge => (CompareOp::Le, b, a),
            CompareOp::Eq | CompareOp::Ne | CompareOp::Lt | CompareOp::Le => (op, a, b),
        };
        let least = match op {
            CompareOp::Lt | CompareOp::Ne => 1,
            CompareOp::Le => 0,
            CompareOp::Eq | CompareOp::Gt | CompareOp::Ge => return,
        };
        let (less, greater) = (self.polynomial(kernel, a), self.polynomial(kernel, b));
        let difference = greater.minus(&less);
        let is_ordered = kernel.ty(a).is_unsigned_int() && op != CompareOp::Ne;
        if !is_ordered {
            facts.gaps.push(Gap { difference, least, greatest: type_max(kernel.ty(a)) });
            return;
        }
        let (low, high) = (self.least(&less, facts), self.bounds.upper(kernel, b).min(self.greatest(&greater, facts)));
        facts.gaps.push(Gap { difference, least, greatest: high.saturating_sub(low) });
        if let Some(atom) = less.as_atom() {
            self.narrow(facts, atom, (0, high.saturating_sub(least)));
        }
        if let Some(atom) = greater.as_atom() {
            self.narrow(facts, atom, (low.saturating_add(least), u64::MAX));
        } else if let (1, [product]) = (least, &greater.terms().map(|(product, _)| product).collect::<Vec<_>>()[..]) {
            product.iter().for_each(|atom| self.narrow(facts, *atom, (1, u64::MAX)));
        }
    }

    fn narrow(&self, facts: &mut Facts, atom: Atom, (least, greatest): (u64, u64)) {
        let known = facts.ranges.entry(atom).or_insert(self.ranges[atom.0 as usize]);
        *known = (known.0.max(least), known.1.min(greatest));
    }

    fn known(&self, atom: Atom, facts: &Facts) -> (u64, u64) {
        facts.ranges.get(&atom).copied().unwrap_or(self.ranges[atom.0 as usize])
    }

    /// The least and the greatest that is known of a sum where it is one atom or a number; sums may have wrapped round.
    fn least(&self, sum: &Polynomial, facts: &Facts) -> u64 {
        match (sum.as_atom(), sum.as_constant()) {
            (Some(atom), _) => self.known(atom, facts).0,
            (_, Some(number)) => number as u64 & (u64::MAX >> (64 - sum.bits())),
            _ => 0,
        }
    }

    fn greatest(&self, sum: &Polynomial, facts: &Facts) -> u64 {
        sum.as_atom().map_or(u64::MAX, |atom| self.known(atom, facts).1)
    }
}

/// The comparisons of integers that all hold where some conditions do, whichever way control got there.
struct Comparisons<'k> {
    kernel: &'k Kernel,
    seen: HashSet<(Value, bool)>,
    found: Vec<(CompareOp, Value, Value)>,
}

impl Comparisons<'_> {
    fn look(&mut self, condition: Value, is: bool) {
        if self.seen.len() >= MOST || !self.seen.insert((condition, is)) {
            return;
        }
        let Some((_, op)) = self.kernel.def(condition) else { return };
        match *op {
            Op::Compute(Compute::Compare(op, a, b)) if self.kernel.ty(a).is_int() => {
                self.found.push((if is { op } else { op.negated() }, a, b));
            }
            Op::Compute(Compute::Unary(UnaryOp::Not, a)) => self.look(a, !is),
            Op::Compute(Compute::Binary(op, a, b)) if (op, is) == (BinaryOp::And, true) || (op, is) == (BinaryOp::Or, false) => {
                self.look(a, is);
                self.look(b, is);
            }
            Op::Compute(Compute::Select(first, a, b)) => self.choice(first, [a, b], is),
            Op::Region(Region::If { condition: first, then_block, else_block }) => {
                if let [Some(&[a]), Some(&[b])] = [then_block, else_block].map(|block| self.kernel.yielded(block)) {
                    self.choice(first, [a, b], is);
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
            | Op::Region(_)
            | Op::Terminator(_) => {}
        }
    }

    /// `first && second` as `if first { second } else { false }`, and `first || second` that does not hold.
    fn choice(&mut self, first: Value, [a, b]: [Value; 2], is: bool) {
        let never = |value: Value| self.kernel.constant(value).is_some_and(|known| known.is_true() != is);
        let (arm, chosen) = match [never(a), never(b)] {
            [false, true] => (true, a),
            [true, false] => (false, b),
            _ => return,
        };
        self.look(first, arm);
        self.look(chosen, is);
    }
}
