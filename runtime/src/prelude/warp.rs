//! Operations among the lanes of a warp.
//!
//! All threads of a warp that exist are to come to a call together; what a shuffle gives from a lane that does not is undefined on
//! devices, and a panic here. Those take part that run the call together: `twin::schedule` says which these are in divergent code.

use super::numeric::{Num, Scalar};
use crate::twin::schedule::{Arrival, Lanes, Meeting, MissingLane, WarpResult, meet};
use std::panic::Location;
use warpwright_codegen::target::limits::LANES;

#[inline]
#[track_caller]
fn with_lanes(name: &'static str, resolve: WarpResult, operands: [u64; 2]) -> u64 {
    meet(Arrival { name, site: Location::caller(), meeting: Meeting::Warp(resolve), operands })
}

/// Every lane gets the value of the lane that `source` makes of its number and second operand. The operand counts modulo 32, as the
/// hardware's does.
fn exchange(lanes: &Lanes, source: impl Fn(usize, usize) -> usize) -> Result<[u64; LANES], MissingLane> {
    let mut values = [0; LANES];
    for lane in (0..LANES).filter(|lane| lanes.mask >> lane & 1 == 1) {
        let from = source(lane, lanes.others[lane] as usize % LANES);
        values[lane] = lanes.get(from).ok_or(MissingLane { lane, source: from })?;
    }
    Ok(values)
}

/// The lanes that take part and satisfy `condition`, as bits.
fn vote(lanes: &Lanes, condition: impl Fn(u64) -> bool) -> u32 {
    (0..LANES).filter(|&lane| lanes.get(lane).is_some_and(&condition)).fold(0, |mask, lane| mask | 1 << lane)
}

/// What names a lane or a distance between lanes: `usize` as `lane_id()` gives it, `u32`, or a plain literal.
pub trait LaneNumber: Copy {
    /// Its low 32 bits.
    fn number(self) -> u32;
}

macro_rules! lane_numbers {
    ($($t:ident)*) => {$(
        impl LaneNumber for $t {
            #[inline]
            fn number(self) -> u32 {
                self as u32
            }
        }
    )*};
}

lane_numbers! { i32 u32 usize }

/// The value of lane `lane % 32`, which must take part.
#[inline]
#[track_caller]
pub fn shuffle<T: Scalar>(v: T, lane: impl LaneNumber) -> T {
    T::from_word(with_lanes("shuffle", |lanes| exchange(lanes, |_, source| source), [v.to_word(), u64::from(lane.number())]))
}

/// The value of the lane `distance % 32` below; the own value where that is below lane 0.
#[inline]
#[track_caller]
pub fn shuffle_up<T: Scalar>(v: T, distance: impl LaneNumber) -> T {
    let resolve = |lanes: &Lanes| exchange(lanes, |lane, d| lane.checked_sub(d).unwrap_or(lane));
    T::from_word(with_lanes("shuffle_up", resolve, [v.to_word(), u64::from(distance.number())]))
}

/// The value of the lane `distance % 32` above, which must take part; the own value where that is above lane 31.
#[inline]
#[track_caller]
pub fn shuffle_down<T: Scalar>(v: T, distance: impl LaneNumber) -> T {
    let resolve = |lanes: &Lanes| exchange(lanes, |lane, d| if lane + d < LANES { lane + d } else { lane });
    T::from_word(with_lanes("shuffle_down", resolve, [v.to_word(), u64::from(distance.number())]))
}

/// The value of lane `lane_id() ^ mask % 32`, which must take part.
#[inline]
#[track_caller]
pub fn shuffle_xor<T: Scalar>(v: T, mask: impl LaneNumber) -> T {
    let resolve = |lanes: &Lanes| exchange(lanes, |lane, mask| lane ^ mask);
    T::from_word(with_lanes("shuffle_xor", resolve, [v.to_word(), u64::from(mask.number())]))
}

/// Which lanes bring `true`, as bits.
#[inline]
#[track_caller]
pub fn ballot(predicate: bool) -> u32 {
    with_lanes("ballot", |lanes| Ok([u64::from(vote(lanes, |value| value == 1)); LANES]), [u64::from(predicate), 0]) as u32
}

/// Whether a lane brings `true`.
#[inline]
#[track_caller]
pub fn any(predicate: bool) -> bool {
    with_lanes("any", |lanes| Ok([u64::from(vote(lanes, |value| value == 1) != 0); LANES]), [u64::from(predicate), 0]) == 1
}

/// Whether all lanes bring `true`.
#[inline]
#[track_caller]
pub fn all(predicate: bool) -> bool {
    with_lanes("all", |lanes| Ok([u64::from(vote(lanes, |value| value == 0) == 0); LANES]), [u64::from(predicate), 0]) == 1
}

/// Which lanes bring the same bits as this one, as bits.
#[inline]
#[track_caller]
pub fn match_any<T: Scalar>(v: T) -> u32 {
    let resolve = |lanes: &Lanes| Ok(lanes.values.map(|own| u64::from(vote(lanes, |value| value == own))));
    with_lanes("match_any", resolve, [v.to_word(), 0]) as u32
}

/// Waits until the lanes of the warp are here; what they wrote is then visible to the warp.
#[inline]
#[track_caller]
pub fn sync_warp() {
    with_lanes("sync_warp", |_| Ok([0; LANES]), [0, 0]);
}

/// Joins the values of all lanes: those 16 apart, then 8, 4, 2, 1. Lanes that are not there count as such.
pub(super) fn butterfly<T: Scalar>(mut slots: [Option<u64>; LANES], combine: fn(T, T) -> T) -> [Option<u64>; LANES] {
    for distance in [16, 8, 4, 2, 1] {
        slots = std::array::from_fn(|lane| match (slots[lane], slots[lane ^ distance]) {
            (Some(a), Some(b)) => Some(combine(T::from_word(a), T::from_word(b)).to_word()),
            (a, b) => a.or(b),
        });
    }
    slots
}

/// Joins with each lane those below it: the one 1 below, then 2, 4, 8, 16.
pub(super) fn inclusive<T: Scalar>(mut slots: [Option<u64>; LANES], combine: fn(T, T) -> T) -> [Option<u64>; LANES] {
    for distance in [1, 2, 4, 8, 16] {
        slots = std::array::from_fn(|lane| match (lane.checked_sub(distance).and_then(|below| slots[below]), slots[lane]) {
            (Some(a), Some(b)) => Some(combine(T::from_word(a), T::from_word(b)).to_word()),
            (_, own) => own,
        });
    }
    slots
}

/// What `join` makes of the lanes. Those that a partial warp does not have count as if they were not there; one that has returned would be asked.
fn of_all(lanes: &Lanes, join: impl Fn([Option<u64>; LANES]) -> [Option<u64>; LANES]) -> Result<[u64; LANES], MissingLane> {
    if lanes.returned != 0 {
        return Err(MissingLane { lane: lanes.mask.trailing_zeros() as usize, source: lanes.returned.trailing_zeros() as usize });
    }
    Ok(join(std::array::from_fn(|lane| lanes.get(lane))).map(|value| value.unwrap_or(0)))
}

macro_rules! reductions {
    ($($name:ident = $combine:expr, $doc:literal;)*) => {$(
        #[doc = $doc]
        ///
        /// Every lane gets it. Lanes 16 apart are joined first, then 8, 4, 2, 1: every device joins floats in this order.
        #[inline]
        #[track_caller]
        pub fn $name<T: Num>(v: T) -> T {
            T::from_word(with_lanes(stringify!($name), |lanes| of_all(lanes, |slots| butterfly::<T>(slots, $combine)), [v.to_word(), 0]))
        }
    )*};
}

reductions! {
    warp_sum = T::wrapping_sum, "The sum of `v` over the warp; integers wrap.";
    warp_min = T::min, "The least `v` of the warp.";
    warp_max = T::max, "The greatest `v` of the warp.";
}

macro_rules! scans {
    ($($name:ident = $combine:expr, $doc:literal;)*) => {$(
        #[doc = $doc]
        ///
        /// Each lane's result is joined with that of the lane 1 below, then 2, 4, 8, 16: every device joins floats in this order.
        #[inline]
        #[track_caller]
        pub fn $name<T: Num>(v: T) -> T {
            T::from_word(with_lanes(stringify!($name), |lanes| of_all(lanes, |slots| inclusive::<T>(slots, $combine)), [v.to_word(), 0]))
        }
    )*};
}

scans! {
    warp_inclusive_sum = T::wrapping_sum, "The sum of `v` over the lanes up to this one; integers wrap.";
    warp_inclusive_min = T::min, "The least `v` of the lanes up to this one.";
    warp_inclusive_max = T::max, "The greatest `v` of the lanes up to this one.";
}

/// The sum of `v` over the lanes below this one, 0 in the first; integers wrap. The order is that of [`warp_inclusive_sum`].
#[inline]
#[track_caller]
pub fn warp_exclusive_sum<T: Num>(v: T) -> T {
    let resolve = |lanes: &Lanes| {
        of_all(lanes, |slots| {
            let upto = inclusive::<T>(slots, T::wrapping_sum);
            std::array::from_fn(|lane| if lane == 0 { Some(T::ZERO.to_word()) } else { upto[lane - 1] })
        })
    };
    T::from_word(with_lanes("warp_exclusive_sum", resolve, [v.to_word(), 0]))
}
