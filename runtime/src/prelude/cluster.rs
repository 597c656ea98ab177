//! Clusters: blocks that run at the same time, and reach each other's shared memory.

use crate::Dim3;
use crate::element::Element;
use crate::twin::schedule::{Arrival, Meeting, meet};
use crate::twin::{context, shared};
use std::panic::Location;

/// The cluster within the grid of clusters.
#[inline]
pub fn cluster_idx() -> Dim3 {
    let (block, cluster) = (context::block(), context::extents().cluster);
    Dim3::new(block.x / cluster.x, block.y / cluster.y, block.z / cluster.z)
}

/// Blocks of a cluster: `#[kernel(cluster = (X, Y, Z))]`, 1 each without.
#[inline]
pub fn cluster_dim() -> Dim3 {
    context::extents().cluster
}

/// The block within its cluster, 0 to one less than the cluster's blocks, x fastest.
#[inline]
pub fn cluster_rank() -> usize {
    context::cluster_rank()
}

/// Waits until all living threads of the cluster's blocks are here; what they wrote is then visible to the cluster. [`sync_threads`](super::sync_threads) where a
/// cluster is one block.
#[inline]
#[track_caller]
pub fn cluster_sync() {
    let cluster = context::extents().cluster;
    let meeting = if cluster == Dim3::new(1, 1, 1) { Meeting::Block(|_| ()) } else { Meeting::Cluster };
    meet(Arrival { name: "cluster_sync", site: Location::caller(), meeting, operands: [0, 0] });
}

/// A `#[shared]` array as the cluster's block of this rank has it, to be read.
///
/// A `cluster_sync()` comes before the first use, and between what one block writes and another reads.
#[inline]
#[track_caller]
pub fn shared_of<T: Element, const N: usize>(tile: &[T; N], rank: usize) -> &[T; N] {
    shared::of_peer(tile, rank)
}

/// A `#[shared]` array as the cluster's block of this rank has it, to be written; see [`shared_of`].
#[inline]
#[track_caller]
pub fn shared_of_mut<T: Element, const N: usize>(tile: &mut [T; N], rank: usize) -> &mut [T; N] {
    shared::of_peer_mut(tile, rank)
}
