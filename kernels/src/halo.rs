//! Neighbourhoods on a 2-D grid through tiles with a halo: a convolution of 5 × 5, whose block loads its halo in steps of its own size, and the
//! five-point stencil, whose outer threads load one more element each. ("CUDA by Example" and the convolutions of VSCSE 2009, lecture 5.)

use warpwright::prelude::*;

/// Side of the convolution's block and of its tile of results.
pub const SIDE: usize = 16;
/// How far the convolution reaches.
pub const REACH: usize = 2;
/// Side of its mask.
pub const MASK: usize = 2 * REACH + 1;
/// Side of its tile with the halo.
pub const WIDE: usize = SIDE + 2 * REACH;

/// out ← inp convolved with `mask`; what is beyond the border counts as 0. A block's threads load the tile in steps of the block: one round
/// or two.
#[kernel(block = (SIDE, SIDE), allow(bank_conflict))]
pub fn convolve(width: usize, height: usize, mask: &Constant<[f32; 25]>, inp: &Global<f32>, out: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; WIDE]; WIDE];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let (left, top) = (block_idx().x * SIDE, block_idx().y * SIDE);
    let mut n = ty * SIDE + tx;
    while n < WIDE * WIDE {
        let (r, c) = (n / WIDE, n % WIDE);
        // Beyond the left and upper border these wrap round, and are beyond the others.
        let (x, y) = ((left + c).wrapping_sub(REACH), (top + r).wrapping_sub(REACH));
        tile[r][c] = if x < width && y < height { inp[y * width + x] } else { 0.0 };
        n += SIDE * SIDE;
    }
    sync_threads();
    let (x, y) = (left + tx, top + ty);
    if x < width && y < height {
        let mut sum = 0.0;
        #[unroll]
        for r in 0..MASK {
            #[unroll]
            for c in 0..MASK {
                sum += mask[r * MASK + c] * tile[ty + r][tx + c];
            }
        }
        out[y * width + x] = sum;
    }
}

/// Columns of the stencil's block.
pub const COLUMNS: usize = 32;
/// Rows of the stencil's block.
pub const ROWS: usize = 8;

/// out ← inp·c0 + (its four neighbours)·c1, through a tile; what is beyond the border counts as 0.
#[kernel(block = (COLUMNS, ROWS))]
pub fn five_points(width: usize, height: usize, c0: f32, c1: f32, inp: &Global<f32>, out: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; COLUMNS + 2]; ROWS + 2];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let (x, y) = (global_id().x, global_id().y);
    let inside = x < width && y < height;
    tile[ty + 1][tx + 1] = if inside { inp[y * width + x] } else { 0.0 };
    if ty == 0 {
        tile[0][tx + 1] = if x < width && y > 0 { inp[(y - 1) * width + x] } else { 0.0 };
    }
    if ty == ROWS - 1 {
        tile[ROWS + 1][tx + 1] = if x < width && y + 1 < height { inp[(y + 1) * width + x] } else { 0.0 };
    }
    if tx == 0 {
        tile[ty + 1][0] = if x > 0 && y < height { inp[y * width + x - 1] } else { 0.0 };
    }
    if tx == COLUMNS - 1 {
        tile[ty + 1][COLUMNS + 1] = if x + 1 < width && y < height { inp[y * width + x + 1] } else { 0.0 };
    }
    sync_threads();
    if inside {
        let sides = tile[ty + 1][tx] + tile[ty + 1][tx + 2];
        let rows = tile[ty][tx + 1] + tile[ty + 2][tx + 1];
        out[y * width + x] = c0 * tile[ty + 1][tx + 1] + c1 * (sides + rows);
    }
}

/// An element of `inp` at column `x + dx` and row `y + dy`; 0 beyond the border.
pub fn at(width: usize, height: usize, inp: impl Fn(usize) -> f32, (x, y): (usize, usize), (dx, dy): (isize, isize)) -> f64 {
    let (x, y) = (x as isize + dx, y as isize + dy);
    let inside = (0..width as isize).contains(&x) && (0..height as isize).contains(&y);
    if inside { f64::from(inp(y as usize * width + x as usize)) } else { 0.0 }
}
