//! Where a thread stands.

use crate::Dim3;
use crate::twin::context;

/// The thread within its block.
#[inline]
pub fn thread_idx() -> Dim3 {
    context::thread()
}

/// The block within the grid.
#[inline]
pub fn block_idx() -> Dim3 {
    context::block()
}

/// Threads of a block.
#[inline]
pub fn block_dim() -> Dim3 {
    context::extents().block
}

/// Blocks of the grid.
#[inline]
pub fn grid_dim() -> Dim3 {
    context::extents().grid
}

/// The thread within the grid: `block_idx() * block_dim() + thread_idx()`, axis by axis.
#[inline]
pub fn global_id() -> Dim3 {
    let (thread, block, dim) = (thread_idx(), block_idx(), block_dim());
    Dim3::new(block.x * dim.x + thread.x, block.y * dim.y + thread.y, block.z * dim.z + thread.z)
}

/// The lane within the warp, 0 to 31. Threads are numbered x fastest, then y, then z.
#[inline]
pub fn lane_id() -> usize {
    context::rank() as usize % 32
}

/// The warp within the block.
#[inline]
pub fn warp_id() -> usize {
    context::rank() as usize / 32
}
