//! Which block a block of the device is: `#[kernel(raster(…))]`.
//!
//! Up to here `block_idx` is where the block stands in the grid that was asked for, to every pass and analysis: the same for the whole block, below the grid's extent, and a step
//! of one in x is the neighbour, which nobody could tell from the arithmetic that this pass puts in its place. Behind it, `block_idx` is where the device has the block.
//! What computes the place stands once, where the body begins.
//!
//! **Needs** to be last: the simulator, OpenCL C and PTX are made of what it leaves, and nobody else sees that; estimates count what a block does. **Preserves** what the kernel computes, block by block; only which
//! block runs when is another. A kernel without these arguments, or that never asks where it is, stays as it is. **Refuses** nothing.

mod raster;

use super::rewrite::replace_each;
use crate::ir::{Axis, Builder, Compute, Inst, Kernel, Loc, Op, Special, Value};

/// Runs it.
pub(super) fn run(kernel: &mut Kernel) -> bool {
    let rows = std::mem::replace(&mut kernel.options.raster, 1);
    let Some(loc) = (rows > 1).then(|| asked_at(kernel)).flatten() else { return false };
    let (body, first_new) = (kernel.body, kernel.insts.len());
    let behind = std::mem::take(&mut kernel.blocks[body].insts);
    let mut b = Builder::new(kernel, body, loc);
    let place = [Axis::X, Axis::Y].map(|axis| b.special(Special::BlockIdx, axis));
    let grid = [Axis::X, Axis::Y].map(|axis| b.special(Special::GridDim, axis));
    let place = raster::permuted(&mut b, rows, place, grid);
    kernel.blocks[body].insts.extend(behind);
    stand_at(kernel, &place, first_new);
    true
}

/// Where the kernel first asks where its block is, along x or y.
fn asked_at(kernel: &Kernel) -> Option<Loc> {
    let asks = |inst: &Inst| matches!(kernel.insts[*inst].op, Op::Compute(Compute::Special(Special::BlockIdx, Axis::X | Axis::Y)));
    kernel.insts_in(kernel.body).find(asks).map(|inst| kernel.insts[inst].loc)
}

/// Has every `block_idx` but those of the instructions from `first_new` on be this, by axis.
fn stand_at(kernel: &mut Kernel, place: &[Value], first_new: usize) {
    replace_each(kernel, |rewrite, _, inst| match rewrite.kernel.insts[inst].op {
        Op::Compute(Compute::Special(Special::BlockIdx, axis)) if usize::from(inst) < first_new => place.get(axis as usize).copied(),
        _ => None,
    });
}
