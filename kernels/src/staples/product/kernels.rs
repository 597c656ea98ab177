//! The kernels of [`multiply`](super::multiply()): one for each way that the factors lie, with tiles that the copy engine brings, and with tiles that threads bring.
//!
//! A block of `B` threads makes `BM` × `BN` results of one product of the batch, that of its layer of the grid, `BK` of the inner extent at a time, rows of 128 bytes (256 of doubles that the copy engine brings). Bands of 16 rows of blocks follow each other (8 where threads bring
//! the tiles), so that blocks that run together share what the level-2 cache holds: of 132 blocks of 128 × 256, about as many rows of a as of b. Where nothing but α is asked for (`!END`), results leave in strips of `BC` columns, converted, whole rows at a time; else strips are kept as sums, and each is finished by
//! [`finish`], an element a thread.
//!
//! `W` blocks are to be resident where the copy engine brings tiles: one multiplies while the other writes its results.
//!
//! `AHEAD`: as many blocks as are resident go from tile to tile, threads of their own ask for the next one's factors while this one's results are written, and the copy engine writes these,
//! in strips of 128 bytes a row, or 64 of results of 32 bits. There are two to four slots for them: a strip is made while those before are written. Sums that are
//! kept leave room for four stages, whatever `STAGES` says.
//!
//! `DOWN` blocks below each other are a cluster: each copies its part of the tile of b, which they share, to all of them.
//!
//! `TENSOR` says whether tensor cores may multiply, which round `f32` to 10 bits behind the point; 16-bit factors lose nothing.

use warpwright::Num;
use warpwright::prelude::*;

/// What is done to each result last.
#[device]
fn activated<S: Num>(activation: u32, v: S) -> S {
    if activation == 1 {
        return if v > S::ZERO { v } else { S::ZERO };
    }
    if activation == 2 {
        let x = v as f32;
        // x · (1 + tanh(√(2/π) · (x + 0.044715 x³))) / 2, by way of the logistic function.
        let inner = 1.595_769 * (x + 0.044_715 * x * x * x);
        return (x / (1.0 + (-inner).exp())) as S;
    }
    if activation == 3 {
        let x = v as f32;
        return (x / (1.0 + (-x).exp())) as S;
    }
    v
}

/// Writes a strip of sums: activation(α · sum + β · c + bias), where the first `of_bias` columns have a bias.
#[device]
fn finish<S: Num, U: Num, const BM: usize, const BC: usize>(
    scales: (S, S),
    activation: u32,
    strip: &[[S; BC]; BM],
    place: (usize, usize),
    of_bias: usize,
    bias: &Global<U>,
    c: &mut Matrix<U>,
) {
    let (alpha, beta) = scales;
    for i in (thread_idx().x..BM * BC).step_by(block_dim().x) {
        let (row, column) = (place.0 + i / BC, place.1 + i % BC);
        if row < c.rows() && column < c.columns() {
            let mut v = alpha * strip[i / BC][i % BC];
            // Where β is zero, c may hold anything.
            if beta != S::ZERO {
                v += beta * (c[(row, column)] as S);
            }
            if column < of_bias {
                v += bias[column] as S;
            }
            c[(row, column)] = activated(activation, v) as U;
        }
    }
}

/// `to` ← `from`ᵀ, 32 × 32 a block, a matrix for each layer of blocks.
#[kernel(block = (32, 8), overlap)]
pub fn turn<T: Element>(from: &MatrixBatch<T>, to: &mut MatrixBatch<T>) {
    #[shared(pad = 1)]
    let mut tile: [[T; 32]; 32];
    let (row, column) = (block_idx().y * 32, block_idx().x * 32);
    load_tile(&mut tile, &from[block_idx().z], row, column);
    sync_threads();
    #[unroll]
    for step in 0..4usize {
        let (of_column, of_row) = (thread_idx().y + step * 8, thread_idx().x);
        to[block_idx().z][(column + of_column, row + of_row)] = tile[of_row][of_column];
    }
}

/// c ← activation(α · a · b + β · c + bias), tiles by the copy engine.
#[kernel(block = B, min_blocks = W, tensor = if TENSOR { tf32 } else { false }, persistent = AHEAD, overlap, cluster = (1, DOWN), raster(rows = 16), targets = [sm_90],
    allow(narrow_product), variants((T, S, U, BK, BC, TENSOR, B, BM, BN, STAGES, W, AHEAD, DOWN) in [(bf16, f32, bf16, 64, 64, true, 256, 128, 256, 4, 1, false, 1), (bf16, f32, bf16, 64, 64, true, 256, 128, 256, 3, 1, true, 2), (bf16, f32, bf16, 64, 64, true, 256, 128, 192, 4, 1, true, 1), (bf16, f32, bf16, 64, 64, true, 128, 64, 64, 4, 1, false, 1)], END in [false, true]))]
#[allow(clippy::too_many_arguments, reason = "matrices, and what is done to their product")]
pub fn multiply_nn_engine<
    T: Element,
    S: Num + SumOf<T>,
    U: Num,
    const B: usize,
    const BM: usize,
    const BN: usize,
    const BK: usize,
    const BC: usize,
    const STAGES: usize,
    const W: usize,
    const AHEAD: bool,
    const DOWN: usize,
    const TENSOR: bool,
    const END: bool,
>(
    alpha: S,
    beta: S,
    activation: u32,
    of_bias: usize,
    a: &MatrixBatch<T>,
    b: &MatrixBatch<T>,
    bias: &Global<U>,
    c: &mut MatrixBatch<U>,
) {
    #[shared(swizzle = 128)]
    let mut of_a: [[T; BK]; BM];
    #[shared(swizzle = 128)]
    let mut of_b: [[T; BN]; BK];
    #[shared(swizzle = if AHEAD && BC == 16 { 64 } else { 128 })]
    let mut results: [[U; BC]; BM];
    #[shared]
    let mut strip: [[S; BC]; BM];
    let (i, row, column) = (block_idx().z, block_idx().y * BM, block_idx().x * BN);
    let mut sums = Accumulator::<S, BM, BN>::zero();
    #[pipeline(stages = if END && AHEAD { 4 } else { STAGES }, by = tma, producer = AHEAD)]
    for step in 0..a.columns().div_ceil(BK) {
        load_tile(&mut of_a, &a[i], row, step * BK);
        load_tile(&mut of_b, &b[i], step * BK, column);
        sync_threads();
        multiply_add(&of_a, &of_b, &mut sums);
        sync_threads();
    }
    if END {
        #[unroll]
        for n in 0..BN / BC {
            sums.store_columns(n * BC, &mut strip);
            sync_threads();
            finish((alpha, beta), activation, &strip, (row, column + n * BC), of_bias, bias, &mut c[i]);
            sync_threads();
        }
    } else {
        if alpha != S::ONE {
            #[unroll]
            for e in 0..sums.len() {
                sums[e] *= alpha;
            }
        }
        #[unroll]
        #[pipeline(stages = if !AHEAD { 1 } else if BN.is_multiple_of(4 * BC) { 4 } else if BN.is_multiple_of(3 * BC) { 3 } else { 2 }, by = tma)]
        for n in 0..BN / BC {
            sums.store_columns(n * BC, &mut results);
            sync_threads();
            store_tile(&mut c[i], row, column + n * BC, &results);
            sync_threads();
        }
    }
}

/// c ← activation(α · a · b + β · c + bias).
#[kernel(block = B, min_blocks = 1, tensor = if TENSOR { tf32 } else { false }, overlap, raster(rows = 8),
    allow(low_occupancy, narrow_product), variants((T, S, U, BK, BC, TENSOR) in [(bf16, f32, bf16, 64, 64, true)], (B, BM, BN, STAGES) in [(256, 128, 128, 2), (128, 64, 64, 2)], END in [false, true]))]
#[allow(clippy::too_many_arguments, reason = "matrices, and what is done to their product")]
pub fn multiply_nn<
    T: Element,
    S: Num + SumOf<T>,
    U: Num,
    const B: usize,
    const BM: usize,
    const BN: usize,
    const BK: usize,
    const BC: usize,
    const STAGES: usize,
    const TENSOR: bool,
    const END: bool,
>(
    alpha: S,
    beta: S,
    activation: u32,
    of_bias: usize,
    a: &MatrixBatch<T>,
    b: &MatrixBatch<T>,
    bias: &Global<U>,
    c: &mut MatrixBatch<U>,
) {
    #[shared(swizzle = 128)]
    let mut of_a: [[T; BK]; BM];
    #[shared(swizzle = 128)]
    let mut of_b: [[T; BN]; BK];
    #[shared(swizzle = 128)]
    let mut results: [[U; BC]; BM];
    #[shared]
    let mut strip: [[S; BC]; BM];
    let (i, row, column) = (block_idx().z, block_idx().y * BM, block_idx().x * BN);
    let mut sums = Accumulator::<S, BM, BN>::zero();
    #[pipeline(stages = STAGES)]
    for step in 0..a.columns().div_ceil(BK) {
        load_tile(&mut of_a, &a[i], row, step * BK);
        load_tile(&mut of_b, &b[i], step * BK, column);
        sync_threads();
        multiply_add(&of_a, &of_b, &mut sums);
        sync_threads();
    }
    if END {
        #[unroll]
        for n in 0..BN / BC {
            sums.store_columns(n * BC, &mut strip);
            sync_threads();
            finish((alpha, beta), activation, &strip, (row, column + n * BC), of_bias, bias, &mut c[i]);
            sync_threads();
        }
    } else {
        if alpha != S::ONE {
            #[unroll]
            for e in 0..sums.len() {
                sums[e] *= alpha;
            }
        }
        #[unroll]
        for n in 0..BN / BC {
            sums.store_columns(n * BC, &mut results);
            sync_threads();
            store_tile(&mut c[i], row, column + n * BC, &results);
            sync_threads();
        }
    }
}

/// c ← activation(α · a · bᵀ + β · c + bias), tiles by the copy engine.
#[kernel(block = B, min_blocks = W, tensor = if TENSOR { tf32 } else { false }, persistent = AHEAD, overlap, cluster = (1, DOWN), raster(rows = 16), targets = [sm_90],
    allow(narrow_product), variants((T, S, U, BK, BC, TENSOR, B, BM, BN, STAGES, W, AHEAD, DOWN) in [(bf16, f32, bf16, 64, 64, true, 256, 128, 256, 4, 1, false, 1), (bf16, f32, bf16, 64, 64, true, 256, 128, 256, 3, 1, true, 2), (bf16, f32, bf16, 64, 64, true, 256, 128, 192, 4, 1, true, 1), (bf16, f32, bf16, 64, 64, true, 128, 64, 64, 4, 1, false, 1), (f32, f32, f32, 32, 32, true, 256, 128, 256, 4, 1, false, 1), (f32, f32, f32, 32, 32, true, 256, 128, 256, 3, 1, true, 1), (f32, f32, f32, 32, 32, true, 256, 128, 192, 4, 1, true, 1), (f32, f32, f32, 32, 32, true, 128, 64, 64, 4, 1, false, 1)], END in [false, true]))]
#[allow(clippy::too_many_arguments, reason = "matrices, and what is done to their product")]
pub fn multiply_nt_engine<
    T: Element,
    S: Num + SumOf<T>,
    U: Num,
    const B: usize,
    const BM: usize,
    const BN: usize,
    const BK: usize,
    const BC: usize,
    const STAGES: usize,
    const W: usize,
    const AHEAD: bool,
    const DOWN: usize,
    const TENSOR: bool,
    const END: bool,
>(
    alpha: S,
    beta: S,
    activation: u32,
    of_bias: usize,
    a: &MatrixBatch<T>,
    b: &MatrixBatch<T>,
    bias: &Global<U>,
    c: &mut MatrixBatch<U>,
) {
    #[shared(swizzle = 128)]
    let mut of_a: [[T; BK]; BM];
    #[shared(swizzle = 128)]
    let mut of_b: [[T; BK]; BN];
    #[shared(swizzle = if AHEAD && BC == 16 { 64 } else { 128 })]
    let mut results: [[U; BC]; BM];
    #[shared]
    let mut strip: [[S; BC]; BM];
    let (i, row, column) = (block_idx().z, block_idx().y * BM, block_idx().x * BN);
    let mut sums = Accumulator::<S, BM, BN>::zero();
    #[pipeline(stages = if END && AHEAD { 4 } else { STAGES }, by = tma, producer = AHEAD)]
    for step in 0..a.columns().div_ceil(BK) {
        load_tile(&mut of_a, &a[i], row, step * BK);
        load_tile(&mut of_b, &b[i], column, step * BK);
        sync_threads();
        multiply_add(&of_a, transposed(&of_b), &mut sums);
        sync_threads();
    }
    if END {
        #[unroll]
        for n in 0..BN / BC {
            sums.store_columns(n * BC, &mut strip);
            sync_threads();
            finish((alpha, beta), activation, &strip, (row, column + n * BC), of_bias, bias, &mut c[i]);
            sync_threads();
        }
    } else {
        if alpha != S::ONE {
            #[unroll]
            for e in 0..sums.len() {
                sums[e] *= alpha;
            }
        }
        #[unroll]
        #[pipeline(stages = if !AHEAD { 1 } else if BN.is_multiple_of(4 * BC) { 4 } else if BN.is_multiple_of(3 * BC) { 3 } else { 2 }, by = tma)]
        for n in 0..BN / BC {
            sums.store_columns(n * BC, &mut results);
            sync_threads();
            store_tile(&mut c[i], row, column + n * BC, &results);
            sync_threads();
        }
    }
}

/// c ← activation(α · a · bᵀ + β · c + bias).
#[kernel(block = B, min_blocks = 1, tensor = if TENSOR { tf32 } else { false }, overlap, raster(rows = 8),
    allow(low_occupancy, narrow_product), variants((T, S, U, BK, BC, TENSOR) in [(bf16, f32, bf16, 64, 64, true), (f32, f32, f32, 32, 32, true), (i8, i32, i32, 128, 32, true)], (B, BM, BN, STAGES) in [(256, 128, 128, 2), (128, 64, 64, 2)], END in [false, true]))]
#[allow(clippy::too_many_arguments, reason = "matrices, and what is done to their product")]
pub fn multiply_nt<
    T: Element,
    S: Num + SumOf<T>,
    U: Num,
    const B: usize,
    const BM: usize,
    const BN: usize,
    const BK: usize,
    const BC: usize,
    const STAGES: usize,
    const TENSOR: bool,
    const END: bool,
>(
    alpha: S,
    beta: S,
    activation: u32,
    of_bias: usize,
    a: &MatrixBatch<T>,
    b: &MatrixBatch<T>,
    bias: &Global<U>,
    c: &mut MatrixBatch<U>,
) {
    #[shared(swizzle = 128)]
    let mut of_a: [[T; BK]; BM];
    #[shared(swizzle = 128)]
    let mut of_b: [[T; BK]; BN];
    #[shared(swizzle = 128)]
    let mut results: [[U; BC]; BM];
    #[shared]
    let mut strip: [[S; BC]; BM];
    let (i, row, column) = (block_idx().z, block_idx().y * BM, block_idx().x * BN);
    let mut sums = Accumulator::<S, BM, BN>::zero();
    #[pipeline(stages = STAGES)]
    for step in 0..a.columns().div_ceil(BK) {
        load_tile(&mut of_a, &a[i], row, step * BK);
        load_tile(&mut of_b, &b[i], column, step * BK);
        sync_threads();
        multiply_add(&of_a, transposed(&of_b), &mut sums);
        sync_threads();
    }
    if END {
        #[unroll]
        for n in 0..BN / BC {
            sums.store_columns(n * BC, &mut strip);
            sync_threads();
            finish((alpha, beta), activation, &strip, (row, column + n * BC), of_bias, bias, &mut c[i]);
            sync_threads();
        }
    } else {
        if alpha != S::ONE {
            #[unroll]
            for e in 0..sums.len() {
                sums[e] *= alpha;
            }
        }
        #[unroll]
        for n in 0..BN / BC {
            sums.store_columns(n * BC, &mut results);
            sync_threads();
            store_tile(&mut c[i], row, column + n * BC, &results);
            sync_threads();
        }
    }
}

/// c ← activation(α · aᵀ · b + β · c + bias), tiles by the copy engine.
#[kernel(block = B, min_blocks = W, tensor = if TENSOR { tf32 } else { false }, persistent = AHEAD, overlap, cluster = (1, DOWN), raster(rows = 16), targets = [sm_90],
    allow(narrow_product), variants((T, S, U, BK, BC, TENSOR, B, BM, BN, STAGES, W, AHEAD, DOWN) in [(bf16, f32, bf16, 64, 64, true, 256, 128, 256, 4, 1, false, 1), (bf16, f32, bf16, 64, 64, true, 256, 128, 256, 3, 1, true, 2), (bf16, f32, bf16, 64, 64, true, 256, 128, 192, 4, 1, true, 1), (bf16, f32, bf16, 64, 64, true, 128, 64, 64, 4, 1, false, 1)], END in [false, true]))]
#[allow(clippy::too_many_arguments, reason = "matrices, and what is done to their product")]
pub fn multiply_tn_engine<
    T: Element,
    S: Num + SumOf<T>,
    U: Num,
    const B: usize,
    const BM: usize,
    const BN: usize,
    const BK: usize,
    const BC: usize,
    const STAGES: usize,
    const W: usize,
    const AHEAD: bool,
    const DOWN: usize,
    const TENSOR: bool,
    const END: bool,
>(
    alpha: S,
    beta: S,
    activation: u32,
    of_bias: usize,
    a: &MatrixBatch<T>,
    b: &MatrixBatch<T>,
    bias: &Global<U>,
    c: &mut MatrixBatch<U>,
) {
    #[shared(swizzle = 128)]
    let mut of_a: [[T; BM]; BK];
    #[shared(swizzle = 128)]
    let mut of_b: [[T; BN]; BK];
    #[shared(swizzle = if AHEAD && BC == 16 { 64 } else { 128 })]
    let mut results: [[U; BC]; BM];
    #[shared]
    let mut strip: [[S; BC]; BM];
    let (i, row, column) = (block_idx().z, block_idx().y * BM, block_idx().x * BN);
    let mut sums = Accumulator::<S, BM, BN>::zero();
    #[pipeline(stages = if END && AHEAD { 4 } else { STAGES }, by = tma, producer = AHEAD)]
    for step in 0..a.rows().div_ceil(BK) {
        load_tile(&mut of_a, &a[i], step * BK, row);
        load_tile(&mut of_b, &b[i], step * BK, column);
        sync_threads();
        multiply_add(transposed(&of_a), &of_b, &mut sums);
        sync_threads();
    }
    if END {
        #[unroll]
        for n in 0..BN / BC {
            sums.store_columns(n * BC, &mut strip);
            sync_threads();
            finish((alpha, beta), activation, &strip, (row, column + n * BC), of_bias, bias, &mut c[i]);
            sync_threads();
        }
    } else {
        if alpha != S::ONE {
            #[unroll]
            for e in 0..sums.len() {
                sums[e] *= alpha;
            }
        }
        #[unroll]
        #[pipeline(stages = if !AHEAD { 1 } else if BN.is_multiple_of(4 * BC) { 4 } else if BN.is_multiple_of(3 * BC) { 3 } else { 2 }, by = tma)]
        for n in 0..BN / BC {
            sums.store_columns(n * BC, &mut results);
            sync_threads();
            store_tile(&mut c[i], row, column + n * BC, &results);
            sync_threads();
        }
    }
}

/// c ← activation(α · aᵀ · b + β · c + bias).
#[kernel(block = B, min_blocks = 1, tensor = if TENSOR { tf32 } else { false }, overlap, raster(rows = 8),
    allow(low_occupancy, narrow_product), variants((T, S, U, BK, BC, TENSOR) in [(bf16, f32, bf16, 64, 64, true)], (B, BM, BN, STAGES) in [(256, 128, 128, 2), (128, 64, 64, 2)], END in [false, true]))]
#[allow(clippy::too_many_arguments, reason = "matrices, and what is done to their product")]
pub fn multiply_tn<
    T: Element,
    S: Num + SumOf<T>,
    U: Num,
    const B: usize,
    const BM: usize,
    const BN: usize,
    const BK: usize,
    const BC: usize,
    const STAGES: usize,
    const TENSOR: bool,
    const END: bool,
>(
    alpha: S,
    beta: S,
    activation: u32,
    of_bias: usize,
    a: &MatrixBatch<T>,
    b: &MatrixBatch<T>,
    bias: &Global<U>,
    c: &mut MatrixBatch<U>,
) {
    #[shared(swizzle = 128)]
    let mut of_a: [[T; BM]; BK];
    #[shared(swizzle = 128)]
    let mut of_b: [[T; BN]; BK];
    #[shared(swizzle = 128)]
    let mut results: [[U; BC]; BM];
    #[shared]
    let mut strip: [[S; BC]; BM];
    let (i, row, column) = (block_idx().z, block_idx().y * BM, block_idx().x * BN);
    let mut sums = Accumulator::<S, BM, BN>::zero();
    #[pipeline(stages = STAGES)]
    for step in 0..a.rows().div_ceil(BK) {
        load_tile(&mut of_a, &a[i], step * BK, row);
        load_tile(&mut of_b, &b[i], step * BK, column);
        sync_threads();
        multiply_add(transposed(&of_a), &of_b, &mut sums);
        sync_threads();
    }
    if END {
        #[unroll]
        for n in 0..BN / BC {
            sums.store_columns(n * BC, &mut strip);
            sync_threads();
            finish((alpha, beta), activation, &strip, (row, column + n * BC), of_bias, bias, &mut c[i]);
            sync_threads();
        }
    } else {
        if alpha != S::ONE {
            #[unroll]
            for e in 0..sums.len() {
                sums[e] *= alpha;
            }
        }
        #[unroll]
        for n in 0..BN / BC {
            sums.store_columns(n * BC, &mut results);
            sync_threads();
            store_tile(&mut c[i], row, column + n * BC, &results);
            sync_threads();
        }
    }
}

/// c ← activation(α · aᵀ · bᵀ + β · c + bias), tiles by the copy engine.
#[kernel(block = B, min_blocks = W, tensor = if TENSOR { tf32 } else { false }, persistent = AHEAD, overlap, cluster = (1, DOWN), raster(rows = 16), targets = [sm_90],
    allow(narrow_product), variants((T, S, U, BK, BC, TENSOR, B, BM, BN, STAGES, W, AHEAD, DOWN) in [(bf16, f32, bf16, 64, 64, true, 256, 128, 256, 4, 1, false, 1), (bf16, f32, bf16, 64, 64, true, 256, 128, 256, 3, 1, true, 2), (bf16, f32, bf16, 64, 64, true, 256, 128, 192, 4, 1, true, 1), (bf16, f32, bf16, 64, 64, true, 128, 64, 64, 4, 1, false, 1)], END in [false, true]))]
#[allow(clippy::too_many_arguments, reason = "matrices, and what is done to their product")]
pub fn multiply_tt_engine<
    T: Element,
    S: Num + SumOf<T>,
    U: Num,
    const B: usize,
    const BM: usize,
    const BN: usize,
    const BK: usize,
    const BC: usize,
    const STAGES: usize,
    const W: usize,
    const AHEAD: bool,
    const DOWN: usize,
    const TENSOR: bool,
    const END: bool,
>(
    alpha: S,
    beta: S,
    activation: u32,
    of_bias: usize,
    a: &MatrixBatch<T>,
    b: &MatrixBatch<T>,
    bias: &Global<U>,
    c: &mut MatrixBatch<U>,
) {
    #[shared(swizzle = 128)]
    let mut of_a: [[T; BM]; BK];
    #[shared(swizzle = 128)]
    let mut of_b: [[T; BK]; BN];
    #[shared(swizzle = if AHEAD && BC == 16 { 64 } else { 128 })]
    let mut results: [[U; BC]; BM];
    #[shared]
    let mut strip: [[S; BC]; BM];
    let (i, row, column) = (block_idx().z, block_idx().y * BM, block_idx().x * BN);
    let mut sums = Accumulator::<S, BM, BN>::zero();
    #[pipeline(stages = if END && AHEAD { 4 } else { STAGES }, by = tma, producer = AHEAD)]
    for step in 0..a.rows().div_ceil(BK) {
        load_tile(&mut of_a, &a[i], step * BK, row);
        load_tile(&mut of_b, &b[i], column, step * BK);
        sync_threads();
        multiply_add(transposed(&of_a), transposed(&of_b), &mut sums);
        sync_threads();
    }
    if END {
        #[unroll]
        for n in 0..BN / BC {
            sums.store_columns(n * BC, &mut strip);
            sync_threads();
            finish((alpha, beta), activation, &strip, (row, column + n * BC), of_bias, bias, &mut c[i]);
            sync_threads();
        }
    } else {
        if alpha != S::ONE {
            #[unroll]
            for e in 0..sums.len() {
                sums[e] *= alpha;
            }
        }
        #[unroll]
        #[pipeline(stages = if !AHEAD { 1 } else if BN.is_multiple_of(4 * BC) { 4 } else if BN.is_multiple_of(3 * BC) { 3 } else { 2 }, by = tma)]
        for n in 0..BN / BC {
            sums.store_columns(n * BC, &mut results);
            sync_threads();
            store_tile(&mut c[i], row, column + n * BC, &results);
            sync_threads();
        }
    }
}

/// c ← activation(α · aᵀ · bᵀ + β · c + bias).
#[kernel(block = B, min_blocks = 1, tensor = if TENSOR { tf32 } else { false }, overlap, raster(rows = 8),
    allow(low_occupancy, narrow_product), variants((T, S, U, BK, BC, TENSOR) in [(bf16, f32, bf16, 64, 64, true)], (B, BM, BN, STAGES) in [(256, 128, 128, 2), (128, 64, 64, 2)], END in [false, true]))]
#[allow(clippy::too_many_arguments, reason = "matrices, and what is done to their product")]
pub fn multiply_tt<
    T: Element,
    S: Num + SumOf<T>,
    U: Num,
    const B: usize,
    const BM: usize,
    const BN: usize,
    const BK: usize,
    const BC: usize,
    const STAGES: usize,
    const TENSOR: bool,
    const END: bool,
>(
    alpha: S,
    beta: S,
    activation: u32,
    of_bias: usize,
    a: &MatrixBatch<T>,
    b: &MatrixBatch<T>,
    bias: &Global<U>,
    c: &mut MatrixBatch<U>,
) {
    #[shared(swizzle = 128)]
    let mut of_a: [[T; BM]; BK];
    #[shared(swizzle = 128)]
    let mut of_b: [[T; BK]; BN];
    #[shared(swizzle = 128)]
    let mut results: [[U; BC]; BM];
    #[shared]
    let mut strip: [[S; BC]; BM];
    let (i, row, column) = (block_idx().z, block_idx().y * BM, block_idx().x * BN);
    let mut sums = Accumulator::<S, BM, BN>::zero();
    #[pipeline(stages = STAGES)]
    for step in 0..a.rows().div_ceil(BK) {
        load_tile(&mut of_a, &a[i], step * BK, row);
        load_tile(&mut of_b, &b[i], column, step * BK);
        sync_threads();
        multiply_add(transposed(&of_a), transposed(&of_b), &mut sums);
        sync_threads();
    }
    if END {
        #[unroll]
        for n in 0..BN / BC {
            sums.store_columns(n * BC, &mut strip);
            sync_threads();
            finish((alpha, beta), activation, &strip, (row, column + n * BC), of_bias, bias, &mut c[i]);
            sync_threads();
        }
    } else {
        if alpha != S::ONE {
            #[unroll]
            for e in 0..sums.len() {
                sums[e] *= alpha;
            }
        }
        #[unroll]
        for n in 0..BN / BC {
            sums.store_columns(n * BC, &mut results);
            sync_threads();
            store_tile(&mut c[i], row, column + n * BC, &results);
            sync_threads();
        }
    }
}
