//! The softmax of each row of a matrix: y = exp(x − max) / Σ exp(x − max).
//!
//! Elements are `f32`, `f16` or `bf16`; arithmetic is in `f32`, and results are rounded once. A row is read once if its length is a multiple of 4 (of
//! 8 for 16 bits) and at most 32,768, or 65,536; else three times, the last two from the cache if that holds it.
//!
//! **NaN and infinities.** A row with a NaN or with ∞ is NaN throughout, and so is one of −∞ alone. An element −∞ among numbers gives 0.
//!
//! **Determinism.** The same bits on every run.
//!
//! **Error.** With e = (x − max) · log2(e) ≤ 0 of an element, its exponential has a relative error of at most (9/4 · |e| + 4) · 2⁻²⁴ · ln 2 + 2⁻²²: the difference, the factor
//! log2(e) and their product are rounded to `f32`, and `native_exp2` has 2⁻²². In rows of 65,536 they are relative to a thread's own maximum first, then to the warp's and the
//! block's: up to three factors, whose e add up to that above, with 4 · 2⁻²⁴ · ln 2 + 2⁻²² + 2⁻²⁴ for each more. The sum of n exponentials, all positive, adds
//! (n / threads + 12) · 2⁻²⁴ at most, the quotient 2⁻²³. For n ≤ 4096 and |x − max| ≤ 16 that is 8 · 10⁻⁶. How large x and max themselves are does not matter. Then comes the rounding to
//! the element's type: 2⁻¹² relative for `f16` (subnormal results: 2⁻²⁵ absolute), 2⁻⁹ for `bf16`.

use super::Result;
use super::checks::Call;
use super::norm::{self, Norm};
use super::rows::{LOG2E, element, exponentials_over, extent, max_over, nearest, number, sum_over, words_of};
use warpwright::Int;
use warpwright::Launch;
use warpwright::prelude::*;

/// Rows of at most `32 · K` vectors, a row a warp, `W` warps a block.
#[kernel(block = 32 * W, overlap)]
pub fn softmax_warp<const KIND: u32, const E: usize, const K: usize, const W: usize>(
    rows: usize,
    vectors: usize,
    x: &Global<u32>,
    y: &mut Global<u32>,
) {
    let row = block_idx().x * W + warp_id();
    let is_here = row < rows;
    let base = row * vectors;
    let mut q = [[0u32; 4]; K];
    #[unroll]
    #[batch_loads]
    for k in 0..K {
        if is_here && lane_id() + 32 * k < vectors {
            q[k] = x.load::<4>(4 * (base + lane_id() + 32 * k));
        }
    }
    let mut v = [[f32::NEG_INFINITY; E]; K];
    let mut most = f32::NEG_INFINITY;
    #[unroll]
    for k in 0..K {
        if lane_id() + 32 * k < vectors {
            #[unroll]
            for j in 0..E {
                v[k][j] = element::<KIND, E>(q[k][j / (E / 4)], j % (E / 4));
                most = most.max(v[k][j]);
            }
        }
    }
    most = warp_max(most);
    let mut sum = 0.0f32;
    #[unroll]
    for k in 0..K {
        #[unroll]
        for j in 0..E {
            v[k][j] = native_exp2((v[k][j] - most) * LOG2E);
            sum += v[k][j];
        }
    }
    let scale = 1.0 / warp_sum(sum);
    #[unroll]
    for k in 0..K {
        if is_here && lane_id() + 32 * k < vectors {
            let mut r = [0.0f32; E];
            #[unroll]
            for j in 0..E {
                r[j] = v[k][j] * scale;
            }
            y.store::<4>(4 * (base + lane_id() + 32 * k), words_of::<KIND, E>(r));
        }
    }
}

/// Rows of at most `B · K` vectors, a row a block, in registers.
#[kernel(block = B, overlap)]
pub fn softmax_block<const KIND: u32, const E: usize, const B: usize, const K: usize>(
    vectors: usize,
    x: &Global<u32>,
    y: &mut Global<u32>,
) {
    #[shared]
    let mut tops: [f32; 32];
    #[shared]
    let mut sums: [f32; 32];
    let t = thread_idx().x;
    let base = block_idx().x * vectors + t;
    let mut q = [[0u32; 4]; K];
    let mut v = [[f32::NEG_INFINITY; E]; K];
    let mut most = f32::NEG_INFINITY;
    if vectors == B * K {
        #[unroll]
        #[batch_loads]
        for k in 0..K {
            q[k] = x.load::<4>(4 * (base + B * k));
        }
        #[unroll]
        for k in 0..K {
            #[unroll]
            for j in 0..E {
                v[k][j] = element::<KIND, E>(q[k][j / (E / 4)], j % (E / 4));
            }
        }
    } else {
        #[unroll]
        for k in 0..K {
            if t + B * k < vectors {
                q[k] = x.load::<4>(4 * (base + B * k));
                #[unroll]
                for j in 0..E {
                    v[k][j] = element::<KIND, E>(q[k][j / (E / 4)], j % (E / 4));
                }
            }
        }
    }
    #[unroll]
    for k in 0..K {
        #[unroll]
        for j in 0..E {
            most = most.max(v[k][j]);
        }
    }
    most = max_over::<B>(most, &mut tops);
    let mut sum = 0.0f32;
    #[unroll]
    for k in 0..K {
        #[unroll]
        for j in 0..E {
            v[k][j] = native_exp2((v[k][j] - most) * LOG2E);
            sum += v[k][j];
        }
    }
    let scale = 1.0 / sum_over::<B>(sum, &mut sums);
    #[unroll]
    for k in 0..K {
        if vectors == B * K || t + B * k < vectors {
            let mut r = [0.0f32; E];
            #[unroll]
            for j in 0..E {
                r[j] = v[k][j] * scale;
            }
            y.store::<4>(4 * (base + B * k), words_of::<KIND, E>(r));
        }
    }
}

/// Rows of exactly `B · (K + S)` vectors, a row a block: `K` vectors a thread in registers, `S` in dynamic shared memory (16 · B · S bytes), all as they came; exponentials are
/// computed twice, first relative to the thread's own maximum, so that no thread waits for what others load. The quotient is taken in the exponent: were it a factor, the compiler
/// would keep the first exponentials, all of them, in registers.
#[kernel(block = B, min_blocks = MB, overlap)]
pub fn softmax_hybrid<const KIND: u32, const E: usize, const B: usize, const K: usize, const S: usize, const MB: usize>(
    x: &Global<u32>,
    y: &mut Global<u32>,
) {
    #[shared]
    let mut parts: [f32; 64];
    #[shared(dynamic)]
    let mut kept: [u32];
    let t = thread_idx().x;
    let base = block_idx().x * (4 * B * (K + S)) + t * 4;
    let mut own = f32::MIN;
    #[unroll]
    #[batch_loads]
    for k in 0..S {
        let q = x.load::<4>(base + 4 * B * k);
        #[vectorize(4)]
        for j in 0..4usize {
            kept[(k * B + t) * 4 + j] = q[j];
        }
        #[unroll]
        for j in 0..E {
            own = own.max(element::<KIND, E>(q[j / (E / 4)], j % (E / 4)));
        }
    }
    let mut q = [[0u32; 4]; K];
    #[unroll]
    #[batch_loads]
    for k in 0..K {
        q[k] = x.load::<4>(base + 4 * B * (S + k));
    }
    #[unroll]
    for k in 0..K {
        #[unroll]
        for j in 0..E {
            own = own.max(element::<KIND, E>(q[k][j / (E / 4)], j % (E / 4)));
        }
    }
    let mut sum = 0.0f32;
    #[unroll]
    for k in 0..K {
        #[unroll]
        for j in 0..E {
            sum += native_exp2((element::<KIND, E>(q[k][j / (E / 4)], j % (E / 4)) - own) * LOG2E);
        }
    }
    #[unroll(2)]
    for k in 0..S {
        let mut w = [0u32; 4];
        #[vectorize(4)]
        for j in 0..4usize {
            w[j] = kept[(k * B + t) * 4 + j];
        }
        #[unroll]
        for j in 0..E {
            sum += native_exp2((element::<KIND, E>(w[j / (E / 4)], j % (E / 4)) - own) * LOG2E);
        }
    }
    let (most, sum) = exponentials_over::<B>(own, sum, &mut parts);
    let shift = -native_log2(sum);
    #[unroll]
    for k in 0..K {
        let mut r = [0.0f32; E];
        #[unroll]
        for j in 0..E {
            r[j] = native_exp2((element::<KIND, E>(q[k][j / (E / 4)], j % (E / 4)) - most).mul_add(LOG2E, shift));
        }
        y.store::<4>(base + 4 * B * (S + k), words_of::<KIND, E>(r));
    }
    #[unroll(2)]
    for k in 0..S {
        let mut w = [0u32; 4];
        #[vectorize(4)]
        for j in 0..4usize {
            w[j] = kept[(k * B + t) * 4 + j];
        }
        let mut r = [0.0f32; E];
        #[unroll]
        for j in 0..E {
            r[j] = native_exp2((element::<KIND, E>(w[j / (E / 4)], j % (E / 4)) - most).mul_add(LOG2E, shift));
        }
        y.store::<4>(base + 4 * B * k, words_of::<KIND, E>(r));
    }
}

/// Rows of any length, element by element, read twice: the second time from the cache, if that holds them. A row a block; a thread's maximum and sum go along.
#[kernel(block = B, overlap)]
pub fn softmax_elements<T: Int, const KIND: u32, const B: usize>(columns: usize, x: &Global<T>, y: &mut Global<T>) {
    #[shared]
    let mut tops: [f32; 32];
    #[shared]
    let mut sums: [f32; 32];
    let base = block_idx().x * columns;
    let mut most = f32::NEG_INFINITY;
    #[unroll(4)]
    #[batch_loads]
    for c in (thread_idx().x..columns).step_by(B) {
        most = most.max(number::<T, KIND>(x[base + c]));
    }
    most = max_over::<B>(most, &mut tops);
    let mut sum = 0.0f32;
    #[unroll(4)]
    #[batch_loads]
    for c in (thread_idx().x..columns).step_by(B) {
        sum += native_exp2((number::<T, KIND>(x[base + c]) - most) * LOG2E);
    }
    let scale = 1.0 / sum_over::<B>(sum, &mut sums);
    #[unroll(4)]
    #[batch_loads]
    for c in (thread_idx().x..columns).step_by(B) {
        y[base + c] = nearest::<T, KIND>(native_exp2((number::<T, KIND>(x[base + c]) - most) * LOG2E) * scale);
    }
}

/// A type of elements of rows: `f32`, `f16`, `bf16`.
pub trait RowElement: Element {
    /// The launch of a softmax.
    #[doc(hidden)]
    fn softmax<'a>(extent: (usize, usize), x: &'a Buffer<Self>, y: &'a mut Buffer<Self>) -> Result<Launch<'a>>
    where
        Self: Sized;

    /// The launch of a norm, with shifts or without.
    #[doc(hidden)]
    fn norm<'a>(parts: Norm<'a, Self>) -> Result<Launch<'a>>
    where
        Self: Sized;
}

/// `y` ← the softmax of each of the `rows` rows of `x`, of `columns` elements each.
///
/// # Errors
/// [`Error`](super::Error), before anything is written: `x` or `y` is shorter than `rows · columns`, that is more than 2³¹, a buffer lies on another device.
pub fn softmax<T: RowElement>(stream: &Stream, (rows, columns): (usize, usize), x: &Buffer<T>, y: &mut Buffer<T>) -> Result<()> {
    let call = Call::new("softmax::softmax", stream);
    let n = extent(call, rows, columns)?;
    call.fits("x", x, n)?.fits("y", y, n)?;
    if n > 0 {
        T::softmax((rows, columns), x, y)?.launch_on(stream)?;
    }
    Ok(())
}

/// The launch of rows in words: by the number of vectors of a row.
fn by_vectors<'a, const KIND: u32, const E: usize>(rows: usize, vectors: usize, x: &'a Buffer<u32>, y: &'a mut Buffer<u32>) -> Launch<'a> {
    match vectors {
        0..=32 => softmax_warp::<KIND, E, 1, 8>(rows, vectors, x, y).grid(rows.div_ceil(8)),
        33..=64 => softmax_warp::<KIND, E, 2, 8>(rows, vectors, x, y).grid(rows.div_ceil(8)),
        65..=128 => softmax_warp::<KIND, E, 4, 4>(rows, vectors, x, y).grid(rows.div_ceil(4)),
        129..=256 => softmax_block::<KIND, E, 128, 2>(vectors, x, y).grid(rows),
        257..=512 => softmax_block::<KIND, E, 256, 2>(vectors, x, y).grid(rows),
        513..=1024 if rows >= 16_384 => softmax_block::<KIND, E, 256, 4>(vectors, x, y).grid(rows),
        513..=1024 => softmax_block::<KIND, E, 512, 2>(vectors, x, y).grid(rows),
        1025..=2048 => softmax_block::<KIND, E, 512, 4>(vectors, x, y).grid(rows),
        2049..=4096 => softmax_block::<KIND, E, 1024, 4>(vectors, x, y).grid(rows),
        8192 if E == 8 => softmax_hybrid::<KIND, E, 1024, 2, 6, 2>(x, y).grid(rows).shared_bytes(98_304),
        16_384 => softmax_hybrid::<KIND, E, 1024, 8, 8, 1>(x, y).grid(rows).shared_bytes(131_072),
        _ => softmax_block::<KIND, E, 1024, 8>(vectors, x, y).grid(rows),
    }
}

/// Whether rows of so many vectors have a kernel that reads them once.
fn is_kept<const E: usize>(vectors: usize) -> bool {
    vectors <= 4096 || (E == 8 && vectors == 8192) || (E == 4 && (vectors <= 8192 || vectors == 16_384))
}

macro_rules! row_elements {
    ($($t:ty: $word:ty, $kind:literal $e:literal;)*) => {$(
        impl RowElement for $t {
            fn softmax<'a>((rows, columns): (usize, usize), x: &'a Buffer<$t>, y: &'a mut Buffer<$t>) -> Result<Launch<'a>> {
                let is_whole = columns % $e == 0 && x.view::<u32>().is_ok() && y.view::<u32>().is_ok();
                if is_whole && is_kept::<$e>(columns / $e) {
                    return Ok(by_vectors::<$kind, $e>(rows, columns / $e, x.view()?, y.view_mut()?));
                }
                Ok(softmax_elements::<$word, $kind, 512>(columns, x.view()?, y.view_mut()?).grid(rows))
            }

            fn norm<'a>(parts: Norm<'a, Self>) -> Result<Launch<'a>> {
                norm::launch::<$t, $word, $kind, $e>(parts)
            }
        }
    )*};
}

row_elements! {
    f32: u32, 2 4;
    f16: u16, 2 8;
    bf16: u16, 3 8;
}
