//! Fragments of doubles for `mma.sync`, which threads load themselves.
//!
//! Lane l has g = l / 4 and t = l % 4. The instruction sums over 8 steps, of which a lane has two: which they are is open, if both factors have the same ([`Order`]).
//!
//! A pass of shared memory serves 16 lanes that read 8 bytes: four of g, all of t. They meet different banks in a tile of rows that are swizzled over 128 bytes, or padded by two doubles, if
//!
//! * where rows go along K, g chooses the row, which moves 16 bytes by 1 and 2 places: t has to choose among the doubles of 16 bytes, and among halves of 128;
//! * where they go across, g chooses among 32 bytes: t has to choose rows that move these by 2 and 4 places.
//!
//! If one factor goes along and one across, no order serves both: there is one with which both take two passes.

use super::mma::Side;
use super::plus;
use crate::ir::{Access, BinaryOp, Builder, Kernel, Op, ProductFactor, Step, Type, Value};

/// Steps of an instruction along K.
const STEPS: u64 = 8;

/// How many steps along K a digit of a double's number moves.
#[derive(Clone, Copy)]
struct Order {
    /// t / 2, and t % 2.
    of_lane: [u64; 2],
    /// Whether it is the second of two instructions.
    second: u64,
    /// Whether it is the second of the lane's two.
    r: u64,
}

/// Both factors along K, one of them, neither.
const ALONG: Order = Order { of_lane: [8, 1], second: 4, r: 2 };
const MIXED: Order = Order { of_lane: [8, 4], second: 2, r: 1 };
const ACROSS: Order = Order { of_lane: [4, 2], second: 8, r: 1 };

/// Both along K, where K is no multiple of 16.
const SHORT: Order = Order { of_lane: [4, 1], second: 8, r: 2 };

impl Order {
    /// Of a product of these factors.
    fn of(kernel: &Kernel, a: Option<&ProductFactor>, b: &ProductFactor) -> Order {
        let in_pairs = b.shape(kernel).is_some_and(|(k, _, _)| k.is_multiple_of(2 * STEPS));
        match (a.is_none_or(|a| !a.is_transposed), b.is_transposed) {
            (true, true) if in_pairs => ALONG,
            (true, true) => SHORT,
            (true, false) | (false, true) if in_pairs => MIXED,
            _ => ACROSS,
        }
    }
}

/// Where the lanes of a warp find a factor.
pub(super) struct Doubles<'f> {
    factor: &'f ProductFactor,
    side: Side,
    /// The warp's first row of `a`, or column of `b`, and g more.
    outer: Value,
    /// What of the lane's steps along K its number decides.
    k: Value,
    order: Order,
}

impl<'f> Doubles<'f> {
    /// Of a product of `a` and `b`, the side's. `base`: the warp's first row of `a`, or column of `b`.
    pub(super) fn new(
        build: &mut Builder<'_>,
        (a, b): (Option<&'f ProductFactor>, &'f ProductFactor),
        base: Value,
        lane: Value,
        side: Side,
    ) -> Doubles<'f> {
        let ty = build.kernel.ty(lane);
        let order = Order::of(build.kernel, a, b);
        let [four, two] = [4, 2].map(|n| build.int(ty, n));
        let group = build.binary(BinaryOp::Div, lane, four);
        let outer = build.binary(BinaryOp::Add, base, group);
        let of_group = build.binary(BinaryOp::Rem, lane, four);
        let digits = [build.binary(BinaryOp::Div, of_group, two), build.binary(BinaryOp::Rem, lane, two)];
        let [high, low] = [0, 1].map(|digit| {
            let far = build.int(ty, i128::from(order.of_lane[digit]));
            build.binary(BinaryOp::Mul, digits[digit], far)
        });
        let k = build.binary(BinaryOp::Add, high, low);
        let factor = a.filter(|_| side == Side::A).unwrap_or(b);
        Doubles { factor, side, outer, k, order }
    }

    /// The registers of 16 rows or columns from `outer` on, for one step along K from `k` on, in the order that `mma` wants: of `a` both rows of the first of the lane's steps, then of the
    /// second; of `b` both steps of the first column, then of the second.
    pub(super) fn load(&self, b: &mut Builder<'_>, outer: u64, k: u64) -> Vec<Value> {
        let step = k / STEPS;
        let first = step / 2 * (2 * STEPS) + step % 2 * self.order.second;
        let places = match self.side {
            Side::A => [[0, 0], [8, 0], [0, 1], [8, 1]],
            Side::B => [[0, 0], [0, 1], [8, 0], [8, 1]],
        };
        places.map(|[further, r]| self.element(b, outer + further, first + r * self.order.r)).to_vec()
    }

    /// The element that is so far from the lane's first.
    fn element(&self, b: &mut Builder<'_>, outer: u64, k: u64) -> Value {
        let (outer, k) = (plus(b, self.outer, outer), plus(b, self.k, k));
        let is_along = self.factor.is_transposed == (self.side == Side::B);
        let [row, column] = if is_along { [outer, k] } else { [k, outer] };
        let path = self.factor.array.path.iter().copied().chain([Step::Index(row), Step::Index(column)]).collect();
        let inst = b.push(Op::load(Access { object: self.factor.array.object, path }), &[Type::F64]);
        b.kernel.insts[inst].results[0]
    }
}
