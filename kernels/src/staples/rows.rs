//! What softmax and the norms share: numbers in words, sums and maxima over a block, and how a matrix's rows are laid on blocks.
//!
//! Kernels take words of 4 bytes: an `f32`, or two of `f16` or `bf16`. A vector is 4 words, `E` elements: 4 or 8. `KIND` is 2 for IEEE floats, 3 for `bf16`.

use super::checks::Call;
use super::{Error, Result};
use warpwright::Int;
use warpwright::prelude::*;

/// log2(e).
pub(super) const LOG2E: f32 = std::f32::consts::LOG2_E;

/// Element `half` of a word: `E / 4` to a word.
#[device]
pub fn element<const KIND: u32, const E: usize>(word: u32, half: usize) -> f32 {
    if E == 4 {
        f32::from_bits(word)
    } else if KIND == 3 {
        if half == 0 { f32::from_bits(word << 16) } else { f32::from_bits(word & 0xffff_0000) }
    } else if half == 0 {
        f16::from_bits(word as u16).to_f32()
    } else {
        f16::from_bits((word >> 16) as u16).to_f32()
    }
}

/// A word of one element, or of two.
#[device]
pub fn word_of<const KIND: u32, const E: usize>(low: f32, high: f32) -> u32 {
    if E == 4 {
        low.to_bits()
    } else if KIND == 3 {
        (bf16::from_f32(low).to_bits() as u32) | ((bf16::from_f32(high).to_bits() as u32) << 16)
    } else {
        (f16::from_f32(low).to_bits() as u32) | ((f16::from_f32(high).to_bits() as u32) << 16)
    }
}

/// Four words of a vector.
#[device]
pub fn words_of<const KIND: u32, const E: usize>(v: [f32; E]) -> [u32; 4] {
    let mut words = [0u32; 4];
    #[unroll]
    for j in 0..4usize {
        words[j] = word_of::<KIND, E>(v[j * (E / 4)], v[j * (E / 4) + E / 4 - 1]);
    }
    words
}

/// An element by itself: a word of 16 or 32 bits.
#[device]
pub fn number<T: Int, const KIND: u32>(v: T) -> f32 {
    if KIND == 3 {
        f32::from_bits((v as u32) << 16)
    } else if T::BITS == 16 {
        f16::from_bits(v as u16).to_f32()
    } else {
        f32::from_bits(v as u32)
    }
}

/// The element nearest a number.
#[device]
pub fn nearest<T: Int, const KIND: u32>(v: f32) -> T {
    if KIND == 3 {
        bf16::from_f32(v).to_bits() as T
    } else if T::BITS == 16 {
        f16::from_f32(v).to_bits() as T
    } else {
        v.to_bits() as T
    }
}

/// Over a block of `B` threads, in every thread: one barrier. `room` is not used again.
#[device]
pub fn sum_over<const B: usize>(v: f32, room: &mut [f32; 32]) -> f32 {
    let whole = warp_sum(v);
    if lane_id() == 0 {
        room[warp_id()] = whole;
    }
    sync_threads();
    let mine = if lane_id() < B / 32 { room[lane_id()] } else { 0.0 };
    warp_sum(mine)
}

/// Over a block of `B` threads, in every thread: one barrier. `room` is not used again.
#[device]
pub fn max_over<const B: usize>(v: f32, room: &mut [f32; 32]) -> f32 {
    let whole = warp_max(v);
    if lane_id() == 0 {
        room[warp_id()] = whole;
    }
    sync_threads();
    let mine = if lane_id() < B / 32 { room[lane_id()] } else { f32::NEG_INFINITY };
    warp_max(mine)
}

/// The maximum over a block of `B` threads, and the sum of exponentials relative to it, of those that each thread has relative to its own: one barrier.
/// `room` is not used again. A thread without numbers has `f32::MIN` and 0: then no difference is one of infinities.
#[device]
pub fn exponentials_over<const B: usize>(most: f32, sum: f32, room: &mut [f32; 64]) -> (f32, f32) {
    let of_warp = warp_max(most);
    let whole = warp_sum(sum * native_exp2((most - of_warp) * LOG2E));
    if lane_id() == 0 {
        room[warp_id()] = of_warp;
        room[32 + warp_id()] = whole;
    }
    sync_threads();
    let is_warp = lane_id() < B / 32;
    let mine = if is_warp { room[lane_id()] } else { f32::MIN };
    let part = if is_warp { room[32 + lane_id()] } else { 0.0 };
    let of_block = warp_max(mine);
    (of_block, warp_sum(part * native_exp2((mine - of_block) * LOG2E)))
}

/// The number of elements of a matrix, which all of its buffers have.
pub(super) fn extent(call: Call<'_>, rows: usize, columns: usize) -> Result<usize> {
    let help = "its product with the columns must be a length that a buffer can have, 2³¹ or less; call it for fewer rows at a time";
    let elements = rows.checked_mul(columns).filter(|n| *n <= 1 << 31);
    elements.ok_or_else(|| Error::Argument { function: call.function, argument: "rows", value: rows.to_string(), help })
}
