//! The shortcut problem of "Programming Parallel Computers": `r[i][j]` = min over k of `d[i][k] + d[k][j]`, the cheapest way of two steps. The
//! kernel is the register tile of its part 5B: each thread keeps 8 × 8 results and reuses each of 8 + 8 loaded values 8 times.

use warpwright::prelude::*;

/// Side of a thread's tile.
pub const TILE: usize = 8;
/// Threads along a side of a block.
pub const SIDE: usize = 8;
/// Results along a side of a block.
pub const REACH: usize = TILE * SIDE;

/// r ← the shortcuts of d. `rows` is d transposed and `columns` is d, both with `padded` columns and as many rows, a multiple of
/// [`REACH`]; what is beyond `n` may be anything. Launched with one block for every [`REACH`] × [`REACH`] results. A thread's results lie
/// `SIDE` apart, so that a warp's loads and stores are next to each other.
#[kernel(block = (SIDE, SIDE))]
pub fn shortcut(n: usize, padded: usize, rows: &Global<f32>, columns: &Global<f32>, r: &mut Global<f32>) {
    let top = block_idx().y * REACH + thread_idx().y;
    let left = block_idx().x * REACH + thread_idx().x;
    let mut best = [[f32::INFINITY; TILE]; TILE];
    for k in 0..n {
        let mut down = [0.0f32; TILE];
        let mut across = [0.0f32; TILE];
        #[unroll]
        for t in 0..TILE {
            down[t] = rows[k * padded + top + t * SIDE];
            across[t] = columns[k * padded + left + t * SIDE];
        }
        #[unroll]
        for i in 0..TILE {
            #[unroll]
            for j in 0..TILE {
                best[i][j] = best[i][j].min(down[i] + across[j]);
            }
        }
    }
    #[unroll]
    for i in 0..TILE {
        #[unroll]
        for j in 0..TILE {
            let (row, column) = (top + i * SIDE, left + j * SIDE);
            if row < n && column < n {
                r[row * n + column] = best[i][j];
            }
        }
    }
}

/// d of side `n` with `padded` rows and columns, transposed if asked for; the rest is infinitely far away.
pub fn pad(n: usize, padded: usize, d: &[f32], transposed: bool) -> Vec<f32> {
    let mut wide = vec![f32::INFINITY; padded * padded];
    for row in 0..n {
        for column in 0..n {
            let to = if transposed { column * padded + row } else { row * padded + column };
            wide[to] = d[row * n + column];
        }
    }
    wide
}

/// Reference: the same additions, so the same bits.
pub fn reference(n: usize, d: &[f32]) -> Vec<f32> {
    let best = |row: usize, column: usize| (0..n).map(|k| d[row * n + k] + d[k * n + column]).fold(f32::INFINITY, f32::min);
    (0..n * n).map(|i| best(i / n, i % n)).collect()
}
