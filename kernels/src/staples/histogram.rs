//! Histograms: how often each value occurs.
//!
//! `bins[v]` ← how many elements of `x` are v, for each v below the length of `bins`; elements at or beyond it are not counted. Elements are `u8`, `u16` or `u32`;
//! counts are modulo 2³².
//!
//! **Determinism.** The same bits on every run.
//!
//! **How.** Up to 1,024 bins a block has 32 counters for each bin, one in each bank of shared memory, so that equal values do not wait for each other; up to 4,096 it has 8,
//! up to 16,384 2, up to 65,536 counters of 16 bits, two to a word; beyond, counters in global memory.

use super::Result;
use super::checks::Call;
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

/// Adds the counts of `x` to `bins`. `R` counters a bin in neighbouring banks: lane l takes l % R. Dynamic shared memory: `bins · R` words. `PACKED`: an element of `x` is four bytes, each a value; there are
/// 256 bins.
#[kernel(block = B)]
pub fn count_replicated<T: Int, const PACKED: bool, const V: usize, const B: usize, const R: usize, const U: usize>(
    x: &Global<T>,
    bins: &mut Global<u32>,
) {
    #[shared(dynamic)]
    let mut local: [u32];
    let (t, n) = (thread_idx().x, bins.len());
    for k in (t..n * R).step_by(B) {
        local[k] = 0;
    }
    sync_threads();
    let replica = lane_id() % R;
    let vectors = x.len() / V;
    #[unroll(U)]
    #[batch_loads]
    for v in (global_id().x..vectors).step_by(grid_dim().x * B) {
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
        if all > 0 {
            bins.atomic_add(bin, all);
        }
    }
}

/// Adds the counts of `x` to at most 2¹⁶ bins, by counters of 16 bits, two to a word of dynamic shared memory. The thread that sees one reach 2¹⁵ moves 2¹⁵ to the
/// result; at most 1,024 threads, 8 values each, are on their way to do so, so that none overflows.
#[kernel(block = 1024)]
pub fn count_halves<T: Int, const V: usize, const U: usize>(x: &Global<T>, bins: &mut Global<u32>) {
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
#[kernel(block = 256)]
pub fn count_global<T: Int, const V: usize>(x: &Global<T>, bins: &mut Global<u32>) {
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

/// A type of values that are counted: `u8`, `u16`, `u32`.
pub trait Countable: Element {
    /// The launch that counts, all but its grid.
    #[doc(hidden)]
    fn launch<'a>(multiprocessors: usize, x: &'a Buffer<Self>, bins: &'a mut Buffer<u32>) -> Result<Launch<'a>>
    where
        Self: Sized;
}

/// `bins[v]` ← how many elements of `x` are v.
///
/// # Errors
/// [`Error`](super::Error), before anything is written: a buffer lies on another device.
pub fn count_values<T: Countable>(stream: &Stream, x: &Buffer<T>, bins: &mut Buffer<u32>) -> Result<()> {
    let call = Call::new("histogram::count_values", stream).takes("x", x)?.takes("bins", bins)?;
    if bins.is_empty() {
        return Ok(());
    }
    let n = bins.len();
    clear_bins(bins).cover(n).launch_on(stream)?;
    if !x.is_empty() {
        T::launch(call.multiprocessors(), x, bins)?.launch_on(stream)?;
    }
    Ok(())
}

/// The launch for values that are no bytes: by the number of bins.
macro_rules! by_bins {
    ($t:ty, $v:literal, $multiprocessors:ident, $x:ident, $bins:ident) => {{
        let n = $bins.len();
        let blocks = |block: usize| $x.len().div_ceil(block * $v).min($multiprocessors);
        match n {
            ..=1024 => count_replicated::<$t, false, $v, 1024, 32, 4>($x, $bins).grid(blocks(1024)).shared_bytes(n * 128),
            ..=4096 => count_replicated::<$t, false, $v, 1024, 8, 4>($x, $bins).grid(blocks(1024)).shared_bytes(n * 32),
            ..=16_384 => count_replicated::<$t, false, $v, 1024, 2, 4>($x, $bins).grid(blocks(1024)).shared_bytes(n * 8),
            ..=65_536 => count_halves::<$t, $v, 4>($x, $bins).grid(blocks(1024)).shared_bytes(n.div_ceil(2) * 4),
            _ => count_global::<$t, $v>($x, $bins).grid($x.len().div_ceil(256 * $v).min(8 * $multiprocessors)),
        }
    }};
}

impl Countable for u8 {
    fn launch<'a>(multiprocessors: usize, x: &'a Buffer<u8>, bins: &'a mut Buffer<u32>) -> Result<Launch<'a>> {
        let blocks = x.len().div_ceil(1024 * 16).min(multiprocessors);
        // Four to a word where they fill words: vectors of 16 bytes then.
        Ok(match (bins.len(), x.view::<u32>()) {
            (256, Ok(words)) => count_replicated::<u32, true, 4, 1024, 32, 4>(words, bins).grid(blocks).shared_bytes(32_768),
            _ => by_bins!(u8, 8, multiprocessors, x, bins),
        })
    }
}

impl Countable for u16 {
    fn launch<'a>(multiprocessors: usize, x: &'a Buffer<u16>, bins: &'a mut Buffer<u32>) -> Result<Launch<'a>> {
        Ok(by_bins!(u16, 8, multiprocessors, x, bins))
    }
}

impl Countable for u32 {
    fn launch<'a>(multiprocessors: usize, x: &'a Buffer<u32>, bins: &'a mut Buffer<u32>) -> Result<Launch<'a>> {
        Ok(by_bins!(u32, 4, multiprocessors, x, bins))
    }
}
