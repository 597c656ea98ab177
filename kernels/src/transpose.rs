//! The transpose of a row-major matrix: the shortest kernel in which either the reads or the writes stride, unless a tile in shared memory
//! turns them. (NVIDIA's OpenCL best practices guide 1.0, section 3.2.2.1, and VSCSE 2009, lecture 5: tiled copies through shared memory.)

use warpwright::prelude::*;

/// Side of a tile.
pub const SIDE: usize = 32;
/// Rows of a block: each thread moves `SIDE / ROWS` elements of a tile.
pub const ROWS: usize = 8;

/// out ← inpᵀ, one element per thread; writes are a column apart, and so uncoalesced: tiles are compared with this.
#[kernel(block = (SIDE, ROWS), allow(uncoalesced_access))]
pub fn transpose_direct(width: usize, height: usize, inp: &Global<f32>, out: &mut Global<f32>) {
    let (row, column) = (global_id().y, global_id().x);
    if row < height && column < width {
        out[column * height + row] = inp[row * width + column];
    }
}

/// out ← inpᵀ through a tile, so that reads and writes both run along rows. Launched with one block per tile. Reading the tile by columns
/// meets one bank 32 times, unless its rows are `PAD = 1` word longer or its columns swizzled. Both are
/// variants, so conflicts are allowed.
#[kernel(block = (SIDE, ROWS), allow(bank_conflict), variants(PAD in [0, 1], SWIZZLE in [false]))]
pub fn transpose_tiled<const PAD: usize, const SWIZZLE: bool>(width: usize, height: usize, inp: &Global<f32>, out: &mut Global<f32>) {
    #[shared(pad = PAD, swizzle = SWIZZLE)]
    let mut tile: [[f32; SIDE]; SIDE];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let (left, top) = (block_idx().x * SIDE, block_idx().y * SIDE);
    #[unroll]
    #[batch_loads]
    for step in 0..SIDE / ROWS {
        let y = ty + step * ROWS;
        if left + tx < width && top + y < height {
            tile[y][tx] = inp[(top + y) * width + left + tx];
        }
    }
    sync_threads();
    #[unroll]
    for step in 0..SIDE / ROWS {
        let y = ty + step * ROWS;
        if top + tx < height && left + y < width {
            out[(left + y) * height + top + tx] = tile[tx][y];
        }
    }
}

/// Reference.
pub fn reference(width: usize, height: usize, inp: &[f32]) -> Vec<f32> {
    (0..width * height).map(|i| inp[(i % height) * width + i / height]).collect()
}
