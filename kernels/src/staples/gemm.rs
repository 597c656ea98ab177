//! Products of matrices, row-major.
//!
//! | function | |
//! |---|---|
//! | [`gemm`] | C ← α · A · B, A of m × k, B of k × n, C of m × n |
//! | [`gemv`] | y ← A · x, A of m × n |
//!
//! **Determinism.** A device gives the same bits on every run. [`gemm`] sums a result in the order of the inner index, in parts where blocks share a tile: which do depends on
//! the extents and the device's number of multiprocessors. [`gemv`] sums in an order that depends on n only.
//!
//! **Error.** |error| ≤ (k + 1) · u · |α| · (|A| · |B|) to first order, u being half the distance from 1 to the next number (2⁻²⁴ for `f32`): products are fused with additions on
//! GPUs; where they are not, k + 1 is 2 k + 1.
//!
//! **Speed.** Products of `f32` whose inner extent and n are multiples of 4 take [`gemm_tiles`], others and `f64` [`gemm_guarded`], which is slower.

use super::checks::Call;
use super::workspace::{Slot, seen};
use super::{Result, Workspace, rows};
use std::sync::atomic::Ordering;
use warpwright::Float;
use warpwright::Launch;
use warpwright::prelude::*;

/// Rows and columns of a tile of [`gemm_tiles`], and what it takes of the inner extent at a time.
const TILE: (usize, usize) = (128, 8);

/// By the number of buffers of [`gemm_tiles`]: stages of its pipeline, and iterations in one.
const STAGES: [usize; 3] = [1, 4, 1];
const UNROLL: [usize; 3] = [1, 4, 2];

/// C ← α · A · B in tiles of 128 × 128, for an inner extent and an n that are multiples of 4; where m or n is no multiple of 128, or the inner extent none of 8,
/// `EDGE`.
///
/// **A tile.** A step goes over 8 of the inner extent: the block brings 128 × 8 of A, which it stores transposed, and 8 × 128 of B, and each of its 256 threads multiplies
/// 8 × 8, in pieces of 4 × 4 that lie 16 rows and 32 columns apart, so that a warp (4 × 8 threads) reads whole vectors of neighbours. Lane l shares A's vector with l ^ 1
/// and B's with l ^ 2, so that shared memory serves 16 threads of 16-byte loads at a time. Two buffers: one barrier a step.
///
/// **Who does what** ("Stream-K", Osama and others 2023). As many blocks as are resident take whole tiles in turn, `turns` of them. What is left, one tile a block and
/// less than two, they share in equal numbers of steps, so that all end together: a block's first tile may have begun in another block, and its last may go on in
/// another. The block that has a tile's first step adds what the others found. Blocks are numbered by tickets, and who adds has the higher number, so it waits only for
/// blocks that have begun.
///
/// What a block works on lies in shared memory and is read again where it is needed: the sums take all the registers there are. (The estimate is 138 registers at edges;
/// `ptxas` 12.9 and 13.5 need 127 and 128, and spill none, which a test holds.)
///
/// **How a step's tiles come.** Into registers while the step before is worked on, and from there into the other of `BUFFERS` = 2; or, of one,
/// by copies that run three steps ahead: then A is transposed on its way, 4 bytes at a time.
#[kernel(block = 256, min_blocks = 2, variants(EDGE in [false, true], BUFFERS in [2, 1]), allow(register_spill))]
#[allow(clippy::too_many_arguments, reason = "matrices, sums of tiles and what blocks tell each other are buffers of their own")]
pub fn gemm_tiles<const EDGE: bool, const BUFFERS: usize>(
    before: u32,
    turns: usize,
    extent: (usize, usize, usize),
    alpha: f32,
    a: &Global<f32>,
    b: &Global<f32>,
    c: &mut Global<f32>,
    partials: &mut Global<f32>,
    told: &mut Global<u32>,
    tickets: &mut Global<u32>,
) {
    #[shared(pad = 4)]
    let mut a_tile: [[[f32; 128]; 8]; BUFFERS];
    #[shared]
    let mut b_tile: [[[f32; 128]; 8]; BUFFERS];
    // The whole tiles so far; the steps that are left, and where they end; the tile, its first step and the step behind its last; the block's number.
    #[shared]
    let mut work: [usize; 7];
    let (m, n, inner) = extent;
    let (across, steps) = (n.div_ceil(128), inner.div_ceil(8));
    let blocks = grid_dim().x;
    let t = thread_idx().x;
    let (warp, lane) = (t / 32, t % 32);
    let row0 = warp / 2 * 32 + lane / 2 % 4 * 4;
    let column0 = warp % 2 * 64 + (lane % 2 + lane / 8 * 2) * 4;
    let (a_row, a_k) = (t / 2, t % 2 * 4);
    let (b_k, b_column) = (t / 32, t % 32 * 4);
    if t == 0 {
        let number = tickets.atomic_add(0, 1).wrapping_sub(before) as usize;
        let rest = (across * m.div_ceil(128) - turns * blocks) * steps;
        let (share, longer, place) = (rest / blocks, rest % blocks, blocks - 1 - number);
        work[0] = 0;
        work[1] = place * share + place.min(longer);
        work[2] = work[1] + share + (place < longer) as usize;
        work[6] = number;
    }
    loop {
        if t == 0 {
            let (turn, at) = (work[0], work[1]);
            if turn < turns {
                work[3] = turn * blocks + work[6];
                work[4] = 0;
                work[5] = steps;
                work[0] = turn + 1;
            } else {
                let first = at % steps;
                work[3] = turns * blocks + at / steps;
                work[4] = first;
                work[5] = steps.min(first + work[2] - at);
                work[1] = at + work[5] - first;
            }
        }
        sync_threads();
        let (tile, from, to) = (work[3], work[4], work[5]);
        if from >= to {
            break;
        }
        let (top, left) = (tile / across * 128, tile % across * 128);
        let a_base = (top + a_row) * inner + a_k;
        let b_base = b_k * n + left + b_column;
        // From here on the thread's row of A has nothing, and its column of B.
        let a_end = if top + a_row < m { inner.max(a_k) - a_k } else { 0 };
        let b_end = if left + b_column < n { inner.max(b_k) - b_k } else { 0 };
        let mut acc = [[0.0f32; 8]; 8];
        #[pipeline(stages = STAGES[BUFFERS])]
        #[prefetch(BUFFERS == 2)]
        #[unroll(UNROLL[BUFFERS])]
        for s in 0..to - from {
            let p = s % BUFFERS;
            let k = (from + s) * 8;
            if BUFFERS == 1 {
                #[unroll]
                for j in 0..4usize {
                    // Eight neighbours of each row: whole sectors.
                    let (row, at) = (t / 8 + 32 * j, t % 8);
                    let is_there = !EDGE || (top + row < m && k + at < inner);
                    a_tile[p][at][row] = if is_there { a[(top + row) * inner + k + at] } else { 0.0 };
                }
            } else {
                let mut of_a = [0.0f32; 4];
                if !EDGE || k < a_end {
                    of_a = a.load::<4>(a_base + k);
                }
                #[unroll]
                for j in 0..4usize {
                    a_tile[p][a_k + j][a_row] = of_a[j];
                }
            }
            let mut of_b = [0.0f32; 4];
            if !EDGE || k < b_end {
                of_b = b.load::<4>(b_base + k * n);
            }
            b_tile[p][b_k].store::<4>(b_column, of_b);
            sync_threads();
            #[unroll]
            for k in 0..8usize {
                let mut down = [0.0f32; 8];
                let mut over = [0.0f32; 8];
                #[unroll]
                for i in 0..2usize {
                    let q = a_tile[p][k].load::<4>(row0 + i * 16);
                    #[unroll]
                    for j in 0..4usize {
                        down[i * 4 + j] = q[j];
                    }
                }
                #[unroll]
                for i in 0..2usize {
                    let q = b_tile[p][k].load::<4>(column0 + i * 32);
                    #[unroll]
                    for j in 0..4usize {
                        over[i * 4 + j] = q[j];
                    }
                }
                #[unroll]
                for i in 0..8usize {
                    #[unroll]
                    for j in 0..8usize {
                        acc[i][j] += down[i] * over[j];
                    }
                }
            }
            if BUFFERS == 1 {
                sync_threads();
            }
        }
        sync_threads();
        let (tile, from, to, number) = (work[3], work[4], work[5], work[6]);
        let (top, left) = (tile / across * 128, tile % across * 128);
        if from > 0 {
            #[unroll]
            for i in 0..8usize {
                #[unroll]
                for j in 0..2usize {
                    let part = [acc[i][4 * j], acc[i][4 * j + 1], acc[i][4 * j + 2], acc[i][4 * j + 3]];
                    partials.store::<4>(((number * 16 + i * 2 + j) * 256 + t) * 4, part);
                }
            }
            fence_device();
            sync_threads();
            if t == 0 {
                told.atomic_store(number, 1, Ordering::Release, ThreadScope::Device);
            }
        } else {
            let rest = (across * m.div_ceil(128) - turns * blocks) * steps;
            let (share, longer) = (rest / blocks, rest % blocks);
            let mut have = to;
            let mut other = number;
            while have < steps {
                other -= 1;
                have += share + (blocks - 1 - other < longer) as usize;
                if t == 0 {
                    while told.atomic_load(other, Ordering::Acquire, ThreadScope::Device) == 0 {}
                    told.atomic_store(other, 0, Ordering::Relaxed, ThreadScope::Device);
                }
                sync_threads();
                #[unroll]
                for i in 0..8usize {
                    #[unroll]
                    for j in 0..2usize {
                        let part = partials.load::<4>(((other * 16 + i * 2 + j) * 256 + t) * 4);
                        #[unroll]
                        for e in 0..4usize {
                            acc[i][4 * j + e] += part[e];
                        }
                    }
                }
            }
            #[unroll]
            for i in 0..8usize {
                #[unroll]
                for j in 0..2usize {
                    let (row, column) = (top + row0 + i / 4 * 16 + i % 4, left + column0 + j * 32);
                    if !EDGE || row < m && column < n {
                        c.store::<4>(
                            row * n + column,
                            [alpha * acc[i][4 * j], alpha * acc[i][4 * j + 1], alpha * acc[i][4 * j + 2], alpha * acc[i][4 * j + 3]],
                        );
                    }
                }
            }
        }
        // All have read what this was about.
        sync_threads();
    }
}

/// C ← α · A · B for any extents: a block of 16 × 16 makes 64 × 64 results, 16 of the inner index at a time.
#[kernel(block = (16, 16), index = I)]
pub fn gemm_guarded<T: Float, const I: usize>(
    across: usize,
    extent: (usize, usize, usize),
    alpha: T,
    a: &Global<T>,
    b: &Global<T>,
    c: &mut Global<T>,
) {
    #[shared(pad = 1)]
    let mut a_tile: [[T; 64]; 16];
    #[shared]
    let mut b_tile: [[T; 64]; 16];
    let (m, n, inner) = extent;
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let t = ty * 16 + tx;
    let (top, left) = (block_idx().x / across * 64, block_idx().x % across * 64);
    let mut acc = [[T::ZERO; 4]; 4];
    for tile in 0..inner.div_ceil(16) {
        #[unroll]
        #[batch_loads]
        for s in 0..4usize {
            let (row, a_k) = ((t + 256 * s) / 16, tile * 16 + t % 16);
            let mut v = T::ZERO;
            if top + row < m && a_k < inner {
                v = a[(top + row) * inner + a_k];
            }
            a_tile[t % 16][row] = v;
            let (b_k, column) = ((t + 256 * s) / 64, t % 64);
            let mut w = T::ZERO;
            if tile * 16 + b_k < inner && left + column < n {
                w = b[(tile * 16 + b_k) * n + left + column];
            }
            b_tile[b_k][column] = w;
        }
        sync_threads();
        #[unroll]
        for k in 0..16usize {
            #[unroll]
            for i in 0..4usize {
                #[unroll]
                for j in 0..4usize {
                    acc[i][j] += a_tile[k][ty + 16 * i] * b_tile[k][tx + 16 * j];
                }
            }
        }
        sync_threads();
    }
    #[unroll]
    for i in 0..4usize {
        #[unroll]
        for j in 0..4usize {
            let (row, column) = (top + ty + 16 * i, left + tx + 16 * j);
            if row < m && column < n {
                c[row * n + column] = alpha * acc[i][j];
            }
        }
    }
}

/// y ← A · x, a row a warp, 8 warps a block; rows are a multiple of `V` elements long.
#[kernel(block = 256, index = I)]
pub fn gemv_rows<T: Float, const V: usize, const I: usize>(m: usize, n: usize, a: &Global<T>, x: &Global<T>, y: &mut Global<T>) {
    let row = block_idx().x * 8 + warp_id();
    let mut acc = [T::ZERO; V];
    if row < m {
        #[unroll(4)]
        #[batch_loads]
        for v in (lane_id()..n / V).step_by(32) {
            let q = a.load::<V>(row * n + V * v);
            let w = x.load::<V>(V * v);
            #[unroll]
            for j in 0..V {
                acc[j] += q[j] * w[j];
            }
        }
    }
    let mut sum = acc[0];
    #[unroll]
    for j in 1..V {
        sum += acc[j];
    }
    let sum = warp_sum(sum);
    if row < m && lane_id() == 0 {
        y[row] = sum;
    }
}

/// A type of elements of matrices: `f32`, `f64`.
pub trait MatrixElement: Element {
    /// Puts a product into the stream.
    #[doc(hidden)]
    fn gemm(
        call: Call<'_>,
        extent: (usize, usize, usize),
        alpha: Self,
        a: &Buffer<Self>,
        b: &Buffer<Self>,
        c: &mut Buffer<Self>,
        workspace: &mut Workspace,
    ) -> Result<()>
    where
        Self: Sized;

    /// The launch of a product with a vector.
    #[doc(hidden)]
    fn gemv<'a>(extent: (usize, usize), a: &'a Buffer<Self>, x: &'a Buffer<Self>, y: &'a mut Buffer<Self>) -> Launch<'a>
    where
        Self: Sized;
}

fn guarded<'a, T: Float>(
    (m, n, k): (usize, usize, usize),
    alpha: T,
    a: &'a Buffer<T>,
    b: &'a Buffer<T>,
    c: &'a mut Buffer<T>,
) -> Launch<'a> {
    let (across, down) = (n.div_ceil(64), m.div_ceil(64));
    let is_long = [a.len(), b.len(), c.len()].into_iter().any(super::checks::is_long);
    let launch = match is_long {
        false => gemm_guarded::<T, 32>(across, (m, n, k), alpha, a, b, c),
        true => gemm_guarded::<T, 64>(across, (m, n, k), alpha, a, b, c),
    };
    launch.grid(across * down)
}

fn rows_of<'a, T: Float, const V: usize>((m, n): (usize, usize), a: &'a Buffer<T>, x: &'a Buffer<T>, y: &'a mut Buffer<T>) -> Launch<'a> {
    let launch = match (n.is_multiple_of(V), super::checks::is_long(a.len())) {
        (true, false) => gemv_rows::<T, V, 32>(m, n, a, x, y),
        (true, true) => gemv_rows::<T, V, 64>(m, n, a, x, y),
        (false, false) => gemv_rows::<T, 1, 32>(m, n, a, x, y),
        (false, true) => gemv_rows::<T, 1, 64>(m, n, a, x, y),
    };
    launch.grid(m.div_ceil(8))
}

/// Steps that a block takes on at least.
const LEAST_STEPS: usize = 4;

impl MatrixElement for f32 {
    fn gemm(
        call: Call<'_>,
        (m, n, k): (usize, usize, usize),
        alpha: f32,
        a: &Buffer<f32>,
        b: &Buffer<f32>,
        c: &mut Buffer<f32>,
        workspace: &mut Workspace,
    ) -> Result<()> {
        let is_short = [a.len(), b.len(), c.len()].into_iter().all(|len| !super::checks::is_long(len));
        if !is_short || n % 4 != 0 || k % 4 != 0 || k == 0 {
            return Ok(guarded((m, n, k), alpha, a, b, c).launch_on(call.stream)?);
        }
        let (side, depth) = TILE;
        let (tiles, steps) = (m.div_ceil(side) * n.div_ceil(side), k.div_ceil(depth));
        let resident = 2 * call.multiprocessors();
        let blocks = resident.min((tiles * steps).div_ceil(LEAST_STEPS));
        let turns = if tiles % blocks == 0 { tiles / blocks } else { (tiles / blocks).saturating_sub(1) };
        let is_edge = m % side != 0 || n % side != 0 || k % depth != 0;
        // The second candidate, which nothing chooses yet.
        let copies_ahead = workspace.forced() == Some(1);
        let partials = blocks * side * side * size_of::<f32>();
        let mut run = workspace.begin(call.function, &[(Slot::Elements, partials), (Slot::Counts, blocks * size_of::<u32>())])?;
        run.launch(blocks, |before, _, parts| {
            let (partials, told) = (seen::<f32>(parts.elements)?, seen::<u32>(parts.counts)?);
            let launch = match (is_edge, copies_ahead) {
                (false, false) => gemm_tiles::<false, 2>(before, turns, (m, n, k), alpha, a, b, c, partials, told, parts.tickets),
                (true, false) => gemm_tiles::<true, 2>(before, turns, (m, n, k), alpha, a, b, c, partials, told, parts.tickets),
                (false, true) => gemm_tiles::<false, 1>(before, turns, (m, n, k), alpha, a, b, c, partials, told, parts.tickets),
                (true, true) => gemm_tiles::<true, 1>(before, turns, (m, n, k), alpha, a, b, c, partials, told, parts.tickets),
            };
            Ok(launch.grid(blocks).launch_on(call.stream)?)
        })
    }

    fn gemv<'a>(extent: (usize, usize), a: &'a Buffer<f32>, x: &'a Buffer<f32>, y: &'a mut Buffer<f32>) -> Launch<'a> {
        rows_of::<f32, 4>(extent, a, x, y)
    }
}

impl MatrixElement for f64 {
    fn gemm(
        call: Call<'_>,
        extent: (usize, usize, usize),
        alpha: f64,
        a: &Buffer<f64>,
        b: &Buffer<f64>,
        c: &mut Buffer<f64>,
        _: &mut Workspace,
    ) -> Result<()> {
        Ok(guarded(extent, alpha, a, b, c).launch_on(call.stream)?)
    }

    fn gemv<'a>(extent: (usize, usize), a: &'a Buffer<f64>, x: &'a Buffer<f64>, y: &'a mut Buffer<f64>) -> Launch<'a> {
        rows_of::<f64, 2>(extent, a, x, y)
    }
}

/// C ← α · A · B: `a` has m rows of k elements, `b` k rows of n, `c` m rows of n.
///
/// # Errors
/// [`Error`](super::Error), before anything is written: a buffer is shorter than its matrix, a matrix has more than 2³¹ elements, a buffer or the workspace lies on another
/// device, a frozen workspace is too small.
pub fn gemm<T: MatrixElement>(
    stream: &Stream,
    (m, n, k): (usize, usize, usize),
    alpha: T,
    a: &Buffer<T>,
    b: &Buffer<T>,
    c: &mut Buffer<T>,
    workspace: &mut Workspace,
) -> Result<()> {
    let call = Call::new("gemm::gemm", stream);
    let (of_a, of_b, of_c) = (rows::extent(call, m, k)?, rows::extent(call, k, n)?, rows::extent(call, m, n)?);
    call.fits("a", a, of_a)?.fits("b", b, of_b)?.fits("c", c, of_c)?.workspace(workspace)?;
    if of_c > 0 {
        T::gemm(call, (m, n, k), alpha, a, b, c, workspace)?;
    }
    Ok(())
}

/// y ← A · x: `a` has m rows of n elements.
///
/// # Errors
/// [`Error`](super::Error), before anything is written: a buffer is shorter than its matrix or vector, the matrix has more than 2³¹ elements, a buffer lies on another device.
pub fn gemv<T: MatrixElement>(stream: &Stream, (m, n): (usize, usize), a: &Buffer<T>, x: &Buffer<T>, y: &mut Buffer<T>) -> Result<()> {
    let call = Call::new("gemm::gemv", stream);
    let of_a = rows::extent(call, m, n)?;
    call.fits("a", a, of_a)?.fits("x", x, n)?.fits("y", y, m)?;
    if m > 0 {
        T::gemv((m, n), a, x, y).launch_on(stream)?;
    }
    Ok(())
}
