//! Sums of products: the one form that indices, addresses and what they move by are looked at in.
//!
//! What is multiplied is anything that is not known ([`Atom`](super::Atom)s of the whole kernel, numbers that a warp's lanes have in common, plain values);
//! in front of each product stands a number, or a number for each lane of a warp.

use crate::collections::HashMap;
use std::collections::BTreeMap;
use std::hash::Hash;

/// What stands in front of a product.
pub trait Coefficient: Clone + PartialEq {
    /// Products of sums that have more terms than this are not looked at.
    const MOST_TERMS: usize;

    /// One number.
    fn number(n: i64) -> Self;

    /// `f` of every number.
    #[must_use]
    fn zip(&self, other: &Self, f: impl Fn(i64, i64) -> i64) -> Self;
}

impl Coefficient for i64 {
    const MOST_TERMS: usize = 64;

    fn number(n: i64) -> i64 {
        n
    }

    fn zip(&self, other: &i64, f: impl Fn(i64, i64) -> i64) -> i64 {
        f(*self, *other)
    }
}

/// A product of more atoms than this is an atom: a chain of squares doubles its atoms with each link.
const MOST_FACTORS: usize = 8;

/// A sum of products of atoms, each with a coefficient, modulo 2ʷ. The empty product is 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Polynomial<A = super::Atom, C = i64> {
    bits: u32,
    /// Coefficients are signed numbers of `bits` bits, none of them 0. Atoms of a product stand in order.
    terms: BTreeMap<Vec<A>, C>,
}

impl<A: Copy + Ord, C: Coefficient> Polynomial<A, C> {
    /// What is known.
    pub fn known(bits: u32, known: &C) -> Polynomial<A, C> {
        let mut sum = Polynomial { bits, terms: BTreeMap::new() };
        sum.add(Vec::new(), known);
        sum
    }

    /// A number.
    pub fn constant(bits: u32, value: i64) -> Polynomial<A, C> {
        Polynomial::known(bits, &C::number(value))
    }

    /// One atom.
    pub fn atom(bits: u32, atom: A) -> Polynomial<A, C> {
        Polynomial { bits, terms: BTreeMap::from([(vec![atom], C::number(1))]) }
    }

    /// Adds a term, whose atoms stand in order.
    pub fn add(&mut self, product: Vec<A>, coefficient: &C) {
        let (bits, zero) = (self.bits, C::number(0));
        let own = self.terms.remove(&product);
        let sum = own.as_ref().unwrap_or(&zero).zip(coefficient, |a, b| wrapped(bits, a.wrapping_add(b)));
        if sum != zero {
            self.terms.insert(product, sum);
        }
    }

    /// The width of the arithmetic.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Every product with its coefficient, in order.
    pub fn terms(&self) -> impl ExactSizeIterator<Item = (&Vec<A>, &C)> + Clone {
        self.terms.iter()
    }

    /// The terms with atoms in them.
    pub fn unknown(&self) -> impl Iterator<Item = (&Vec<A>, &C)> + Clone {
        self.terms.iter().filter(|(product, _)| !product.is_empty())
    }

    /// The atoms it names.
    pub fn atoms(&self) -> impl Iterator<Item = A> + '_ {
        self.terms.keys().flatten().copied()
    }

    /// `self + factor · other`.
    #[must_use]
    pub fn plus(&self, other: &Polynomial<A, C>, factor: i64) -> Polynomial<A, C> {
        let (mut sum, factor) = (self.clone(), C::number(factor));
        for (product, coefficient) in &other.terms {
            sum.add(product.clone(), &coefficient.zip(&factor, i64::wrapping_mul));
        }
        sum
    }

    /// `self · factor`.
    #[must_use]
    pub fn scaled(&self, factor: i64) -> Polynomial<A, C> {
        Polynomial::constant(self.bits, 0).plus(self, factor)
    }

    /// `self - other`.
    #[must_use]
    pub fn minus(&self, other: &Polynomial<A, C>) -> Polynomial<A, C> {
        self.plus(other, -1)
    }

    /// `self · other`; `None` if that has too many terms, or too many factors in one.
    pub fn times(&self, other: &Polynomial<A, C>) -> Option<Polynomial<A, C>> {
        let degree = |polynomial: &Polynomial<A, C>| polynomial.terms.keys().map(Vec::len).max().unwrap_or(0);
        if self.terms.len() * other.terms.len() > C::MOST_TERMS || degree(self) + degree(other) > MOST_FACTORS {
            return None;
        }
        let mut sum = Polynomial::constant(self.bits, 0);
        for (left, a) in &self.terms {
            for (right, b) in &other.terms {
                let mut product: Vec<A> = left.iter().chain(right).copied().collect();
                product.sort_unstable();
                sum.add(product, &a.zip(b, i64::wrapping_mul));
            }
        }
        Some(sum)
    }

    /// In arithmetic of another width: narrower cuts off, wider keeps the coefficients.
    #[must_use]
    pub fn resized(&self, bits: u32) -> Polynomial<A, C> {
        Polynomial::constant(bits, 0).plus(self, 1)
    }

    /// The coefficient of the empty product.
    pub fn constant_term(&self) -> C {
        self.terms.get(&[][..]).cloned().unwrap_or(C::number(0))
    }

    /// What it is, if all of it is known.
    pub fn as_constant(&self) -> Option<C> {
        self.unknown().next().is_none().then(|| self.constant_term())
    }

    /// The rest of the sum, and its constant.
    pub fn without_constant(&self) -> (Polynomial<A, C>, C) {
        (self.parted(|product| !product.is_empty()).0, self.constant_term())
    }

    /// The terms whose products are `part`'s, and the others.
    pub fn parted(&self, part: impl Fn(&[A]) -> bool) -> (Polynomial<A, C>, Polynomial<A, C>) {
        let (own, rest) = self.terms.clone().into_iter().partition(|(product, _)| part(product));
        (Polynomial { bits: self.bits, terms: own }, Polynomial { bits: self.bits, terms: rest })
    }

    /// `a · atom + b` as (a, b), if the atom is in no square and in no other atom's operands (who asks knows about those).
    pub fn split(&self, atom: A) -> Option<(Polynomial<A, C>, Polynomial<A, C>)> {
        let (with, b) = self.parted(|product| product.contains(&atom));
        let mut a = Polynomial::constant(self.bits, 0);
        for (mut product, coefficient) in with.terms {
            product.remove(product.iter().position(|factor| *factor == atom)?);
            if product.contains(&atom) {
                return None;
            }
            a.add(product, &coefficient);
        }
        Some((a, b))
    }
}

impl<A: Copy + Ord + Hash> Polynomial<A> {
    /// Whether it is a multiple of `n`, a power of two, whatever its atoms are.
    pub fn is_multiple_of(&self, n: i64) -> bool {
        self.terms.values().all(|coefficient| coefficient % n == 0)
    }

    /// How far past a multiple of `n` it is, if all but its constant is a multiple of `n`.
    pub fn offset(&self, n: i64) -> Option<i64> {
        let (others, constant) = self.without_constant();
        others.is_multiple_of(n).then(|| constant.rem_euclid(n))
    }

    /// The atom that it is.
    pub fn as_atom(&self) -> Option<A> {
        match self.terms.first_key_value() {
            Some((product, 1)) if self.terms.len() == 1 && product.len() == 1 => Some(product[0]),
            _ => None,
        }
    }

    /// With other atoms in the place of some.
    #[must_use]
    pub(crate) fn renamed(&self, names: &HashMap<A, A>) -> Polynomial<A> {
        let mut sum = Polynomial::constant(self.bits, 0);
        for (product, coefficient) in &self.terms {
            let mut product: Vec<A> = product.iter().map(|atom| names.get(atom).copied().unwrap_or(*atom)).collect();
            product.sort_unstable();
            sum.add(product, coefficient);
        }
        sum
    }
}

/// A number as a signed one of this many bits.
pub fn wrapped(bits: u32, value: i64) -> i64 {
    if bits < 64 { (value << (64 - bits)) >> (64 - bits) } else { value }
}
