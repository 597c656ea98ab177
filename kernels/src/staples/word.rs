//! Numbers as words: what a kernel computes with, whatever the type of the elements.
//!
//! A kernel of the library takes words (`u8` to `u64`) and the number `KIND` of what they hold: 0 unsigned integers, 1 signed ones, 2 IEEE floats of that
//! width, 3 `bf16`. So one kernel serves all types, a state of a look-back is a word with a flag, and a sort sees digits. Casts of bits cost nothing.

use warpwright::Int;
use warpwright::prelude::*;
use warpwright::warp::{shuffle_up, shuffle_xor};

/// a ⊕ b of two words of 32 or 64 bits. `OP`: 0 the sum (integers wrap), 1 the least, 2 the greatest (of a number and a NaN the number), 3 the product, 4 and, 5 or,
/// 6 exclusive or.
#[device]
pub fn combine<W: Int, const KIND: u32, const OP: u32>(a: W, b: W) -> W {
    if KIND == 2 && W::BITS == 64 {
        let (x, y) = (f64::from_bits(a as u64), f64::from_bits(b as u64));
        match OP {
            0 => (x + y).to_bits() as W,
            1 => x.min(y).to_bits() as W,
            2 => x.max(y).to_bits() as W,
            _ => (x * y).to_bits() as W,
        }
    } else if KIND == 2 {
        let (x, y) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
        match OP {
            0 => (x + y).to_bits() as W,
            1 => x.min(y).to_bits() as W,
            2 => x.max(y).to_bits() as W,
            _ => (x * y).to_bits() as W,
        }
    } else if KIND == 1 && OP == 1 {
        if less::<W, KIND>(b, a) { b } else { a }
    } else if KIND == 1 && OP == 2 {
        if less::<W, KIND>(a, b) { b } else { a }
    } else {
        match OP {
            0 => a.wrapping_add(b),
            1 => a.min(b),
            2 => a.max(b),
            3 => a.wrapping_mul(b),
            4 => a & b,
            5 => a | b,
            _ => a ^ b,
        }
    }
}

/// Whether a < b. NaN is neither less nor greater than anything.
#[device]
pub fn less<W: Int, const KIND: u32>(a: W, b: W) -> bool {
    if KIND == 2 && W::BITS == 64 {
        f64::from_bits(a as u64) < f64::from_bits(b as u64)
    } else if KIND == 2 {
        f32::from_bits(a as u32) < f32::from_bits(b as u32)
    } else if KIND == 1 && W::BITS == 64 {
        (a as i64) < (b as i64)
    } else if KIND == 1 {
        (a as i32) < (b as i32)
    } else {
        a < b
    }
}

/// Whether a = b: of floats as numbers, of which no NaN equals anything.
#[device]
pub fn same<W: Int, const KIND: u32>(a: W, b: W) -> bool {
    if KIND == 2 && W::BITS == 64 {
        f64::from_bits(a as u64) == f64::from_bits(b as u64)
    } else if KIND == 2 {
        f32::from_bits(a as u32) == f32::from_bits(b as u32)
    } else {
        a == b
    }
}

/// Whether a word of 32 or 64 bits is a NaN.
#[device]
pub fn is_nan<W: Int, const KIND: u32>(a: W) -> bool {
    if KIND == 2 && W::BITS == 64 {
        f64::from_bits(a as u64).is_nan()
    } else if KIND == 2 {
        f32::from_bits(a as u32).is_nan()
    } else {
        false
    }
}

/// What changes nothing: ⊕ with it on either side gives the other operand. (Of the least and the greatest float it is NaN.)
#[device]
pub fn identity<W: Int, const KIND: u32, const OP: u32>() -> W {
    if KIND == 2 && W::BITS == 64 {
        match OP {
            0 => W::ZERO,
            1 => f64::NAN.to_bits() as W,
            2 => f64::NAN.to_bits() as W,
            _ => 1.0f64.to_bits() as W,
        }
    } else if KIND == 2 {
        match OP {
            0 => W::ZERO,
            1 => f32::NAN.to_bits() as W,
            2 => f32::NAN.to_bits() as W,
            _ => 1.0f32.to_bits() as W,
        }
    } else {
        match OP {
            1 => {
                if KIND == 1 {
                    W::MAX >> 1
                } else {
                    W::MAX
                }
            }
            2 => {
                if KIND == 1 {
                    W::ONE << (W::BITS - 1)
                } else {
                    W::ZERO
                }
            }
            3 => W::ONE,
            4 => W::MAX,
            _ => W::ZERO,
        }
    }
}

/// An element, widened to what is computed with: `f16` and `bf16` to `f32`, integers to 32 bits, the rest as it is.
#[device]
pub fn widen<T: Int, W: Int, const KIND: u32>(v: T) -> W {
    if T::BITS == 16 && KIND == 2 {
        f16::from_bits(v as u16).to_f32().to_bits() as W
    } else if KIND == 3 {
        ((v as u32) << 16) as W
    } else if T::BITS == 8 && KIND == 1 {
        v as i8 as W
    } else if T::BITS == 16 && KIND == 1 {
        v as i16 as W
    } else {
        v as W
    }
}

/// ⊕ over a block of `B` threads, in every thread: lanes 16, 8, 4, 2, 1 apart, then warps likewise. Two barriers; `room` may be used again behind another.
#[device]
pub fn over_block<W: Int, const KIND: u32, const OP: u32, const B: usize>(v: W, room: &mut [W; 32]) -> W {
    let whole = over_warp::<W, KIND, OP>(v);
    if lane_id() == 0 {
        room[warp_id()] = whole;
    }
    sync_threads();
    let mine = if lane_id() < B / 32 { room[lane_id()] } else { identity::<W, KIND, OP>() };
    sync_threads();
    over_warp::<W, KIND, OP>(mine)
}

/// ⊕ over a warp, in every lane.
#[device]
pub fn over_warp<W: Int, const KIND: u32, const OP: u32>(v: W) -> W {
    let mut whole = v;
    #[unroll]
    for level in 0..5u32 {
        whole = combine::<W, KIND, OP>(whole, shuffle_xor(whole, 16u32 >> level));
    }
    whole
}

/// ⊕ of the lanes up to and with this one.
#[device]
pub fn upto_lane<W: Int, const KIND: u32, const OP: u32>(v: W) -> W {
    let mut upto = v;
    #[unroll]
    for level in 0..5u32 {
        let below = shuffle_up(upto, 1u32 << level);
        if lane_id() >= (1usize << level) {
            upto = combine::<W, KIND, OP>(below, upto);
        }
    }
    upto
}
