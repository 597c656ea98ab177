//! RC5-32/12.

use warpwright::prelude::*;

/// Words of the expanded key.
pub const WORDS: usize = 26;

/// The two odd constants.
pub const KEYS: [u32; 2] = [0xb7e1_5163, 0x9e37_79b9];

#[device]
pub fn rotate(x: u32, by: u32) -> u32 {
    x.rotate_left(by % 32)
}

#[device]
pub fn mixed(x: u32, y: u32, key: u32) -> u32 {
    rotate(x ^ y, y) + key
}
