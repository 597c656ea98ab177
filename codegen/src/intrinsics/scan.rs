//! Scans over the lanes of a warp and the threads of a block: what each thread has of the values of all threads up to it (inclusive) or before it
//! (exclusive).
//!
//! A warp is scanned in five steps: each lane joins its result with that of the lane 1 below, then 2, 4, 8, 16. No lane asks one above it, so that
//! lanes that a partial warp lacks are never asked. A block is scanned warp by warp; what is before a warp are the totals of the warps before it, joined
//! in their order. So the order depends on the number of threads alone.

use super::block::{publish, threads};
use super::call_function;
use crate::ir::intrinsic::OperandType::T;
use crate::ir::intrinsic::{Body, Call, Class, Intrinsic, OperandType};
use crate::ir::{Axis, BinaryOp, Builder, CompareOp, Effects, Scalar, Scope, Special, Type, Value};
use crate::target::limits::WARP;

const fn row(
    name: &'static str,
    effects: Effects,
    results: &'static [OperandType],
    expand: fn(&mut Builder<'_>, &[Value]) -> Vec<Value>,
) -> Intrinsic {
    Intrinsic::new(name, Call::Function, Class::Num, &[T], results, Body::Expand(expand)).effects(effects)
}

const WARP_ORDER: &str = "floats: each lane's sum with that of the lane 1 below, then 2, 4, 8, 16";
const BLOCK_ORDER: &str = "floats: the warps' totals in order, then the sum within the warp, as `warp_inclusive_sum` makes it";

pub(super) const ROWS: &[Intrinsic] = &[
    row("warp_inclusive_sum", Effects::EXCHANGE, &[T], |b, a| vec![warp_inclusive(b, BinaryOp::Add, a[0])])
        .accuracy(WARP_ORDER)
        .doc("the sum over the lanes up to this one"),
    row("warp_inclusive_min", Effects::EXCHANGE, &[T], |b, a| vec![warp_inclusive(b, BinaryOp::Min, a[0])])
        .doc("the least of the lanes up to this one"),
    row("warp_inclusive_max", Effects::EXCHANGE, &[T], |b, a| vec![warp_inclusive(b, BinaryOp::Max, a[0])])
        .doc("the greatest of the lanes up to this one"),
    row("warp_exclusive_sum", Effects::EXCHANGE, &[T], |b, a| {
        let upto = warp_inclusive(b, BinaryOp::Add, a[0]);
        vec![before(b, upto)]
    })
    .accuracy(WARP_ORDER)
    .doc("the sum over the lanes below this one; 0 in the first"),
    row("block_inclusive_sum", Effects::barrier(Scope::Block), &[T], |b, a| vec![block_inclusive(b, BinaryOp::Add, a[0])])
        .accuracy(BLOCK_ORDER)
        .doc("the sum over the block's threads up to this one"),
    row("block_inclusive_min", Effects::barrier(Scope::Block), &[T], |b, a| vec![block_inclusive(b, BinaryOp::Min, a[0])])
        .doc("the least of the block's threads up to this one"),
    row("block_inclusive_max", Effects::barrier(Scope::Block), &[T], |b, a| vec![block_inclusive(b, BinaryOp::Max, a[0])])
        .doc("the greatest of the block's threads up to this one"),
    row("block_exclusive_sum", Effects::barrier(Scope::Block), &[T], |b, a| vec![block_exclusive(b, a[0])[0]])
        .accuracy(BLOCK_ORDER)
        .doc("the sum over the block's threads before this one; 0 in the first"),
    row("block_exclusive_sum_and_total", Effects::barrier(Scope::Block), &[T, T], |b, a| block_exclusive(b, a[0]))
        .accuracy(BLOCK_ORDER)
        .doc("`block_exclusive_sum`, and the sum over the block, which is `block_inclusive_sum` of the last thread"),
];

/// The scan of a warp: before the step of distance d a lane has the result of the d lanes up to it.
fn warp_inclusive(b: &mut Builder<'_>, op: BinaryOp, value: Value) -> Value {
    let lane = b.special(Special::LaneId, Axis::X);
    [1, 2, 4, 8, 16].iter().fold(value, |value, distance| {
        let distance = b.int(Type::U32, *distance);
        let below = call_function(b, "shuffle_up", &[value, distance]);
        let has_below = b.compare(CompareOp::Ge, lane, distance);
        let joined = b.binary(op, below, value);
        b.select(has_below, joined, value)
    })
}

/// What the lane below has; 0 in the first.
fn before(b: &mut Builder<'_>, upto: Value) -> Value {
    let ty = b.kernel.ty(upto);
    let (lane, one, nothing) = (b.special(Special::LaneId, Axis::X), b.int(Type::U32, 1), b.constant(Scalar::new(ty, 0)));
    let below = call_function(b, "shuffle_up", &[upto, one]);
    let has_below = b.compare(CompareOp::Ge, lane, one);
    b.select(has_below, below, nothing)
}

/// What the warps before this one have together, `identity` in the first; and all warps.
fn around_warp(b: &mut Builder<'_>, op: BinaryOp, upto: Value) -> [Value; 2] {
    let (lane, warp) = (b.special(Special::LaneId, Axis::X), b.special(Special::WarpId, Axis::X));
    let last = last_lane(b, warp);
    let is_last = b.compare(CompareOp::Eq, lane, last);
    let nothing = identity(b, op, upto);
    let of_warps = publish(b, upto, is_last);
    let folded = of_warps.fold(
        b,
        |_, first| vec![nothing, first],
        |b, number, value, carried| {
            let is_own = b.compare(CompareOp::Eq, warp, number);
            let before = b.select(is_own, carried[1], carried[0]);
            vec![before, b.binary(op, carried[1], value)]
        },
    );
    of_warps.done(b);
    [folded[0], folded[1]]
}

/// The highest lane that the warp has.
fn last_lane(b: &mut Builder<'_>, warp: Value) -> Value {
    let highest = b.int(Type::U32, i128::from(WARP - 1));
    let is_whole = b.kernel.options.block.is_some_and(|[x, y, z]| (x * y * z).is_multiple_of(WARP));
    if is_whole {
        return highest;
    }
    let (threads, width, one) = (threads(b), b.int(Type::U32, i128::from(WARP)), b.int(Type::U32, 1));
    let first = b.binary(BinaryOp::Mul, warp, width);
    let last = b.binary(BinaryOp::Sub, threads, one);
    let last = b.binary(BinaryOp::Sub, last, first);
    b.binary(BinaryOp::Min, last, highest)
}

/// What joined with any value gives that value, its sign included.
fn identity(b: &mut Builder<'_>, op: BinaryOp, like: Value) -> Value {
    let ty = b.kernel.ty(like);
    let is_least = op == BinaryOp::Min;
    match (op, ty.is_float()) {
        (BinaryOp::Add, true) => b.float(ty, -0.0),
        (BinaryOp::Add, false) => b.constant(Scalar::new(ty, 0)),
        // The minimum of a number and NaN is the number.
        (_, true) => b.float(ty, f64::NAN),
        (_, false) => b.int(ty, if is_least { *ty.numbers().end() } else { *ty.numbers().start() }),
    }
}

fn block_inclusive(b: &mut Builder<'_>, op: BinaryOp, value: Value) -> Value {
    let upto = warp_inclusive(b, op, value);
    let [before, _] = around_warp(b, op, upto);
    b.binary(op, before, upto)
}

/// What is before each thread, and the total.
fn block_exclusive(b: &mut Builder<'_>, value: Value) -> Vec<Value> {
    let upto = warp_inclusive(b, BinaryOp::Add, value);
    let in_warp = before(b, upto);
    let [before, total] = around_warp(b, BinaryOp::Add, upto);
    vec![b.binary(BinaryOp::Add, before, in_warp), total]
}
