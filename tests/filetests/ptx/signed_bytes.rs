// test ptx sm_90
//! Vectors of signed bytes are loaded without a sign, which each byte then gets by itself: `ptxas` takes a byte of `ld.v4.s8` that is made unsigned, and then a
//! float, for signed.
use warpwright::prelude::*;

#[kernel(block = 32)]
fn unsigned(x: &Global<i8>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = x.load::<4>(i * 4)[1] as u32 as f32;
}
