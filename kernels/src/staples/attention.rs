//! Attention, forward: o ← softmax(scale · q · kᵀ) · v for each head, in one pass over the keys, without a matrix of scores in memory.
//!
//! Heads are stacked along the rows of a matrix: of q and o `heads` times as many rows as there are queries, of k and v `heads / group` times as many as there are keys, a head's size columns each. The
//! contiguous layout `[batch, heads, length, size]` is such a matrix of batch · heads heads. With `group` > 1, so many neighbouring heads of q have the same head of k and v (grouped and multi-query attention).
//!
//! **Determinism.** The same bits on every run of a device.
//!
//! **Error.** |error| ≤ 2 u · (softmax(…) · |v|) + u · |o| to first order, u = 2⁻⁸ of `bf16` and 2⁻¹¹ of `f16`: weights and results are rounded to the type, scores and sums are `f32`.
//!
//! **Speed.** On sm_90a a block has 128 queries (192 of heads of 64) and takes 128 keys at a time, which a producer copies ahead; its warpgroups take turns at the tensor cores, and weights stay in registers.
//! Elsewhere it takes 64 keys at a time.
//!
//! Where a head has fewer keys than a block takes at a time, values of the next head that are no numbers or infinite make results no numbers: the tile reads them, and weighs them with zero.

use super::checks::Call;
use super::{Error, Result};
use warpwright::prelude::*;
use warpwright::{BufferMatrix, BufferMatrixMut, Launch};

/// A block's 128 queries of a head against its keys, `KEYS` at a time, tiles by the copy engine.
#[kernel(block = 2 * ROWS, min_blocks = 1, tensor = true, overlap, targets = [sm_90a],
    variants(T in [bf16], (D, ROWS, KEYS, STAGES) in [(64, 192, 128, 3), (128, 128, 128, 3)], CAUSAL in [true]))]
#[allow(clippy::too_many_arguments, reason = "four matrices, and how heads lie in them")]
pub fn attention_engine<T: Float, const D: usize, const ROWS: usize, const KEYS: usize, const STAGES: usize, const CAUSAL: bool>(
    scale: f32,
    lengths: (usize, usize),
    group: usize,
    q: &Matrix<T>,
    k: &Matrix<T>,
    v: &Matrix<T>,
    o: &mut Matrix<T>,
) where
    f32: SumOf<T>,
{
    #[shared(swizzle = 128)]
    let mut of_q: [[T; D]; ROWS];
    #[shared(swizzle = 128)]
    let mut of_k: [[T; D]; KEYS];
    #[shared(swizzle = 128)]
    let mut of_v: [[T; D]; KEYS];
    let (queries, keys) = lengths;
    // Those with the most keys begin first.
    let block = if CAUSAL { grid_dim().x - 1 - block_idx().x } else { block_idx().x };
    let (first, head) = (block * ROWS, block_idx().y);
    let (of_head, of_keys) = (head * queries, head / group * keys);
    load_tile(&mut of_q, q, of_head + first, 0);
    sync_threads();
    let mut out = Accumulator::<f32, ROWS, D>::zero();
    let mut most = Rows::<f32, ROWS>::splat(f32::NEG_INFINITY);
    let mut total = Rows::<f32, ROWS>::splat(0.0);
    let end = if CAUSAL { keys.min(first + ROWS + keys - queries) } else { keys };
    #[pipeline(stages = STAGES, by = tma, producer)]
    for tile in 0..end.div_ceil(KEYS) {
        // The last tile ends with the keys: what is behind them is another head's.
        let start = (tile * KEYS).min(keys.saturating_sub(KEYS));
        load_tile(&mut of_k, k, of_keys + start, 0);
        load_tile(&mut of_v, v, of_keys + start, 0);
        sync_threads();
        let mut scores = Accumulator::<f32, ROWS, KEYS>::zero();
        multiply_add(&of_q, transposed(&of_k), &mut scores);
        // Only at the ends are there keys that a query does not attend to.
        let behind = (tile + 1) * KEYS;
        if behind > keys {
            #[unroll]
            for e in 0..scores.len() {
                let key = start + scores.position(e).1;
                if key < tile * KEYS || key >= keys {
                    scores[e] = f32::NEG_INFINITY;
                }
            }
        }
        if CAUSAL && behind > first + 1 + keys - queries {
            #[unroll]
            for e in 0..scores.len() {
                let (r, c) = scores.position(e);
                if start + c > first + r + keys - queries {
                    scores[e] = f32::NEG_INFINITY;
                }
            }
        }
        let found = scores.row_max();
        #[unroll]
        for r in 0..most.len() {
            let now = most[r].max(found[r]);
            let keep = native_exp2((most[r] - now) * scale);
            most[r] = now;
            total[r] *= keep;
            #[unroll]
            for e in 0..out.len() {
                if out.row(e) == r {
                    out[e] *= keep;
                }
            }
        }
        #[unroll]
        for e in 0..scores.len() {
            scores[e] = native_exp2(scores[e].mul_add(scale, -(most[scores.row(e)] * scale)));
        }
        let added = scores.row_sum();
        #[unroll]
        for r in 0..total.len() {
            total[r] += added[r];
        }
        multiply_add(scores.operand::<T>(), &of_v, &mut out);
        sync_threads();
    }
    #[unroll]
    for r in 0..total.len() {
        total[r] = 1.0 / total[r];
    }
    #[unroll]
    for e in 0..out.len() {
        out[e] *= total[out.row(e)];
    }
    // Rows behind the queries are another head's.
    if first + ROWS <= queries {
        out.store(&mut of_q);
        sync_threads();
        store_tile(o, of_head + first, 0, &of_q);
    } else {
        #[unroll]
        for e in 0..out.len() {
            let (r, c) = out.position(e);
            if first + r < queries {
                o[(of_head + first + r, c)] = out[e] as T;
            }
        }
    }
}

/// The same, tiles by threads.
#[kernel(block = 2 * ROWS, min_blocks = 1, tensor = true, overlap,
    allow(low_occupancy, narrow_product), variants(T in [bf16], (D, ROWS, KEYS, STAGES) in [(128, 128, 64, 1)], CAUSAL in [true]))]
#[allow(clippy::too_many_arguments, reason = "four matrices, and how heads lie in them")]
pub fn attention_threads<T: Float, const D: usize, const ROWS: usize, const KEYS: usize, const STAGES: usize, const CAUSAL: bool>(
    scale: f32,
    lengths: (usize, usize),
    group: usize,
    q: &Matrix<T>,
    k: &Matrix<T>,
    v: &Matrix<T>,
    o: &mut Matrix<T>,
) where
    f32: SumOf<T>,
{
    #[shared(swizzle = 128)]
    let mut of_q: [[T; D]; ROWS];
    #[shared(swizzle = 128)]
    let mut of_k: [[T; D]; KEYS];
    #[shared(swizzle = 128)]
    let mut of_v: [[T; D]; KEYS];
    let (queries, keys) = lengths;
    let (first, head) = (block_idx().x * ROWS, block_idx().y);
    let (of_head, of_keys) = (head * queries, head / group * keys);
    load_tile(&mut of_q, q, of_head + first, 0);
    sync_threads();
    let mut out = Accumulator::<f32, ROWS, D>::zero();
    let mut most = Rows::<f32, ROWS>::splat(f32::NEG_INFINITY);
    let mut total = Rows::<f32, ROWS>::splat(0.0);
    let end = if CAUSAL { keys.min(first + ROWS + keys - queries) } else { keys };
    #[pipeline(stages = STAGES)]
    for tile in 0..end.div_ceil(KEYS) {
        // The last tile ends with the keys: what is behind them is another head's.
        let start = (tile * KEYS).min(keys.saturating_sub(KEYS));
        load_tile(&mut of_k, k, of_keys + start, 0);
        load_tile(&mut of_v, v, of_keys + start, 0);
        sync_threads();
        let mut scores = Accumulator::<f32, ROWS, KEYS>::zero();
        multiply_add(&of_q, transposed(&of_k), &mut scores);
        // Only at the ends are there keys that a query does not attend to.
        let behind = (tile + 1) * KEYS;
        if behind > keys {
            #[unroll]
            for e in 0..scores.len() {
                let key = start + scores.position(e).1;
                if key < tile * KEYS || key >= keys {
                    scores[e] = f32::NEG_INFINITY;
                }
            }
        }
        if CAUSAL && behind > first + 1 + keys - queries {
            #[unroll]
            for e in 0..scores.len() {
                let (r, c) = scores.position(e);
                if start + c > first + r + keys - queries {
                    scores[e] = f32::NEG_INFINITY;
                }
            }
        }
        let found = scores.row_max();
        #[unroll]
        for r in 0..most.len() {
            let now = most[r].max(found[r]);
            let keep = native_exp2((most[r] - now) * scale);
            most[r] = now;
            total[r] *= keep;
            #[unroll]
            for e in 0..out.len() {
                if out.row(e) == r {
                    out[e] *= keep;
                }
            }
        }
        #[unroll]
        for e in 0..scores.len() {
            scores[e] = native_exp2(scores[e].mul_add(scale, -(most[scores.row(e)] * scale)));
        }
        let added = scores.row_sum();
        #[unroll]
        for r in 0..total.len() {
            total[r] += added[r];
        }
        multiply_add(scores.operand::<T>(), &of_v, &mut out);
        sync_threads();
    }
    #[unroll]
    for r in 0..total.len() {
        total[r] = 1.0 / total[r];
    }
    #[unroll]
    for e in 0..out.len() {
        out[e] *= total[out.row(e)];
    }
    // Rows behind the queries are another head's.
    if first + ROWS <= queries {
        out.store(&mut of_q);
        sync_threads();
        store_tile(o, of_head + first, 0, &of_q);
    } else {
        #[unroll]
        for e in 0..out.len() {
            let (r, c) = out.position(e);
            if first + r < queries {
                o[(of_head + first + r, c)] = out[e] as T;
            }
        }
    }
}

/// Which heads there are, and what they attend to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attention {
    /// Heads of the queries, of all batches together.
    pub heads: usize,
    /// How many neighbouring heads of queries share a head of keys and values: 1 where each has its own.
    pub group: usize,
    /// Whether a query attends to no key behind its own place, the last query's being the last key's.
    pub is_causal: bool,
    /// What scores are multiplied by, greater than zero; none: 1 / √size.
    pub scale: Option<f32>,
}

/// A type of attention's matrices: `bf16`, `f16`.
pub trait AttentionElement: Element {
    #[doc(hidden)]
    fn launch<'a>(parameters: Parameters<'a, Self>) -> Launch<'a>
    where
        Self: Sized;
}

/// What a launch is made of.
#[doc(hidden)]
#[derive(Debug)]
pub struct Parameters<'a, T: Element> {
    scale: f32,
    lengths: (usize, usize),
    heads: usize,
    group: usize,
    size: usize,
    is_causal: bool,
    by_engine: bool,
    matrices: [BufferMatrix<'a, T>; 3],
    o: BufferMatrixMut<'a, T>,
}

macro_rules! launch {
    ($T:ty, $p:ident, $($kernel:ident: $by_engine:literal, $size:literal, $rows:literal, $keys:literal, $stages:literal;)*) => {{
        let Parameters { scale, lengths, heads, group, matrices: [q, k, v], o, .. } = $p;
        let grid = |rows: usize| (lengths.0.div_ceil(rows), heads);
        match ($p.by_engine, $p.size, $p.is_causal) {
            $(
                ($by_engine, $size, true) => $kernel::<$T, $size, $rows, $keys, $stages, true>(scale, lengths, group, q, k, v, o).grid(grid($rows)),
                ($by_engine, $size, false) => $kernel::<$T, $size, $rows, $keys, $stages, false>(scale, lengths, group, q, k, v, o).grid(grid($rows)),
            )*
            _ => unreachable!("sizes were looked at"),
        }
    }};
}

macro_rules! elements {
    ($($T:ty)*) => {$(
        impl AttentionElement for $T {
            fn launch<'a>(p: Parameters<'a, $T>) -> Launch<'a> {
                launch!(
                    $T, p,
                    attention_engine: true, 64, 192, 128, 3;
                    attention_engine: true, 128, 128, 128, 3;
                    attention_threads: false, 64, 128, 64, 2;
                    attention_threads: false, 128, 128, 64, 1;
                )
            }
        }
    )*};
}

elements! { bf16 f16 }

/// Sizes of heads that there are kernels for.
const SIZES: [usize; 2] = [64, 128];

/// o ← softmax(scale · q · kᵀ) · v, head by head.
///
/// # Errors
/// [`Error::Argument`], before anything is written: heads that do not divide the rows, a group that does not divide the heads, sizes other than 64 and 128, matrices that do not fit each other, no keys,
/// a scale that is not greater than zero, more queries than keys where a query attends to its place at most; [`Error::OtherDevice`].
pub fn attention<T: AttentionElement>(
    stream: &Stream,
    about: &Attention,
    [q, k, v]: [BufferMatrix<'_, T>; 3],
    o: BufferMatrixMut<'_, T>,
) -> Result<()> {
    let call = Call::new("attention::attention", stream);
    for (name, buffer) in [("q", q.buffer()), ("k", k.buffer()), ("v", v.buffer()), ("o", o.buffer())] {
        call.takes(name, buffer)?;
    }
    let refuse = |argument, value: String, help| Err(Error::Argument { function: call.function, argument, value, help });
    let Attention { heads, group, is_causal, scale } = *about;
    if group == 0 || heads == 0 || !heads.is_multiple_of(group) {
        return refuse("group", format!("{group}, and there are {heads} heads"), "give a number of heads, and one that divides it");
    }
    let size = q.columns();
    if !SIZES.contains(&size) {
        return refuse("q", format!("a matrix of {size} columns"), "take heads of 64 or 128 elements; pad others with zeros");
    }
    let shape = |rows: usize, columns: usize| format!("a matrix of {rows} × {columns}");
    if !q.rows().is_multiple_of(heads) {
        return refuse("q", format!("{}, and there are {heads} heads", shape(q.rows(), size)), "give every head as many rows");
    }
    let of_keys = heads / group;
    if k.columns() != size || !k.rows().is_multiple_of(of_keys) {
        let value = format!("{}, and there are {of_keys} heads of {size} columns", shape(k.rows(), k.columns()));
        return refuse("k", value, "give every head of keys as many rows, and q's columns");
    }
    if (v.rows(), v.columns()) != (k.rows(), size) {
        return refuse("v", format!("{}, and k is {}", shape(v.rows(), v.columns()), shape(k.rows(), size)), "give it k's extents");
    }
    if (o.rows(), o.columns()) != (q.rows(), size) {
        return refuse("o", format!("{}, and q is {}", shape(o.rows(), o.columns()), shape(q.rows(), size)), "give it q's extents");
    }
    let (queries, keys) = (q.rows() / heads, k.rows() / of_keys);
    if queries == 0 {
        return Ok(());
    }
    if keys == 0 {
        return refuse("k", "without rows".to_owned(), "give every query a key to attend to");
    }
    if is_causal && queries > keys {
        let value = format!("of {queries} rows a head, and k has {keys}");
        return refuse("q", value, "give a causal head at least as many keys as queries, or leave `is_causal` out");
    }
    let by_engine = call.has_copy_engine() && [&q, &k, &v].iter().all(|matrix| (matrix.row_pitch() * size_of::<T>()).is_multiple_of(16));
    if let Some(scale) = scale.filter(|scale| !(*scale > 0.0 && scale.is_finite())) {
        return refuse("scale", format!("{scale}"), "give a number greater than zero, or none for 1 / √size");
    }
    // Weights are powers of two.
    let scale = scale.unwrap_or(1.0 / (size as f32).sqrt()) * std::f32::consts::LOG2_E;
    let parameters = Parameters { scale, lengths: (queries, keys), heads, group, size, is_causal, by_engine, matrices: [q, k, v], o };
    T::launch(parameters).launch_on(call.stream)?;
    Ok(())
}
