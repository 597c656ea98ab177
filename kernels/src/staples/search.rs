//! Where the least and the greatest element stand, and the product of two vectors.
//!
//! | function | result |
//! |---|---|
//! | [`argmin`], [`argmax`] | the place of the least, the greatest element; of equal ones the first; NaNs do not count unless all are, then 0 |
//! | [`dot`] | Σ x · y, of the type [`Reducible::Sum`]; integers wrap |
//!
//! **Determinism.** As of [`reduce`](super::reduce): a device gives the same bits on every run; places are exact on all.
//!
//! **Error of float products.** As of sums, of the terms x · y: |error| ≤ (d + 1) · u · Σ|x · y| with d of [`reduce::depth`](super::reduce::depth).

use super::checks::{Call, is_long};
use super::last_block::{is_last_block, over_grid};
use super::reduce::Reducible;
use super::word::{combine, is_nan, less, widen};
use super::workspace::{Slot, seen};
use super::{Result, Workspace};
use warpwright::Int;
use warpwright::Launch;
use warpwright::prelude::*;
use warpwright::warp::shuffle_xor;

/// Whether `b` at place `j` comes before `a` at place `i` in the search; `MOST`: for the greatest.
#[device]
pub fn is_better<W: Int, const KIND: u32, const MOST: bool>(a: W, i: usize, b: W, j: usize) -> bool {
    let (a_is_nan, b_is_nan) = (is_nan::<W, KIND>(a), is_nan::<W, KIND>(b));
    let is_less = if MOST { less::<W, KIND>(a, b) } else { less::<W, KIND>(b, a) };
    let is_more = if MOST { less::<W, KIND>(b, a) } else { less::<W, KIND>(a, b) };
    if a_is_nan || b_is_nan {
        // A number before NaN, of two NaNs the first.
        if a_is_nan && b_is_nan { j < i } else { a_is_nan }
    } else {
        is_less || (!is_more && j < i)
    }
}

/// `place[0]` ← where the least (`MOST`: the greatest) element of `x` is, in one launch; the last block to finish chooses among the blocks' results. `x` has an element.
#[kernel(block = 256, index = I)]
pub fn find_words<T: Int, W: Int, const KIND: u32, const ACC: u32, const MOST: bool, const V: usize, const I: usize>(
    before: u32,
    x: &Global<T>,
    bests: &mut Global<W>,
    places: &mut Global<u64>,
    tickets: &mut Global<u32>,
    place: &mut Global<u64>,
) {
    #[shared]
    let mut values: [W; 8];
    #[shared]
    let mut ats: [u64; 8];
    #[shared]
    let mut is_last: [bool; 1];
    let t = thread_idx().x;
    let blocks = grid_dim().x;
    let vectors = x.len() / V;
    let mut best = widen::<T, W, KIND>(x[0]);
    let mut at = 0usize;
    #[unroll(4)]
    #[batch_loads]
    for v in (global_id().x..vectors).step_by(blocks * 256) {
        let q = x.load::<V>(V * v);
        #[unroll]
        for j in 0..V {
            let w = widen::<T, W, KIND>(q[j]);
            if is_better::<W, ACC, MOST>(best, at, w, V * v + j) {
                best = w;
                at = V * v + j;
            }
        }
    }
    let rest = vectors * V + global_id().x;
    if rest < x.len() {
        let w = widen::<T, W, KIND>(x[rest]);
        if is_better::<W, ACC, MOST>(best, at, w, rest) {
            best = w;
            at = rest;
        }
    }
    // The block's, then that of all blocks, by the same steps.
    for round in 0..2u32 {
        #[unroll]
        for level in 0..5u32 {
            let other = shuffle_xor(best, 16u32 >> level);
            let there = shuffle_xor(at, 16u32 >> level);
            if is_better::<W, ACC, MOST>(best, at, other, there) {
                best = other;
                at = there;
            }
        }
        if lane_id() == 0 {
            values[warp_id()] = best;
            ats[warp_id()] = at as u64;
        }
        sync_threads();
        if t == 0 {
            #[unroll]
            for w in 1..8usize {
                if is_better::<W, ACC, MOST>(best, at, values[w], ats[w] as usize) {
                    best = values[w];
                    at = ats[w] as usize;
                }
            }
            if round == 0 {
                bests[block_idx().x] = best;
                places[block_idx().x] = at as u64;
                is_last[0] = is_last_block(before, tickets);
            } else {
                place[0] = at as u64;
            }
        }
        sync_threads();
        if !is_last[0] {
            break;
        }
        if round == 0 {
            best = bests[0];
            at = places[0] as usize;
            for b in (t..blocks).step_by(256) {
                if is_better::<W, ACC, MOST>(best, at, bests[b], places[b] as usize) {
                    best = bests[b];
                    at = places[b] as usize;
                }
            }
        }
    }
}

/// `out[0]` ← Σ x · y, as [`reduce_words`](super::reduce::reduce_words) adds.
#[kernel(block = 256, index = I)]
pub fn dot_words<T: Int, W: Int, const KIND: u32, const ACC: u32, const V: usize, const I: usize>(
    before: u32,
    x: &Global<T>,
    y: &Global<T>,
    partials: &mut Global<W>,
    tickets: &mut Global<u32>,
    out: &mut Global<W>,
) {
    #[shared]
    let mut room: [W; 32];
    #[shared]
    let mut is_last: [bool; 1];
    let blocks = grid_dim().x;
    let vectors = x.len() / V;
    let mut acc = [W::ZERO; V];
    #[unroll(4)]
    #[batch_loads]
    for v in (global_id().x..vectors).step_by(blocks * 256) {
        let q = x.load::<V>(V * v);
        let r = y.load::<V>(V * v);
        #[unroll]
        for j in 0..V {
            let product = combine::<W, ACC, 3>(widen::<T, W, KIND>(q[j]), widen::<T, W, KIND>(r[j]));
            acc[j] = combine::<W, ACC, 0>(acc[j], product);
        }
    }
    let rest = vectors * V + global_id().x;
    if rest < x.len() {
        let product = combine::<W, ACC, 3>(widen::<T, W, KIND>(x[rest]), widen::<T, W, KIND>(y[rest]));
        acc[0] = combine::<W, ACC, 0>(acc[0], product);
    }
    let mut own = acc[0];
    #[unroll]
    for j in 1..V {
        own = combine::<W, ACC, 0>(own, acc[j]);
    }
    over_grid::<W, ACC, 0, 256>(own, before, partials, tickets, out, &mut room, &mut is_last);
}

/// A type of elements that are searched and multiplied: those of [`Reducible`].
pub trait Searchable: Reducible {
    /// The launch of a search.
    #[doc(hidden)]
    fn find<'a, const MOST: bool>(search: Search<'a, Self>, place: &'a mut Buffer<u64>) -> Result<Launch<'a>>
    where
        Self: Sized;

    /// The launch of a product.
    #[doc(hidden)]
    fn dot<'a>(search: Search<'a, Self>, y: &'a Buffer<Self>, out: &'a mut Buffer<Self::Sum>) -> Result<Launch<'a>>
    where
        Self: Sized;
}

/// What a launch takes.
#[doc(hidden)]
#[derive(Debug)]
pub struct Search<'a, T: Element> {
    before: u32,
    x: &'a Buffer<T>,
    bests: &'a mut Buffer<u64>,
    places: &'a mut Buffer<u64>,
    tickets: &'a mut Buffer<u32>,
}

/// Type, its word, the word it is widened to, what both hold, elements of a vector.
macro_rules! searchable {
    ($($t:ty: $word:ty => $wide:ty, $kind:literal $acc:literal $v:literal;)*) => {$(
        impl Searchable for $t {
            fn find<'a, const MOST: bool>(search: Search<'a, Self>, place: &'a mut Buffer<u64>) -> Result<Launch<'a>> {
                let Search { before, x, bests, places, tickets } = search;
                let is_long = is_long(x.len());
                let (x, bests) = (x.view::<$word>()?, seen::<$wide>(bests)?);
                Ok(match is_long {
                    false => find_words::<$word, $wide, $kind, $acc, MOST, $v, 32>(before, x, bests, places, tickets, place),
                    true => find_words::<$word, $wide, $kind, $acc, MOST, $v, 64>(before, x, bests, places, tickets, place),
                })
            }

            fn dot<'a>(search: Search<'a, Self>, y: &'a Buffer<Self>, out: &'a mut Buffer<Self::Sum>) -> Result<Launch<'a>> {
                let Search { before, x, bests, tickets, .. } = search;
                let is_long = is_long(x.len());
                let (x, y, bests) = (x.view::<$word>()?, y.view::<$word>()?, seen::<$wide>(bests)?);
                let out = out.view_mut::<$wide>()?;
                Ok(match is_long {
                    false => dot_words::<$word, $wide, $kind, $acc, $v, 32>(before, x, y, bests, tickets, out),
                    true => dot_words::<$word, $wide, $kind, $acc, $v, 64>(before, x, y, bests, tickets, out),
                })
            }
        }
    )*};
}

searchable! {
    u8: u8 => u32, 0 0 8;
    i8: u8 => u32, 1 1 8;
    u16: u16 => u32, 0 0 8;
    i16: u16 => u32, 1 1 8;
    u32: u32 => u32, 0 0 4;
    i32: u32 => u32, 1 1 4;
    u64: u64 => u64, 0 0 2;
    i64: u64 => u64, 1 1 2;
    f16: u16 => u32, 2 2 8;
    bf16: u16 => u32, 3 2 8;
    f32: u32 => u32, 2 2 4;
    f64: u64 => u64, 2 2 2;
}

/// Blocks of 256 threads: as many as the device holds at once.
fn grid(call: Call<'_>, n: usize, vector: usize) -> usize {
    (n / vector).max(1).div_ceil(256).min(8 * call.multiprocessors())
}

fn find<T: Searchable, const MOST: bool>(call: Call<'_>, x: &Buffer<T>, place: &mut Buffer<u64>, workspace: &mut Workspace) -> Result<()> {
    let call = call.has_some("x", x)?.takes("x", x)?.fits("place", place, 1)?.workspace(workspace)?;
    let grid = grid(call, x.len(), T::VECTOR);
    let mut run = workspace.begin(call.function, &[(Slot::Elements, grid * 8), (Slot::Values, grid * 8)])?;
    run.launch(grid, |before, _, parts| {
        let search = Search { before, x, bests: parts.elements, places: parts.values, tickets: parts.tickets };
        Ok(T::find::<MOST>(search, place)?.grid(grid).launch_on(call.stream)?)
    })
}

/// `place[0]` ← where the least element of `x` is: the first of equal ones, 0 if all are NaN.
///
/// # Errors
/// [`Error`](super::Error), before anything is written: `x` or `place` is empty, a buffer or the workspace lies on another device, a frozen workspace is too small.
pub fn argmin<T: Searchable>(stream: &Stream, x: &Buffer<T>, place: &mut Buffer<u64>, workspace: &mut Workspace) -> Result<()> {
    find::<T, false>(Call::new("search::argmin", stream), x, place, workspace)
}

/// `place[0]` ← where the greatest element of `x` is: the first of equal ones, 0 if all are NaN.
///
/// # Errors
/// As [`argmin`].
pub fn argmax<T: Searchable>(stream: &Stream, x: &Buffer<T>, place: &mut Buffer<u64>, workspace: &mut Workspace) -> Result<()> {
    find::<T, true>(Call::new("search::argmax", stream), x, place, workspace)
}

/// `out[0]` ← Σ `x[i]` · `y[i]` over the elements of `x`.
///
/// # Errors
/// [`Error`](super::Error), before anything is written: `y` is shorter than `x`, `out` is empty, a buffer or the workspace lies on another device, a frozen workspace is too
/// small.
pub fn dot<T: Searchable>(
    stream: &Stream,
    x: &Buffer<T>,
    y: &Buffer<T>,
    out: &mut Buffer<T::Sum>,
    workspace: &mut Workspace,
) -> Result<()> {
    let call = Call::new("search::dot", stream).takes("x", x)?.fits("y", y, x.len())?.fits("out", out, 1)?.workspace(workspace)?;
    let grid = grid(call, x.len(), T::VECTOR);
    let mut run = workspace.begin(call.function, &[(Slot::Elements, grid * size_of::<T::Sum>())])?;
    run.launch(grid, |before, _, parts| {
        let search = Search { before, x, bests: parts.elements, places: parts.values, tickets: parts.tickets };
        Ok(T::dot(search, y, out)?.grid(grid).launch_on(call.stream)?)
    })
}
