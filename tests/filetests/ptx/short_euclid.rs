// test ptx sm_90
//! `div_euclid` and `rem_euclid` of short floats: the quotient is cut off in `f32`, before it is rounded to the short type, where 2.9998 would be 3.
use warpwright::prelude::*;

#[kernel(block = 32)]
fn euclid(x: &Global<f16>, b: &Global<bf16>, y: &mut Global<f16>, z: &mut Global<bf16>) {
    let i = global_id().x;
    y[i] = x[2 * i].div_euclid(x[2 * i + 1]);
    z[i] = b[2 * i].rem_euclid(b[2 * i + 1]);
}
