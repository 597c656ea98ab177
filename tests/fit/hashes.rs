//! Whole numbers mixed: rotations, products, logic.

use warpwright::Int;
use warpwright::prelude::*;

#[device]
pub fn mix32(mut h: u32) -> u32 {
    h ^= h >> 16;
    h = h.wrapping_mul(0x85eb_ca6b);
    h ^= h >> 13;
    h = h.wrapping_mul(0xc2b2_ae35);
    h ^ h >> 16
}

/// A finaliser over words.
#[kernel(block = 256, ilp = ILP, vectorize = V, variants(ILP in [1, 4], V in [1, 2, 4]))]
pub fn finalise<const ILP: usize, const V: usize>(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = mix32(x[i]);
    }
}

/// Rounds of additions, rotations and exclusive ors on a state of 16 words.
#[kernel(block = 128, variants(ROUNDS in [1, 4, 10]))]
pub fn quarters<const ROUNDS: usize>(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x * 16;
    let mut s = [0u32; 16];
    #[unroll]
    for k in 0..16 {
        s[k] = x[i + k];
    }
    #[unroll(1)]
    for _ in 0..ROUNDS {
        #[unroll]
        for q in 0..4 {
            s[q] = s[q].wrapping_add(s[4 + q]);
            s[12 + q] = (s[12 + q] ^ s[q]).rotate_left(16);
            s[8 + q] = s[8 + q].wrapping_add(s[12 + q]);
            s[4 + q] = (s[4 + q] ^ s[8 + q]).rotate_left(12);
        }
    }
    #[unroll]
    for k in 0..16 {
        y[i + k] = s[k].wrapping_add(x[i + k]);
    }
}

/// Random numbers of 64 bits, counted.
#[kernel(block = 192)]
pub fn generator(n: u32, seed: u64, hits: &mut Global<u32>) {
    let i = global_id().x;
    let mut state = seed ^ (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut count = 0u32;
    for _ in 0..n {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let (x, y) = ((state >> 40) as f32 * 5.9604645e-8, (state & 0xff_ffff) as f32 * 5.9604645e-8);
        if x * x + y * y < 1.0 {
            count += 1;
        }
    }
    hits[i] = count;
}

/// Sums of digits: divisions by what only the launch knows.
#[kernel(block = 64, variants(T in [u32, i32, u64]))]
pub fn digits<T: Int>(base: T, x: &Global<T>, y: &mut Global<T>) {
    let i = global_id().x;
    if i < y.len() {
        let (mut rest, mut sum) = (x[i], T::ZERO);
        while rest != T::ZERO {
            sum += rest % base;
            rest /= base;
        }
        y[i] = sum;
    }
}
