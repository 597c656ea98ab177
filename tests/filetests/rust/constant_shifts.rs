//! Counts that wrap: a constant one is printed below the width, which `<<` asks for, also behind casts.
// test rust
use warpwright::prelude::*;

#[kernel]
pub fn constant_shifts(x: &mut Global<i64>, y: &mut Global<u16>) {
    let i = global_id().x;
    if i < x.len() && i < y.len() {
        x[i] = x[i].wrapping_shl(100i32 as u32);
        y[i] = y[i].wrapping_shr(34u8 as u32).wrapping_shl(35);
    }
}
