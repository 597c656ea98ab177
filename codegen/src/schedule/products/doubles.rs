//! Fragments of doubles for `mma.sync`, which threads load themselves.
//!
//! Lane l has g = l / 4 and t = l % 4. The instruction sums over 8 steps, of which a lane has two: which they are is open, if both factors have the same. They are neighbours, so a row along K
//! is read by 16 bytes:
//!
//! ```text
//! K of 16 and more:  k = 16 · (step / 2) + 4t + 2 · (step % 2), and the next
//! else:              k = 8 · step + 2t, and the next
//! ```
//!
//! A pass of shared memory serves eight lanes: two rows of `g`, four chunks of 16 bytes. With the first of these the chunks of a row are every other one, and where the next row is one chunk further, by
//! `#[shared(pad = 2)]` or a swizzle over 128 bytes, the eight meet different banks. With the second they are 64 bytes side by side, and rows of eight doubles need no room between them.

use super::mma::Side;
use super::plus;
use crate::ir::{Access, BinaryOp, Builder, Op, ProductFactor, Step, Type, Value};

/// Steps of an instruction along K.
const STEPS: u64 = 8;

/// Where the lanes of a warp find a factor.
pub(super) struct Doubles<'f> {
    factor: &'f ProductFactor,
    side: Side,
    /// The warp's first row of `a`, or column of `b`, and g more.
    outer: Value,
    /// The lane's first step along K.
    k: Value,
    /// Whether the array's rows go along K.
    along: bool,
    /// Whether two instructions share 16 steps.
    in_pairs: bool,
}

impl<'f> Doubles<'f> {
    /// `base`: the warp's first row of `a`, or column of `b`.
    pub(super) fn new(b: &mut Builder<'_>, factor: &'f ProductFactor, base: Value, lane: Value, side: Side) -> Doubles<'f> {
        let ty = b.kernel.ty(lane);
        let along = factor.is_transposed == (side == Side::B);
        let all = factor.shape(b.kernel).map_or(0, |(rows, columns, _)| if side == Side::A { columns } else { rows });
        let in_pairs = all.is_multiple_of(2 * STEPS);
        let four = b.int(ty, 4);
        let of_lane = b.binary(BinaryOp::Rem, lane, four);
        let own = b.int(ty, if in_pairs { 4 } else { 2 });
        let k = b.binary(BinaryOp::Mul, of_lane, own);
        let group = b.binary(BinaryOp::Div, lane, four);
        let outer = b.binary(BinaryOp::Add, base, group);
        Doubles { factor, side, outer, k, along, in_pairs }
    }

    /// The registers of 16 rows or columns from `outer` on, for one step along K from `k` on, in the order that `mma` wants: of `a` both rows of the first of the lane's steps, then of the
    /// second; of `b` both steps of the first column, then of the second.
    pub(super) fn load(&self, b: &mut Builder<'_>, outer: u64, k: u64) -> Vec<Value> {
        let step = k / STEPS;
        let first = if self.in_pairs { step / 2 * (2 * STEPS) + step % 2 * 2 } else { k };
        let halves = [outer, outer + 8].map(|outer| self.pair(b, outer, first));
        match self.side {
            Side::A => vec![halves[0][0], halves[1][0], halves[0][1], halves[1][1]],
            Side::B => halves.concat(),
        }
    }

    /// The lane's two steps of a row of `a`, or a column of `b`.
    fn pair(&self, b: &mut Builder<'_>, outer: u64, k: u64) -> [Value; 2] {
        let outer = plus(b, self.outer, outer);
        let at = |b: &mut Builder<'_>, further: u64| {
            let k = plus(b, self.k, k + further);
            let [row, column] = if self.along { [outer, k] } else { [k, outer] };
            let path = self.factor.array.path.iter().copied().chain([Step::Index(row), Step::Index(column)]).collect();
            Access { object: self.factor.array.object, path }
        };
        if self.along {
            let access = at(b, 0);
            let inst = b.push(Op::load(access), &[Type::F64; 2]);
            let results = &b.kernel.insts[inst].results;
            return [results[0], results[1]];
        }
        [0, 1].map(|further| {
            let access = at(b, further);
            let inst = b.push(Op::load(access), &[Type::F64]);
            b.kernel.insts[inst].results[0]
        })
    }
}
