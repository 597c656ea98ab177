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
///
/// Where `#[kernel(ilp = N, vectorize = V)]` gives a thread several elements, `x` is the element's number:
/// `((block_idx().x * N + g) * block_dim().x + thread_idx().x) * V + j`, `g` in `0..N`, `j` in `0..V`.
#[inline]
pub fn global_id() -> Dim3 {
    let (thread, block, dim) = (thread_idx(), block_idx(), block_dim());
    let ([groups, lanes], [group, lane]) = (context::extents().elements, context::element());
    let x = ((block.x * groups + group) * dim.x + thread.x) * lanes + lane;
    Dim3::new(x, block.y * dim.y + thread.y, block.z * dim.z + thread.z)
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
