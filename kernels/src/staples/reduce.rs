//! One value of all elements: sums, products, least and greatest, bits.
//!
//! | function | result | of nothing |
//! |---|---|---|
//! | [`sum`] | Σ x; integers wrap | 0 |
//! | [`product`] | Π x; integers wrap | 1 |
//! | [`min`], [`max`] | the least, the greatest element; NaNs do not count unless all are; of `-0.0` and `0.0` either | [`Error::Empty`](super::Error::Empty) |
//! | [`bit_and`], [`bit_or`], [`bit_xor`] | of integers | all ones, 0, 0 |
//!
//! The result is of the type [`Reducible::Sum`]: 32 bits for narrower integers, `f32` for `f16` and `bf16`, the element's own type for the rest. Floats are widened
//! before they are added.
//!
//! **Determinism.** The order of the additions depends on the length, the type, and the device's name and number of multiprocessors, and on nothing else: a device gives
//! the same bits on every run.
//!
//! **Error of float sums.** An element goes through at most d additions, each of which rounds once, so |error| ≤ d · u · Σ|x| to first order, u being half the
//! distance from 1 to the next number (2⁻²⁴ for `f32`). [`depth`] gives d: a thread's share, then vectors, lanes, warps and blocks. For 2²⁸ `f32` on 132
//! multiprocessors it is 256. Of products the relative error is at most n · u.

use super::checks::{Call, is_long};
use super::last_block::over_grid;
use super::tuned::{self, Chunks};
use super::word::{combine, identity, widen};
use super::workspace::{Slot, seen};
use super::{Result, Workspace};
use warpwright::Int;
use warpwright::Launch;
use warpwright::prelude::*;

/// `out[0]` ← ⊕ of all of `x`, in one launch. A thread takes vectors of `V` elements, `U` of them under way at a time, with an accumulator for each place in
/// the vector; the last block to finish combines the blocks' results. `before` is the number of tickets that earlier launches took.
#[kernel(block = B, index = I)]
pub fn reduce_words<
    T: Int,
    W: Int,
    const KIND: u32,
    const ACC: u32,
    const OP: u32,
    const V: usize,
    const B: usize,
    const U: usize,
    const I: usize,
>(
    before: u32,
    x: &Global<T>,
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
    let mut acc = [identity::<W, ACC, OP>(); V];
    #[unroll(U)]
    #[batch_loads]
    for v in (global_id().x..vectors).step_by(blocks * B) {
        let q = x.load::<V>(V * v);
        #[unroll]
        for j in 0..V {
            acc[j] = combine::<W, ACC, OP>(acc[j], widen::<T, W, KIND>(q[j]));
        }
    }
    let rest = vectors * V + global_id().x;
    if rest < x.len() {
        acc[0] = combine::<W, ACC, OP>(acc[0], widen::<T, W, KIND>(x[rest]));
    }
    let mut own = acc[0];
    #[unroll]
    for j in 1..V {
        own = combine::<W, ACC, OP>(own, acc[j]);
    }
    over_grid::<W, ACC, OP, B>(own, before, partials, tickets, out, &mut room, &mut is_last);
}

/// The same; a block's next `S` - 1 chunks of 512 vectors are on their way into shared memory while one is added up.
#[kernel(block = 256, index = I)]
pub fn reduce_ring<
    T: Int,
    W: Int,
    const KIND: u32,
    const ACC: u32,
    const OP: u32,
    const V: usize,
    const N: usize,
    const S: usize,
    const RUNS: bool,
    const I: usize,
>(
    before: u32,
    x: &Global<T>,
    partials: &mut Global<W>,
    tickets: &mut Global<u32>,
    out: &mut Global<W>,
) {
    // `N` is 256 · `V`: what all threads copy at a time.
    #[shared]
    let mut chunk: [[T; N]; 2];
    #[shared]
    let mut room: [W; 32];
    #[shared]
    let mut is_last: [bool; 1];
    let t = thread_idx().x;
    let blocks = grid_dim().x;
    let chunks = x.len() / (2 * N);
    // A block's chunks: one behind another, or as far apart as there are blocks.
    let (share, longer) = (chunks / blocks, chunks % blocks);
    let turns = share + (block_idx().x < longer) as usize;
    let (first, step) = if RUNS { (block_idx().x * share + block_idx().x.min(longer), 1) } else { (block_idx().x, blocks) };
    let mut acc = [identity::<W, ACC, OP>(); V];
    #[pipeline(stages = S)]
    for turn in 0..turns {
        let c = first + turn * step;
        #[unroll]
        for k in 0..2usize {
            chunk[k].store::<V>(V * t, x.load::<V>((2 * c + k) * N + V * t));
        }
        sync_threads();
        #[unroll]
        for k in 0..2usize {
            let q = chunk[k].load::<V>(V * t);
            #[unroll]
            for j in 0..V {
                acc[j] = combine::<W, ACC, OP>(acc[j], widen::<T, W, KIND>(q[j]));
            }
        }
        sync_threads();
    }
    // What is left are less than a chunk's elements.
    for i in (2 * N * chunks + global_id().x..x.len()).step_by(blocks * 256) {
        acc[0] = combine::<W, ACC, OP>(acc[0], widen::<T, W, KIND>(x[i]));
    }
    let mut own = acc[0];
    #[unroll]
    for j in 1..V {
        own = combine::<W, ACC, OP>(own, acc[j]);
    }
    over_grid::<W, ACC, OP, 256>(own, before, partials, tickets, out, &mut room, &mut is_last);
}

/// A type of elements that [`sum`] and its like take: `u8` to `u64`, `i8` to `i64`, `f16`, `bf16`, `f32`, `f64`.
pub trait Reducible: Element {
    /// What results are of.
    type Sum: Element;

    /// The launch of the kernel for this type.
    #[doc(hidden)]
    fn launch<'a, const OP: u32>(plan: Plan, parts: Reduction<'a, Self>) -> Result<Launch<'a>>
    where
        Self: Sized;

    /// Elements of a vector.
    #[doc(hidden)]
    const VECTOR: usize;
}

/// A type of integers, whose bits can be combined.
pub trait ReducibleBits: Reducible {}

/// What a launch of the kernel takes.
#[doc(hidden)]
#[derive(Debug)]
pub struct Reduction<'a, T: Reducible> {
    before: u32,
    x: &'a Buffer<T>,
    partials: &'a mut Buffer<u64>,
    tickets: &'a mut Buffer<u32>,
    out: &'a mut Buffer<T::Sum>,
}

/// Which variant a call takes.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    block: usize,
    chunks: Chunks,
    is_long: bool,
    grid: usize,
}

fn plan(call: Call<'_>, n: usize, vector: usize, forced: Option<usize>) -> Plan {
    let (block, blocks, chunks) = tuned::REDUCE_SHAPES[tuned::REDUCE.choose(call.stream.device(), n, forced)];
    let grid = (n / vector).max(1).div_ceil(block).min(call.multiprocessors() * blocks);
    Plan { block, chunks, is_long: is_long(n), grid }
}

/// At most so many additions does an element go through in [`sum`] of `n` elements on this device.
pub fn depth<T: Reducible>(device: &Device, n: usize) -> usize {
    let stream = device.default_stream();
    let Plan { block, grid, chunks, .. } = plan(Call::new("depth", &stream), n, T::VECTOR, None);
    // A thread's vectors and an element of the rest, of chunks two vectors and elements of less than a chunk; a vector; lanes and warps; a thread's share of the blocks' results; lanes and warps.
    let per_thread = (n / T::VECTOR).div_ceil(grid * block) + if chunks != Chunks::None { 2 + (2 * T::VECTOR).div_ceil(grid) } else { 1 };
    per_thread + T::VECTOR - 1 + 10 + grid.div_ceil(block) + 10
}

fn reduce<T: Reducible, const OP: u32>(call: Call<'_>, x: &Buffer<T>, out: &mut Buffer<T::Sum>, workspace: &mut Workspace) -> Result<()> {
    let call = call.takes("x", x)?.fits("out", out, 1)?.workspace(workspace)?;
    let plan = plan(call, x.len(), T::VECTOR, workspace.forced());
    let mut run = workspace.begin(call.function, &[(Slot::Elements, plan.grid * size_of::<T::Sum>())])?;
    run.launch(plan.grid, |before, _, parts| {
        let reduction = Reduction { before, x, partials: parts.elements, tickets: parts.tickets, out };
        Ok(T::launch::<OP>(plan, reduction)?.grid(plan.grid).launch_on(call.stream)?)
    })
}

macro_rules! reductions {
    ($($name:ident $op:literal $bound:ident $empty:literal $doc:literal;)*) => {$(
        #[doc = $doc]
        ///
        /// # Errors
        /// [`Error`](super::Error), before anything is written: `out` is empty, a buffer or the workspace lies on another device, a frozen workspace is too small.
        pub fn $name<T: $bound>(stream: &Stream, x: &Buffer<T>, out: &mut Buffer<T::Sum>, workspace: &mut Workspace) -> Result<()> {
            let call = Call::new(concat!("reduce::", stringify!($name)), stream);
            let call = if $empty { call } else { call.has_some("x", x)? };
            reduce::<T, $op>(call, x, out, workspace)
        }
    )*};
}

reductions! {
    sum 0 Reducible true "`out[0]` ← the sum of all elements of `x`.";
    product 3 Reducible true "`out[0]` ← the product of all elements of `x`.";
    min 1 Reducible false "`out[0]` ← the least element of `x`, which has one.";
    max 2 Reducible false "`out[0]` ← the greatest element of `x`, which has one.";
    bit_and 4 ReducibleBits true "`out[0]` ← the bitwise and of all elements of `x`.";
    bit_or 5 ReducibleBits true "`out[0]` ← the bitwise or of all elements of `x`.";
    bit_xor 6 ReducibleBits true "`out[0]` ← the bitwise exclusive or of all elements of `x`.";
}

/// Type, its word, the sum's type and word, what the word holds, what the sum holds, elements of a vector.
macro_rules! reducible {
    ($($t:ty: $word:ty => $sum:ty: $wide:ty, $kind:literal $acc:literal $v:literal;)*) => {$(
        impl Reducible for $t {
            type Sum = $sum;
            const VECTOR: usize = $v;

            fn launch<'a, const OP: u32>(plan: Plan, parts: Reduction<'a, Self>) -> Result<Launch<'a>> {
                let Reduction { before, x, partials, tickets, out } = parts;
                let (x, partials, out) = (x.view::<$word>()?, seen::<$wide>(partials)?, out.view_mut::<$wide>()?);
                Ok(match (plan.block, plan.is_long) {
                    (_, false) if plan.chunks == Chunks::Apart => {
                        reduce_ring::<$word, $wide, $kind, $acc, OP, $v, { 256 * $v }, 5, false, 32>(before, x, partials, tickets, out)
                    }
                    (_, false) if plan.chunks == Chunks::Run => {
                        reduce_ring::<$word, $wide, $kind, $acc, OP, $v, { 256 * $v }, 5, true, 32>(before, x, partials, tickets, out)
                    }
                    (_, true) if plan.chunks != Chunks::None => {
                        reduce_ring::<$word, $wide, $kind, $acc, OP, $v, { 256 * $v }, 5, true, 64>(before, x, partials, tickets, out)
                    }
                    (512, false) => reduce_words::<$word, $wide, $kind, $acc, OP, $v, 512, 4, 32>(before, x, partials, tickets, out),
                    (_, false) => reduce_words::<$word, $wide, $kind, $acc, OP, $v, 256, 4, 32>(before, x, partials, tickets, out),
                    (512, true) => reduce_words::<$word, $wide, $kind, $acc, OP, $v, 512, 4, 64>(before, x, partials, tickets, out),
                    (_, true) => reduce_words::<$word, $wide, $kind, $acc, OP, $v, 256, 4, 64>(before, x, partials, tickets, out),
                })
            }
        }
    )*};
}

reducible! {
    u8: u8 => u32: u32, 0 0 8;
    i8: u8 => i32: u32, 1 1 8;
    u16: u16 => u32: u32, 0 0 8;
    i16: u16 => i32: u32, 1 1 8;
    u32: u32 => u32: u32, 0 0 4;
    i32: u32 => i32: u32, 1 1 4;
    u64: u64 => u64: u64, 0 0 2;
    i64: u64 => i64: u64, 1 1 2;
    f16: u16 => f32: u32, 2 2 8;
    bf16: u16 => f32: u32, 3 2 8;
    f32: u32 => f32: u32, 2 2 4;
    f64: u64 => f64: u64, 2 2 2;
}

macro_rules! bits {
    ($($t:ty)*) => {$(impl ReducibleBits for $t {})*};
}

bits! { u8 i8 u16 i16 u32 i32 u64 i64 }
