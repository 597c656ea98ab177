// test ptx sm_90
// test opencl
//! Short integers are negated without a sign, and in OpenCL C by a function that is of 32 bits: `ptxas` before 13 does `neg.s16`, `abs.s16` and `sub.s16` from zero in 32 bits, and then takes -32768, which they
//! make 32768, for extended by its sign.
use warpwright::prelude::*;

#[kernel(block = 32)]
fn least(x: &Global<i16>, z: &Global<i8>, y: &mut Global<i64>) {
    let i = global_id().x;
    y[i * 4] = (-x[i]) as i64;
    y[i * 4 + 1] = x[i].wrapping_abs() as i64;
    y[i * 4 + 2] = 0i16.wrapping_sub(x[i]) as i64;
    y[i * 4 + 3] = (-z[i]) as i64;
}
