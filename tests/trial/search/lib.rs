//! A search for a cipher's key: RC5 with 32-bit words and twelve rounds, every thread a key, state in registers; and the sums of absolute differences of a search for motion.

pub mod cipher;
pub mod motion;

use cipher::{KEYS, WORDS, mixed, rotate};
use warpwright::prelude::*;

/// Tries `first + global_id()`; the plain text and what it should become are two words each.
#[kernel(block = 128)]
pub fn rc5(first: u64, plain: [u32; 2], wanted: [u32; 2], found: &mut Global<u64>) {
    let key = first + global_id().x as u64;
    let mut l = [key as u32, (key >> 32) as u32, 0u32];
    let mut s = [0u32; WORDS];
    s[0] = KEYS[0];
    #[unroll]
    for k in 1..WORDS {
        s[k] = s[k - 1] + KEYS[1];
    }
    let (mut a, mut b) = (0u32, 0u32);
    #[unroll]
    for k in 0..3 * WORDS {
        a = rotate(s[k % WORDS] + a + b, 3);
        s[k % WORDS] = a;
        b = rotate(l[k % 3] + a + b, a + b);
        l[k % 3] = b;
    }
    let (mut x, mut y) = (plain[0] + s[0], plain[1] + s[1]);
    #[unroll]
    for k in 1..WORDS / 2 {
        x = mixed(x, y, s[2 * k]);
        y = mixed(y, x, s[2 * k + 1]);
    }
    if x == wanted[0] && y == wanted[1] {
        found[0] = key;
    }
}
