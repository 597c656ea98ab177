//! Barriers, fences, and reductions over the block.

use super::numeric::{Num, Scalar};
use crate::twin::schedule::{Arrival, Meeting, meet};
use std::panic::Location;
use warpwright_codegen::target::limits::LANES;

#[inline]
#[track_caller]
fn at_barrier(name: &'static str, resolve: fn(&mut [Option<u64>]), value: u64) -> u64 {
    meet(Arrival { name, site: Location::caller(), meeting: Meeting::Block(resolve), operands: [value, 0] })
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
}

/// Threads 32 apart in order of their number, then those up to 32 results in order.
fn reduce<T: Scalar>(values: &mut [Option<u64>], combine: fn(T, T) -> T) {
    let join = |a: u64, b: u64| combine(T::from_word(a), T::from_word(b)).to_word();
    let column = |first: usize| values.iter().skip(first).step_by(LANES).flatten().copied().reduce(join);
    if let Some(result) = (0..LANES).filter_map(column).reduce(join) {
        give_all(values, result);
    }
}

macro_rules! reductions {
    ($($name:ident = $combine:expr, $doc:literal;)*) => {$(
        #[doc = $doc]
        ///
        /// Every thread of the block gets it, and it is a barrier. Threads 32 apart are joined first, in order of their number, then
        /// the 32 results in order: every device joins floats in this order.
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
