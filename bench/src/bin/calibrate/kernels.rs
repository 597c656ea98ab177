//! The kernels that a device's row of `review/src/machine.rs` is fitted on. None of them is one that the model is judged by.

#![allow(clippy::needless_range_loop, reason = "loops of kernels count")]

use warpwright::prelude::*;
use warpwright::warp::shuffle_xor;
use warpwright::{Float, Num};

/// A value that no sum here is: what a kernel computes must be asked for, or nothing computes it.
const NEVER: f32 = 3.25e30;

/// Asks for a sum.
#[device]
fn ask_for(sum: f32, out: &mut Global<f32>) {
    if sum == NEVER {
        out[0] = sum;
    }
}

/// A sum with the elements of `ILP` vectors of `V`, which are `stride` elements apart; all are read before any is added.
#[device]
fn with_vectors<const ILP: usize, const V: usize>(sum: f32, at: usize, stride: usize, x: &Global<f32>) -> f32 {
    let mut all = sum;
    #[unroll]
    #[batch_loads]
    for j in 0..ILP {
        let v = x.load::<V>(at + j * stride);
        #[unroll]
        for k in 0..V {
            all += v[k];
        }
    }
    all
}

/// Chains of integers, each thread's and each chain's from a number of its own.
#[device]
fn begun<const I: usize>(a: u32) -> [u32; I] {
    let mut chain = [a; I];
    #[unroll]
    for j in 0..I {
        chain[j] = a + j as u32 + thread_idx().x as u32;
    }
    chain
}

/// All chains' ends, added to `first`.
#[device]
fn summed<T: Num, const I: usize>(first: T, chain: [T; I]) -> T {
    let mut sum = first;
    #[unroll]
    for j in 0..I {
        sum += chain[j];
    }
    sum
}

/// All chains' ends, bit by bit.
#[device]
fn mixed<const I: usize>(chain: [u32; I]) -> u32 {
    let mut bits = 0;
    #[unroll]
    for j in 0..I {
        bits ^= chain[j];
    }
    bits
}

/// Blocks that do nothing: how fast blocks, and warps, begin and end.
#[kernel(block = B)]
pub(crate) fn nothing<const B: usize>(never: u32, out: &mut Global<f32>) {
    if never != 0 {
        out[global_id().x] = 1.0;
    }
}

/// Sums `ILP` vectors of `V` per thread: reads only. The length is a multiple of what a block takes.
#[kernel(block = B)]
pub(crate) fn read<const B: usize, const ILP: usize, const V: usize>(x: &Global<f32>, out: &mut Global<f32>) {
    let base = block_idx().x * (B * ILP * V) + thread_idx().x * V;
    ask_for(with_vectors::<ILP, V>(0.0, base, B * V, x), out);
}

/// The same in a loop: threads that live long. A step reads `ILP` vectors that are `stride` elements apart, then adds them.
#[kernel(block = B)]
pub(crate) fn walk<const B: usize, const ILP: usize, const V: usize>(steps: usize, stride: usize, x: &Global<f32>, out: &mut Global<f32>) {
    let mut at = global_id().x * V;
    let mut sum = 0.0f32;
    #[unroll(1)]
    for _ in 0..steps {
        sum = with_vectors::<ILP, V>(sum, at, stride, x);
        at += ILP * stride;
    }
    ask_for(sum, out);
}

/// A thread to a row of `length` elements, rows `pitch` elements apart: each lane comes back to its sector round after round.
#[kernel(block = 256, allow(uncoalesced_access))]
pub(crate) fn rows<T: Num>(length: usize, pitch: usize, x: &Global<T>, out: &mut Global<T>) {
    let row = global_id().x;
    let mut sum = T::ZERO;
    for k in 0..length {
        sum += x[row * pitch + k];
    }
    // No sum of zeros is that.
    if sum == T::ONE {
        out[0] = sum;
    }
}

/// Every block reads all of a table, which the L2 cache holds and the L1 cache does not.
#[kernel(block = B, allow(redundant_global_loads))]
pub(crate) fn shared_by_blocks<const B: usize, const ILP: usize, const V: usize>(steps: usize, x: &Global<f32>, out: &mut Global<f32>) {
    let mut at = thread_idx().x * V;
    let mut sum = 0.0f32;
    #[unroll(1)]
    for _ in 0..steps {
        sum = with_vectors::<ILP, V>(sum, at, B * V, x);
        at += ILP * B * V;
    }
    ask_for(sum, out);
}

/// Writes only.
#[kernel(block = B, ilp = ILP, vectorize = V)]
pub(crate) fn write<const B: usize, const ILP: usize, const V: usize>(value: f32, out: &mut Global<f32>) {
    let i = global_id().x;
    if i < out.len() {
        out[i] = value;
    }
}

/// out ← a·x + y: two reads and a write.
#[kernel(block = B, ilp = ILP, batch_loads, vectorize = V)]
pub(crate) fn triad<const B: usize, const ILP: usize, const V: usize>(a: f32, x: &Global<f32>, y: &Global<f32>, out: &mut Global<f32>) {
    let i = global_id().x;
    if i < out.len() {
        out[i] = a * x[i] + y[i];
    }
}

/// y ← a·y, in place: a read and a write of the same line.
#[kernel(block = B, ilp = ILP, batch_loads, vectorize = V)]
pub(crate) fn scale<const B: usize, const ILP: usize, const V: usize>(a: f32, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = a * y[i];
    }
}

/// The same one after the other: the distance is known at launch only, so no load may pass the store before it.
#[kernel(block = B)]
pub(crate) fn scale_serially<const B: usize>(a: f32, steps: usize, stride: usize, y: &mut Global<f32>) {
    let mut at = block_idx().x * (B * steps) + thread_idx().x;
    #[unroll(1)]
    for _ in 0..steps {
        y[at] = a * y[at];
        at += stride;
    }
}

/// `I` chains of fused multiply-adds, `U` of each unrolled.
#[kernel]
pub(crate) fn fma<T: Float, const I: usize, const U: usize>(rounds: usize, a: T, b: T, out: &mut Global<T>) {
    let mut chain = [a; I];
    #[unroll(1)]
    for _ in 0..rounds {
        #[unroll]
        for _ in 0..U {
            #[unroll]
            for j in 0..I {
                chain[j] = chain[j].mul_add(a, b);
            }
        }
    }
    out[global_id().x] = summed::<T, I>(a, chain);
}

/// `I` chains of an addition and an exclusive or, by turns: one is no part of the other's instruction.
#[kernel]
pub(crate) fn integer<const I: usize, const U: usize>(rounds: usize, a: u32, b: u32, out: &mut Global<u32>) {
    let mut chain = begun::<I>(a);
    #[unroll(1)]
    for _ in 0..rounds {
        #[unroll]
        for _ in 0..U {
            #[unroll]
            for j in 0..I {
                chain[j] = (chain[j] + a) ^ b;
            }
        }
    }
    out[global_id().x] = mixed::<I>(chain);
}

/// `I` chains of 32-bit integer products and sums.
#[kernel]
pub(crate) fn integer_mad<const I: usize, const U: usize>(rounds: usize, a: u32, b: u32, out: &mut Global<u32>) {
    let mut chain = begun::<I>(a);
    #[unroll(1)]
    for _ in 0..rounds {
        #[unroll]
        for _ in 0..U {
            #[unroll]
            for j in 0..I {
                chain[j] = chain[j] * a + b;
            }
        }
    }
    out[global_id().x] = mixed::<I>(chain);
}

/// `I` chains of the special function unit's hyperbolic tangent: one instruction since sm_75.
#[kernel]
pub(crate) fn special<const I: usize, const U: usize>(rounds: usize, a: f32, out: &mut Global<f32>) {
    let mut chain = [a; I];
    #[unroll]
    for j in 0..I {
        chain[j] = a + j as f32;
    }
    #[unroll(1)]
    for _ in 0..rounds {
        #[unroll]
        for _ in 0..U {
            #[unroll]
            for j in 0..I {
                chain[j] = native_tanh(chain[j]);
            }
        }
    }
    out[global_id().x] = summed::<f32, I>(a, chain);
}

/// `I` chains of shuffles.
#[kernel]
pub(crate) fn shuffles<const I: usize, const U: usize>(rounds: usize, a: u32, out: &mut Global<u32>) {
    let mut chain = begun::<I>(a);
    #[unroll(1)]
    for _ in 0..rounds {
        #[unroll]
        for _ in 0..U {
            #[unroll]
            for j in 0..I {
                chain[j] = shuffle_xor(chain[j], 1);
            }
        }
    }
    out[global_id().x] = summed::<u32, I>(a, chain);
}

/// Words of the shared table.
pub(crate) const WORDS: usize = 1024;

/// `I` chains of shared loads: each word is the index of the next. Without conflicts: lanes stay in their banks.
#[kernel]
pub(crate) fn shared_chase<const I: usize, const U: usize>(rounds: usize, next: &Global<u32>, out: &mut Global<u32>) {
    #[shared]
    let mut table: [u32; WORDS];
    for i in (thread_idx().x..WORDS).step_by(block_dim().x) {
        table[i] = next[i];
    }
    sync_threads();
    let mut chain = [0u32; I];
    #[unroll]
    for j in 0..I {
        chain[j] = ((thread_idx().x + 32 * j) % WORDS) as u32;
    }
    #[unroll(1)]
    for _ in 0..rounds {
        #[unroll]
        for _ in 0..U {
            #[unroll]
            for j in 0..I {
                chain[j] = table[chain[j] as usize];
            }
        }
    }
    out[global_id().x] = mixed::<I>(chain);
}

/// Writes a cycle through `mask + 1` (a power of two) steps, `spread` elements apart: a full-period linear congruence. Not timed.
#[kernel(block = 256, allow(uncoalesced_access))]
pub(crate) fn make_cycle(mask: u32, factor: u32, spread: u32, next: &mut Global<u32>) {
    let i = global_id().x as u32;
    if i <= mask {
        next[(i * spread) as usize] = ((i * factor + 12345) & mask) * spread;
    }
}

/// Walks such a cycle: each load's address is what the load before it gave. The lanes of a warp all read one word; one warp is all there is.
#[kernel(block = 32, allow(small_block))]
pub(crate) fn chase(steps: usize, next: &Global<u32>, out: &mut Global<u32>) {
    let mut at = 0u32;
    #[unroll(8)]
    for _ in 0..steps {
        at = next[at as usize];
    }
    out[global_id().x] = at;
}

/// Barriers, and nothing between them.
#[kernel]
pub(crate) fn barriers(rounds: usize, out: &mut Global<u32>) {
    #[unroll(1)]
    for _ in 0..rounds {
        sync_threads();
        sync_threads();
        sync_threads();
        sync_threads();
    }
    out[global_id().x] = rounds as u32;
}

/// Rows of the shared table that `dispatch` walks along, of four words each.
pub(crate) const ROWS: usize = 256;

/// `N` sums a step, or fused products of three registers; beside them, `S` special functions and one load of `W` words (0, 1 or 4) that all
/// lanes share. With enough warps nothing is waited for: what the steps take beyond an instruction a cycle is what keeps the dispatcher from issuing.
#[kernel(block = ROWS)]
pub(crate) fn dispatch<const N: usize, const FUSED: bool, const W: usize, const S: usize>(
    rounds: usize,
    a: f32,
    b: f32,
    out: &mut Global<f32>,
) {
    #[shared]
    let mut rows: [[f32; 4]; ROWS];
    let t = thread_idx().x as f32;
    let factor = b * t;
    let mut words = [a, a * t, b - t, factor - a];
    rows[thread_idx().x] = words;
    sync_threads();
    let mut chain = [a; 8];
    #[unroll]
    for j in 0..8 {
        chain[j] = a * (t + j as f32);
    }
    #[unroll(1)]
    for _ in 0..rounds {
        #[unroll(8)]
        for k in 0..ROWS {
            if W == 4 {
                words = rows[k];
            } else if W == 1 {
                words[0] = rows[k][0];
            }
            #[unroll]
            for j in 0..N {
                let word = words[if W == 1 { 0 } else { j % 4 }];
                chain[j % 8] = if FUSED { chain[j % 8].mul_add(word, factor) } else { chain[j % 8] + word };
            }
            #[unroll]
            for j in 0..S {
                chain[j] = native_tanh(chain[j]);
            }
        }
    }
    out[global_id().x] = summed::<f32, 8>(0.0, chain);
}

/// Sums words of a small table, lanes `stride` words apart: what the L1 cache gives.
#[kernel(block = 256)]
pub(crate) fn cached<const U: usize>(rounds: usize, stride: usize, table: &Global<f32>, out: &mut Global<f32>) {
    let lane = lane_id() as usize;
    let mut sum = 0.0f32;
    #[unroll(1)]
    for round in 0..rounds {
        let at = lane * stride + (round & 31);
        #[unroll]
        #[batch_loads]
        for j in 0..U {
            sum += table[at + j];
        }
    }
    ask_for(sum, out);
}

/// Writes every `stride`-th element: parts of sectors, which is what is measured.
#[kernel(block = 256, allow(uncoalesced_access))]
pub(crate) fn write_strided(stride: usize, value: f32, out: &mut Global<f32>) {
    let i = global_id().x * stride;
    if i < out.len() {
        out[i] = value;
    }
}

/// Sums every `stride`-th element, four a thread.
#[kernel(block = 256, allow(uncoalesced_access))]
pub(crate) fn read_strided(stride: usize, x: &Global<f32>, out: &mut Global<f32>) {
    let i = (block_idx().x * 1024 + thread_idx().x) * stride;
    let mut sum = 0.0f32;
    #[unroll]
    #[batch_loads]
    for j in 0..4 {
        sum += x[i + j * 256 * stride];
    }
    ask_for(sum, out);
}
