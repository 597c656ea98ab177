//! Which block a block of the device is: `#[kernel(raster(…))]`, `#[kernel(persistent)]`.
//!
//! Up to here `block_idx` is where the block stands in the grid that was asked for, to every pass and analysis: the same for the whole block, below the grid's extent, and a step of one
//! in x is the neighbour, which nobody could tell from the arithmetic that this pass puts in its place. Behind it, `block_idx` and `grid_dim` are what the
//! device says. What computes the place stands once, where the body begins.
//!
//! With `cluster` it is clusters that are put in order, and blocks stay where they are in theirs.
//!
//! **Needs** to be last: the simulator and PTX are made of what it leaves, and OpenCL C once threads have been brought together in it; nobody else sees that, and estimates count what a block
//! does. **Preserves** what the kernel computes, block by block; only which block runs when is another. A kernel without these arguments stays as it is, and so does one with `raster` alone
//! that never asks where it is. **Refuses** nothing.

mod clusters;
mod persistent;
mod raster;

use super::rewrite::replace_each;
use crate::collections::HashSet;
use crate::ir::{Axis, Builder, Compute, Inst, Kernel, Loc, Op, Special, Value};
use clusters::Clustered;
pub(super) use persistent::meet;

/// Runs it.
pub(super) fn run(kernel: &mut Kernel) -> bool {
    let (rows, is_persistent) = (std::mem::replace(&mut kernel.options.raster, 1), std::mem::take(&mut kernel.options.persistent));
    let extents = kernel.options.cluster;
    // A band is whole rows of clusters.
    let rows = rows / extents[1];
    if is_persistent {
        for rounds in persistent::rounds(kernel) {
            let asking: HashSet<Inst> = kernel.insts_in(rounds.block).collect();
            let (mut place, mut grid) = (Vec::new(), Vec::new());
            persistent::wrap(kernel, rounds, |b, number, asked, layer| {
                let clusters = clusters::grid(b, extents, asked);
                let mut block = Clustered::of_number(b, extents, number, clusters, layer);
                block.permute(b, rows, clusters);
                place = block.place(b).to_vec();
                grid = asked.to_vec();
            });
            stand_at(kernel, &place, &grid, &asking);
        }
        // Blocks that are started are in a row.
        kernel.options.cluster = [extents.iter().product(), 1, 1];
        return true;
    }
    let Some(loc) = (rows > 1).then(|| asked_at(kernel)).flatten() else { return false };
    let body = kernel.body;
    let asking: HashSet<Inst> = kernel.insts_in(body).collect();
    let behind = std::mem::take(&mut kernel.blocks[body].insts);
    let mut b = Builder::new(kernel, body, loc);
    let [x, y] = [Axis::X, Axis::Y].map(|axis| b.special(Special::BlockIdx, axis));
    let [width, height] = [Axis::X, Axis::Y].map(|axis| b.special(Special::GridDim, axis));
    // z stays as it is.
    let extents = [extents[0], extents[1], 1];
    let clusters = clusters::grid(&mut b, extents, [width, height, height]);
    let mut block = Clustered::at(&mut b, extents, [x, y, y]);
    block.permute(&mut b, rows, clusters);
    let [x, y, _] = block.place(&mut b);
    kernel.blocks[body].insts.extend(behind);
    stand_at(kernel, &[x, y], &[], &asking);
    true
}

/// Where the kernel first asks where its block is, along x or y.
fn asked_at(kernel: &Kernel) -> Option<Loc> {
    let asks = |inst: &Inst| matches!(kernel.insts[*inst].op, Op::Compute(Compute::Special(Special::BlockIdx, Axis::X | Axis::Y)));
    kernel.insts_in(kernel.body).find(asks).map(|inst| kernel.insts[inst].loc)
}

/// Has every `block_idx` and `grid_dim` among these instructions be these, by axis, as far as they are given.
fn stand_at(kernel: &mut Kernel, place: &[Value], grid: &[Value], asking: &HashSet<Inst>) {
    replace_each(kernel, |rewrite, _, inst| {
        let Op::Compute(Compute::Special(special, axis)) = rewrite.kernel.insts[inst].op else { return None };
        let of = match special {
            Special::BlockIdx => place,
            Special::GridDim => grid,
            Special::ThreadIdx | Special::BlockDim | Special::AskedGrid | Special::LaneId | Special::WarpId => return None,
        };
        of.get(axis as usize).copied().filter(|_| asking.contains(&inst))
    });
}
