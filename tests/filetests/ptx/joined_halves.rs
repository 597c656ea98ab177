// test ptx sm_90
//! Two halves that a shift and an `or` join are moved into a word side by side: `ptxas` makes one instruction of two roundings and such a move.
use warpwright::prelude::*;

#[kernel(block = 32)]
fn halves(x: &Global<f32>, y: &mut Global<u32>, s: &Global<i16>) {
    let i = global_id().x;
    let (a, b) = (bf16::from_f32(x[2 * i]), bf16::from_f32(x[2 * i + 1]));
    y[4 * i] = (a.to_bits() as u32) | ((b.to_bits() as u32) << 16);
    let (low, high) = (s[2 * i], s[2 * i + 1]);
    // The sign of the upper half is shifted out; that of the lower one is not: no halves.
    y[4 * i + 1] = ((high as u32) << 16) + (low as u16 as u32);
    y[4 * i + 2] = (low as u32) | ((high as u32) << 16);
    y[4 * i + 3] = (low as u16 as u32) ^ ((high as u32) << 15);
}
