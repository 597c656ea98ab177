//! `#[kernel(cluster = (X, Y, Z))]`: the blocks of a cluster stay neighbours in the grid, whatever the order of the clusters.
//!
//! ```text
//! cluster = (2, 1), raster(rows = 2), a grid of 8 × 2 blocks, by cluster:      0 2 4 6
//!                                                                              1 3 5 7
//! ```
//!
//! Where there are no clusters, each block is one by itself, and all of this is nothing. A grid is whole clusters along every axis: a launch of another is refused.

use super::raster;
use crate::ir::{BinaryOp, Builder, CompareOp, Type, Value};

/// A place in the grid as the place of its cluster in the grid of clusters, and its own place in that, by axis.
pub(super) struct Clustered {
    pub(super) cluster: [Value; 3],
    within: [Option<Value>; 3],
    extents: [u32; 3],
}

impl Clustered {
    /// Of the block at a place.
    pub(super) fn at(b: &mut Builder<'_>, extents: [u32; 3], place: [Value; 3]) -> Clustered {
        let (mut cluster, mut within) = (place, [None; 3]);
        for axis in (0..3).filter(|axis| extents[*axis] > 1) {
            let (which, rest) = divided(b, place[axis], extents[axis]);
            (cluster[axis], within[axis]) = (which, Some(rest));
        }
        Clustered { cluster, within, extents }
    }

    /// Of the block of this number, cluster after cluster; `clusters`: the extents of the grid of clusters; `layer`: the blocks of a layer.
    pub(super) fn of_number(b: &mut Builder<'_>, extents: [u32; 3], number: Value, clusters: [Value; 3], layer: Value) -> Clustered {
        let blocks: u32 = extents.iter().product();
        let (which, mut rank) = if blocks > 1 { divided(b, number, blocks) } else { (number, number) };
        let mut within = [None; 3];
        let axes: Vec<usize> = (0..3).filter(|axis| extents[*axis] > 1).collect();
        for axis in &axes {
            let is_last = axes.last() == Some(axis);
            let (rest, place) = if is_last { (rank, rank) } else { divided(b, rank, extents[*axis]) };
            (within[*axis], rank) = (Some(place), rest);
        }
        let layer = if extents[0] * extents[1] > 1 { b.binary(BinaryOp::Mul, clusters[0], clusters[1]) } else { layer };
        // Most grids have one layer: a division by what only the launch knows takes a hundred cycles, and threads wait for it where a round begins.
        let is_in_first = b.compare(CompareOp::Lt, which, layer);
        let z = b.if_else(is_in_first, |b| vec![b.int(Type::U32, 0)], |b| vec![b.binary(BinaryOp::Div, which, layer)])[0];
        let before = b.binary(BinaryOp::Mul, z, layer);
        let in_layer = b.binary(BinaryOp::Sub, which, before);
        let y = b.binary(BinaryOp::Div, in_layer, clusters[0]);
        let before = b.binary(BinaryOp::Mul, y, clusters[0]);
        let x = b.binary(BinaryOp::Sub, in_layer, before);
        Clustered { cluster: [x, y, z], within, extents }
    }

    /// In the order of bands of so many rows of clusters, if of more than one.
    pub(super) fn permute(&mut self, b: &mut Builder<'_>, rows: u32, clusters: [Value; 3]) {
        if rows > 1 {
            let [x, y, z] = self.cluster;
            let [x, y] = raster::permuted(b, rows, [x, y], [clusters[0], clusters[1]]);
            self.cluster = [x, y, z];
        }
    }

    /// The block's place in the grid.
    pub(super) fn place(&self, b: &mut Builder<'_>) -> [Value; 3] {
        let mut at = |axis: usize| match self.within[axis] {
            Some(within) => {
                let extent = b.int(Type::U32, self.extents[axis].into());
                b.mul_add(self.cluster[axis], extent, within)
            }
            None => self.cluster[axis],
        };
        [at(0), at(1), at(2)]
    }
}

/// The extents of the grid in clusters.
pub(super) fn grid(b: &mut Builder<'_>, extents: [u32; 3], grid: [Value; 3]) -> [Value; 3] {
    let mut clusters = grid;
    for axis in (0..3).filter(|axis| extents[*axis] > 1) {
        let extent = b.int(Type::U32, extents[axis].into());
        clusters[axis] = b.binary(BinaryOp::Div, grid[axis], extent);
    }
    clusters
}

/// Quotient and rest.
fn divided(b: &mut Builder<'_>, value: Value, by: u32) -> (Value, Value) {
    if by.is_power_of_two() {
        let (count, mask) = (b.int(Type::U32, by.trailing_zeros().into()), b.int(Type::U32, i128::from(by - 1)));
        return (b.binary(BinaryOp::Shr, value, count), b.binary(BinaryOp::And, value, mask));
    }
    let by = b.int(Type::U32, by.into());
    (b.binary(BinaryOp::Div, value, by), b.binary(BinaryOp::Rem, value, by))
}
