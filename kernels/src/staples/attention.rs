//! Attention, forward: o ← softmax(scale · q · kᵀ) · v for each head, in one pass over the keys, without a matrix of scores in memory.
//!
//! A head is a matrix with a row for each query, or key, and a head's size columns; all heads are a batch of them ([`BufferMatrix::batch`](warpwright::BufferMatrix::batch)), of whatever pitch and stride:
//!
//! | layout | matrices | pitch | stride |
//! |---|---|---|---|
//! | `[batch][heads][length][size]` | batch · heads | size | length · size |
//! | `[length][heads][size]` | heads | heads · size | size |
//!
//! Of `[batch][length][heads][size]` one stride cannot say both: that is a call for each sequence.
//!
//! Where q has more heads than k and v, as many neighbouring ones have the same head of these (grouped and multi-query attention).
//!
//! ```
//! use warpwright::{Device, prelude::bf16};
//! use warpwright_kernels::staples::attention::{Attention, attention};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Two heads of three queries, beside each other, and one of four keys.
//! let device = Device::simulator();
//! let (q, k, v) = (device.zeros::<bf16>(3 * 2 * 64)?, device.zeros::<bf16>(4 * 64)?, device.upload(&[bf16::ONE; 4 * 64])?);
//! let mut o = device.zeros::<bf16>(3 * 2 * 64)?;
//! let of_q = device.matrix(&q, 3, 64)?.pitch(2 * 64)?.batch(2, 64)?;
//! let [of_k, of_v] = [&k, &v].map(|x| device.matrix(x, 4, 64));
//! let of_o = device.matrix_mut(&mut o, 3, 64)?.pitch(2 * 64)?.batch(2, 64)?;
//! attention(&device.default_stream(), &Attention::default(), [of_q, of_k?.into(), of_v?.into()], of_o)?;
//! assert!(o.download()?.iter().all(|x| *x == bf16::ONE));
//! # Ok(())
//! # }
//! ```
//!
//! **Determinism.** The same bits on every run of a device.
//!
//! **Error.** |error| ≤ 2 u · (softmax(…) · |v|) + u · |o| to first order, u = 2⁻⁸ of `bf16` and 2⁻¹¹ of `f16`: weights and results are rounded to the type, scores and sums are `f32`.
//!
//! **Speed.** On sm_90a a block has 128 queries (192 of heads of 64) and takes 128 keys at a time, which a producer copies ahead; its warpgroups take turns at the tensor cores, and weights stay in registers.
//! Elsewhere it takes 64 keys at a time.

use super::checks::Call;
use super::{Error, Result};
use warpwright::Float;
use warpwright::prelude::*;
use warpwright::{BufferMatrixBatch, BufferMatrixBatchMut, Launch};

/// A block's `ROWS` queries of a head against its keys, `KEYS` at a time, tiles by the copy engine.
#[kernel(block = 2 * ROWS, min_blocks = 1, tensor = true, overlap, targets = [sm_90a],
    variants(T in [bf16], (D, ROWS, KEYS, STAGES) in [(64, 192, 128, 3), (128, 128, 128, 3)], CAUSAL in [true]))]
pub fn attention_engine<T: Float, const D: usize, const ROWS: usize, const KEYS: usize, const STAGES: usize, const CAUSAL: bool>(
    scale: f32,
    group: usize,
    q: &MatrixBatch<T>,
    k: &MatrixBatch<T>,
    v: &MatrixBatch<T>,
    o: &mut MatrixBatch<T>,
) where
    f32: SumOf<T>,
{
    #[shared(swizzle = 128)]
    let mut of_q: [[T; D]; ROWS];
    #[shared(swizzle = 128)]
    let mut of_k: [[T; D]; KEYS];
    #[shared(swizzle = 128)]
    let mut of_v: [[T; D]; KEYS];
    let (queries, keys) = (q.rows(), k.rows());
    // Those with the most keys begin first.
    let block = if CAUSAL { grid_dim().x - 1 - block_idx().x } else { block_idx().x };
    let (first, head) = (block * ROWS, block_idx().y);
    let of_keys = head / group;
    load_tile(&mut of_q, &q[head], first, 0);
    sync_threads();
    let mut out = Accumulator::<f32, ROWS, D>::zero();
    let mut most = Rows::<f32, ROWS>::splat(f32::NEG_INFINITY);
    let mut total = Rows::<f32, ROWS>::splat(0.0);
    let end = if CAUSAL { keys.min(first + ROWS + keys - queries) } else { keys };
    #[pipeline(stages = STAGES, by = tma, producer)]
    for tile in 0..end.div_ceil(KEYS) {
        let start = tile * KEYS;
        load_tile(&mut of_k, &k[of_keys], start, 0);
        load_tile(&mut of_v, &v[of_keys], start, 0);
        sync_threads();
        let mut scores = Accumulator::<f32, ROWS, KEYS>::zero();
        multiply_add(&of_q, transposed(&of_k), &mut scores);
        // Only at the ends are there keys that a query does not attend to.
        let behind = start + KEYS;
        if behind > keys {
            #[unroll]
            for e in 0..scores.len() {
                if start + scores.position(e).1 >= keys {
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
    out.store(&mut of_q);
    sync_threads();
    store_tile(&mut o[head], first, 0, &of_q);
}

/// The same, tiles by threads.
#[kernel(block = 2 * ROWS, min_blocks = 1, tensor = true, overlap,
    allow(low_occupancy, narrow_product), variants(T in [bf16], (D, ROWS, KEYS, STAGES) in [(128, 128, 64, 1)], CAUSAL in [true]))]
pub fn attention_threads<T: Float, const D: usize, const ROWS: usize, const KEYS: usize, const STAGES: usize, const CAUSAL: bool>(
    scale: f32,
    group: usize,
    q: &MatrixBatch<T>,
    k: &MatrixBatch<T>,
    v: &MatrixBatch<T>,
    o: &mut MatrixBatch<T>,
) where
    f32: SumOf<T>,
{
    #[shared(swizzle = 128)]
    let mut of_q: [[T; D]; ROWS];
    #[shared(swizzle = 128)]
    let mut of_k: [[T; D]; KEYS];
    #[shared(swizzle = 128)]
    let mut of_v: [[T; D]; KEYS];
    let (queries, keys) = (q.rows(), k.rows());
    let (first, head) = (block_idx().x * ROWS, block_idx().y);
    let of_keys = head / group;
    load_tile(&mut of_q, &q[head], first, 0);
    sync_threads();
    let mut out = Accumulator::<f32, ROWS, D>::zero();
    let mut most = Rows::<f32, ROWS>::splat(f32::NEG_INFINITY);
    let mut total = Rows::<f32, ROWS>::splat(0.0);
    let end = if CAUSAL { keys.min(first + ROWS + keys - queries) } else { keys };
    #[pipeline(stages = STAGES)]
    for tile in 0..end.div_ceil(KEYS) {
        let start = tile * KEYS;
        load_tile(&mut of_k, &k[of_keys], start, 0);
        load_tile(&mut of_v, &v[of_keys], start, 0);
        sync_threads();
        let mut scores = Accumulator::<f32, ROWS, KEYS>::zero();
        multiply_add(&of_q, transposed(&of_k), &mut scores);
        // Only at the ends are there keys that a query does not attend to.
        let behind = start + KEYS;
        if behind > keys {
            #[unroll]
            for e in 0..scores.len() {
                if start + scores.position(e).1 >= keys {
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
    out.store(&mut of_q);
    sync_threads();
    store_tile(&mut o[head], first, 0, &of_q);
}

/// What queries attend to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Attention {
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
    group: usize,
    is_causal: bool,
    by_engine: bool,
    heads: [BufferMatrixBatch<'a, T>; 3],
    o: BufferMatrixBatchMut<'a, T>,
}

macro_rules! launch {
    ($T:ty, $p:ident, $($kernel:ident: $by_engine:literal, $size:literal, $rows:literal, $keys:literal, $stages:literal;)*) => {{
        let Parameters { scale, group, heads: [q, k, v], o, .. } = $p;
        let grid = |rows: usize| (q.rows().div_ceil(rows), q.count());
        match ($p.by_engine, q.columns(), $p.is_causal) {
            $(
                ($by_engine, $size, true) => $kernel::<$T, $size, $rows, $keys, $stages, true>(scale, group, q, k, v, o).grid(grid($rows)),
                ($by_engine, $size, false) => $kernel::<$T, $size, $rows, $keys, $stages, false>(scale, group, q, k, v, o).grid(grid($rows)),
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

/// The most heads of queries: rows of a grid.
const MOST_HEADS: usize = 65_535;

/// o ← softmax(scale · q · kᵀ) · v, head by head.
///
/// # Errors
/// [`Error::Argument`], before anything is written: heads of keys that do not divide those of queries, more than 65,535 heads, sizes other than 64 and 128, heads that do not fit each other, no keys,
/// a scale that is not greater than zero, more queries than keys where a query attends to its place at most; [`Error::OtherDevice`].
pub fn attention<T: AttentionElement>(
    stream: &Stream,
    about: &Attention,
    [q, k, v]: [BufferMatrixBatch<'_, T>; 3],
    o: BufferMatrixBatchMut<'_, T>,
) -> Result<()> {
    let call = Call::new("attention::attention", stream);
    for (name, buffer) in [("q", q.buffer()), ("k", k.buffer()), ("v", v.buffer()), ("o", o.buffer())] {
        call.takes(name, buffer)?;
    }
    let refuse = |argument, value: String, help| Err(Error::Argument { function: call.function, argument, value, help });
    let Attention { is_causal, scale } = *about;
    let (size, queries, keys) = (q.columns(), q.rows(), k.rows());
    if !SIZES.contains(&size) {
        return refuse("q", format!("of heads of {size} columns"), "take heads of 64 or 128 elements; pad others with zeros");
    }
    let shown = |[heads, rows, columns]: [usize; 3]| format!("{heads} head{} of {rows} × {columns}", if heads == 1 { "" } else { "s" });
    let shape = |batch: &BufferMatrixBatch<'_, T>| [batch.count(), batch.rows(), batch.columns()];
    let (of_q, of_k, of_v, of_o) = (shape(&q), shape(&k), shape(&v), [o.count(), o.rows(), o.columns()]);
    if of_k[2] != size {
        return refuse("k", format!("{}, and q is {}", shown(of_k), shown(of_q)), "give it q's columns");
    }
    if of_v != of_k {
        return refuse("v", format!("{}, and k is {}", shown(of_v), shown(of_k)), "give it k's heads and their extents");
    }
    if of_o != of_q {
        return refuse("o", format!("{}, and q is {}", shown(of_o), shown(of_q)), "give it q's heads and their extents");
    }
    if q.count() == 0 || queries == 0 {
        return Ok(());
    }
    if k.count() == 0 || !q.count().is_multiple_of(k.count()) {
        return refuse("k", format!("{}, and q is {}", shown(of_k), shown(of_q)), "give it a number of heads that divides q's");
    }
    if q.count() > MOST_HEADS {
        return refuse("q", format!("{}, and a launch takes {MOST_HEADS}", shown(of_q)), "attend with parts of the heads");
    }
    if keys == 0 {
        return refuse("k", "without rows".to_owned(), "give every query a key to attend to");
    }
    if is_causal && queries > keys {
        let value = format!("of {queries} rows a head, and k has {keys}");
        return refuse("q", value, "give a causal head at least as many keys as queries, or leave `is_causal` out");
    }
    if let Some(scale) = scale.filter(|scale| !(*scale > 0.0 && scale.is_finite())) {
        return refuse("scale", format!("{scale}"), "give a number greater than zero, or none for 1 / √size");
    }
    // What the copy engine finds tiles of.
    let is_found = |batch: &BufferMatrixBatch<'_, T>| {
        let stride = if batch.count() > 1 { batch.stride() } else { 0 };
        [batch.row_pitch(), stride].iter().all(|elements| (elements * size_of::<T>()).is_multiple_of(16))
    };
    let by_engine = call.has_copy_engine() && is_found(&k) && is_found(&v);
    // Weights are powers of two.
    let scale = scale.unwrap_or(1.0 / (size as f32).sqrt()) * std::f32::consts::LOG2_E;
    let group = q.count() / k.count();
    T::launch(Parameters { scale, group, is_causal, by_engine, heads: [q, k, v], o }).launch_on(call.stream)?;
    Ok(())
}
