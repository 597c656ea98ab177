//! Counts that wrap: one that the text shows is printed below the width, which `<<` asks for: behind casts, signs, and functions that are inlined too.
// test rust
use warpwright::prelude::*;

#[device]
fn count<const N: u32>(early: bool) -> u32 {
    if early { N } else { N }
}

#[device]
fn only<const N: u32>() -> u32 {
    return N;
}

#[device]
fn shifted<const N: i32>(x: i64) -> i64 {
    x << -N
}

#[kernel]
pub fn constant_shifts(x: &mut Global<i64>, y: &mut Global<u16>) {
    let i = global_id().x;
    if i < x.len() && i < y.len() {
        x[i] = x[i].wrapping_shl(100i32 as u32);
        x[i] = shifted::<5>(x[i]);
        y[i] = y[i].wrapping_shr(34u8 as u32).wrapping_shl(35);
        y[i] = y[i].wrapping_shl(only::<52>()).wrapping_shr(count::<52>(i > 3));
    }
}
