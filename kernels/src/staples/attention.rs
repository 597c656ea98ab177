//! Attention, forward: o ← softmax(scale · q · kᵀ) · v for each head, in one pass over the keys, without a matrix of scores in memory.
//!
//! Heads are stacked along the rows of a matrix: of q and o `heads` times as many rows as there are queries, of k and v `heads / group` times as many as there are keys, a head's size columns each. The
//! contiguous layout `[batch, heads, length, size]` is such a matrix of batch · heads heads. With `group` > 1, so many neighbouring heads of q have the same head of k and v (grouped and multi-query attention).
//!
//! **Determinism.** The same bits on every run of a device.
//!
//! **Error.** |error| ≤ 2 u · (softmax(…) · |v|) + u · |o| to first order, u = 2⁻⁸ of `bf16` and 2⁻¹¹ of `f16`: weights and results are rounded to the type, scores and sums are `f32`.
//!
//! **Speed.** A block has 128 queries and takes 64 keys at a time, which come ahead; weights go through shared memory to the second product.
//!
//! Where there are fewer than 64 keys, values of the next head that are no numbers or infinite make results no numbers: the tile reads them, and weighs them with zero.

use super::checks::Call;
use super::{Error, Result};
use warpwright::prelude::*;
use warpwright::{BufferMatrix, BufferMatrixMut, Launch};

/// A block's 128 queries of a head against its keys, 64 at a time, tiles by the copy engine.
#[kernel(block = 256, min_blocks = 1, tensor = true, targets = [sm_90],
    allow(low_occupancy, narrow_product, register_cliff), variants(T in [bf16], D in [64, 128], STAGES in [2], CAUSAL in [false, true]))]
#[allow(clippy::too_many_arguments, reason = "four matrices, and how heads lie in them")]
pub fn attention_engine<T: Float, const D: usize, const STAGES: usize, const CAUSAL: bool>(
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
    let mut of_q: [[T; D]; 128];
    #[shared(swizzle = 128)]
    let mut of_k: [[T; D]; 64];
    #[shared(swizzle = 128)]
    let mut of_v: [[T; D]; 64];
    #[shared(swizzle = 128)]
    let mut weights: [[T; 64]; 128];
    let (queries, keys) = lengths;
    let (first, head) = (block_idx().x * 128, block_idx().y);
    let (of_head, of_keys) = (head * queries, head / group * keys);
    load_tile(&mut of_q, q, of_head + first, 0);
    sync_threads();
    let mut out = Accumulator::<f32, 128, D>::zero();
    let mut most = Rows::<f32, 128>::splat(f32::NEG_INFINITY);
    let mut total = Rows::<f32, 128>::splat(0.0);
    let end = if CAUSAL { keys.min(first + 128 + keys - queries) } else { keys };
    #[pipeline(stages = STAGES, by = tma)]
    for tile in 0..end.div_ceil(64) {
        // The last tile ends with the keys: what is behind them is another head's.
        let start = (tile * 64).min(keys.saturating_sub(64));
        load_tile(&mut of_k, k, of_keys + start, 0);
        load_tile(&mut of_v, v, of_keys + start, 0);
        sync_threads();
        let mut scores = Accumulator::<f32, 128, 64>::zero();
        multiply_add(&of_q, transposed(&of_k), &mut scores);
        #[unroll]
        for e in 0..scores.len() {
            let (r, c) = scores.position(e);
            let key = start + c;
            let hidden = key < tile * 64 || key >= keys || (CAUSAL && key > first + r + keys - queries);
            scores[e] = if hidden { f32::NEG_INFINITY } else { scores[e] * scale };
        }
        let found = scores.row_max();
        #[unroll]
        for r in 0..most.len() {
            let now = most[r].max(found[r]);
            let keep = native_exp2(most[r] - now);
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
            scores[e] = native_exp2(scores[e] - most[scores.row(e)]);
        }
        let added = scores.row_sum();
        #[unroll]
        for r in 0..total.len() {
            total[r] += added[r];
        }
        scores.store(&mut weights);
        sync_threads();
        multiply_add(&weights, &of_v, &mut out);
        sync_threads();
    }
    #[unroll]
    for e in 0..out.len() {
        let (r, c) = out.position(e);
        if first + r < queries {
            o[(of_head + first + r, c)] = (out[e] / total[out.row(e)]) as T;
        }
    }
}

/// The same, tiles by threads. (Of 128 columns `sm_80` spills one register; other targets none.)
#[kernel(block = 256, min_blocks = 1, tensor = true,
    allow(low_occupancy, narrow_product), variants(T in [bf16], (D, STAGES) in [(64, 2)], CAUSAL in [false, true]))]
#[allow(clippy::too_many_arguments, reason = "four matrices, and how heads lie in them")]
pub fn attention_threads<T: Float, const D: usize, const STAGES: usize, const CAUSAL: bool>(
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
    let mut of_q: [[T; D]; 128];
    #[shared(swizzle = 128)]
    let mut of_k: [[T; D]; 64];
    #[shared(swizzle = 128)]
    let mut of_v: [[T; D]; 64];
    #[shared(swizzle = 128)]
    let mut weights: [[T; 64]; 128];
    let (queries, keys) = lengths;
    let (first, head) = (block_idx().x * 128, block_idx().y);
    let (of_head, of_keys) = (head * queries, head / group * keys);
    load_tile(&mut of_q, q, of_head + first, 0);
    sync_threads();
    let mut out = Accumulator::<f32, 128, D>::zero();
    let mut most = Rows::<f32, 128>::splat(f32::NEG_INFINITY);
    let mut total = Rows::<f32, 128>::splat(0.0);
    let end = if CAUSAL { keys.min(first + 128 + keys - queries) } else { keys };
    #[pipeline(stages = STAGES)]
    for tile in 0..end.div_ceil(64) {
        // The last tile ends with the keys: what is behind them is another head's.
        let start = (tile * 64).min(keys.saturating_sub(64));
        load_tile(&mut of_k, k, of_keys + start, 0);
        load_tile(&mut of_v, v, of_keys + start, 0);
        sync_threads();
        let mut scores = Accumulator::<f32, 128, 64>::zero();
        multiply_add(&of_q, transposed(&of_k), &mut scores);
        #[unroll]
        for e in 0..scores.len() {
            let (r, c) = scores.position(e);
            let key = start + c;
            let hidden = key < tile * 64 || key >= keys || (CAUSAL && key > first + r + keys - queries);
            scores[e] = if hidden { f32::NEG_INFINITY } else { scores[e] * scale };
        }
        let found = scores.row_max();
        #[unroll]
        for r in 0..most.len() {
            let now = most[r].max(found[r]);
            let keep = native_exp2(most[r] - now);
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
            scores[e] = native_exp2(scores[e] - most[scores.row(e)]);
        }
        let added = scores.row_sum();
        #[unroll]
        for r in 0..total.len() {
            total[r] += added[r];
        }
        scores.store(&mut weights);
        sync_threads();
        multiply_add(&weights, &of_v, &mut out);
        sync_threads();
    }
    #[unroll]
    for e in 0..out.len() {
        let (r, c) = out.position(e);
        if first + r < queries {
            o[(of_head + first + r, c)] = (out[e] / total[out.row(e)]) as T;
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
    /// What scores are multiplied by; none: 1 / √size.
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
    group: usize,
    size: usize,
    is_causal: bool,
    by_engine: bool,
    matrices: [BufferMatrix<'a, T>; 3],
    o: BufferMatrixMut<'a, T>,
}

macro_rules! launch {
    ($T:ty, $p:ident, $($kernel:ident: $by_engine:literal, $size:literal, $stages:literal, $is_causal:literal;)*) => {{
        let Parameters { scale, lengths, group, matrices: [q, k, v], o, .. } = $p;
        match ($p.by_engine, $p.size, $p.is_causal) {
            $(($by_engine, $size, $is_causal) => $kernel::<$T, $size, $stages, $is_causal>(scale, lengths, group, q, k, v, o),)*
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
                    attention_engine: true, 64, 2, false;
                    attention_engine: true, 64, 2, true;
                    attention_engine: true, 128, 2, false;
                    attention_engine: true, 128, 2, true;
                    attention_threads: false, 64, 2, false;
                    attention_threads: false, 64, 2, true;
                    attention_threads: false, 128, 1, false;
                    attention_threads: false, 128, 1, true;
                )
            }
        }
    )*};
}

elements! { bf16 f16 }

/// Sizes of heads that there are kernels for.
const SIZES: [usize; 2] = [64, 128];

/// Queries of a block.
const QUERIES: usize = 128;

/// o ← softmax(scale · q · kᵀ) · v, head by head.
///
/// # Errors
/// [`Error::Argument`], before anything is written: heads that do not divide the rows, a group that does not divide the heads, sizes other than 64 and 128, matrices that do not fit each other, no keys,
/// more queries than keys where a query attends to its place at most; [`Error::OtherDevice`].
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
    // Weights are powers of two.
    let scale = scale.unwrap_or(1.0 / (size as f32).sqrt()) * std::f32::consts::LOG2_E;
    let parameters = Parameters { scale, lengths: (queries, keys), group, size, is_causal, by_engine, matrices: [q, k, v], o };
    T::launch(parameters).grid((queries.div_ceil(QUERIES), heads)).launch_on(call.stream)?;
    Ok(())
}
