//! Selection: the elements that satisfy something, one behind another, in their order, in one pass over memory.
//!
//! | function | keeps |
//! |---|---|
//! | [`select`] | elements that satisfy a [`Predicate`] |
//! | [`flagged`] | elements whose flag is not 0 |
//! | [`unique`] | the first of each run of equal elements |
//!
//! Elements compare as in Rust: no NaN equals, is less than or greater than anything, so that [`unique`] keeps every NaN; `-0.0` equals `0.0`.
//!
//! `y` is as long as `x` or longer, since all may be kept; elements behind those kept stay as they are. `count[0]` ← how many were kept.
//!
//! **Determinism.** The same bits on every run.

use super::checks::Call;
use super::look_back::{look_back, take_tile, tell};
use super::word::{less, same};
use super::workspace::{Slot, seen};
use super::{Result, Workspace, tuned};
use warpwright::Int;
use warpwright::Launch;
use warpwright::prelude::*;
use warpwright::warp::{shuffle, shuffle_up};

/// What [`select`] asks of an element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Predicate<T> {
    /// Equal to this.
    Equal(T),
    /// Not equal to this: also a NaN.
    NotEqual(T),
    /// Less than this.
    Less(T),
    /// Less than this or equal to it.
    AtMost(T),
    /// Greater than this.
    Greater(T),
    /// Greater than this or equal to it.
    AtLeast(T),
    /// Has one of these bits set: `AnyBit(1)` are the odd integers. Of floats, the bits of their representation.
    AnyBit(T),
}

/// The longest `x`: positions are counted in 32 bits.
const MOST: usize = u32::MAX as usize - (1 << 16);

/// Whether an element is kept. `MODE`: 0 to 6 the predicates in their order.
#[device]
pub fn holds<W: Int, const KIND: u32, const MODE: u32>(v: W, operand: W) -> bool {
    match MODE {
        0 => same::<W, KIND>(v, operand),
        1 => !same::<W, KIND>(v, operand),
        2 => less::<W, KIND>(v, operand),
        3 => less::<W, KIND>(v, operand) || same::<W, KIND>(v, operand),
        4 => less::<W, KIND>(operand, v),
        5 => less::<W, KIND>(operand, v) || same::<W, KIND>(v, operand),
        _ => v & operand != W::ZERO,
    }
}

/// A tile of `TILE = 32 · WARPS · K · V` elements a block, in the order of [`scan_words`](super::scan::scan_words); `K · V` is at most 32, `K` a multiple of 4 and at
/// most 8. `MODE`: 0 to 6 as of [`holds`], 7 by flags, 8 those that differ from the one before. What is kept is gathered in shared memory, so that it is written in
/// whole rows.
#[allow(clippy::too_many_arguments, reason = "elements, flags, results and what tiles tell each other are buffers of their own")]
#[kernel(block = 32 * WARPS)]
pub fn select_words<W: Int, const KIND: u32, const MODE: u32, const V: usize, const WARPS: usize, const K: usize, const TILE: usize>(
    before: u32,
    epoch: u32,
    operand: W,
    x: &Global<W>,
    flags: &Global<u8>,
    y: &mut Global<W>,
    count: &mut Global<u32>,
    states: &mut Global<u64>,
    sums: &mut Global<u32>,
    tickets: &mut Global<u32>,
) {
    #[shared]
    let mut chosen: [u32; 1];
    #[shared]
    let mut warps: [u32; 32];
    #[shared]
    let mut front: [u32; 1];
    #[shared]
    let mut kept: [W; TILE];
    let (t, lane, warp) = (thread_idx().x, lane_id(), warp_id());
    if t == 0 {
        chosen[0] = take_tile(before, tickets);
    }
    sync_threads();
    let tile = chosen[0] as usize;
    let first = tile * TILE;
    let base = first + warp * (32 * K * V) + lane * V;
    let is_whole = first + TILE <= x.len();
    let mut v = [[W::ZERO; V]; K];
    // Bit k · V + j: element j of vector k is kept.
    let mut keeps = 0u32;
    if is_whole {
        #[unroll]
        #[batch_loads]
        for k in 0..K {
            v[k] = x.load::<V>(base + k * (32 * V));
        }
        if MODE == 7 {
            #[unroll]
            #[batch_loads]
            for k in 0..K {
                let f = flags.load::<V>(base + k * (32 * V));
                #[unroll]
                for j in 0..V {
                    keeps |= ((f[j] != 0) as u32) << (k * V + j);
                }
            }
        }
    } else {
        #[unroll]
        for k in 0..K {
            #[unroll]
            for j in 0..V {
                let i = base + k * (32 * V) + j;
                if i < x.len() {
                    v[k][j] = x[i];
                    if MODE == 7 {
                        keeps |= ((flags[i] != 0) as u32) << (k * V + j);
                    }
                }
            }
        }
    }
    if MODE < 7 {
        #[unroll]
        for k in 0..K {
            #[unroll]
            for j in 0..V {
                keeps |= (holds::<W, KIND, MODE>(v[k][j], operand) as u32) << (k * V + j);
            }
        }
    }
    if MODE == 8 {
        // The last element of what the warps before have.
        let at = first + warp * (32 * K * V);
        let mut last = v[0][0];
        if at > 0 && at <= x.len() {
            last = x[at - 1];
        }
        #[unroll]
        for k in 0..K {
            let below = shuffle_up(v[k][V - 1], 1u32);
            let mut earlier = if lane > 0 { below } else { last };
            last = shuffle(v[k][V - 1], 31u32);
            #[unroll]
            for j in 0..V {
                keeps |= (!same::<W, KIND>(earlier, v[k][j]) as u32) << (k * V + j);
                earlier = v[k][j];
            }
        }
        if base == 0 {
            keeps |= 1;
        }
    }
    if !is_whole && MODE != 7 {
        #[unroll]
        for k in 0..K {
            #[unroll]
            for j in 0..V {
                if base + k * (32 * V) + j >= x.len() {
                    keeps &= !(1u32 << (k * V + j));
                }
            }
        }
    }
    // How many of each vector, four counts to a word: at most 128 in a warp, which 8 bits hold.
    let mut counts = [0u32; 2];
    #[unroll]
    for k in 0..K {
        let own = (keeps >> (k * V)) & ((1u32 << V) - 1);
        counts[k / 4] |= own.count_ones() << (k % 4 * 8);
    }
    let mut upto = counts;
    #[unroll]
    for level in 0..5u32 {
        #[unroll]
        for p in 0..K / 4 {
            let below = shuffle_up(upto[p], 1u32 << level);
            if lane >= (1usize << level) {
                upto[p] += below;
            }
        }
    }
    let mut whole = [0u32; 2];
    #[unroll]
    for p in 0..K / 4 {
        whole[p] = shuffle(upto[p], 31u32);
        upto[p] -= counts[p];
    }
    let mut total = 0u32;
    let mut place = [0u32; K];
    #[unroll]
    for k in 0..K {
        place[k] = total + ((upto[k / 4] >> (k % 4 * 8)) & 255);
        total += (whole[k / 4] >> (k % 4 * 8)) & 255;
    }
    if lane == 0 {
        warps[warp] = total;
    }
    sync_threads();
    let mut own = 0u32;
    let mut ahead = 0u32;
    #[unroll]
    for w in 0..WARPS {
        if w == warp {
            ahead = own;
        }
        own += warps[w];
    }
    if t == 0 {
        tell::<u32>(tile, epoch, tile == 0, own, states, sums);
    }
    #[unroll]
    for k in 0..K {
        let mut at = ahead + place[k];
        #[unroll]
        for j in 0..V {
            if (keeps >> (k * V + j)) & 1 == 1 {
                kept[at as usize] = v[k][j];
                at += 1;
            }
        }
    }
    if warp == 0 {
        let found = look_back::<u32, 0, 0>(tile, epoch, own, tile == 0, states, sums);
        if lane == 0 {
            front[0] = found;
            if first + TILE >= x.len() {
                count[0] = found + own;
            }
        }
    }
    sync_threads();
    let to = front[0] as usize;
    #[unroll(4)]
    for i in (t..own as usize).step_by(32 * WARPS) {
        y[to + i] = kept[i];
    }
}

/// A type of elements that can be selected: `u32`, `i32`, `u64`, `i64`, `f32`, `f64`.
pub trait Selectable: Element {
    /// Any value.
    #[doc(hidden)]
    const ANY: Self;

    /// Elements of a tile of a candidate.
    #[doc(hidden)]
    fn tile(candidate: usize) -> usize;

    /// The launch of the kernel for this type.
    #[doc(hidden)]
    fn launch<'a, const MODE: u32>(candidate: usize, operand: Self, parts: Selection<'a, Self>) -> Result<Launch<'a>>
    where
        Self: Sized;
}

/// What a launch of the kernel takes.
#[doc(hidden)]
#[derive(Debug)]
pub struct Selection<'a, T: Selectable> {
    before: u32,
    epoch: u32,
    x: &'a Buffer<T>,
    /// None: the kernel reads none.
    flags: Option<&'a Buffer<u8>>,
    y: &'a mut Buffer<T>,
    count: &'a mut Buffer<u32>,
    states: &'a mut Buffer<u64>,
    sums: &'a mut Buffer<u64>,
    tickets: &'a mut Buffer<u32>,
    /// What is passed where nothing is read.
    unread: &'a Buffer<u64>,
}

fn run<T: Selectable, const MODE: u32>(
    function: &'static str,
    stream: &Stream,
    operand: T,
    (x, flags): (&Buffer<T>, Option<&Buffer<u8>>),
    (y, count): (&mut Buffer<T>, &mut Buffer<u32>),
    workspace: &mut Workspace,
) -> Result<()> {
    let n = x.len();
    let call = Call::new(function, stream).takes("x", x)?.at_most("x", x, MOST)?.fits("y", y, n)?.fits("count", count, 1)?;
    let call = match flags {
        Some(flags) => call.fits("flags", flags, n)?,
        None => call,
    };
    call.workspace(workspace)?;
    // A tile that has nothing in it says that nothing was kept.
    let candidate = tuned::SELECT.choose(call.stream.device(), n, workspace.forced());
    let tiles = n.div_ceil(T::tile(candidate)).max(1);
    let mut run = workspace.begin(function, &[(Slot::States, tiles * 8), (Slot::Elements, 8)])?;
    run.launch(tiles, |before, epoch, parts| {
        let unread = &*parts.elements;
        let selection =
            Selection { before, epoch, x, flags, y, count, states: parts.states, sums: parts.sums, tickets: parts.tickets, unread };
        Ok(T::launch::<MODE>(candidate, operand, selection)?.grid(tiles).launch_on(stream)?)
    })
}

/// `y` ← the elements of `x` that satisfy the predicate, in their order; `count[0]` ← how many.
///
/// # Errors
/// [`Error`](super::Error), before anything is written: `y` is shorter than `x`, `count` is empty, `x` has 2³² − 2¹⁶ elements or more, a buffer or the workspace lies on another
/// device, a frozen workspace is too small.
pub fn select<T: Selectable>(
    stream: &Stream,
    predicate: Predicate<T>,
    x: &Buffer<T>,
    y: &mut Buffer<T>,
    count: &mut Buffer<u32>,
    workspace: &mut Workspace,
) -> Result<()> {
    let name = "select::select";
    match predicate {
        Predicate::Equal(v) => run::<T, 0>(name, stream, v, (x, None), (y, count), workspace),
        Predicate::NotEqual(v) => run::<T, 1>(name, stream, v, (x, None), (y, count), workspace),
        Predicate::Less(v) => run::<T, 2>(name, stream, v, (x, None), (y, count), workspace),
        Predicate::AtMost(v) => run::<T, 3>(name, stream, v, (x, None), (y, count), workspace),
        Predicate::Greater(v) => run::<T, 4>(name, stream, v, (x, None), (y, count), workspace),
        Predicate::AtLeast(v) => run::<T, 5>(name, stream, v, (x, None), (y, count), workspace),
        Predicate::AnyBit(v) => run::<T, 6>(name, stream, v, (x, None), (y, count), workspace),
    }
}

/// `y` ← the elements of `x` whose flag is not 0, in their order; `count[0]` ← how many.
///
/// # Errors
/// As [`select`]; `flags` is shorter than `x`.
pub fn flagged<T: Selectable>(
    stream: &Stream,
    x: &Buffer<T>,
    flags: &Buffer<u8>,
    y: &mut Buffer<T>,
    count: &mut Buffer<u32>,
    workspace: &mut Workspace,
) -> Result<()> {
    run::<T, 7>("select::flagged", stream, T::ANY, (x, Some(flags)), (y, count), workspace)
}

/// `y` ← the first of each run of equal elements of `x`: of a sorted `x`, each value once; `count[0]` ← how many.
///
/// # Errors
/// As [`select`].
pub fn unique<T: Selectable>(
    stream: &Stream,
    x: &Buffer<T>,
    y: &mut Buffer<T>,
    count: &mut Buffer<u32>,
    workspace: &mut Workspace,
) -> Result<()> {
    run::<T, 8>("select::unique", stream, T::ANY, (x, None), (y, count), workspace)
}

/// Type, its word, what the word holds, elements of a vector, and of the tiles of the candidates.
macro_rules! selectable {
    ($($t:ty: $word:ty, $kind:literal $v:literal $wide:literal $widest:literal $small:literal;)*) => {$(
        impl Selectable for $t {
            const ANY: $t = 0 as $t;

            fn tile(candidate: usize) -> usize {
                [$wide, $widest, $small, $wide][candidate]
            }

            fn launch<'a, const MODE: u32>(candidate: usize, operand: $t, parts: Selection<'a, Self>) -> Result<Launch<'a>> {
                let Selection { before, epoch, x, flags, y, count, states, sums, tickets, unread } = parts;
                let flags = match flags {
                    Some(flags) => flags,
                    None => unread.view::<u8>()?,
                };
                let (x, y, sums) = (x.view::<$word>()?, y.view_mut::<$word>()?, seen::<u32>(sums)?);
                let v = <$word>::from_ne_bytes(operand.to_ne_bytes());
                Ok(match candidate {
                    0 => select_words::<$word, $kind, MODE, $v, 8, 4, $wide>(before, epoch, v, x, flags, y, count, states, sums, tickets),
                    1 => select_words::<$word, $kind, MODE, $v, 8, 8, $widest>(before, epoch, v, x, flags, y, count, states, sums, tickets),
                    2 => select_words::<$word, $kind, MODE, $v, 4, 4, $small>(before, epoch, v, x, flags, y, count, states, sums, tickets),
                    _ => select_words::<$word, $kind, MODE, $v, 4, 8, $wide>(before, epoch, v, x, flags, y, count, states, sums, tickets),
                })
            }
        }
    )*};
}

selectable! {
    u32: u32, 0 4 4096 8192 2048;
    i32: u32, 1 4 4096 8192 2048;
    f32: u32, 2 4 4096 8192 2048;
    u64: u64, 0 2 2048 4096 1024;
    i64: u64, 1 2 2048 4096 1024;
    f64: u64, 2 2 2048 4096 1024;
}
