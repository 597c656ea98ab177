//! Indices as polynomials: `row * n + k * T + tx` in the things a kernel cannot know (parameters, thread and block numbers, loop counters),
//! exact in the index type's arithmetic modulo 2ʷ. What of two accesses can be told apart is told apart here.
//!
//! An *atom* is what a polynomial is a polynomial of: a geometry value, a buffer's length, a parameter, a loop counter, a loaded value, or
//! an operation that is no sum or product (`i / 32`), which is the same atom wherever its operands are the same polynomials.

mod facts;
mod polynomial;

use super::bounds::Bounds;
use super::conditions::Conditions;
use crate::collections::{HashMap, HashSet};
use crate::ir::{Address, Axis, BinaryOp, Compute, Inst, Kernel, Memory, MemoryOp, Object, Op, Special, Type, UnaryOp, Value};
pub use facts::Facts;
pub use polynomial::{Coefficient, Polynomial, wrapped};
use std::cell::OnceCell;
use std::rc::Rc;

/// What a polynomial is a polynomial of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Atom(u32);

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
        // A sum of more terms is not one any more.
        let sum = self.sum(kernel, value).filter(|sum| sum.terms().len() <= i64::MOST_TERMS);
        sum.unwrap_or_else(|| {
            let key = self.key(kernel, value);
            Polynomial::atom(kernel.ty(value).bits(), self.intern(kernel, key, value))
        })
    }

    fn sum(&mut self, kernel: &Kernel, value: Value) -> Option<Polynomial> {
        let (ty, bits) = (kernel.ty(value), kernel.ty(value).bits());
        if let (_, Op::Compute(Compute::Cast(a))) = kernel.def(value)?
            && kernel.ty(*a).is_int()
            && ty.is_int()
            && kernel.ty(*a).bits() < bits
        {
            let narrow = self.polynomial(kernel, *a);
            return self.widened(&narrow, kernel.ty(*a), bits);
        }
        arithmetic(kernel, value, |operand| Some(self.polynomial(kernel, operand)))
    }

    /// The sum in a wider type, where its range tells by how many rounds of the narrow one it is off: a sum that may be at both sides of a
    /// wrap is none in a wider type.
    fn widened(&self, narrow: &Polynomial, from: Type, bits: u32) -> Option<Polynomial> {
        let (least, greatest) = range(narrow, &|atom| self.ranges[atom.0 as usize])?;
        let (modulus, first) = (1i128 << narrow.bits(), *from.numbers().start());
        let rounds = [least, greatest].map(|sum| (sum - first).div_euclid(modulus));
        (rounds[0] == rounds[1]).then(|| narrow.resized(bits).plus(&Polynomial::constant(bits, (rounds[0] * modulus) as i64), -1))
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
                kernel.constant_path(access).map_or(Key::Value(value), |path| Key::Parameter(access.object, path))
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
            | Op::Terminator(_) => Key::Value(value),
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
        let constant = difference.constant_term();
        let common = difference.unknown().map(|(_, coefficient)| coefficient.trailing_zeros()).min().unwrap_or(0);
        if constant != 0 && constant.trailing_zeros() < common {
            return true;
        }
        // The sum's range, which has no multiple of 2ʷ in it.
        range(difference, ranges).is_some_and(|range| has_no_multiple(range, difference.bits()))
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
    for (product, coefficient) in sum.terms() {
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

/// What an operation makes of its operands' polynomials, where that is one: sums, products, and what keeps them. `of` says what an operand is; `None`
/// where it is nothing that can go into a sum.
pub fn arithmetic<A: Copy + Ord>(
    kernel: &Kernel,
    value: Value,
    mut of: impl FnMut(Value) -> Option<Polynomial<A>>,
) -> Option<Polynomial<A>> {
    let (_, Op::Compute(compute)) = kernel.def(value)? else { return None };
    let ty = kernel.ty(value);
    let bits = ty.bits();
    use Compute::*;
    match *compute {
        Const(scalar) if ty.is_int() => Some(Polynomial::constant(bits, scalar.as_int() as i64)),
        Unary(UnaryOp::Neg, a) if ty.is_int() => Some(Polynomial::constant(bits, 0).minus(&of(a)?)),
        Binary(BinaryOp::Add, a, b) if ty.is_int() => Some(of(a)?.plus(&of(b)?, 1)),
        Binary(BinaryOp::Sub, a, b) if ty.is_int() => Some(of(a)?.minus(&of(b)?)),
        Binary(BinaryOp::Mul, a, b) if ty.is_int() => of(a)?.times(&of(b)?),
        Binary(BinaryOp::Shl, a, count) => {
            let count = kernel.constant(count)?.bits % u64::from(bits);
            of(a)?.times(&Polynomial::constant(bits, 1i64.wrapping_shl(count as u32)))
        }
        MulAdd(a, b, c) if ty.is_int() => Some(of(a)?.times(&of(b)?)?.plus(&of(c)?, 1)),
        Cast(a) if ty.is_int() && kernel.ty(a).is_int() && kernel.ty(a).bits() >= bits => Some(of(a)?.resized(bits)),
        Offset(pointer, bytes) => Some(of(pointer)?.plus(&of(bytes)?, 1)),
        Const(_) | Special(..) | Unary(..) | Binary(..) | MulAdd(..) | Compare(..) | Select(..) | Cast(_) | Bitcast(_) | Len(_)
        | Address(_) | PeerAddress(..) => None,
    }
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
    fn a_narrow_sum_is_the_same_in_a_wider_type_where_its_range_says_how_often_it_wraps() {
        let mut kernel = kernel();
        let body = kernel.body;
        let mut b = Builder::new(&mut kernel, body, Loc(0));
        // Below 64, and anything.
        let (thread, block) = (b.special(Special::ThreadIdx, Axis::X), b.special(Special::BlockIdx, Axis::X));
        let away = |b: &mut Builder<'_>, of: Value, ty: Type, by: i128| {
            let (narrow, by) = (b.cast(of, ty), b.int(ty, by));
            let sum = b.binary(BinaryOp::Add, narrow, by);
            b.cast(sum, Type::U32)
        };
        let sums =
            [(thread, Type::U8, 192), (thread, Type::U8, 193), (thread, Type::I8, -64), (thread, Type::I8, 65), (block, Type::U8, 0)];
        let sums = sums.map(|(of, ty, by)| (of, away(&mut b, of, ty, by)));
        let mut affine = Affine::of(&kernel);
        let found = sums.map(|(of, sum)| affine.polynomial(&kernel, sum).minus(&affine.polynomial(&kernel, of)).as_constant());
        // 63 + 193 is 0 in 8 bits, 63 + 65 is −128, and a block's number need not fit them.
        assert_eq!(found, [Some(192), None, Some(-64), None, None]);
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
