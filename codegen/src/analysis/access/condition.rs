//! What a `bool` is in each lane of a warp: true, false, or unknown, and then why.

use super::lanes::{Atoms, Lanes, Mask, Sum, Varies};
use crate::ir::{BinaryOp, CompareOp};
use crate::target::limits::LANES;

/// Why something is not known of each lane, from the harmless to the hopeless.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Uncertainty {
    /// It is known.
    #[default]
    None,
    /// It is the same in all lanes of a warp.
    Uniform,
    /// All lanes but at a boundary of the grid (`i < n`): where a launch has whole warps within it, all of them.
    Boundary,
    /// Lanes up to a number (`t < n`), or all but one (`i == 0`): one warp of a block or of a row may be split.
    Limit,
    /// It depends on data.
    Data,
}

/// A `bool`, lane by lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Condition {
    /// Lanes where it surely holds.
    pub(super) yes: Mask,
    /// Lanes where it surely does not.
    pub(super) no: Mask,
    /// What is known of the other lanes.
    pub(super) rest: Uncertainty,
    /// What can be gone through in order to know more.
    pub(super) varies: Varies,
    /// At a boundary or limit: which way the lanes inside go.
    pub(super) usually: Option<bool>,
}

impl Condition {
    /// The same in every lane.
    pub(super) fn always(holds: bool) -> Condition {
        Condition::known(if holds { Mask::MAX } else { 0 })
    }

    /// True in these lanes, false in the others.
    pub(super) fn known(yes: Mask) -> Condition {
        Condition { yes, no: !yes, rest: Uncertainty::None, varies: 0, usually: None }
    }

    /// Known in no lane.
    pub(super) fn unknown(rest: Uncertainty, varies: Varies) -> Condition {
        Condition { yes: 0, no: 0, rest, varies, usually: None }
    }

    /// Lanes where nothing is known.
    pub(super) fn open(&self) -> Mask {
        !(self.yes | self.no)
    }

    /// Whether it is the same in all lanes, known or not.
    pub(super) fn is_uniform(&self) -> bool {
        self.yes == Mask::MAX || self.no == Mask::MAX || self.open() == Mask::MAX && self.rest <= Uncertainty::Uniform
    }

    /// `weak`: the way on which the whole is as soon as one part is (`false` of `&&`).
    fn made(yes: Mask, no: Mask, of: [&Condition; 2], weak: Option<bool>) -> Condition {
        if yes | no == Mask::MAX {
            return Condition::known(yes);
        }
        let uncertainty = |c: &Condition| if c.open() == 0 { Uncertainty::None } else { c.rest };
        let rest = uncertainty(of[0]).max(uncertainty(of[1]));
        let ways = of.iter().filter(|c| c.open() != 0).map(|c| c.usually);
        let usually = weak.and_then(|weak| match ways.clone().any(|way| way == Some(weak)) {
            true => Some(weak),
            false => ways.clone().all(|way| way == Some(!weak)).then_some(!weak),
        });
        Condition { yes, no, rest, varies: of[0].varies | of[1].varies, usually }
    }

    /// `!a`.
    #[must_use]
    pub(super) fn not(self) -> Condition {
        Condition { yes: self.no, no: self.yes, usually: self.usually.map(|way| !way), ..self }
    }

    /// `a op b`.
    pub(super) fn binary(op: BinaryOp, a: &Condition, b: &Condition) -> Condition {
        let (yes, no, decides) = if op == BinaryOp::And {
            (a.yes & b.yes, a.no | b.no, Some(false))
        } else if op == BinaryOp::Or {
            (a.yes | b.yes, a.no & b.no, Some(true))
        } else {
            (a.yes & b.no | a.no & b.yes, a.yes & b.yes | a.no & b.no, None)
        };
        Condition::made(yes, no, [a, b], decides)
    }

    /// `if self { a } else { b }`.
    #[must_use]
    pub(super) fn select(self, a: &Condition, b: &Condition) -> Condition {
        let left = Condition::binary(BinaryOp::And, &self, a);
        let right = Condition::binary(BinaryOp::And, &self.not(), b);
        Condition::binary(BinaryOp::Or, &left, &right)
    }

    /// `a op b` of integers, neither of them known in all lanes.
    pub(super) fn compare(atoms: &Atoms, op: CompareOp, a: &Sum, b: &Sum) -> Condition {
        let difference = a.plus(b, -1);
        if let Some(known) = difference.as_constant() {
            return Condition::known(holding(&known, op));
        }
        if difference.is_uniform() {
            return Condition::unknown(Uncertainty::Uniform, atoms.varies(&difference));
        }
        let is_equality = matches!(op, CompareOp::Eq | CompareOp::Ne);
        // Only where nothing else is open does it help to go through what varies.
        let kind = kind(atoms, &difference, is_equality);
        let varies = if kind == Uncertainty::Data { atoms.varies(&difference) } else { 0 };
        let open = Condition { usually: usually(atoms, op, a, b), ..Condition::unknown(kind, varies) };
        if !difference.has_one_base() {
            return open;
        }
        let (known, step) = (difference.constant_term(), atoms.divisor(&difference).max(1) as i64);
        if is_equality {
            // Where it is no multiple, it is not the number that would make it zero.
            let differs = holding(&known.map(|n| n.rem_euclid(step)), CompareOp::Ne);
            let apart = Condition { no: differs, ..open };
            return if op == CompareOp::Eq { apart } else { apart.not() };
        }
        // The unknown part goes in steps: if no lane's known part lies beyond another step, all lanes are on one side.
        let side = |n: i64| if matches!(op, CompareOp::Lt | CompareOp::Ge) { n.div_euclid(step) } else { -(-n).div_euclid(step) };
        if matches!(known.map(side), Lanes::Same(_)) { Condition::unknown(Uncertainty::Uniform, open.varies) } else { open }
    }
}

/// Lanes where the number is `op` zero.
fn holding(numbers: &Lanes, op: CompareOp) -> Mask {
    let holds = |n: i64| match op {
        CompareOp::Eq => n == 0,
        CompareOp::Ne => n != 0,
        CompareOp::Lt => n < 0,
        CompareOp::Le => n <= 0,
        CompareOp::Gt => n > 0,
        CompareOp::Ge => n >= 0,
    };
    let numbers = numbers.all();
    (0..LANES).fold(0, |mask, lane| mask | Mask::from(holds(numbers[lane])) << lane)
}

/// What a comparison of the lanes' places with one number is.
fn kind(atoms: &Atoms, difference: &Sum, is_equality: bool) -> Uncertainty {
    if atoms.is_all_varying(difference) {
        Uncertainty::Data
    } else if atoms.names_block(difference) && !is_equality {
        Uncertainty::Boundary
    } else {
        Uncertainty::Limit
    }
}

/// Which way lanes inside the grid go: as most in its middle, if a launch says where that is; else places are below bounds, above 0, and not the one
/// place that something is about.
fn usually(atoms: &Atoms, op: CompareOp, a: &Sum, b: &Sum) -> Option<bool> {
    if let Some(middle) = atoms.in_the_middle(&a.plus(b, -1)) {
        return Some(holding(&middle, op).count_ones() as usize > LANES / 2);
    }
    let is_place = |sum: &Sum| atoms.names_block(sum) || !sum.is_uniform();
    let is_below = match (is_place(a), is_place(b)) {
        (true, false) => b.as_constant().is_none(),
        (false, true) => a.as_constant().is_some(),
        _ => return None,
    };
    Some(match op {
        CompareOp::Eq => false,
        CompareOp::Ne => true,
        CompareOp::Lt | CompareOp::Le => is_below,
        CompareOp::Gt | CompareOp::Ge => !is_below,
    })
}
