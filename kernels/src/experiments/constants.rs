//! Constant memory, NVIDIA's OpenCL best practices guide 1.0, "Constant memory": as fast as a register where all threads of a warp read one address, one address after the
//! other where they do not. Each kernel sums a table of 1,024 numbers `steps` times over, from constant or from global memory, all threads in step or each
//! beginning at its own element.

use warpwright::prelude::*;

/// Numbers of the table.
pub const TABLE: usize = 1_024;

/// The element for thread `t` in step `k`.
#[device]
pub fn element(is_spread: bool, t: usize, k: usize) -> usize {
    if is_spread { (t * 37 + k) % 1_024 } else { k % 1_024 }
}

/// `y[i]` ← Σ of `steps` elements of the table in constant memory. `SPREAD`, lanes are 37 elements apart: the lint says what that costs.
#[kernel(block = 256, allow(constant_divergence), variants(SPREAD in [false, true]))]
pub fn from_constant<const SPREAD: bool>(steps: usize, table: &Constant<[u32; 1_024]>, y: &mut Global<u32>) {
    let i = global_id().x;
    if i < y.len() {
        let mut sum = 0u32;
        #[unroll(4)]
        for k in 0..steps {
            sum = sum.wrapping_add(table[element(SPREAD, i, k)] ^ k as u32);
        }
        y[i] = sum;
    }
}

/// The same from global memory.
#[kernel(block = 256, variants(SPREAD in [false, true]))]
pub fn from_global<const SPREAD: bool>(steps: usize, table: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    if i < y.len() {
        let mut sum = 0u32;
        #[unroll(4)]
        for k in 0..steps {
            sum = sum.wrapping_add(table[element(SPREAD, i, k)] ^ k as u32);
        }
        y[i] = sum;
    }
}

/// Reference of both.
pub fn reference(is_spread: bool, steps: usize, table: &[u32], n: usize) -> Vec<u32> {
    let first = |i: usize| if is_spread { 37 * i } else { 0 };
    (0..n).map(|i| (0..steps).fold(0u32, |sum, k| sum.wrapping_add(table[(first(i) + k) % TABLE] ^ k as u32))).collect()
}
