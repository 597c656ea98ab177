//! Scans by key: they begin anew wherever a key differs from the one before.
//!
//! | function | `y[i]` |
//! |---|---|
//! | [`inclusive_sum`], [`inclusive_min`], [`inclusive_max`] | x\[h\] ⊕ … ⊕ x\[i\], h being the first element of i's run of equal keys |
//! | [`exclusive_sum`], [`exclusive_min`], [`exclusive_max`] | x\[h\] ⊕ … ⊕ x\[i − 1\]; at h what changes nothing, as of [`scan`](super::scan) |
//!
//! Keys are of 4 bytes (`u32`, `i32`, `f32`) and compare as numbers: no NaN equals another, so that each is a run of its own; `-0.0` equals `0.0`. Values are those of
//! [`Scannable`].
//!
//! **Determinism and error** are those of [`scan`](super::scan): of float sums the bits may differ from run to run, within the bound for the run's elements.
//!
//! **How.** As a scan, in one pass. A tile in which a key changes tells what it has since its last change as if it were the sum of all: those behind it need no more.

use super::checks::{Call, is_long};
use super::look_back::{look_back, take_tile, tell};
use super::scan::Scannable;
use super::select::Selectable;
use super::word::{combine, identity, same};
use super::workspace::{Slot, seen};
use super::{Result, Workspace};
use warpwright::Int;
use warpwright::Launch;
use warpwright::prelude::*;
use warpwright::warp::{ballot, shuffle, shuffle_up};

/// `y` ← the scan of `x` by `keys`, in tiles as of [`scan_words`](super::scan::scan_words). `KEY` is what keys hold, `KIND` what values do.
#[allow(clippy::too_many_arguments, reason = "keys, values, results and what tiles tell each other are buffers of their own")]
#[kernel(block = 32 * WARPS, index = I)]
pub fn scan_runs<
    W: Int,
    const KEY: u32,
    const KIND: u32,
    const OP: u32,
    const EXCLUSIVE: bool,
    const V: usize,
    const WARPS: usize,
    const K: usize,
    const I: usize,
>(
    before: u32,
    epoch: u32,
    keys: &Global<u32>,
    x: &Global<W>,
    y: &mut Global<W>,
    states: &mut Global<u64>,
    sums: &mut Global<W>,
    tickets: &mut Global<u32>,
) {
    #[shared]
    let mut chosen: [u32; 1];
    #[shared]
    let mut warps: [W; 32];
    #[shared]
    let mut has_head: [bool; 32];
    #[shared]
    let mut front: [W; 1];
    let (t, lane, warp) = (thread_idx().x, lane_id(), warp_id());
    if t == 0 {
        chosen[0] = take_tile(before, tickets);
    }
    sync_threads();
    let n = x.len();
    let tile = chosen[0] as usize;
    let first = tile * (32 * WARPS * K * V);
    let base = first + warp * (32 * K * V) + lane * V;
    let is_whole = first + 32 * WARPS * K * V <= n;
    let mut v = [[identity::<W, KIND, OP>(); V]; K];
    let mut key = [[0u32; V]; K];
    if is_whole {
        #[unroll]
        #[batch_loads]
        for k in 0..K {
            v[k] = x.load::<V>(base + k * (32 * V));
            key[k] = keys.load::<V>(base + k * (32 * V));
        }
    } else {
        #[unroll]
        for k in 0..K {
            #[unroll]
            for j in 0..V {
                if base + k * (32 * V) + j < n {
                    v[k][j] = x[base + k * (32 * V) + j];
                    key[k][j] = keys[base + k * (32 * V) + j];
                }
            }
        }
    }
    // Bit k · V + j: a run begins at element j of vector k.
    let mut heads = 0u32;
    let start = first + warp * (32 * K * V);
    let mut last = 0u32;
    if start > 0 && start <= n {
        last = keys[start - 1];
    }
    #[unroll]
    for k in 0..K {
        let below = shuffle_up(key[k][V - 1], 1u32);
        let mut earlier = if lane > 0 { below } else { last };
        last = shuffle(key[k][V - 1], 31u32);
        #[unroll]
        for j in 0..V {
            heads |= (!same::<u32, KEY>(earlier, key[k][j]) as u32) << (k * V + j);
            earlier = key[k][j];
        }
    }
    if base == 0 {
        heads |= 1;
    }
    // Sums since the last head: within a vector, then over the lanes above the last lane with a head, then over vectors.
    let mut inside = [identity::<W, KIND, OP>(); K];
    let mut in_run = 0u32;
    let mut run = identity::<W, KIND, OP>();
    let mut is_cut = false;
    #[unroll]
    for k in 0..K {
        let own = (heads >> (k * V)) & ((1u32 << V) - 1);
        #[unroll]
        for j in 1..V {
            if (own >> j) & 1 == 0 {
                v[k][j] = combine::<W, KIND, OP>(v[k][j - 1], v[k][j]);
            }
        }
        let votes = ballot(own != 0);
        let upto_here = votes & (0xffff_ffffu32 >> (31 - lane as u32));
        let reach = if upto_here == 0 { 32 } else { lane as u32 - (31 - upto_here.leading_zeros()) };
        let mut upto = v[k][V - 1];
        #[unroll]
        for level in 0..5u32 {
            let below = shuffle_up(upto, 1u32 << level);
            if lane >= (1usize << level) && reach >= 1u32 << level {
                upto = combine::<W, KIND, OP>(below, upto);
            }
        }
        let below = shuffle_up(upto, 1u32);
        let whole = shuffle(upto, 31u32);
        let has_before = votes & ((1u32 << lane as u32) - 1) != 0;
        inside[k] = if lane == 0 {
            run
        } else if has_before {
            below
        } else {
            combine::<W, KIND, OP>(run, below)
        };
        // Bit k: what stands before the vector does not reach out of the warp.
        in_run |= ((is_cut || has_before) as u32) << k;
        run = if votes != 0 { whole } else { combine::<W, KIND, OP>(run, whole) };
        is_cut = is_cut || votes != 0;
    }
    if lane == 0 {
        warps[warp] = run;
        has_head[warp] = is_cut;
    }
    sync_threads();
    // The sum since the last head before this warp, and in the whole tile.
    let mut ahead = identity::<W, KIND, OP>();
    let mut is_ahead_cut = false;
    let mut own = identity::<W, KIND, OP>();
    let mut is_tile_cut = false;
    #[unroll]
    for w in 0..WARPS {
        if w == warp {
            ahead = own;
            is_ahead_cut = is_tile_cut;
        }
        own = if has_head[w] { warps[w] } else { combine::<W, KIND, OP>(own, warps[w]) };
        is_tile_cut = is_tile_cut || has_head[w];
    }
    if warp == 0 {
        let is_all = tile == 0 || is_tile_cut;
        if lane == 0 {
            tell::<W>(tile, epoch, is_all, own, states, sums);
        }
        let found = look_back::<W, KIND, OP>(tile, epoch, own, is_all, states, sums);
        if lane == 0 {
            front[0] = found;
        }
    }
    sync_threads();
    let offset = if is_ahead_cut { ahead } else { combine::<W, KIND, OP>(front[0], ahead) };
    #[unroll]
    for k in 0..K {
        let add = if (in_run >> k) & 1 == 1 { inside[k] } else { combine::<W, KIND, OP>(offset, inside[k]) };
        let mut r = [add; V];
        let own = (heads >> (k * V)) & ((1u32 << V) - 1);
        #[unroll]
        for j in 0..V {
            // Whether a run begins in the vector, up to this element; before it.
            let here = own & ((2u32 << j) - 1) != 0;
            if EXCLUSIVE {
                if (own >> j) & 1 == 1 {
                    r[j] = identity::<W, KIND, OP>();
                } else if j > 0 {
                    r[j] = if here { v[k][j - 1] } else { combine::<W, KIND, OP>(add, v[k][j - 1]) };
                }
            } else {
                r[j] = if here { v[k][j] } else { combine::<W, KIND, OP>(add, v[k][j]) };
            }
        }
        if is_whole {
            y.store::<V>(base + k * (32 * V), r);
        } else {
            #[unroll]
            for j in 0..V {
                if base + k * (32 * V) + j < n {
                    y[base + k * (32 * V) + j] = r[j];
                }
            }
        }
    }
}

/// A type of values that are scanned by key: those of [`Scannable`].
pub trait ScannableByKey: Scannable {
    /// The launch for keys of this kind.
    #[doc(hidden)]
    fn launch_runs<'a, const KEY: u32, const OP: u32, const EXCLUSIVE: bool>(runs: Runs<'a, Self>) -> Result<Launch<'a>>
    where
        Self: Sized;
}

/// A type of keys: `u32`, `i32`, `f32`.
pub trait RunKey: Selectable {
    /// The launch for this type of keys.
    #[doc(hidden)]
    fn launch_runs<T: ScannableByKey, const OP: u32, const EXCLUSIVE: bool>(runs: Runs<'_, T>) -> Result<Launch<'_>>;
}

/// What a launch takes.
#[doc(hidden)]
#[derive(Debug)]
pub struct Runs<'a, T: Element> {
    before: u32,
    epoch: u32,
    keys: &'a Buffer<u32>,
    x: &'a Buffer<T>,
    y: &'a mut Buffer<T>,
    states: &'a mut Buffer<u64>,
    sums: &'a mut Buffer<u64>,
    tickets: &'a mut Buffer<u32>,
}

const WARPS: usize = 8;
const VECTORS: usize = 4;

/// Type, its word, what the word holds, elements of a vector.
macro_rules! by_key {
    ($($t:ty: $word:ty, $kind:literal $v:literal;)*) => {$(
        impl ScannableByKey for $t {
            fn launch_runs<'a, const KEY: u32, const OP: u32, const EXCLUSIVE: bool>(runs: Runs<'a, Self>) -> Result<Launch<'a>> {
                let Runs { before, epoch, keys, x, y, states, sums, tickets } = runs;
                let is_long = is_long(x.len());
                let (x, y, sums) = (x.view::<$word>()?, y.view_mut::<$word>()?, seen::<$word>(sums)?);
                Ok(match is_long {
                    false => {
                        scan_runs::<$word, KEY, $kind, OP, EXCLUSIVE, $v, WARPS, VECTORS, 32>(before, epoch, keys, x, y, states, sums, tickets)
                    }
                    true => {
                        scan_runs::<$word, KEY, $kind, OP, EXCLUSIVE, $v, WARPS, VECTORS, 64>(before, epoch, keys, x, y, states, sums, tickets)
                    }
                })
            }
        }
    )*};
}

by_key! {
    u32: u32, 0 4;
    i32: u32, 1 4;
    f32: u32, 2 4;
    u64: u64, 0 2;
    i64: u64, 1 2;
    f64: u64, 2 2;
}

macro_rules! run_keys {
    ($($t:ty: $key:literal;)*) => {$(
        impl RunKey for $t {
            fn launch_runs<T: ScannableByKey, const OP: u32, const EXCLUSIVE: bool>(runs: Runs<'_, T>) -> Result<Launch<'_>> {
                T::launch_runs::<$key, OP, EXCLUSIVE>(runs)
            }
        }
    )*};
}

// Integers are equal where their bits are.
run_keys! {
    u32: 0;
    i32: 0;
    f32: 2;
}

fn scan<K: RunKey, T: ScannableByKey, const OP: u32, const EXCLUSIVE: bool>(
    call: Call<'_>,
    keys: &Buffer<K>,
    x: &Buffer<T>,
    y: &mut Buffer<T>,
    workspace: &mut Workspace,
) -> Result<()> {
    let n = x.len();
    let call = call.takes("x", x)?.fits("keys", keys, n)?.fits("y", y, n)?.workspace(workspace)?;
    if n == 0 {
        return Ok(());
    }
    let tiles = n.div_ceil(32 * WARPS * VECTORS * T::VECTOR);
    let wide = if size_of::<T>() == 8 { tiles * 16 } else { 0 };
    let keys = keys.view::<u32>()?;
    let mut run = workspace.begin(call.function, &[(Slot::States, tiles * 8), (Slot::Sums, wide)])?;
    run.launch(tiles, |before, epoch, parts| {
        let runs = Runs { before, epoch, keys, x, y, states: parts.states, sums: parts.sums, tickets: parts.tickets };
        Ok(K::launch_runs::<T, OP, EXCLUSIVE>(runs)?.grid(tiles).launch_on(call.stream)?)
    })
}

macro_rules! scans {
    ($($name:ident $op:literal $exclusive:literal $doc:literal;)*) => {$(
        #[doc = $doc]
        ///
        /// # Errors
        /// [`Error`](super::Error), before anything is written: `keys` or `y` is shorter than `x`, a buffer or the workspace lies on another device, a frozen workspace is
        /// too small.
        pub fn $name<K: RunKey, T: ScannableByKey>(
            stream: &Stream,
            keys: &Buffer<K>,
            x: &Buffer<T>,
            y: &mut Buffer<T>,
            workspace: &mut Workspace,
        ) -> Result<()> {
            scan::<K, T, $op, $exclusive>(Call::new(concat!("by_key::", stringify!($name)), stream), keys, x, y, workspace)
        }
    )*};
}

scans! {
    inclusive_sum 0 false "`y[i]` ← the sum of its run of equal keys, up to and with `x[i]`.";
    exclusive_sum 0 true "`y[i]` ← the sum of its run of equal keys before `x[i]`.";
    inclusive_min 1 false "`y[i]` ← the least of its run of equal keys, up to and with `x[i]`.";
    exclusive_min 1 true "`y[i]` ← the least of its run of equal keys before `x[i]`.";
    inclusive_max 2 false "`y[i]` ← the greatest of its run of equal keys, up to and with `x[i]`.";
    exclusive_max 2 true "`y[i]` ← the greatest of its run of equal keys before `x[i]`.";
}
