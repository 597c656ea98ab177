//! Scans: the sum (the product, the least, the greatest) of all elements up to each, in one pass over memory.
//!
//! | function | `y[i]` |
//! |---|---|
//! | [`inclusive_sum`], [`inclusive_product`], [`inclusive_min`], [`inclusive_max`] | x\[0\] ⊕ … ⊕ x\[i\] |
//! | [`exclusive_sum`], [`exclusive_product`], [`exclusive_min`], [`exclusive_max`] | x\[0\] ⊕ … ⊕ x\[i − 1\]; the first is what changes nothing: 0, 1, the type's greatest and least integer, and of least and greatest floats NaN |
//!
//! [`by_key`](super::by_key) has scans that begin anew where a key differs from the one before.
//!
//! Integers wrap. NaNs do not count in least and greatest; a sum is NaN from the first NaN on.
//!
//! **Determinism.** Scans of integers, and of least and greatest, give the same bits on every run. Sums and products of floats need not: which of the tiles
//! before it a tile adds up itself depends on how far they are by then, and with it the order of the additions.
//!
//! **Error of float sums.** An element goes through at most d additions: |error of y\[i\]| ≤ d · u · Σ|x\[..=i\]| to first order, u being half the distance from 1 to the
//! next number; [`depth`] gives d. Within a tile it is a few dozen. From tile to tile it is at most 7 a tile: 5 for the lanes of a look-back, one for its
//! windows, one for the tile's own sum.

use super::checks::{Call, is_long};
use super::look_back::{look_back, take_tile, tell};
use super::word::{combine, identity, upto_lane};
use super::workspace::{Slot, seen};
use super::{Result, Workspace, tuned};
use warpwright::Int;
use warpwright::Launch;
use warpwright::prelude::*;
use warpwright::warp::{shuffle, shuffle_up};

/// `y` ← the scan of `x`, a tile of `32 · WARPS · K · V` elements a block: a thread has `K` vectors of `V`, those of a warp next to each other.
#[kernel(block = 32 * WARPS, index = I)]
pub fn scan_words<
    W: Int,
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
    let mut front: [W; 1];
    let (t, lane, warp) = (thread_idx().x, lane_id(), warp_id());
    if t == 0 {
        chosen[0] = take_tile(before, tickets);
    }
    sync_threads();
    let tile = chosen[0] as usize;
    let first = tile * (32 * WARPS * K * V);
    let base = first + warp * (32 * K * V) + lane * V;
    let is_whole = first + 32 * WARPS * K * V <= x.len();
    let mut v = [[identity::<W, KIND, OP>(); V]; K];
    if is_whole {
        #[unroll]
        #[batch_loads]
        for k in 0..K {
            v[k] = x.load::<V>(base + k * (32 * V));
        }
    } else {
        #[unroll]
        for k in 0..K {
            #[unroll]
            for j in 0..V {
                if base + k * (32 * V) + j < x.len() {
                    v[k][j] = x[base + k * (32 * V) + j];
                }
            }
        }
    }
    // Within a vector, then over the lanes, the K of them side by side.
    let mut upto = [identity::<W, KIND, OP>(); K];
    #[unroll]
    for k in 0..K {
        #[unroll]
        for j in 1..V {
            v[k][j] = combine::<W, KIND, OP>(v[k][j - 1], v[k][j]);
        }
        upto[k] = v[k][V - 1];
    }
    #[unroll]
    for level in 0..5u32 {
        #[unroll]
        for k in 0..K {
            let below = shuffle_up(upto[k], 1u32 << level);
            if lane >= (1usize << level) {
                upto[k] = combine::<W, KIND, OP>(below, upto[k]);
            }
        }
    }
    // What stands before each vector in the warp.
    let mut run = identity::<W, KIND, OP>();
    #[unroll]
    for k in 0..K {
        let whole = shuffle(upto[k], 31u32);
        let below = shuffle_up(upto[k], 1u32);
        upto[k] = if lane > 0 { combine::<W, KIND, OP>(run, below) } else { run };
        run = combine::<W, KIND, OP>(run, whole);
    }
    if lane == 0 {
        warps[warp] = run;
    }
    sync_threads();
    if warp == 0 {
        let mine = if lane < WARPS { warps[lane] } else { identity::<W, KIND, OP>() };
        let all = upto_lane::<W, KIND, OP>(mine);
        let below = shuffle_up(all, 1u32);
        warps[lane] = if lane > 0 { below } else { identity::<W, KIND, OP>() };
        let own = shuffle(all, 31u32);
        if lane == 0 {
            tell::<W>(tile, epoch, tile == 0, own, states, sums);
        }
        let found = look_back::<W, KIND, OP>(tile, epoch, own, tile == 0, states, sums);
        if lane == 0 {
            front[0] = found;
        }
    }
    sync_threads();
    let offset = combine::<W, KIND, OP>(front[0], warps[warp]);
    #[unroll]
    for k in 0..K {
        let add = combine::<W, KIND, OP>(offset, upto[k]);
        let mut r = [add; V];
        #[unroll]
        for j in 0..V {
            if EXCLUSIVE {
                if j > 0 {
                    r[j] = combine::<W, KIND, OP>(add, v[k][j - 1]);
                }
            } else {
                r[j] = combine::<W, KIND, OP>(add, v[k][j]);
            }
        }
        if is_whole {
            y.store::<V>(base + k * (32 * V), r);
        } else {
            #[unroll]
            for j in 0..V {
                if base + k * (32 * V) + j < x.len() {
                    y[base + k * (32 * V) + j] = r[j];
                }
            }
        }
    }
}

/// A type of elements that scans take: `u32`, `i32`, `u64`, `i64`, `f32`, `f64`.
pub trait Scannable: Element {
    /// The launch of the kernel for this type.
    #[doc(hidden)]
    fn launch<'a, const OP: u32, const EXCLUSIVE: bool>(plan: Plan, parts: Scan<'a, Self>) -> Result<Launch<'a>>
    where
        Self: Sized;

    /// Elements of a vector.
    #[doc(hidden)]
    const VECTOR: usize;
}

/// What a launch of the kernel takes.
#[doc(hidden)]
#[derive(Debug)]
pub struct Scan<'a, T: Scannable> {
    before: u32,
    epoch: u32,
    x: &'a Buffer<T>,
    y: &'a mut Buffer<T>,
    states: &'a mut Buffer<u64>,
    sums: &'a mut Buffer<u64>,
    tickets: &'a mut Buffer<u32>,
}

/// Which variant a call takes.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    vectors: usize,
    is_long: bool,
    tiles: usize,
}

const WARPS: usize = 8;

fn plan(device: &Device, n: usize, vector: usize, forced: Option<usize>) -> Plan {
    // Of kernels with a long index there is one variant.
    let vectors = if is_long(n) { 10 } else { tuned::SCAN_VECTORS[tuned::SCAN.choose(device, n, forced)] };
    Plan { vectors, is_long: is_long(n), tiles: n.div_ceil(32 * WARPS * vectors * vector) }
}

/// At most so many additions does an element go through in a scan of `n` elements on this device.
pub fn depth<T: Scannable>(device: &Device, n: usize) -> usize {
    let Plan { vectors, tiles, .. } = plan(device, n, T::VECTOR, None);
    // A vector, lanes, vectors of a warp, warps, and what goes onto the result.
    T::VECTOR + 5 + vectors + 5 + 4 + 7 * tiles
}

fn scan<T: Scannable, const OP: u32, const EXCLUSIVE: bool>(
    function: &'static str,
    stream: &Stream,
    x: &Buffer<T>,
    y: &mut Buffer<T>,
    workspace: &mut Workspace,
) -> Result<()> {
    let n = x.len();
    let call = Call::new(function, stream).takes("x", x)?.fits("y", y, n)?.workspace(workspace)?;
    if n == 0 {
        return Ok(());
    }
    let plan = plan(stream.device(), n, T::VECTOR, workspace.forced());
    let wide = if size_of::<T>() == 8 { plan.tiles * 16 } else { 0 };
    let mut run = workspace.begin(function, &[(Slot::States, plan.tiles * 8), (Slot::Sums, wide)])?;
    run.launch(plan.tiles, |before, epoch, parts| {
        let scan = Scan { before, epoch, x, y, states: parts.states, sums: parts.sums, tickets: parts.tickets };
        Ok(T::launch::<OP, EXCLUSIVE>(plan, scan)?.grid(plan.tiles).launch_on(call.stream)?)
    })
}

macro_rules! scans {
    ($($name:ident $op:literal $exclusive:literal $doc:literal;)*) => {$(
        #[doc = $doc]
        ///
        /// # Errors
        /// [`Error`](super::Error), before anything is written: `y` is shorter than `x`, a buffer or the workspace lies on another device, a frozen workspace is
        /// too small.
        pub fn $name<T: Scannable>(stream: &Stream, x: &Buffer<T>, y: &mut Buffer<T>, workspace: &mut Workspace) -> Result<()> {
            scan::<T, $op, $exclusive>(concat!("scan::", stringify!($name)), stream, x, y, workspace)
        }
    )*};
}

scans! {
    inclusive_sum 0 false "`y[i]` ← x\\[0\\] + … + x\\[i\\].";
    exclusive_sum 0 true "`y[i]` ← x\\[0\\] + … + x\\[i − 1\\].";
    inclusive_min 1 false "`y[i]` ← the least of x\\[0\\] … x\\[i\\].";
    exclusive_min 1 true "`y[i]` ← the least of x\\[0\\] … x\\[i − 1\\].";
    inclusive_max 2 false "`y[i]` ← the greatest of x\\[0\\] … x\\[i\\].";
    exclusive_max 2 true "`y[i]` ← the greatest of x\\[0\\] … x\\[i − 1\\].";
    inclusive_product 3 false "`y[i]` ← x\\[0\\] · … · x\\[i\\].";
    exclusive_product 3 true "`y[i]` ← x\\[0\\] · … · x\\[i − 1\\].";
}

/// Type, its word, what the word holds, elements of a vector.
macro_rules! scannable {
    ($($t:ty: $word:ty, $kind:literal $v:literal;)*) => {$(
        impl Scannable for $t {
            const VECTOR: usize = $v;

            fn launch<'a, const OP: u32, const EXCLUSIVE: bool>(plan: Plan, parts: Scan<'a, Self>) -> Result<Launch<'a>> {
                let Scan { before, epoch, x, y, states, sums, tickets } = parts;
                let (x, y, sums) = (x.view::<$word>()?, y.view_mut::<$word>()?, seen::<$word>(sums)?);
                Ok(match (plan.vectors, plan.is_long) {
                    (1, false) => scan_words::<$word, $kind, OP, EXCLUSIVE, $v, WARPS, 1, 32>(before, epoch, x, y, states, sums, tickets),
                    (2, false) => scan_words::<$word, $kind, OP, EXCLUSIVE, $v, WARPS, 2, 32>(before, epoch, x, y, states, sums, tickets),
                    (6, false) => scan_words::<$word, $kind, OP, EXCLUSIVE, $v, WARPS, 6, 32>(before, epoch, x, y, states, sums, tickets),
                    (8, false) => scan_words::<$word, $kind, OP, EXCLUSIVE, $v, WARPS, 8, 32>(before, epoch, x, y, states, sums, tickets),
                    (10, false) => scan_words::<$word, $kind, OP, EXCLUSIVE, $v, WARPS, 10, 32>(before, epoch, x, y, states, sums, tickets),
                    (12, false) => scan_words::<$word, $kind, OP, EXCLUSIVE, $v, WARPS, 12, 32>(before, epoch, x, y, states, sums, tickets),
                    (_, false) => scan_words::<$word, $kind, OP, EXCLUSIVE, $v, WARPS, 4, 32>(before, epoch, x, y, states, sums, tickets),
                    (_, true) => scan_words::<$word, $kind, OP, EXCLUSIVE, $v, WARPS, 10, 64>(before, epoch, x, y, states, sums, tickets),
                })
            }
        }
    )*};
}

scannable! {
    u32: u32, 0 4;
    i32: u32, 1 4;
    f32: u32, 2 4;
    u64: u64, 0 2;
    i64: u64, 1 2;
    f64: u64, 2 2;
}
