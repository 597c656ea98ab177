//! Products of matrices, row-major.
//!
//! | function | |
//! |---|---|
//! | [`gemm`] | C ← α · A · B, A of m × k, B of k × n, C of m × n |
//! | [`gemv`] | y ← A · x, A of m × n |
//!
//! **Determinism.** The same bits on every run: a result is summed in the order of the inner index (of [`gemv`] in an order that depends on n only).
//!
//! **Error.** |error| ≤ (k + 1) · u · |α| · (|A| · |B|) to first order, u being half the distance from 1 to the next number (2⁻²⁴ for `f32`): products are fused with additions on
//! GPUs; where they are not, k + 1 is 2 k + 1.

use super::Result;
use super::checks::Call;
use super::rows;
use warpwright::Launch;
use warpwright::prelude::*;

/// C ← α · A · B in tiles: m is a multiple of `BM`, n of `BN`, k of `BK`. A block makes `BM` × `BN` results, `BK` of the inner index at a time; a thread `TM` × `TN`, in
/// pieces of 4 × 4 that lie 16 rows and 32 columns apart, so that a warp (4 × 8 threads) reads whole vectors of neighbours. Lane l shares A's vector with l ^ 1 and
/// B's with l ^ 2, so that shared memory serves 16 threads of 16-byte loads at a time. A's tile is stored transposed, its rows 4 words longer. Two buffers: one
/// barrier a tile, the next tile's loads in front of it. Multiplications go there and back along rows: each takes an operand from the one before, and only two
/// registers are read. `LA`, `LB`: vectors of A and B a thread.
#[kernel(
    block = (BM / TM) * (BN / TN),
    min_blocks = 2
)]
pub fn gemm_tiles<const BM: usize, const BN: usize, const BK: usize, const TM: usize, const TN: usize, const LA: usize, const LB: usize>(
    across: usize,
    n: usize,
    inner: usize,
    alpha: f32,
    a: &Global<f32>,
    b: &Global<f32>,
    c: &mut Global<f32>,
) {
    #[shared(pad = 4)]
    let mut a_tile: [[[f32; BM]; BK]; 2];
    #[shared]
    let mut b_tile: [[[f32; BN]; BK]; 2];
    let t = thread_idx().x;
    let threads = (BM / TM) * (BN / TN);
    let (warp, lane) = (t / 32, t % 32);
    let (down_lane, across_lane) = (lane / 2 % 4, lane % 2 + lane / 8 * 2);
    let row0 = warp / (BN / (8 * TN)) * (4 * TM) + down_lane * 4;
    let column0 = warp % (BN / (8 * TN)) * (8 * TN) + across_lane * 4;
    let (top, left) = (block_idx().x / across * BM, block_idx().x % across * BN);
    let (a_row, a_k) = (t / (BK / 4), t % (BK / 4) * 4);
    let (b_k, b_column) = (t / (BN / 4), t % (BN / 4) * 4);
    let a_base = (top + a_row) * inner + a_k;
    let b_base = b_k * n + left + b_column;
    let mut acc = [[0.0f32; TN]; TM];
    let mut qa = [[0.0f32; 4]; LA];
    let mut qb = [[0.0f32; 4]; LB];
    #[unroll]
    for l in 0..LA {
        qa[l] = a.load::<4>(a_base + l * (threads / (BK / 4)) * inner);
    }
    #[unroll]
    for l in 0..LB {
        qb[l] = b.load::<4>(b_base + l * (threads / (BN / 4)) * n);
    }
    for tile in 0..inner / BK {
        let p = tile % 2;
        #[unroll]
        for l in 0..LA {
            #[unroll]
            for j in 0..4usize {
                a_tile[p][a_k + j][a_row + l * (threads / (BK / 4))] = qa[l][j];
            }
        }
        #[unroll]
        for l in 0..LB {
            #[vectorize(4)]
            for j in 0..4usize {
                b_tile[p][b_k + l * (threads / (BN / 4))][b_column + j] = qb[l][j];
            }
        }
        if tile + 1 < inner / BK {
            #[unroll]
            for l in 0..LA {
                qa[l] = a.load::<4>(a_base + l * (threads / (BK / 4)) * inner + (tile + 1) * BK);
            }
            #[unroll]
            for l in 0..LB {
                qb[l] = b.load::<4>(b_base + ((tile + 1) * BK + l * (threads / (BN / 4))) * n);
            }
        }
        sync_threads();
        #[unroll]
        for k in 0..BK {
            let mut down = [0.0f32; TM];
            let mut over = [0.0f32; TN];
            #[unroll]
            for i in 0..TM / 4 {
                #[vectorize(4)]
                for j in 0..4usize {
                    down[i * 4 + j] = a_tile[p][k][row0 + i * 16 + j];
                }
            }
            #[unroll]
            for i in 0..TN / 4 {
                #[vectorize(4)]
                for j in 0..4usize {
                    over[i * 4 + j] = b_tile[p][k][column0 + i * 32 + j];
                }
            }
            #[unroll]
            for s in 0..TM * TN {
                let i = s / TN;
                let j = if (s / TN).is_multiple_of(2) { s % TN } else { TN - 1 - s % TN };
                acc[i][j] += down[i] * over[j];
            }
        }
    }
    #[unroll]
    for i in 0..TM {
        #[unroll]
        for j in 0..TN / 4 {
            let row = top + row0 + i / 4 * 16 + i % 4;
            let column = left + column0 + j * 32;
            c.store::<4>(
                row * n + column,
                [alpha * acc[i][4 * j], alpha * acc[i][4 * j + 1], alpha * acc[i][4 * j + 2], alpha * acc[i][4 * j + 3]],
            );
        }
    }
}

/// The same for any extents: a block of 16 × 16 makes 64 × 64 results, 16 of the inner index at a time.
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
    /// The launch of a product.
    #[doc(hidden)]
    fn gemm<'a>(
        extent: (usize, usize, usize),
        alpha: Self,
        a: &'a Buffer<Self>,
        b: &'a Buffer<Self>,
        c: &'a mut Buffer<Self>,
    ) -> Launch<'a>
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

impl MatrixElement for f32 {
    fn gemm<'a>(
        (m, n, k): (usize, usize, usize),
        alpha: f32,
        a: &'a Buffer<f32>,
        b: &'a Buffer<f32>,
        c: &'a mut Buffer<f32>,
    ) -> Launch<'a> {
        let is_short = [a.len(), b.len(), c.len()].into_iter().all(|len| !super::checks::is_long(len));
        if is_short && m % 128 == 0 && n % 128 == 0 && k % 16 == 0 && k > 0 {
            let (across, down) = (n / 128, m / 128);
            return gemm_tiles::<128, 128, 16, 8, 8, 2, 2>(across, n, k, alpha, a, b, c).grid(across * down);
        }
        guarded((m, n, k), alpha, a, b, c)
    }

    fn gemv<'a>(extent: (usize, usize), a: &'a Buffer<f32>, x: &'a Buffer<f32>, y: &'a mut Buffer<f32>) -> Launch<'a> {
        rows_of::<f32, 4>(extent, a, x, y)
    }
}

impl MatrixElement for f64 {
    fn gemm<'a>(extent: (usize, usize, usize), alpha: f64, a: &'a Buffer<f64>, b: &'a Buffer<f64>, c: &'a mut Buffer<f64>) -> Launch<'a> {
        guarded(extent, alpha, a, b, c)
    }

    fn gemv<'a>(extent: (usize, usize), a: &'a Buffer<f64>, x: &'a Buffer<f64>, y: &'a mut Buffer<f64>) -> Launch<'a> {
        rows_of::<f64, 2>(extent, a, x, y)
    }
}

/// C ← α · A · B: `a` has m rows of k elements, `b` k rows of n, `c` m rows of n.
///
/// # Errors
/// [`Error`](super::Error), before anything is written: a buffer is shorter than its matrix, a matrix has more than 2³¹ elements, a buffer lies on another device.
pub fn gemm<T: MatrixElement>(
    stream: &Stream,
    (m, n, k): (usize, usize, usize),
    alpha: T,
    a: &Buffer<T>,
    b: &Buffer<T>,
    c: &mut Buffer<T>,
) -> Result<()> {
    let call = Call::new("gemm::gemm", stream);
    let (of_a, of_b, of_c) = (rows::extent(call, m, k)?, rows::extent(call, k, n)?, rows::extent(call, m, n)?);
    call.fits("a", a, of_a)?.fits("b", b, of_b)?.fits("c", c, of_c)?;
    if of_c > 0 {
        T::gemm((m, n, k), alpha, a, b, c).launch_on(stream)?;
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
