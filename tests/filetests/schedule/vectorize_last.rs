//! Loops that end at their type's last number: the counter, narrower than an index, never wraps round, and groups are vectors.
// test rust
use warpwright::prelude::*;

#[kernel(block = 32)]
fn vectorize_last(x: &Global<i32>, y: &mut Global<i32>) {
    let base = global_id().x * 256;
    #[vectorize(4)]
    for k in 248u8..=255 {
        y[base + k as usize] = x[base + k as usize] + 1;
    }
    #[vectorize(2)]
    for k in 120i8..=127 {
        y[base + k as usize] = x[base + (k - 120) as usize] + 2;
    }
}
