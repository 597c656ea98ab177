//! Histograms: how often each value occurs.
//!
//! `bins[v]` ← how many elements of `x` are v, for each v below the length of `bins`; elements at or beyond it are not counted. Elements are `u8`, `u16` or `u32`;
//! counts are modulo 2³².
//!
//! **Determinism.** The same bits on every run.
//!
//! **How.** Up to 1,024 bins a block has 32 counters for each bin, one in each bank of shared memory, so that equal values do not wait for each other; up to 4,096 it has 8,
//! up to 16,384 2, and all is one launch: the last block to finish has the result. Up to 65,536 bins, counters have 16 bits, two to a word; beyond, they are in global memory.

use super::checks::{Call, is_long};
use super::last_block::is_last_block;
use super::workspace::{Slot, seen};
use super::{Result, Workspace};
use warpwright::Int;
use warpwright::Launch;
use warpwright::prelude::*;

/// Sets all bins to zero.
#[kernel(block = 256)]
pub fn clear_bins(bins: &mut Global<u32>) {
    let i = global_id().x;
    if i < bins.len() {
        bins[i] = 0;
    }
}

/// Counts `x` into `bins`, in one launch. `R` counters a bin in neighbouring banks: lane l takes l % R. Dynamic shared memory: `bins · R` words. `PACKED`: an element of `x` is four bytes, each a value; there
/// are 256 bins. Several blocks add up in `counts`, all zero before and after; the last to finish moves them to `bins`. `before` is the number of tickets that earlier launches took.
#[kernel(block = B, index = I)]
pub fn count_replicated<T: Int, const PACKED: bool, const V: usize, const B: usize, const R: usize, const U: usize, const I: usize>(
    before: u32,
    x: &Global<T>,
    counts: &mut Global<u32>,
    tickets: &mut Global<u32>,
    bins: &mut Global<u32>,
) {
    #[shared(dynamic)]
    let mut local: [u32];
    #[shared]
    let mut is_last: [bool; 1];
    let (t, n, blocks) = (thread_idx().x, bins.len(), grid_dim().x);
    for k in (t..n * R).step_by(B) {
        local[k] = 0;
    }
    sync_threads();
    let replica = lane_id() % R;
    let vectors = x.len() / V;
    #[unroll(U)]
    #[batch_loads]
    for v in (global_id().x..vectors).step_by(blocks * B) {
        let q = x.load::<V>(V * v);
        #[unroll]
        for j in 0..V {
            if PACKED {
                let word = q[j] as u32;
                local.atomic_add((word & 255) as usize * R + replica, 1u32);
                local.atomic_add(((word >> 8) & 255) as usize * R + replica, 1u32);
                local.atomic_add(((word >> 16) & 255) as usize * R + replica, 1u32);
                local.atomic_add((word >> 24) as usize * R + replica, 1u32);
            } else if (q[j] as usize) < n {
                local.atomic_add(q[j] as usize * R + replica, 1u32);
            }
        }
    }
    let rest = vectors * V + global_id().x;
    if rest < x.len() {
        if PACKED {
            #[unroll]
            for byte in 0..4u32 {
                local.atomic_add((((x[rest] as u32) >> (8 * byte)) & 255) as usize * R + replica, 1u32);
            }
        } else if (x[rest] as usize) < n {
            local.atomic_add(x[rest] as usize * R + replica, 1u32);
        }
    }
    sync_threads();
    for bin in (t..n).step_by(B) {
        let mut all = 0u32;
        #[unroll]
        for r in 0..R {
            // Lanes begin at different replicas: different banks.
            all += local[bin * R + (r + lane_id()) % R];
        }
        if blocks == 1 {
            bins[bin] = all;
        } else if all > 0 {
            counts.atomic_add(bin, all);
        }
    }
    if blocks > 1 {
        sync_threads();
        if t == 0 {
            is_last[0] = is_last_block(before, tickets);
        }
        sync_threads();
        if is_last[0] {
            for bin in (t..n).step_by(B) {
                bins[bin] = counts.atomic_exchange(bin, 0);
            }
        }
    }
}

/// Adds the counts of `x` to at most 2¹⁶ bins, by counters of 16 bits, two to a word of dynamic shared memory. The thread that sees one reach 2¹⁵ moves 2¹⁵ to the
/// result; at most 1,024 threads, 8 values each, are on their way to do so, so that none overflows.
#[kernel(block = 1024, index = I)]
pub fn count_halves<T: Int, const V: usize, const U: usize, const I: usize>(x: &Global<T>, bins: &mut Global<u32>) {
    #[shared(dynamic)]
    let mut local: [u32];
    let (t, n) = (thread_idx().x, bins.len());
    let words = n.div_ceil(2);
    for k in (t..words).step_by(1024) {
        local[k] = 0;
    }
    sync_threads();
    let vectors = x.len() / V;
    #[unroll(U)]
    #[batch_loads]
    for v in (global_id().x..vectors).step_by(grid_dim().x * 1024) {
        let q = x.load::<V>(V * v);
        #[unroll]
        for j in 0..V {
            let value = q[j] as usize;
            if value < n {
                let shift = (value as u32 & 1) * 16;
                let before = local.atomic_add(value >> 1, 1u32 << shift);
                if ((before >> shift) & 0xffff) == 0x7fff {
                    local.atomic_sub(value >> 1, 0x8000u32 << shift);
                    bins.atomic_add(value, 0x8000u32);
                }
            }
        }
    }
    let rest = vectors * V + global_id().x;
    if rest < x.len() && (x[rest] as usize) < n {
        bins.atomic_add(x[rest] as usize, 1u32);
    }
    sync_threads();
    for k in (t..words).step_by(1024) {
        let word = local[k];
        if word & 0xffff != 0 {
            bins.atomic_add(2 * k, word & 0xffff);
        }
        if word >> 16 != 0 {
            bins.atomic_add(2 * k + 1, word >> 16);
        }
    }
}

/// Adds the counts of `x` to bins in global memory.
#[kernel(block = 256, index = I)]
pub fn count_global<T: Int, const V: usize, const I: usize>(x: &Global<T>, bins: &mut Global<u32>) {
    let vectors = x.len() / V;
    #[unroll(2)]
    #[batch_loads]
    for v in (global_id().x..vectors).step_by(grid_dim().x * 256) {
        let q = x.load::<V>(V * v);
        #[unroll]
        for j in 0..V {
            if (q[j] as usize) < bins.len() {
                bins.atomic_add(q[j] as usize, 1u32);
            }
        }
    }
    let rest = vectors * V + global_id().x;
    if rest < x.len() && (x[rest] as usize) < bins.len() {
        bins.atomic_add(x[rest] as usize, 1u32);
    }
}

/// Bins that blocks have several counters for.
const MOST_REPLICATED: usize = 16_384;

/// A type of values that are counted: `u8`, `u16`, `u32`.
pub trait Countable: Element {
    /// Values of `x` that a thread takes at a time.
    #[doc(hidden)]
    fn at_once(x: &Buffer<Self>, bins: usize) -> usize
    where
        Self: Sized;

    /// The launch that counts into at most 16,384 bins, all but its grid. `counts` and `tickets` are the workspace's.
    #[doc(hidden)]
    fn replicated<'a>(
        before: u32,
        x: &'a Buffer<Self>,
        bins: &'a mut Buffer<u32>,
        counts: &'a mut Buffer<u64>,
        tickets: &'a mut Buffer<u32>,
    ) -> Result<Launch<'a>>
    where
        Self: Sized;

    /// The launch that adds to bins, however many.
    #[doc(hidden)]
    fn adding<'a>(multiprocessors: usize, x: &'a Buffer<Self>, bins: &'a mut Buffer<u32>) -> Launch<'a>
    where
        Self: Sized;
}

/// `bins[v]` ← how many elements of `x` are v.
///
/// # Errors
/// [`Error`](super::Error), before anything is written: a buffer or the workspace lies on another device, a frozen workspace is too small.
pub fn count_values<T: Countable>(stream: &Stream, x: &Buffer<T>, bins: &mut Buffer<u32>, workspace: &mut Workspace) -> Result<()> {
    let call = Call::new("histogram::count_values", stream).takes("x", x)?.takes("bins", bins)?.workspace(workspace)?;
    let n = bins.len();
    if n == 0 {
        return Ok(());
    }
    if x.is_empty() || n > MOST_REPLICATED {
        clear_bins(bins).cover(n).launch_on(stream)?;
        if !x.is_empty() {
            T::adding(call.multiprocessors(), x, bins).launch_on(stream)?;
        }
        return Ok(());
    }
    let blocks = x.len().div_ceil(1024 * T::at_once(x, n)).min(call.multiprocessors());
    let mut run = workspace.begin(call.function, &[(Slot::Counts, n * size_of::<u32>())])?;
    run.launch(if blocks > 1 { blocks } else { 0 }, |before, _, parts| {
        Ok(T::replicated(before, x, bins, parts.counts, parts.tickets)?.grid(blocks).launch_on(stream)?)
    })
}

macro_rules! countable {
    ($($t:ty: $v:literal, $words:expr;)*) => {$(
        impl Countable for $t {
            fn at_once(x: &Buffer<$t>, bins: usize) -> usize {
                let words: Option<&Buffer<u32>> = $words(x, bins);
                if words.is_some() { 16 } else { $v }
            }

            fn replicated<'a>(before: u32, x: &'a Buffer<$t>, bins: &'a mut Buffer<u32>, counts: &'a mut Buffer<u64>, tickets: &'a mut Buffer<u32>) -> Result<Launch<'a>> {
                let (n, counts) = (bins.len(), seen::<u32>(counts)?);
                let words: Option<&Buffer<u32>> = $words(x, n);
                Ok(match (words, n, is_long(words.map_or(x.len(), Buffer::len))) {
                    (Some(words), _, false) => {
                        count_replicated::<u32, true, 4, 1024, 32, 4, 32>(before, words, counts, tickets, bins).shared_bytes(32_768)
                    }
                    (Some(words), _, true) => {
                        count_replicated::<u32, true, 4, 1024, 32, 4, 64>(before, words, counts, tickets, bins).shared_bytes(32_768)
                    }
                    (None, ..=1024, false) => {
                        count_replicated::<$t, false, $v, 1024, 32, 4, 32>(before, x, counts, tickets, bins).shared_bytes(n * 128)
                    }
                    (None, ..=1024, true) => {
                        count_replicated::<$t, false, $v, 1024, 32, 4, 64>(before, x, counts, tickets, bins).shared_bytes(n * 128)
                    }
                    (None, ..=4096, false) => {
                        count_replicated::<$t, false, $v, 1024, 8, 4, 32>(before, x, counts, tickets, bins).shared_bytes(n * 32)
                    }
                    (None, _, false) => {
                        count_replicated::<$t, false, $v, 1024, 2, 4, 32>(before, x, counts, tickets, bins).shared_bytes(n * 8)
                    }
                    // Of that many elements the bins are few beside them.
                    (None, _, true) => {
                        count_replicated::<$t, false, $v, 1024, 2, 4, 64>(before, x, counts, tickets, bins).shared_bytes(n * 8)
                    }
                })
            }

            fn adding<'a>(multiprocessors: usize, x: &'a Buffer<$t>, bins: &'a mut Buffer<u32>) -> Launch<'a> {
                let n = bins.len();
                let blocks = |block: usize, most: usize| x.len().div_ceil(block * $v).min(most);
                let is_halved = n <= 65_536;
                let launch = match (is_halved, is_long(x.len())) {
                    (true, false) => count_halves::<$t, $v, 4, 32>(x, bins),
                    (true, true) => count_halves::<$t, $v, 4, 64>(x, bins),
                    (false, false) => count_global::<$t, $v, 32>(x, bins),
                    (false, true) => count_global::<$t, $v, 64>(x, bins),
                };
                match is_halved {
                    true => launch.grid(blocks(1024, multiprocessors)).shared_bytes(n.div_ceil(2) * 4),
                    false => launch.grid(blocks(256, 8 * multiprocessors)),
                }
            }
        }
    )*};
}

/// Bytes as words of four, where they fill words and there is a bin for each: vectors of 16 bytes then.
fn as_words(x: &Buffer<u8>, bins: usize) -> Option<&Buffer<u32>> {
    (bins == 256).then(|| x.view().ok()).flatten()
}

countable! {
    u8: 8, as_words;
    u16: 8, |_, _| None;
    u32: 4, |_, _| None;
}
