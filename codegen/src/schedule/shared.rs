//! `#[shared(swizzle)]`; and why `#[shared(pad = P)]` has no pass.
//!
//! **Padding**: the rows of a padded array are of a type that has room behind its elements (`MemoryType::Padded`), and all that lays memory
//! out asks the type. Indices, lengths and bounds are those of the elements.
//!
//! **Swizzling** keeps the array's size and moves its elements: what the source calls `tile[…][r][c]` lies at column `c ^ (r % columns)` of its row. The
//! columns are a power of two, so within a row this is a permutation, and a column out of range stays out of range. So whatever the
//! program stores is found where it looks for it, and results do not change. Threads that walk down a column meet different banks,
//! since `r` differs; threads along a row meet a permutation of the same ones.
//!
//! **Order**: after all other passes, which see the indices of the source. **Needs** accesses of one scalar each: neighbours in the source are
//! none in memory, so `vectorize` leaves a swizzled array alone, and the verifier knows.

use super::Schedule;
use crate::ir::{Address, BinaryOp, Block, Builder, Inst, Kernel, Memory, Object, Op, Step};
use std::collections::BTreeSet;

/// Runs it.
pub(super) fn run(schedule: &mut Schedule<'_>) {
    let swizzled = std::mem::take(&mut schedule.kernel.swizzled);
    swizzle_arrays(schedule.kernel, &swizzled);
}

/// Gives all accesses to these arrays their columns.
pub(super) fn swizzle_arrays(kernel: &mut Kernel, swizzled: &BTreeSet<Object>) {
    let mut accesses = Vec::new();
    kernel.for_each_inst(|kernel, block, inst| {
        let op = &kernel.insts[inst].op;
        if matches!(op, Op::Memory(Memory { at: Address::Path(_), .. })) && op.object().is_some_and(|object| swizzled.contains(&object)) {
            accesses.push((block, inst));
        }
    });
    for (block, inst) in accesses {
        swizzle(kernel, block, inst);
    }
}

/// Gives an access to a swizzled array its column.
fn swizzle(kernel: &mut Kernel, block: Block, inst: Inst) {
    let Op::Memory(Memory { at: Address::Path(access), .. }) = &kernel.insts[inst].op else {
        return;
    };
    let [.., Step::Index(row), Step::Index(column)] = access.path[..] else { return };
    let Some(columns) = kernel.objects[access.object].ty.columns() else { return };
    let at = kernel.blocks[block].insts.iter().position(|other| *other == inst).unwrap_or(0);
    let rest = kernel.blocks[block].insts.split_off(at);
    let loc = kernel.insts[inst].loc;
    let mut b = Builder::new(kernel, block, loc);
    let (row_type, column_type) = (b.kernel.ty(row), b.kernel.ty(column));
    let mask = b.int(row_type, i128::from(columns) - 1);
    let row = b.binary(BinaryOp::And, row, mask);
    let row = b.cast(row, column_type);
    let moved = b.binary(BinaryOp::Xor, column, row);
    kernel.blocks[block].insts.extend(rest);
    if let Op::Memory(Memory { at: Address::Path(access), .. }) = &mut kernel.insts[inst].op
        && let Some(last) = access.path.last_mut()
    {
        *last = Step::Index(moved);
    }
}
