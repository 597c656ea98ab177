//! Neighbourhoods whose tiles come ahead of the work: the seven-point stencil on a grid of three dimensions, plane after plane, and a convolution of 7 × 7, tile below tile. With
//! one stage each is the plain form through a shared tile; beside the stencil stands the form that trusts the caches. And sums of runs, whose copies the work may ask for, or a producer; and a copy.
//!
//! What bounds them, for a stencil of 512³ `f32` and an image of 8192²: a point of the stencil is read once and written once, 8 bytes, for 8 operations. That is 1.07 GB and
//! 1.07 GFLOP: at the 4.8 TB/s of an H200, 0.22 ms, in which it could compute sixty times as much. A pixel of the image is 8 bytes, too, and 49 multiply-adds: 0.54 GB and
//! 6.6 GFLOP, 0.11 ms of memory and 0.10 ms of computing, which have to run side by side.

use warpwright::prelude::*;

/// Columns of results of a block of the stencil.
pub const COLUMNS: usize = 64;
/// Rows of results of a block of the stencil.
pub const ROWS: usize = 16;
/// Columns of its tile: one more on both sides, and up to the next 16 bytes.
const WIDE: usize = COLUMNS + 4;

/// One step of the stencil: `c0` times a point and `c1` times the sum of its six neighbours. A grid is a matrix of `ny` rows for each plane; what lies on its border is not
/// written. Blocks have `DEPTH` planes of results, copy `STAGES` − 1 planes ahead, and have threads with `EACH` results of a plane, below each other: grid (nx − 2) / 64, (ny − 2) / 16, (nz − 2) / `DEPTH`, each rounded up.
///
/// A plane adds its four neighbours in x and y as long as it is in the tile; the points below and above are in registers when the next plane is there. Of a plane's tile of
/// 18 × 68 points, 16 × 64 are the block's own, and the rest is another block's, too: the level-2 cache has it.
///
/// With one stage it waits for memory, as the lint says: that is what the other variants are for.
#[kernel(
    block = (COLUMNS, ROWS / EACH),
    max_registers = if EACH == 2 { 40 } else { 64 },
    variants((EACH, DEPTH) in [(2, 64), (4, 64), (4, 128)], STAGES in [1, 2, 3, 4])
)]
pub fn stencil<const EACH: usize, const DEPTH: usize, const STAGES: usize>(
    ny: usize,
    c0: f32,
    c1: f32,
    input: &Matrix<f32>,
    out: &mut Matrix<f32>,
) {
    #[shared]
    let mut plane: [[f32; WIDE]; ROWS + 2];
    let (left, top, first) = (block_idx().x * COLUMNS, block_idx().y * ROWS, block_idx().z * DEPTH);
    let (column, row) = (thread_idx().x + 1, thread_idx().y * EACH + 1);
    let x = left + column;
    let inside = x + 1 < input.columns();
    let end = (first + DEPTH + 2).min(input.rows() / ny);
    let mut below = [0.0f32; EACH];
    let mut here = [0.0f32; EACH];
    let mut sides = [0.0f32; EACH];
    #[pipeline(stages = STAGES)]
    for z in first..end {
        load_tile(&mut plane, input, z * ny + top, left);
        sync_threads();
        #[unroll]
        for i in 0..EACH {
            let above = plane[row + i][column];
            let y = top + row + i;
            if z > first + 1 && inside && y + 1 < ny {
                out[((z - 1) * ny + y, x)] = c0 * here[i] + c1 * (sides[i] + (below[i] + above));
            }
            below[i] = here[i];
            here[i] = above;
            sides[i] =
                (plane[row + i][column - 1] + plane[row + i][column + 1]) + (plane[row + i - 1][column] + plane[row + i + 1][column]);
        }
        sync_threads();
    }
}

/// The same without shared memory: a thread goes up its columns of points, keeps those below and above in registers, and finds its neighbours' in the caches.
#[kernel(block = (COLUMNS, ROWS / EACH), variants(EACH in [2, 4], DEPTH in [64, 128]))]
pub fn stencil_in_caches<const EACH: usize, const DEPTH: usize>(
    nx: usize,
    ny: usize,
    nz: usize,
    c0: f32,
    c1: f32,
    input: &Global<f32>,
    out: &mut Global<f32>,
) {
    let x = block_idx().x * COLUMNS + thread_idx().x + 1;
    let top = block_idx().y * ROWS + thread_idx().y * EACH + 1;
    let first = block_idx().z * DEPTH + 1;
    if x + 1 >= nx || top + 1 >= ny {
        return;
    }
    let plane = nx * ny;
    let mut below = [0.0f32; EACH];
    let mut here = [0.0f32; EACH];
    #[unroll]
    for i in 0..EACH {
        // A row below the grid is read as the last: its results are not written.
        let at = (first * ny + (top + i).min(ny - 1)) * nx + x;
        below[i] = input[at - plane];
        here[i] = input[at];
    }
    for z in first..(first + DEPTH).min(nz - 1) {
        #[unroll]
        for i in 0..EACH {
            let at = (z * ny + top + i) * nx + x;
            if top + i + 1 < ny {
                let above = input[at + plane];
                let sides = (input[at - 1] + input[at + 1]) + (input[at - nx] + input[at + nx]);
                out[at] = c0 * here[i] + c1 * (sides + (below[i] + above));
                below[i] = here[i];
                here[i] = above;
            }
        }
    }
}

/// to ← from, tile by tile, by the copy engine: no element passes through a register. A block copies `TILES` tiles of `ROWS` rows of 256 elements, one below the other. Grid: rows / (`ROWS` · `TILES`),
/// columns / 256, each rounded up.
///
/// One tile a block is the fastest. The stages of its ring are a brake then: their shared memory lets 20 blocks be resident, and with more in flight reads and writes hinder each other.
#[kernel(block = 64, targets = [sm_90], variants((ROWS, TILES, STAGES) in [(2, 1, 5), (4, 4, 3)]))]
pub fn copy_tiles<const ROWS: usize, const TILES: usize, const STAGES: usize>(
    #[cache(evict_first)] from: &Matrix<f32>,
    #[cache(evict_first)] to: &mut Matrix<f32>,
) {
    #[shared]
    let mut tile: [[f32; 256]; ROWS];
    let (first, column) = (block_idx().x * (ROWS * TILES), block_idx().y * 256);
    #[pipeline(stages = STAGES, by = tma)]
    for k in 0..TILES {
        load_tile(&mut tile, from, first + ROWS * k, column);
        sync_threads();
        store_tile(to, first + ROWS * k, column, &tile);
        sync_threads();
    }
}

/// `sums[b]` ← the sum of the elements of every `grid_dim()`-th run of `N` elements, from the b-th on. As many blocks as are resident sum any number of elements; where there is a copy engine, bulk
/// copies bring `STAGES` − 1 runs ahead. With `PRODUCER` a thread of its own asks for them, and the warps of a block need not keep pace.
#[kernel(block = 256, variants((N, STAGES) in [(8192, 3), (4096, 6)], PRODUCER in [false, true]))]
pub fn run_sums<const N: usize, const STAGES: usize, const PRODUCER: bool>(x: &Global<f32>, sums: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; N];
    let t = thread_idx().x;
    let mut sum = [0.0f32; 4];
    #[pipeline(stages = STAGES, producer = PRODUCER)]
    for chunk in (block_idx().x..x.len().div_ceil(N)).step_by(grid_dim().x) {
        load_run(&mut run, x, chunk * N);
        sync_threads();
        #[unroll]
        for i in 0..N / 1024 {
            let v = run.load::<4>(i * 1024 + t * 4);
            #[unroll]
            for j in 0..4 {
                sum[j] += v[j];
            }
        }
        sync_threads();
    }
    let all = block_sum((sum[0] + sum[1]) + (sum[2] + sum[3]));
    if t == 0 {
        sums[block_idx().x] = all;
    }
}

/// Reference of the sums of runs: of `blocks` blocks.
pub fn summed_runs(n: usize, blocks: usize, x: &[f32]) -> Vec<f64> {
    let of = |block: usize| x.chunks(n).skip(block).step_by(blocks).flatten().map(|x| f64::from(*x)).sum();
    (0..blocks).map(of).collect()
}

/// Side of the convolution's mask.
pub const MASK: usize = 7;
/// Columns of results of a block of the convolution: four of each thread.
pub const ACROSS: usize = 128;

/// `out[r][c]` ← the sum of `mask[i][j]` · `input[r + i][c + j]`: `out` has six rows and columns fewer, or what is missing counts as zero. A tile has `DOWN` rows of results, four of
/// each thread, and is made of `HIGH` = `DOWN` + 6 rows. Blocks have `DEPTH` tiles below each other and copy `STAGES` − 1 ahead: grid (columns of `out`) / 128,
/// (rows of `out`) / (`DOWN` · `DEPTH`), rounded up. With one tile and one stage it is the plain form.
///
/// Of an H200's multiprocessor 80 registers a thread are three blocks of 32 rows or six of 16, and so many have room for two stages. The lint asks for more warps, and a thread's sixteen
/// sums are what it works at side by side.
///
/// From shared memory 12 × 10 floats are read for 4 × 4 results, and two moved for each: 38 bytes a pixel, 0.09 ms of an H200's shared memory.
#[kernel(
    block = (ACROSS / 4, DOWN / 4),
    max_registers = if STAGES < 3 { 80 } else { 96 },
    variants((DOWN, HIGH, DEPTH, STAGES) in [
        (32, 38, 1, 1), (32, 38, 8, 1), (32, 38, 8, 2), (32, 38, 8, 3), (32, 38, 64, 3),
        (16, 22, 1, 1), (16, 22, 16, 2), (16, 22, 16, 3)
    ])
)]
pub fn convolve<const DOWN: usize, const HIGH: usize, const DEPTH: usize, const STAGES: usize>(
    mask: &Constant<[f32; 49]>,
    input: &Matrix<f32>,
    out: &mut Matrix<f32>,
) {
    #[shared]
    let mut tile: [[f32; ACROSS + 8]; HIGH];
    #[shared]
    let mut results: [[f32; ACROSS]; DOWN];
    let left = block_idx().x * ACROSS;
    let (column, row) = (thread_idx().x * 4, thread_idx().y * 4);
    let first = block_idx().y * DEPTH;
    #[pipeline(stages = STAGES)]
    for n in first..(first + DEPTH).min(out.rows().div_ceil(DOWN)) {
        load_tile(&mut tile, input, n * DOWN, left);
        sync_threads();
        let mut sums = [0.0f32; 16];
        #[unroll]
        for r in 0..MASK + 3 {
            let a = tile[row + r].load::<4>(column);
            let b = tile[row + r].load::<4>(column + 4);
            let c = tile[row + r].load::<4>(column + 8);
            let v = [a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3], c[0], c[1]];
            // Row `r` of the thread's pixels is row `r - to` of the mask for its results' row `to`.
            #[unroll]
            for to in 0..4 {
                if to <= r && r < to + MASK {
                    #[unroll]
                    for j in 0..MASK {
                        #[unroll]
                        for k in 0..4 {
                            sums[to * 4 + k] += mask[(r - to) * MASK + j] * v[j + k];
                        }
                    }
                }
            }
        }
        #[unroll]
        for to in 0..4 {
            results[row + to].store::<4>(column, [sums[to * 4], sums[to * 4 + 1], sums[to * 4 + 2], sums[to * 4 + 3]]);
        }
        sync_threads();
        store_tile(out, n * DOWN, left, &results);
        sync_threads();
    }
}

/// Reference of the convolution: `rows` × `columns` results from an image of six more of each.
pub fn convolved(rows: usize, columns: usize, mask: &[f32; 49], input: &[f32]) -> Vec<f64> {
    let wide = columns + MASK - 1;
    let one = |at: usize| {
        let (row, column) = (at / columns, at % columns);
        (0..49).map(|k| f64::from(mask[k]) * f64::from(input[(row + k / MASK) * wide + column + k % MASK])).sum()
    };
    (0..rows * columns).map(one).collect()
}
