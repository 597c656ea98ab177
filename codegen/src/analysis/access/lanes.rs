//! What a value is in each lane of one warp: sums of products of *atoms*, numbers that are one in all lanes but not known, with a known
//! coefficient for each lane.
//!
//! `(block_idx.y * 16 + lane / 16) * n + lane % 16` is `16 · by · n + [0 … 0 1 … 1] · n + [0 … 15 0 … 15]`: the lanes' distances are
//! there lane by lane, whatever made them, and what is the same in all of them need not be known.
//!
//! They are polynomials as all others (`analysis/affine`). A sum with unknown atoms is taken not to wrap round: an index that does is out of
//! range almost always.

use crate::analysis::affine::{Coefficient, Polynomial};
use crate::analysis::dependence::{Dependence, Reasons};
use crate::collections::HashMap;
use crate::ir::{Axis, Inst, Object, Special};
use crate::target::limits::LANES;
use std::ops::Deref;

/// Lanes, one bit each.
pub(super) type Mask = u32;

/// A number for each lane.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Lanes {
    /// One number in all of them.
    Same(i64),
    /// Not the same in all of them.
    Each(Box<[i64; LANES]>),
}

impl Lanes {
    /// From the numbers.
    pub(super) fn each(numbers: [i64; LANES]) -> Lanes {
        if numbers.iter().all(|n| *n == numbers[0]) { Lanes::Same(numbers[0]) } else { Lanes::Each(Box::new(numbers)) }
    }

    /// The number of a lane.
    pub(super) fn of(&self, lane: usize) -> i64 {
        match self {
            Lanes::Same(n) => *n,
            Lanes::Each(numbers) => numbers[lane],
        }
    }

    /// All numbers.
    pub(super) fn all(&self) -> [i64; LANES] {
        match self {
            Lanes::Same(n) => [*n; LANES],
            Lanes::Each(numbers) => **numbers,
        }
    }

    /// The number, if it is one.
    pub(super) fn same(&self) -> Option<i64> {
        match self {
            Lanes::Same(n) => Some(*n),
            Lanes::Each(_) => None,
        }
    }

    /// Lane by lane.
    pub(super) fn map(&self, f: impl Fn(i64) -> i64) -> Lanes {
        match self {
            Lanes::Same(n) => Lanes::Same(f(*n)),
            Lanes::Each(numbers) => Lanes::each(numbers.map(f)),
        }
    }

    /// The greatest number that divides all of them; 0 if all are 0.
    fn divisor(&self) -> u64 {
        match self {
            Lanes::Same(n) => n.unsigned_abs(),
            Lanes::Each(numbers) => numbers.iter().fold(0, |d, n| gcd(d, n.unsigned_abs())),
        }
    }
}

impl Coefficient for Lanes {
    const MOST_TERMS: usize = 12;

    fn number(n: i64) -> Lanes {
        Lanes::Same(n)
    }

    fn zip(&self, other: &Lanes, f: impl Fn(i64, i64) -> i64) -> Lanes {
        match (self, other) {
            (Lanes::Same(a), Lanes::Same(b)) => Lanes::Same(f(*a, *b)),
            (Lanes::Each(a), Lanes::Same(b)) => Lanes::each(a.map(|a| f(a, *b))),
            (Lanes::Same(a), Lanes::Each(b)) => Lanes::each(b.map(|b| f(*a, b))),
            (Lanes::Each(a), Lanes::Each(b)) => Lanes::each(std::array::from_fn(|lane| f(a[lane], b[lane]))),
        }
    }
}

/// The greatest common divisor; of 0 and `n` it is `n`.
pub(super) fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// A number that is the same in all lanes of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Atom(u32);

/// Things that take few values, one after another, and can be gone through: bit 0 is the warp's number in its block, the others are loops.
pub(super) type Varies = u64;

/// The warp's number in its block.
pub(super) const WARP: Varies = 1;

/// What an atom is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum AtomSource {
    /// Where the block or the thread stands; how large block and grid are.
    Geometry(Special, Axis),
    /// A buffer's length.
    Length(Object),
    /// A number in a parameter: the object and the way to it.
    Parameter(Object, Vec<u64>),
    /// The number of a loop's iteration.
    Iteration(Inst),
    /// The warp's number in its block.
    Warp,
    /// Some other number.
    Other(u32),
}

#[derive(Debug)]
struct AtomData {
    source: AtomSource,
    divisor: u64,
    most: Option<u64>,
    varies: Varies,
    /// For what is made of the warp's number alone: by warp.
    by_warp: Option<Vec<i64>>,
    /// Whether it is the same number in all warps of a block.
    of_block: bool,
    /// What it depends on of what changes from block to block and from round to round.
    reasons: Reasons,
}

/// The atoms of a kernel.
#[derive(Debug, Default)]
pub(super) struct Atoms {
    list: Vec<AtomData>,
    known: HashMap<AtomSource, Atom>,
    others: u32,
    /// The grid's blocks, if the launch is known.
    grid: Option<[u32; 3]>,
}

impl Atoms {
    /// For a launch of so many blocks, if that is known.
    pub(super) fn of_grid(grid: Option<[u32; 3]>) -> Atoms {
        Atoms { grid, ..Atoms::default() }
    }

    /// What a sum is in the middle of the grid and of the block, if it is made of nothing but places and known numbers.
    pub(super) fn in_the_middle(&self, sum: &LaneSum) -> Option<Lanes> {
        let grid = self.grid?;
        let number = |atom: &Atom| {
            let data = &self.list[atom.0 as usize];
            if let AtomSource::Geometry(special @ (Special::BlockIdx | Special::GridDim), axis) = &data.source {
                let blocks = i64::from(grid[*axis as usize]);
                return Some(if *special == Special::BlockIdx { blocks / 2 } else { blocks });
            }
            data.by_warp.as_ref().and_then(|numbers| numbers.get(numbers.len() / 2)).copied()
        };
        let mut middle = LaneSum::constant(sum.bits(), 0);
        for (product, lanes) in sum.terms() {
            let factor = product.iter().map(number).try_fold(1i64, |factor, number| Some(factor.wrapping_mul(number?)))?;
            middle.add(Vec::new(), &lanes.map(|n| n.wrapping_mul(factor)));
        }
        middle.as_constant()
    }

    /// The atom of a source: a multiple of `divisor`, at most `most`.
    pub(super) fn get(&mut self, source: AtomSource, divisor: u64, most: Option<u64>, varies: Varies) -> Atom {
        if let Some(atom) = self.known.get(&source) {
            return *atom;
        }
        let atom = Atom(self.list.len() as u32);
        let of_block = source != AtomSource::Warp;
        let reasons = if let AtomSource::Geometry(Special::BlockIdx, axis) = source { Dependence::axis(axis) } else { 0 };
        self.list.push(AtomData { source: source.clone(), divisor, most, varies, by_warp: None, of_block, reasons });
        self.known.insert(source, atom);
        atom
    }

    /// An atom like no other.
    pub(super) fn fresh(&mut self, divisor: u64, most: Option<u64>, varies: Varies) -> Atom {
        self.others += 1;
        self.get(AtomSource::Other(self.others), divisor, most, varies)
    }

    /// The warp's number, in a block of `warps`.
    pub(super) fn warp(&mut self, warps: Option<u64>) -> Atom {
        let atom = self.get(AtomSource::Warp, 1, warps.map(|n| n - 1), if warps.is_some() { WARP } else { 0 });
        self.list[atom.0 as usize].by_warp = warps.map(|n| (0..n as i64).collect());
        atom
    }

    /// Says that an atom need not be the same number in all warps of a block.
    pub(super) fn differs_by_warp(&mut self, atom: Atom) {
        self.list[atom.0 as usize].of_block = false;
    }

    /// Says what an atom depends on.
    pub(super) fn depends_on(&mut self, atom: Atom, reasons: Reasons) {
        self.list[atom.0 as usize].reasons |= reasons;
    }

    /// What an atom depends on.
    pub(super) fn reasons(&self, atom: Atom) -> Reasons {
        self.list[atom.0 as usize].reasons
    }

    /// What the unknown numbers of a sum depend on.
    pub(super) fn reasons_of(&self, sum: &LaneSum) -> Reasons {
        sum.atoms().fold(0, |all, atom| all | self.reasons(atom))
    }

    /// Whether a sum's unknown numbers are the same in all warps of a block.
    pub(super) fn is_of_block(&self, sum: &LaneSum) -> bool {
        sum.atoms().all(|atom| self.list[atom.0 as usize].of_block)
    }

    /// An atom that is this number in each warp.
    fn of_warps(&mut self, numbers: Vec<i64>) -> Atom {
        let divisor = numbers.iter().fold(0, |d, n| gcd(d, n.unsigned_abs()));
        let most = numbers.iter().max().map(|n| *n as u64);
        let atom = self.fresh(divisor, most, WARP);
        (self.list[atom.0 as usize].by_warp, self.list[atom.0 as usize].of_block) = (Some(numbers), false);
        atom
    }

    /// The number of the last iteration that an atom counts, if that is known.
    pub(super) fn last_iteration(&self, atom: Atom) -> Option<u64> {
        let data = &self.list[atom.0 as usize];
        if matches!(data.source, AtomSource::Iteration(_)) { data.most } else { None }
    }

    /// What an atom is.
    pub(super) fn source(&self, atom: Atom) -> &AtomSource {
        &self.list[atom.0 as usize].source
    }
}

/// A product of atoms, in order. The empty one is 1.
pub(super) type Product = Vec<Atom>;

/// A sum of products, with a coefficient for each lane.
pub(super) type LaneSum = Polynomial<Atom, Lanes>;

impl LaneSum {
    /// Whether it is the same in all lanes.
    pub(super) fn is_uniform(&self) -> bool {
        self.terms().all(|(_, lanes)| matches!(lanes, Lanes::Same(_)))
    }

    /// Whether the unknown part is the same in all lanes.
    pub(super) fn has_one_base(&self) -> bool {
        self.unknown().all(|(_, lanes)| matches!(lanes, Lanes::Same(_)))
    }
}

/// What an integer is.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sum {
    sum: LaneSum,
    /// Whether it is so but at a boundary: `min(i, n - 1)` is taken for `i`.
    pub(super) is_clamped: bool,
}

impl From<LaneSum> for Sum {
    fn from(sum: LaneSum) -> Sum {
        Sum { sum, is_clamped: false }
    }
}

impl Deref for Sum {
    type Target = LaneSum;

    fn deref(&self) -> &LaneSum {
        &self.sum
    }
}

impl Sum {
    /// Known numbers.
    pub(super) fn known(bits: u32, lanes: &Lanes) -> Sum {
        LaneSum::known(bits, lanes).into()
    }

    /// One known number.
    pub(super) fn number(bits: u32, number: i64) -> Sum {
        LaneSum::constant(bits, number).into()
    }

    /// An atom.
    pub(super) fn atom(bits: u32, atom: Atom) -> Sum {
        LaneSum::atom(bits, atom).into()
    }

    /// What a sum is but at a boundary.
    pub(super) fn clamped(sum: &LaneSum) -> Sum {
        Sum { sum: sum.clone(), is_clamped: true }
    }

    /// The same, clamped where one of those it is made of is.
    #[must_use]
    pub(super) fn made_of(self, parts: &[&Sum]) -> Sum {
        Sum { is_clamped: self.is_clamped || parts.iter().any(|part| part.is_clamped), ..self }
    }

    /// `self + factor · other`.
    #[must_use]
    pub(super) fn plus(&self, other: &Sum, factor: i64) -> Sum {
        Sum::from(self.sum.plus(other, factor)).made_of(&[self, other])
    }

    /// `self · other`; `None` if that has too many terms.
    pub(super) fn times(&self, other: &Sum) -> Option<Sum> {
        Some(Sum::from(self.sum.times(other)?).made_of(&[self, other]))
    }

    /// In arithmetic of another width: narrower cuts off, wider keeps the number.
    #[must_use]
    pub(super) fn resized(&self, bits: u32) -> Sum {
        Sum::from(self.sum.resized(bits)).made_of(&[self])
    }

    /// Lane by lane `self` or `other`.
    #[must_use]
    pub(super) fn chosen(&self, other: &Sum, from_self: Mask) -> Sum {
        let mut sum = LaneSum::constant(self.bits(), 0);
        for (own, of) in [(from_self, self), (!from_self, other)] {
            let own = Lanes::each(std::array::from_fn(|lane| i64::from(own >> lane & 1)));
            of.terms().for_each(|(product, lanes)| sum.add(product.clone(), &lanes.zip(&own, i64::wrapping_mul)));
        }
        Sum::from(sum).made_of(&[self, other])
    }
}

impl Atoms {
    /// What can be gone through in order to know more of a sum.
    pub(super) fn varies(&self, sum: &LaneSum) -> Varies {
        sum.atoms().fold(0, |all, atom| all | self.list[atom.0 as usize].varies)
    }

    /// Whether nothing else is unknown of a sum.
    pub(super) fn is_all_varying(&self, sum: &LaneSum) -> bool {
        sum.atoms().all(|atom| self.list[atom.0 as usize].varies != 0)
    }

    /// Whether the block's place in the grid is in it.
    pub(super) fn names_block(&self, sum: &LaneSum) -> bool {
        let is_place = |atom: Atom| matches!(self.source(atom), AtomSource::Geometry(Special::BlockIdx, _));
        sum.atoms().any(is_place)
    }

    /// The greatest number that surely divides the unknown part; 0 if there is none.
    pub(super) fn divisor(&self, sum: &LaneSum) -> u64 {
        sum.unknown().fold(0, |d, (product, lanes)| gcd(d, self.product_divisor(product).saturating_mul(lanes.divisor())))
    }

    /// The same of one term with coefficient 1.
    pub(super) fn product_divisor(&self, product: &[Atom]) -> u64 {
        product.iter().fold(1u64, |d, atom| d.saturating_mul(self.list[atom.0 as usize].divisor.max(1)))
    }

    /// The greatest number a sum can be, if its coefficients are not negative and its atoms bounded.
    pub(super) fn most(&self, sum: &LaneSum) -> Option<u64> {
        let mut most = 0u64;
        for (product, lanes) in sum.terms() {
            let greatest = lanes.all().into_iter().max()?;
            if lanes.all().into_iter().any(|n| n < 0) {
                return None;
            }
            let mut bound = greatest as u64;
            for atom in product {
                bound = bound.checked_mul(self.list[atom.0 as usize].most?)?;
            }
            most = most.checked_add(bound)?;
        }
        Some(most)
    }

    /// What a sum is in one warp, as far as that depends on the warp's number.
    pub(super) fn in_warp(&self, sum: &LaneSum, warp: usize) -> LaneSum {
        let mut result = LaneSum::constant(sum.bits(), 0);
        for (product, lanes) in sum.terms() {
            let (mut factor, mut rest) = (1i64, Vec::new());
            for atom in product {
                match &self.list[atom.0 as usize].by_warp {
                    Some(numbers) => factor = factor.wrapping_mul(numbers.get(warp).copied().unwrap_or(0)),
                    None => rest.push(*atom),
                }
            }
            result.add(rest, &lanes.map(|n| n.wrapping_mul(factor)));
        }
        result
    }

    /// `sum / d`, rounded down.
    pub(super) fn quotient(&mut self, sum: &LaneSum, d: u64) -> Option<LaneSum> {
        let (unknown, known) = sum.without_constant();
        let step = self.divisor(sum);
        let floor = |n: i64| n.div_euclid(d as i64);
        let by = |n: i64| n / d as i64;
        if sum.unknown().all(|(_, lanes)| lanes.divisor() % d == 0) {
            let mut result = LaneSum::known(sum.bits(), &known.map(floor));
            unknown.terms().for_each(|(product, lanes)| result.add(product.clone(), &lanes.map(by)));
            return Some(result);
        }
        // Whatever the unknown part is past a multiple of `d`, lanes must stay as far apart.
        let rest = residues(step, d)?;
        let known = known.all();
        let apart = |r: u64, lane: usize| floor(known[lane] + r as i64) - floor(known[0] + r as i64);
        if !unknown.has_one_base() || (0..LANES).any(|lane| rest.iter().any(|r| apart(*r, lane) != apart(rest[0], lane))) {
            return None;
        }
        let first = self.derived(&unknown, |n| floor(n + known[0]), if step.is_multiple_of(d) { step / d } else { 1 });
        let lanes = Lanes::each(std::array::from_fn(|lane| apart(rest[0], lane)));
        Some(LaneSum::atom(sum.bits(), first).plus(&LaneSum::known(sum.bits(), &lanes), 1))
    }

    /// `sum % d` of a sum that is not negative.
    pub(super) fn remainder(&mut self, sum: &LaneSum, d: u64) -> Option<LaneSum> {
        if self.most(sum).is_some_and(|most| most < d) {
            return Some(sum.clone());
        }
        let (unknown, known) = sum.without_constant();
        let step = self.divisor(sum);
        if step.is_multiple_of(d) {
            return Some(LaneSum::known(sum.bits(), &known.map(|n| n.rem_euclid(d as i64))));
        }
        let rest = residues(step, d)?;
        let last = *rest.last()? as i64;
        let within = known.map(|n| n.rem_euclid(gcd(step, d) as i64));
        // The known part does not carry: it is below what the unknown part is a multiple of.
        let carried = known.zip(&within, |n, low| n - low);
        let carried = carried.same()?;
        if !unknown.has_one_base() || within.all().into_iter().any(|n| last + n >= d as i64) {
            return None;
        }
        let atom = self.derived(&unknown, |n| (n + carried).rem_euclid(d as i64), gcd(step, d));
        self.list[atom.0 as usize].most = Some(last as u64);
        Some(LaneSum::atom(sum.bits(), atom).plus(&LaneSum::known(sum.bits(), &within), 1))
    }

    /// An atom for a function of a sum that is the same in all lanes.
    fn derived(&mut self, sum: &LaneSum, f: impl Fn(i64) -> i64, divisor: u64) -> Atom {
        let varies = self.varies(sum);
        let warps = match self.known.get(&AtomSource::Warp) {
            Some(warp) if varies == WARP => self.list[warp.0 as usize].by_warp.as_ref().map_or(0, Vec::len),
            _ => 0,
        };
        let numbers: Option<Vec<i64>> = (0..warps).map(|warp| self.in_warp(sum, warp).as_constant()?.same().map(&f)).collect();
        match numbers {
            Some(numbers) if !numbers.is_empty() => self.of_warps(numbers),
            _ => {
                let atom = self.fresh(divisor, None, varies);
                self.list[atom.0 as usize].of_block = self.is_of_block(sum);
                self.depends_on(atom, self.reasons_of(sum));
                atom
            }
        }
    }
}

/// Everything a multiple of `step` can be past a multiple of `d`; `None` if that is much.
pub(super) fn residues(step: u64, d: u64) -> Option<Vec<u64>> {
    let step = gcd(step, d);
    (d / step.max(1) <= 256).then(|| (0..d).step_by(step as usize).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane() -> LaneSum {
        LaneSum::known(32, &Lanes::each(std::array::from_fn(|n| n as i64)))
    }

    #[test]
    fn quotients_and_remainders_keep_what_is_known_of_lanes() {
        let mut atoms = Atoms::default();
        let block = atoms.get(AtomSource::Geometry(Special::BlockIdx, Axis::X), 1, None, 0);
        let first = LaneSum::constant(32, 256).times(&LaneSum::atom(32, block)).unwrap();
        let i = first.plus(&lane(), 1);
        // Multiples of 32 fall out.
        assert_eq!(atoms.quotient(&i, 32).unwrap(), LaneSum::constant(32, 8).times(&LaneSum::atom(32, block)).unwrap());
        assert_eq!(atoms.remainder(&i, 8).unwrap().as_constant(), Some(lane().constant_term().map(|n| n % 8)));
        // 256 is no multiple of 3.
        assert_eq!(atoms.remainder(&i, 3), None);
        // In which half of 512 the warp is, is not known, but that it does not cross its middle.
        let rest = atoms.remainder(&i, 512).unwrap();
        assert_eq!((rest.constant_term(), atoms.divisor(&rest)), (lane().constant_term(), 256));
        // One beyond the warp's begin, eights lie otherwise.
        let beyond = i.plus(&LaneSum::constant(32, 1), 1);
        assert_eq!(atoms.quotient(&beyond, 8).unwrap().constant_term(), lane().constant_term().map(|n| (n + 1) / 8));
    }

    #[test]
    fn what_is_made_of_the_warp_is_known_by_warp() {
        let mut atoms = Atoms::default();
        let warp = atoms.warp(Some(8));
        let thread = LaneSum::constant(32, 32).times(&LaneSum::atom(32, warp)).unwrap().plus(&lane(), 1);
        assert_eq!(atoms.remainder(&thread, 256).unwrap(), thread);
        let (x, y) = (atoms.remainder(&thread, 64).unwrap(), atoms.quotient(&thread, 64).unwrap());
        assert_eq!(atoms.in_warp(&x, 3).as_constant(), Some(lane().constant_term().map(|n| n + 32)));
        assert_eq!(atoms.in_warp(&y, 3).as_constant(), Some(Lanes::Same(1)));
    }

    #[test]
    fn a_chain_of_squares_ends() {
        let mut atoms = Atoms::default();
        let mut square = Some(LaneSum::atom(32, atoms.fresh(1, None, 0)));
        for _ in 0..100 {
            square = square.and_then(|sum| sum.times(&sum));
        }
        assert_eq!(square, None);
    }
}
