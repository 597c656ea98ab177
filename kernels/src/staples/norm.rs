//! Norms of the rows of a matrix: RMS norm and layer norm.
//!
//! | function | y |
//! |---|---|
//! | [`rms_norm`] | x / √(mean(x²) + ε) · w |
//! | [`layer_norm`] | (x − mean(x)) / √(variance(x) + ε) · w + b |
//!
//! Elements are `f32`, `f16` or `bf16`, weights and shifts of the same type; arithmetic is in `f32`, and results are rounded once. The variance is that of the row as it is
//! (divided by its length), summed from the differences to the mean. A row is read once if its length is a multiple of 4 (of 8 for
//! 16 bits) and at most 32,768 (65,536), else two times, for layer norms three.
//!
//! A row with a NaN is NaN throughout; one with ∞ is NaN there and 0 elsewhere (of a layer norm NaN throughout).
//!
//! **Determinism.** The same bits on every run.
//!
//! **Error.** The sum of n squares, all positive, has a relative error of at most (n / threads + 14) · 2⁻²⁴, of which half remains under the root; `native_rsqrt` has
//! 2⁻²²·⁹, the products 3 · 2⁻²⁴. That is so where the sum of squares, and that over n plus ε, are in the range of `f32`, from 10⁻³⁸ to 3 · 10³⁸: beyond, a row becomes 0, ∞ or NaN.
//! Elements from 10⁻¹⁷ to 10¹⁶ are in it at any length; with ε = 10⁻⁵ all smaller ones are, too. For n ≤ 4096 that is 10⁻⁶ relative for an RMS norm. The mean of a layer norm is wrong by (n / threads + 12) · 2⁻²⁴ · mean|x| at most, which each difference
//! inherits. Then comes the rounding to the element's type: 2⁻¹² relative for `f16`, 2⁻⁹ for `bf16`.

use super::checks::Call;
use super::rows::{element, extent, nearest, number, sum_over, words_of};
use super::softmax::RowElement;
use super::{Error, Result};
use warpwright::Int;
use warpwright::Launch;
use warpwright::prelude::*;

/// Rows of at most `B · K` vectors, a row a block, in registers as they came. `CENTRED`: a layer norm, with shifts `b`.
#[kernel(block = B, overlap)]
pub fn norm_block<const KIND: u32, const E: usize, const CENTRED: bool, const B: usize, const K: usize>(
    vectors: usize,
    epsilon: f32,
    x: &Global<u32>,
    w: &Global<u32>,
    b: &Global<u32>,
    y: &mut Global<u32>,
) {
    #[shared]
    let mut sums: [f32; 32];
    #[shared]
    let mut squares: [f32; 32];
    let t = thread_idx().x;
    let base = block_idx().x * vectors + t;
    let mut q = [[0u32; 4]; K];
    let mut g = [[0u32; 4]; K];
    if vectors == B * K {
        #[unroll]
        #[batch_loads]
        for k in 0..K {
            q[k] = x.load::<4>(4 * (base + B * k));
            if K <= 4 {
                g[k] = w.load::<4>(4 * (t + B * k));
            }
        }
    } else {
        #[unroll]
        for k in 0..K {
            if t + B * k < vectors {
                q[k] = x.load::<4>(4 * (base + B * k));
                if K <= 4 {
                    g[k] = w.load::<4>(4 * (t + B * k));
                }
            }
        }
    }
    let n = (vectors * E) as f32;
    let mut mean = 0.0f32;
    if CENTRED {
        let mut sum = 0.0f32;
        #[unroll]
        for k in 0..K {
            #[unroll]
            for j in 0..E {
                sum += element::<KIND, E>(q[k][j / (E / 4)], j % (E / 4));
            }
        }
        mean = sum_over::<B>(sum, &mut sums) / n;
    }
    let mut sum = 0.0f32;
    #[unroll]
    for k in 0..K {
        if !CENTRED || vectors == B * K || t + B * k < vectors {
            #[unroll]
            for j in 0..E {
                let v = element::<KIND, E>(q[k][j / (E / 4)], j % (E / 4)) - mean;
                sum += v * v;
            }
        }
    }
    let scale = native_rsqrt(sum_over::<B>(sum, &mut squares) / n + epsilon);
    #[unroll]
    for k in 0..K {
        if vectors == B * K || t + B * k < vectors {
            let mut h = [0u32; 4];
            if CENTRED {
                h = b.load::<4>(4 * (t + B * k));
            }
            // Of many vectors the weights have no room in registers beside the row.
            if K > 4 {
                g[k] = w.load::<4>(4 * (t + B * k));
            }
            let mut r = [0.0f32; E];
            #[unroll]
            for j in 0..E {
                let v = element::<KIND, E>(q[k][j / (E / 4)], j % (E / 4)) - mean;
                r[j] = v * scale * element::<KIND, E>(g[k][j / (E / 4)], j % (E / 4));
                if CENTRED {
                    r[j] += element::<KIND, E>(h[j / (E / 4)], j % (E / 4));
                }
            }
            y.store::<4>(4 * (base + B * k), words_of::<KIND, E>(r));
        }
    }
}

/// RMS norm of rows of exactly `B · (K + S)` vectors, a row a block: `K` vectors a thread in registers, `S` in dynamic shared memory (16 · B · S bytes), as they came.
#[kernel(block = B, min_blocks = MB, overlap)]
pub fn norm_hybrid<const KIND: u32, const E: usize, const B: usize, const K: usize, const S: usize, const MB: usize>(
    epsilon: f32,
    x: &Global<u32>,
    w: &Global<u32>,
    y: &mut Global<u32>,
) {
    #[shared]
    let mut squares: [f32; 32];
    #[shared(dynamic)]
    let mut kept: [u32];
    let t = thread_idx().x;
    let base = block_idx().x * (4 * B * (K + S)) + t * 4;
    let mut sum = 0.0f32;
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
            let v = element::<KIND, E>(q[j / (E / 4)], j % (E / 4));
            sum += v * v;
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
            let v = element::<KIND, E>(q[k][j / (E / 4)], j % (E / 4));
            sum += v * v;
        }
    }
    let scale = native_rsqrt(sum_over::<B>(sum, &mut squares) / (E * B * (K + S)) as f32 + epsilon);
    #[unroll]
    for k in 0..K {
        let g = w.load::<4>(t * 4 + 4 * B * (S + k));
        let mut r = [0.0f32; E];
        #[unroll]
        for j in 0..E {
            r[j] = element::<KIND, E>(q[k][j / (E / 4)], j % (E / 4)) * scale * element::<KIND, E>(g[j / (E / 4)], j % (E / 4));
        }
        y.store::<4>(base + 4 * B * (S + k), words_of::<KIND, E>(r));
    }
    #[unroll(2)]
    for k in 0..S {
        let g = w.load::<4>(t * 4 + 4 * B * k);
        let mut v = [0u32; 4];
        #[vectorize(4)]
        for j in 0..4usize {
            v[j] = kept[(k * B + t) * 4 + j];
        }
        let mut r = [0.0f32; E];
        #[unroll]
        for j in 0..E {
            r[j] = element::<KIND, E>(v[j / (E / 4)], j % (E / 4)) * scale * element::<KIND, E>(g[j / (E / 4)], j % (E / 4));
        }
        y.store::<4>(base + 4 * B * k, words_of::<KIND, E>(r));
    }
}

/// Rows of at most `32 · K` vectors, a row a warp, `W` warps a block.
#[kernel(block = 32 * W, overlap)]
pub fn norm_warp<const KIND: u32, const E: usize, const CENTRED: bool, const K: usize, const W: usize>(
    rows: usize,
    vectors: usize,
    epsilon: f32,
    x: &Global<u32>,
    w: &Global<u32>,
    b: &Global<u32>,
    y: &mut Global<u32>,
) {
    let row = block_idx().x * W + warp_id();
    let is_here = row < rows;
    let lane = lane_id();
    let base = row * vectors + lane;
    let mut q = [[0u32; 4]; K];
    let mut g = [[0u32; 4]; K];
    #[unroll]
    #[batch_loads]
    for k in 0..K {
        if is_here && lane + 32 * k < vectors {
            q[k] = x.load::<4>(4 * (base + 32 * k));
            g[k] = w.load::<4>(4 * (lane + 32 * k));
        }
    }
    let n = (vectors * E) as f32;
    let mut mean = 0.0f32;
    if CENTRED {
        let mut sum = 0.0f32;
        #[unroll]
        for k in 0..K {
            #[unroll]
            for j in 0..E {
                sum += element::<KIND, E>(q[k][j / (E / 4)], j % (E / 4));
            }
        }
        mean = warp_sum(sum) / n;
    }
    let mut sum = 0.0f32;
    #[unroll]
    for k in 0..K {
        if !CENTRED || lane + 32 * k < vectors {
            #[unroll]
            for j in 0..E {
                let v = element::<KIND, E>(q[k][j / (E / 4)], j % (E / 4)) - mean;
                sum += v * v;
            }
        }
    }
    let scale = native_rsqrt(warp_sum(sum) / n + epsilon);
    #[unroll]
    for k in 0..K {
        if is_here && lane + 32 * k < vectors {
            let mut h = [0u32; 4];
            if CENTRED {
                h = b.load::<4>(4 * (lane + 32 * k));
            }
            let mut r = [0.0f32; E];
            #[unroll]
            for j in 0..E {
                let v = element::<KIND, E>(q[k][j / (E / 4)], j % (E / 4)) - mean;
                r[j] = v * scale * element::<KIND, E>(g[k][j / (E / 4)], j % (E / 4));
                if CENTRED {
                    r[j] += element::<KIND, E>(h[j / (E / 4)], j % (E / 4));
                }
            }
            y.store::<4>(4 * (base + 32 * k), words_of::<KIND, E>(r));
        }
    }
}

/// Rows of any length, element by element, a row a block.
#[kernel(block = B, overlap)]
pub fn norm_elements<T: Int, const KIND: u32, const CENTRED: bool, const B: usize>(
    columns: usize,
    epsilon: f32,
    x: &Global<T>,
    w: &Global<T>,
    b: &Global<T>,
    y: &mut Global<T>,
) {
    #[shared]
    let mut sums: [f32; 32];
    #[shared]
    let mut squares: [f32; 32];
    let base = block_idx().x * columns;
    let mut mean = 0.0f32;
    if CENTRED {
        let mut sum = 0.0f32;
        #[unroll(4)]
        #[batch_loads]
        for c in (thread_idx().x..columns).step_by(B) {
            sum += number::<T, KIND>(x[base + c]);
        }
        mean = sum_over::<B>(sum, &mut sums) / columns as f32;
    }
    let mut sum = 0.0f32;
    #[unroll(4)]
    #[batch_loads]
    for c in (thread_idx().x..columns).step_by(B) {
        let v = number::<T, KIND>(x[base + c]) - mean;
        sum += v * v;
    }
    let scale = native_rsqrt(sum_over::<B>(sum, &mut squares) / columns as f32 + epsilon);
    #[unroll(4)]
    #[batch_loads]
    for c in (thread_idx().x..columns).step_by(B) {
        let mut r = (number::<T, KIND>(x[base + c]) - mean) * scale * number::<T, KIND>(w[c]);
        if CENTRED {
            r += number::<T, KIND>(b[c]);
        }
        y[base + c] = nearest::<T, KIND>(r);
    }
}

/// What a launch takes.
#[doc(hidden)]
#[derive(Debug)]
pub struct Norm<'a, T: Element> {
    rows: usize,
    columns: usize,
    epsilon: f32,
    x: &'a Buffer<T>,
    w: &'a Buffer<T>,
    /// Of a layer norm.
    b: Option<&'a Buffer<T>>,
    y: &'a mut Buffer<T>,
}

/// What the kernel in words takes beside the buffers.
#[derive(Clone, Copy)]
struct Rows {
    rows: usize,
    vectors: usize,
    epsilon: f32,
}

fn by_vectors<'a, const KIND: u32, const E: usize, const CENTRED: bool>(
    Rows { rows, vectors, epsilon }: Rows,
    [x, w, b]: [&'a Buffer<u32>; 3],
    y: &'a mut Buffer<u32>,
) -> Launch<'a> {
    let launch = match vectors {
        0..=32 => return norm_warp::<KIND, E, CENTRED, 1, 8>(rows, vectors, epsilon, x, w, b, y).grid(rows.div_ceil(8)),
        33..=128 => return norm_warp::<KIND, E, CENTRED, 4, 4>(rows, vectors, epsilon, x, w, b, y).grid(rows.div_ceil(4)),
        129..=256 => norm_block::<KIND, E, CENTRED, 128, 2>(vectors, epsilon, x, w, b, y),
        257..=512 => norm_block::<KIND, E, CENTRED, 256, 2>(vectors, epsilon, x, w, b, y),
        513..=1024 => norm_block::<KIND, E, CENTRED, 256, 4>(vectors, epsilon, x, w, b, y),
        8192 if !CENTRED && E == 8 => return norm_hybrid::<KIND, E, 1024, 2, 6, 2>(epsilon, x, w, y).grid(rows).shared_bytes(98_304),
        1025..=4096 => norm_block::<KIND, E, CENTRED, 1024, 4>(vectors, epsilon, x, w, b, y),
        _ => norm_block::<KIND, E, CENTRED, 1024, 8>(vectors, epsilon, x, w, b, y),
    };
    launch.grid(rows)
}

/// The launch for elements of a type whose word is `W`.
pub(super) fn launch<T: Element, W: Int, const KIND: u32, const E: usize>(parts: Norm<'_, T>) -> Result<Launch<'_>> {
    let Norm { rows, columns, epsilon, x, w, b, y } = parts;
    let all = [x, w, b.unwrap_or(w)];
    let is_whole = columns.is_multiple_of(E) && all.iter().all(|buffer| buffer.view::<u32>().is_ok()) && y.view::<u32>().is_ok();
    if is_whole && columns / E <= 8192 {
        let (all, y) = ([x.view()?, w.view()?, b.unwrap_or(w).view()?], y.view_mut()?);
        let rows = Rows { rows, vectors: columns / E, epsilon };
        return Ok(if b.is_some() { by_vectors::<KIND, E, true>(rows, all, y) } else { by_vectors::<KIND, E, false>(rows, all, y) });
    }
    let (x, w, shifts, y) = (x.view()?, w.view()?, b.unwrap_or(w).view()?, y.view_mut()?);
    let launch = match b {
        Some(_) => norm_elements::<W, KIND, true, 512>(columns, epsilon, x, w, shifts, y),
        None => norm_elements::<W, KIND, false, 512>(columns, epsilon, x, w, shifts, y),
    };
    Ok(launch.grid(rows))
}

/// Whether ε is a number that may be added to a mean of squares.
fn check(call: Call<'_>, epsilon: f32) -> Result<()> {
    if epsilon >= 0.0 && epsilon.is_finite() {
        return Ok(());
    }
    let help = "give a number from 0 on, for example 1e-5";
    Err(Error::Argument { function: call.function, argument: "epsilon", value: epsilon.to_string(), help })
}

/// `y` ← the RMS norm of each of the `rows` rows of `x`, of `columns` elements each, times the `columns` weights `w`.
///
/// # Errors
/// [`Error`], before anything is written: `x` or `y` is shorter than `rows · columns`, or `w` than `columns`; the product is more than 2³¹; `epsilon` is negative, NaN
/// or infinite; a buffer lies on another device.
pub fn rms_norm<T: RowElement>(
    stream: &Stream,
    (rows, columns): (usize, usize),
    epsilon: f32,
    x: &Buffer<T>,
    w: &Buffer<T>,
    y: &mut Buffer<T>,
) -> Result<()> {
    let call = Call::new("norm::rms_norm", stream);
    check(call, epsilon)?;
    let n = extent(call, rows, columns)?;
    call.fits("x", x, n)?.fits("w", w, columns)?.fits("y", y, n)?;
    if n > 0 {
        T::norm(Norm { rows, columns, epsilon, x, w, b: None, y })?.launch_on(stream)?;
    }
    Ok(())
}

/// `y` ← the layer norm of each of the `rows` rows of `x`, of `columns` elements each, times the `columns` weights `w`, plus the `columns` shifts `b`.
///
/// # Errors
/// As [`rms_norm`]; `b` is shorter than `columns`.
pub fn layer_norm<T: RowElement>(
    stream: &Stream,
    (rows, columns): (usize, usize),
    epsilon: f32,
    x: &Buffer<T>,
    (w, b): (&Buffer<T>, &Buffer<T>),
    y: &mut Buffer<T>,
) -> Result<()> {
    let call = Call::new("norm::layer_norm", stream);
    check(call, epsilon)?;
    let n = extent(call, rows, columns)?;
    call.fits("x", x, n)?.fits("w", w, columns)?.fits("b", b, columns)?.fits("y", y, n)?;
    if n > 0 {
        T::norm(Norm { rows, columns, epsilon, x, w, b: Some(b), y })?.launch_on(stream)?;
    }
    Ok(())
}
