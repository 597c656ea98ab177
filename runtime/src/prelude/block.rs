//! Barriers, fences, and reductions over the block.

use super::numeric::{Num, Scalar};
use super::warp::{butterfly, inclusive};
use crate::twin::schedule::{Arrival, Meeting, meet};
use std::panic::Location;
use warpwright_codegen::target::limits::LANES;

#[inline]
#[track_caller]
fn at_barrier(name: &'static str, resolve: fn(&mut [Option<u64>]), value: u64) -> u64 {
    meet(Arrival { name, site: Location::caller(), meeting: Meeting::Block(resolve), operands: [value, 0] })
}

/// All threads of the block wait for each other, at what has this name.
#[inline]
#[track_caller]
pub(super) fn meet_at(name: &'static str) {
    at_barrier(name, |_| (), 0);
}

fn give_all(values: &mut [Option<u64>], result: u64) {
    values.iter_mut().flatten().for_each(|value| *value = result);
}

/// Waits until all living threads of the block are here; what they wrote to shared and global memory is then visible to the block.
#[inline]
#[track_caller]
pub fn sync_threads() {
    at_barrier("sync_threads", |_| (), 0);
}

/// [`sync_threads`]; gives how many threads of the block brought `true`.
#[inline]
#[track_caller]
pub fn sync_threads_count(predicate: bool) -> u32 {
    let resolve = |values: &mut [Option<u64>]| give_all(values, values.iter().flatten().sum());
    at_barrier("sync_threads_count", resolve, u64::from(predicate)) as u32
}

/// [`sync_threads`]; gives whether all threads of the block brought `true`.
#[inline]
#[track_caller]
pub fn sync_threads_and(predicate: bool) -> bool {
    let resolve = |values: &mut [Option<u64>]| give_all(values, u64::from(values.iter().flatten().all(|&value| value == 1)));
    at_barrier("sync_threads_and", resolve, u64::from(predicate)) == 1
}

/// [`sync_threads`]; gives whether a thread of the block brought `true`.
#[inline]
#[track_caller]
pub fn sync_threads_or(predicate: bool) -> bool {
    let resolve = |values: &mut [Option<u64>]| give_all(values, u64::from(values.iter().flatten().any(|&value| value == 1)));
    at_barrier("sync_threads_or", resolve, u64::from(predicate)) == 1
}

macro_rules! fences {
    ($($name:ident $whom:literal;)*) => {$(
        #[doc = concat!("Orders this thread's memory accesses before and after it, as seen by ", $whom, ".")]
        #[inline]
        pub fn $name() {
            std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
        }
    )*};
}

fences! {
    fence_block "the block";
    fence_device "the device";
    fence_system "the device, the host and other devices";
    fence_block_seq_cst "the block, all such fences in one order";
    fence_device_seq_cst "the device, all such fences in one order";
    fence_system_seq_cst "the device, the host and other devices, all such fences in one order";
}

/// The block's warps, in order: the values of the lanes that each has.
fn warps(values: &[Option<u64>]) -> impl Iterator<Item = [Option<u64>; LANES]> + '_ {
    values.chunks(LANES).map(|warp| std::array::from_fn(|lane| warp.get(lane).copied().flatten()))
}

/// Each warp as `warp_sum`, then the results of the warps in order.
fn reduce<T: Scalar>(values: &mut [Option<u64>], combine: fn(T, T) -> T) {
    let join = |a: u64, b: u64| combine(T::from_word(a), T::from_word(b)).to_word();
    let of_warps = warps(values).filter_map(|warp| butterfly(warp, combine).into_iter().flatten().next());
    if let Some(result) = of_warps.reduce(join) {
        give_all(values, result);
    }
}

macro_rules! reductions {
    ($($name:ident = $combine:expr, $doc:literal;)*) => {$(
        #[doc = $doc]
        ///
        /// Every thread of the block gets it, and it is a barrier. The lanes of a warp are joined first, as by `warp_sum` and its like, then the
        /// results of the warps in order: every device joins floats in this order.
        #[inline]
        #[track_caller]
        pub fn $name<T: Num>(v: T) -> T {
            T::from_word(at_barrier(stringify!($name), |values| reduce::<T>(values, $combine), v.to_word()))
        }
    )*};
}

reductions! {
    block_sum = T::wrapping_sum, "The sum of `v` over the block; integers wrap.";
    block_min = T::min, "The least `v` of the block.";
    block_max = T::max, "The greatest `v` of the block.";
}

/// Each warp scanned, then joined behind the totals of the warps before it, which are joined in order. `inside` says what a lane adds to those, of its
/// warp's inclusive scan; gives the total.
fn scan<T: Scalar>(
    values: &mut [Option<u64>],
    combine: fn(T, T) -> T,
    inside: fn(&[Option<u64>; LANES], usize) -> Option<u64>,
) -> Option<u64> {
    let join = |a: u64, b: u64| combine(T::from_word(a), T::from_word(b)).to_word();
    let scanned: Vec<_> = warps(values).map(|warp| inclusive(warp, combine)).collect();
    let mut before = None;
    for (warp, slots) in scanned.iter().enumerate() {
        for (lane, slot) in values.iter_mut().skip(warp * LANES).take(LANES).enumerate() {
            let own = inside(slots, lane);
            *slot = slot.and(before.zip(own).map(|(a, b)| join(a, b)).or(own));
        }
        let total = slots.iter().rev().find_map(|slot| *slot);
        before = before.zip(total).map(|(a, b)| join(a, b)).or(total).or(before);
    }
    before
}

/// What is before the lane in its warp: 0 in the first.
fn below<T: Num>(slots: &[Option<u64>; LANES], lane: usize) -> Option<u64> {
    Some(lane.checked_sub(1).and_then(|lane| slots[lane]).unwrap_or_else(|| T::ZERO.to_word()))
}

macro_rules! scans {
    ($($name:ident = $combine:expr, $doc:literal;)*) => {$(
        #[doc = $doc]
        ///
        /// It is a barrier. Each warp is scanned as by `warp_inclusive_sum` and its like, then joined behind the totals of the warps before it, which
        /// are joined in order: every device joins floats in this order.
        #[inline]
        #[track_caller]
        pub fn $name<T: Num>(v: T) -> T {
            let resolve = |values: &mut [Option<u64>]| { scan::<T>(values, $combine, |slots, lane| slots[lane]); };
            T::from_word(at_barrier(stringify!($name), resolve, v.to_word()))
        }
    )*};
}

scans! {
    block_inclusive_sum = T::wrapping_sum, "The sum of `v` over the threads of the block up to this one; integers wrap.";
    block_inclusive_min = T::min, "The least `v` of the threads of the block up to this one.";
    block_inclusive_max = T::max, "The greatest `v` of the threads of the block up to this one.";
}

/// The sum of `v` over the threads of the block before this one, 0 in the first; integers wrap. It is a barrier.
#[inline]
#[track_caller]
pub fn block_exclusive_sum<T: Num>(v: T) -> T {
    let resolve = |values: &mut [Option<u64>]| {
        scan::<T>(values, T::wrapping_sum, below::<T>);
    };
    T::from_word(at_barrier("block_exclusive_sum", resolve, v.to_word()))
}

/// [`block_exclusive_sum`], and the sum over the block: that which [`block_inclusive_sum`] gives the last thread.
#[inline]
#[track_caller]
pub fn block_exclusive_sum_and_total<T: Num>(v: T) -> (T, T) {
    let total = |values: &mut [Option<u64>]| {
        if let Some(total) = scan::<T>(values, T::wrapping_sum, below::<T>) {
            give_all(values, total);
        }
    };
    let total = at_barrier("block_exclusive_sum_and_total", total, v.to_word());
    (block_exclusive_sum(v), T::from_word(total))
}
