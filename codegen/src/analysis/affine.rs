//! Indices as polynomials: `row * n + k * T + tx` in the things a kernel cannot know (parameters, thread and block numbers, loop counters),
//! exact in the index type's arithmetic modulo 2ʷ. What of two accesses can be told apart is told apart here.
//!
//! An *atom* is what a polynomial is a polynomial of: a geometry value, a buffer's length, a parameter, a loop counter, a loaded value, or
//! an operation that is no sum or product (`i / 32`), which is the same atom wherever its operands are the same polynomials.

mod facts;

use super::bounds::{Bounds, type_max};
use super::conditions::Conditions;
use crate::collections::{HashMap, HashSet};
use crate::ir::{Address, Axis, BinaryOp, Compute, Inst, Kernel, Memory, MemoryOp, Object, Op, Special, Step, Type, UnaryOp, Value};
pub use facts::Facts;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// What a polynomial is a polynomial of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Atom(u32);

/// A sum of products of atoms, each with a coefficient, modulo 2ʷ. The empty product is 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Polynomial {
    bits: u32,
    /// Coefficients as signed numbers of `bits` bits, none of them 0. Atoms of a product stand in order.
    terms: BTreeMap<Vec<Atom>, i64>,
}

/// More terms than this are not a sum any more but an atom.
const MOST_TERMS: usize = 64;

/// A product of more atoms than this is an atom: a chain of squares doubles its atoms with each link.
const MOST_FACTORS: usize = 8;

impl Polynomial {
    /// A number.
    pub fn constant(bits: u32, value: i64) -> Polynomial {
        let mut sum = Polynomial { bits, terms: BTreeMap::new() };
        sum.add_term(Vec::new(), value);
        sum
    }

    fn atom(bits: u32, atom: Atom) -> Polynomial {
        let mut sum = Polynomial { bits, terms: BTreeMap::new() };
        sum.add_term(vec![atom], 1);
        sum
    }

    fn add_term(&mut self, product: Vec<Atom>, coefficient: i64) {
        let slot = self.terms.entry(product.clone()).or_insert(0);
        *slot = wrapped(self.bits, slot.wrapping_add(coefficient));
        if *slot == 0 {
            self.terms.remove(&product);
        }
    }

    /// The width of the arithmetic.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// `self + factor · other`.
    #[must_use]
    pub fn plus(&self, other: &Polynomial, factor: i64) -> Polynomial {
        let mut sum = self.clone();
        for (product, coefficient) in &other.terms {
            sum.add_term(product.clone(), coefficient.wrapping_mul(factor));
        }
        sum
    }

    /// `self - other`.
    #[must_use]
    pub fn minus(&self, other: &Polynomial) -> Polynomial {
        self.plus(other, -1)
    }

    /// `self · other`; `None` if that has too many terms, or too many factors in one.
    pub fn times(&self, other: &Polynomial) -> Option<Polynomial> {
        let mut sum = Polynomial::constant(self.bits, 0);
        let degree = |polynomial: &Polynomial| polynomial.terms.keys().map(Vec::len).max().unwrap_or(0);
        if self.terms.len() * other.terms.len() > MOST_TERMS || degree(self) + degree(other) > MOST_FACTORS {
            return None;
        }
        for (left, a) in &self.terms {
            for (right, b) in &other.terms {
                let mut product: Vec<Atom> = left.iter().chain(right).copied().collect();
                product.sort_unstable();
                sum.add_term(product, a.wrapping_mul(*b));
            }
        }
        Some(sum)
    }

    /// The number it is, if it is one.
    pub fn as_constant(&self) -> Option<i64> {
        match self.terms.len() {
            0 => Some(0),
            1 => self.terms.get(&Vec::new()).copied(),
            _ => None,
        }
    }

    /// Whether it is a multiple of `n`, a power of two, whatever its atoms are.
    pub fn is_multiple_of(&self, n: i64) -> bool {
        self.terms.values().all(|coefficient| coefficient % n == 0)
    }

    /// How far past a multiple of `n` it is, if all but its constant is a multiple of `n`.
    pub fn offset(&self, n: i64) -> Option<i64> {
        let others = self.terms.iter().filter(|(product, _)| !product.is_empty());
        let constant = self.terms.get(&Vec::new()).copied().unwrap_or(0);
        others.map(|(_, coefficient)| coefficient).all(|coefficient| coefficient % n == 0).then(|| constant.rem_euclid(n))
    }

    /// The rest of the sum, and its constant.
    pub fn without_constant(&self) -> (Polynomial, i64) {
        let mut rest = self.clone();
        let constant = rest.terms.remove(&Vec::new()).unwrap_or(0);
        (rest, constant)
    }

    /// The atoms it names.
    pub fn atoms(&self) -> impl Iterator<Item = Atom> + '_ {
        self.terms.keys().flatten().copied()
    }

    /// `a · atom + b` as (a, b), if the atom is in no square and in no other atom's operands (who asks knows about those).
    pub fn split(&self, atom: Atom) -> Option<(Polynomial, Polynomial)> {
        let mut a = Polynomial::constant(self.bits, 0);
        let mut b = Polynomial::constant(self.bits, 0);
        for (product, coefficient) in &self.terms {
            match product.iter().filter(|factor| **factor == atom).count() {
                0 => b.add_term(product.clone(), *coefficient),
                1 => a.add_term(product.iter().copied().filter(|factor| *factor != atom).collect(), *coefficient),
                _ => return None,
            }
        }
        Some((a, b))
    }

    /// With other atoms in the place of some.
    #[must_use]
    pub(crate) fn renamed(&self, names: &HashMap<Atom, Atom>) -> Polynomial {
        let mut sum = Polynomial::constant(self.bits, 0);
        for (product, coefficient) in &self.terms {
            let mut product: Vec<Atom> = product.iter().map(|atom| names.get(atom).copied().unwrap_or(*atom)).collect();
            product.sort_unstable();
            sum.add_term(product, *coefficient);
        }
        sum
    }
}

/// A number as a signed one of this many bits.
pub fn wrapped(bits: u32, value: i64) -> i64 {
    if bits < 64 { (value << (64 - bits)) >> (64 - bits) } else { value }
}

/// What makes two atoms the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Special(Special, Axis),
    Len(Object),
    Parameter(Object, Vec<u64>),
    Value(Value),
    Operation(BinaryOp, Type, Polynomial, Polynomial),
    Widened(Polynomial),
    /// Something that is like another atom, but need not be equal.
    Fresh(u32),
}

/// Makes polynomials of one kernel's values, for as long as that does not change.
#[derive(Debug)]
pub struct Affine {
    bounds: Rc<Bounds>,
    /// Found when somebody asks for them: most indices differ whatever holds.
    conditions: OnceCell<Conditions>,
    /// The loop that is looked at, and what held in the kernel when the first of its loops was.
    around: Option<(Inst, Rc<OnceCell<Conditions>>)>,
    known: HashMap<Value, Polynomial>,
    atoms: HashMap<Key, Atom>,
    keys: Vec<Key>,
    /// By atom: the least and the greatest number it can be.
    ranges: Vec<(u64, u64)>,
}

impl Affine {
    /// For the kernel as it stands.
    pub fn of(kernel: &Kernel) -> Affine {
        Affine::new(Rc::new(Bounds::of(kernel)), None)
    }

    /// For accesses in a loop of a kernel whose bounds are at hand; `conditions` are those of the kernel, which are found once for all its loops.
    pub fn inside(inst: Inst, bounds: Rc<Bounds>, conditions: Rc<OnceCell<Conditions>>) -> Affine {
        Affine::new(bounds, Some((inst, conditions)))
    }

    fn new(bounds: Rc<Bounds>, around: Option<(Inst, Rc<OnceCell<Conditions>>)>) -> Affine {
        let (known, atoms) = (HashMap::default(), HashMap::default());
        Affine { bounds, conditions: OnceCell::new(), around, known, atoms, keys: Vec::new(), ranges: Vec::new() }
    }

    /// Finds what holds where now, for somebody who changes the kernel while asking.
    pub fn settle(&self, kernel: &Kernel) {
        self.conditions(kernel);
    }

    fn conditions(&self, kernel: &Kernel) -> &Conditions {
        self.conditions.get_or_init(|| match &self.around {
            Some((inst, before)) => Conditions::inside(kernel, *inst, before.get_or_init(|| Conditions::of(kernel))),
            None => Conditions::of(kernel),
        })
    }

    /// The polynomial of an integer value.
    pub fn polynomial(&mut self, kernel: &Kernel, value: Value) -> Polynomial {
        if let Some(known) = self.known.get(&value) {
            return known.clone();
        }
        // What it is made of comes first, so that no recursion goes as deep as a chain of operations is long.
        let is_made =
            |op: &Op| matches!(op, Op::Compute(Compute::Unary(..) | Compute::Binary(..) | Compute::MulAdd(..) | Compute::Cast(_)));
        let is_new = |value: Value| {
            !self.known.contains_key(&value) && kernel.ty(value).is_int() && kernel.def(value).is_some_and(|(_, op)| is_made(op))
        };
        for part in kernel.operands_first(value, is_new) {
            let found = self.compute(kernel, part);
            self.known.insert(part, found);
        }
        let found = self.known.get(&value).cloned();
        found.unwrap_or_else(|| self.compute(kernel, value))
    }

    /// The atom that a loop's counter is.
    pub fn counter(&mut self, kernel: &Kernel, counter: Value) -> Atom {
        self.intern(kernel, Key::Value(counter), counter)
    }

    /// An atom of the same range that need not be equal.
    pub fn fresh(&mut self, like: Atom) -> Atom {
        let range = self.ranges[like.0 as usize];
        let n = self.keys.len() as u32;
        self.keys.push(Key::Fresh(n));
        self.ranges.push(range);
        Atom(n)
    }

    /// A number of `bits` bits of which nothing is known but that it is not 0.
    pub fn some_number(&mut self, bits: u32) -> Polynomial {
        let atom = Atom(self.keys.len() as u32);
        self.keys.push(Key::Fresh(atom.0));
        self.ranges.push((1, u64::MAX >> (64 - bits)));
        Polynomial::atom(bits, atom)
    }

    fn compute(&mut self, kernel: &Kernel, value: Value) -> Polynomial {
        let ty = kernel.ty(value);
        let bits = ty.bits();
        match self.sum(kernel, value, bits) {
            Some(sum) if sum.terms.len() <= MOST_TERMS => sum,
            _ => {
                let key = self.key(kernel, value);
                Polynomial::atom(bits, self.intern(kernel, key, value))
            }
        }
    }

    /// Sums, products and what keeps them.
    fn sum(&mut self, kernel: &Kernel, value: Value, bits: u32) -> Option<Polynomial> {
        let (_, op) = kernel.def(value)?;
        match *op {
            Op::Compute(Compute::Const(scalar)) if kernel.ty(value).is_int() => Some(Polynomial::constant(bits, scalar.as_int() as i64)),
            Op::Compute(Compute::Unary(UnaryOp::Neg, a)) if kernel.ty(value).is_int() => {
                Some(Polynomial::constant(bits, 0).minus(&self.polynomial(kernel, a)))
            }
            Op::Compute(Compute::Binary(op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul), a, b)) if kernel.ty(value).is_int() => {
                let (a, b) = (self.polynomial(kernel, a), self.polynomial(kernel, b));
                op.sign().map(|sign| a.plus(&b, sign as i64)).or_else(|| a.times(&b))
            }
            Op::Compute(Compute::Binary(BinaryOp::Shl, a, count)) => {
                let count = kernel.constant(count)?.bits % u64::from(bits);
                let factor = Polynomial::constant(bits, 1i64.wrapping_shl(count as u32));
                self.polynomial(kernel, a).times(&factor)
            }
            Op::Compute(Compute::MulAdd(a, b, c)) if kernel.ty(value).is_int() => {
                let product = self.polynomial(kernel, a).times(&self.polynomial(kernel, b))?;
                Some(product.plus(&self.polynomial(kernel, c), 1))
            }
            Op::Compute(Compute::Cast(a)) if kernel.ty(a).is_int() && kernel.ty(a).bits() >= bits => {
                let wide = self.polynomial(kernel, a);
                let mut narrow = Polynomial::constant(bits, 0);
                wide.terms.into_iter().for_each(|(product, coefficient)| narrow.add_term(product, coefficient));
                Some(narrow)
            }
            // A single atom or a number is the same number in a wider type; a sum may have wrapped round.
            Op::Compute(Compute::Cast(a)) if kernel.ty(a).is_unsigned_int() && kernel.ty(value).is_int() => {
                let narrow = self.polynomial(kernel, a);
                let atom = narrow.terms.iter().next().filter(|(product, n)| narrow.terms.len() == 1 && product.len() == 1 && **n == 1);
                match (atom, narrow.as_constant()) {
                    (Some((product, _)), _) => Some(Polynomial::atom(bits, product[0])),
                    (_, Some(number)) => Some(Polynomial::constant(bits, (number as u64 & type_max(kernel.ty(a))) as i64)),
                    _ => None,
                }
            }
            Op::Compute(_) | Op::Memory(_) | Op::Texture(..) | Op::Intrinsic(..) | Op::Message(_) | Op::Region(_) | Op::Terminator(_) => {
                None
            }
        }
    }

    /// What else a value is.
    fn key(&mut self, kernel: &Kernel, value: Value) -> Key {
        let Some((_, op)) = kernel.def(value) else { return Key::Value(value) };
        match op {
            Op::Compute(Compute::Special(special, axis)) => Key::Special(*special, *axis),
            Op::Compute(Compute::Len(object)) => Key::Len(*object),
            Op::Compute(Compute::Binary(op, a, b)) if kernel.ty(*a).is_int() && kernel.ty(*b).is_int() => {
                let ty = kernel.ty(value);
                Key::Operation(*op, ty, self.polynomial(kernel, *a), self.polynomial(kernel, *b))
            }
            Op::Compute(Compute::Cast(a)) if kernel.ty(*a).is_int() => Key::Widened(self.polynomial(kernel, *a)),
            Op::Memory(Memory { op: MemoryOp::Load, at: Address::Path(access) })
                if kernel.objects[access.object].kind == crate::ir::ObjectKind::Value =>
            {
                let step = |step: &Step| match step {
                    Step::Field(field) => Some(u64::from(*field)),
                    Step::Index(index) => kernel.constant(*index).map(|c| c.bits),
                };
                match access.path.iter().map(step).collect::<Option<Vec<u64>>>() {
                    Some(path) => Key::Parameter(access.object, path),
                    None => Key::Value(value),
                }
            }
            Op::Compute(_) | Op::Memory(_) | Op::Texture(..) | Op::Intrinsic(..) | Op::Message(_) | Op::Region(_) | Op::Terminator(_) => {
                Key::Value(value)
            }
        }
    }

    fn intern(&mut self, kernel: &Kernel, key: Key, value: Value) -> Atom {
        if let Some(atom) = self.atoms.get(&key) {
            return *atom;
        }
        let atom = Atom(self.keys.len() as u32);
        let least = if matches!(key, Key::Special(Special::BlockDim | Special::GridDim, _)) { 1 } else { 0 };
        let upper = self.bounds.upper(kernel, value);
        self.ranges.push((least, upper));
        self.keys.push(key.clone());
        self.atoms.insert(key, atom);
        atom
    }

    /// Whether the atom is made of values that `varies` says change.
    pub fn depends(&self, atom: Atom, varies: &dyn Fn(Value) -> bool) -> bool {
        let (mut seen, mut work) = (HashSet::from_iter([atom]), vec![atom]);
        while let Some(atom) = work.pop() {
            let found = match &self.keys[atom.0 as usize] {
                Key::Special(..) | Key::Len(_) | Key::Parameter(..) => false,
                Key::Value(value) => varies(*value),
                Key::Operation(_, _, a, b) => {
                    work.extend(a.atoms().chain(b.atoms()).filter(|atom| seen.insert(*atom)));
                    false
                }
                Key::Widened(a) => {
                    work.extend(a.atoms().filter(|atom| seen.insert(*atom)));
                    false
                }
                Key::Fresh(_) => true,
            };
            if found {
                return true;
            }
        }
        false
    }

    /// Whether the number is surely not 0, in arithmetic modulo 2ʷ, wherever in the kernel.
    pub fn is_nonzero(&self, difference: &Polynomial) -> bool {
        self.is_nonzero_within(difference, &|atom| self.ranges[atom.0 as usize])
    }

    /// The same where atoms are within these numbers.
    fn is_nonzero_within(&self, difference: &Polynomial, ranges: &dyn Fn(Atom) -> (u64, u64)) -> bool {
        if let Some(number) = difference.as_constant() {
            return number != 0;
        }
        // 2ᵏ divides all but the constant: so it does not divide the sum.
        let constant = difference.terms.get(&Vec::new()).copied().unwrap_or(0);
        let rest = difference.terms.iter().filter(|(product, _)| !product.is_empty());
        let common = rest.clone().map(|(_, coefficient)| coefficient.trailing_zeros()).min().unwrap_or(0);
        if constant != 0 && constant.trailing_zeros() < common {
            return true;
        }
        // The sum's range, which has no multiple of 2ʷ in it.
        range(difference, ranges).is_some_and(|range| has_no_multiple(range, difference.bits))
    }
}

/// Whether 0 and all other multiples of 2ʷ are outside a range.
fn has_no_multiple((least, greatest): (i128, i128), bits: u32) -> bool {
    let modulus = 1i128 << bits;
    (least > 0 && greatest < modulus) || (greatest < 0 && least > -modulus)
}

/// The least and the greatest sum, as integers that do not wrap round; `None` beyond 127 bits.
fn range(sum: &Polynomial, ranges: &dyn Fn(Atom) -> (u64, u64)) -> Option<(i128, i128)> {
    let (mut least, mut greatest) = (0i128, 0i128);
    for (product, coefficient) in &sum.terms {
        let (mut low, mut high) = (1i128, 1i128);
        for atom in product {
            let (atom_low, atom_high) = ranges(*atom);
            low = low.checked_mul(i128::from(atom_low))?;
            high = high.checked_mul(i128::from(atom_high))?;
        }
        let (a, b) = (low.checked_mul(i128::from(*coefficient))?, high.checked_mul(i128::from(*coefficient))?);
        least = least.checked_add(a.min(b))?;
        greatest = greatest.checked_add(a.max(b))?;
    }
    Some((least, greatest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::KernelOptions;
    use crate::ir::{Builder, Loc};

    fn kernel() -> Kernel {
        Kernel::new("k", KernelOptions { block: Some([64, 1, 1]), ..KernelOptions::default() })
    }

    #[test]
    fn sums_and_products_are_the_same_however_they_are_written() {
        let mut kernel = kernel();
        let body = kernel.body;
        let mut b = Builder::new(&mut kernel, body, Loc(0));
        let (x, y) = (b.special(Special::ThreadIdx, Axis::X), b.special(Special::BlockIdx, Axis::X));
        let again = b.special(Special::ThreadIdx, Axis::X);
        let (two, eight) = (b.int(Type::U32, 2), b.int(Type::U32, 8));
        let sum = b.binary(BinaryOp::Add, x, y);
        let left = b.binary(BinaryOp::Mul, sum, eight);
        let three = b.int(Type::U32, 3);
        let shifted = b.binary(BinaryOp::Shl, y, three);
        let scaled = b.binary(BinaryOp::Mul, again, eight);
        let right = b.binary(BinaryOp::Add, shifted, scaled);
        let right = b.binary(BinaryOp::Sub, right, two);
        let quotients = [x, again].map(|v| b.binary(BinaryOp::Div, v, two));
        let mut affine = Affine::of(&kernel);
        let difference = affine.polynomial(&kernel, left).minus(&affine.polynomial(&kernel, right));
        assert_eq!(difference.as_constant(), Some(2));
        assert!(affine.is_nonzero(&difference));
        assert_eq!(affine.polynomial(&kernel, quotients[0]), affine.polynomial(&kernel, quotients[1]));
    }

    #[test]
    fn what_cannot_be_zero_is_known_by_number_by_divisor_and_by_range() {
        let mut kernel = kernel();
        let body = kernel.body;
        let mut b = Builder::new(&mut kernel, body, Loc(0));
        let (thread, block) = (b.special(Special::ThreadIdx, Axis::X), b.special(Special::BlockIdx, Axis::X));
        let (two, one, far) = (b.int(Type::U32, 2), b.int(Type::U32, 1), b.int(Type::U32, 64));
        let even = b.binary(BinaryOp::Mul, block, two);
        let odd = b.binary(BinaryOp::Add, even, one);
        let beyond = b.binary(BinaryOp::Sub, thread, far);
        let within = b.binary(BinaryOp::Sub, thread, one);
        let mut affine = Affine::of(&kernel);
        let mut nonzero = |value| {
            let polynomial = affine.polynomial(&kernel, value);
            affine.is_nonzero(&polynomial)
        };
        // A thread's number is below 64, the block's size.
        assert_eq!([odd, beyond, within, even, thread].map(&mut nonzero), [true, true, false, false, false]);
    }
}
