//! Sums that tiles of 16-bit elements get, by `stmatrix`: four matrices of 8 × 8 with one instruction.
//!
//! Sums that are shared out by rows lie in a warp's lanes as these matrices do (PTX ISA, "Matrix fragments"): eight that follow each other are two pairs of neighbours of each of two rows, eight apart, and so a
//! word of each of four matrices. Lane 8 · n + i names row i of the n-th.

use super::{Partition, operand, plus};
use crate::ir::{Access, Address, BinaryOp, Builder, Compute, Memory, MemoryOp, Op, Step, Type, Value};

/// Sums of a thread that an instruction stores: a pair of each matrix.
const SUMS: u64 = 8;

/// Rows, and columns, of the four together.
const SIDE: u64 = 16;

/// Stores sums, converted to the array's type, whose columns from `first` on are the array's: whether it could. The whole warp comes here.
pub(super) fn store(b: &mut Builder<'_>, to: &Access, (first, columns): (u64, u64), sums: &[Value], partition: &Partition) -> bool {
    let Some(converted) = converted(b, sums) else { return false };
    let Some(element) = sums.first().map(|sum| b.kernel.ty(*sum)).filter(|ty| operand::fits(*ty)) else { return false };
    let is_of_vectors = super::lanes(b.kernel, to, element) * u64::from(element.bytes()) == SIDE;
    let is_whole = first.is_multiple_of(SIDE) && columns.is_multiple_of(SIDE) && (sums.len() as u64).is_multiple_of(SUMS);
    if !is_of_vectors || !is_whole || !partition.is_by_rows() {
        return false;
    }
    let [row, _] = partition.base_of_warp(b);
    let index = b.kernel.ty(row);
    let thread = super::thread_number(b, index);
    let [lanes, half] = [32, SIDE].map(|n| b.int(index, i128::from(n)));
    let lane = b.binary(BinaryOp::Rem, thread, lanes);
    let [below, which] = [BinaryOp::Rem, BinaryOp::Div].map(|op| b.binary(op, lane, half));
    let row = b.binary(BinaryOp::Add, row, below);
    let eight = b.int(index, i128::from(SIDE / 2));
    let column = b.binary(BinaryOp::Mul, which, eight);
    let words = operand::words(b, &converted, element);
    for (n, words) in words.chunks(SUMS as usize / 2).enumerate() {
        let place = partition.place(n as u64 * SUMS);
        let Some(at) = place[1].checked_sub(first).filter(|at| *at < columns) else { continue };
        let [row, column] = [(row, place[0]), (column, at)].map(|(base, further)| plus(b, base, further));
        let path = to.path.iter().copied().chain([Step::Index(row), Step::Index(column)]).collect();
        let at = Address::Path(Access { object: to.object, path });
        b.push(Op::Memory(Memory { op: MemoryOp::StoreMatrix(words.to_vec()), at }), &[]);
    }
    true
}

/// What the values were before they were converted from `f32`, all of them.
fn converted(b: &Builder<'_>, sums: &[Value]) -> Option<Vec<Value>> {
    let before = |sum: &Value| match b.kernel.def(*sum) {
        Some((_, Op::Compute(Compute::Cast(from)))) if b.kernel.ty(*from) == Type::F32 => Some(*from),
        _ => None,
    };
    sums.iter().map(before).collect()
}
