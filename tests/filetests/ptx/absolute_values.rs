// test ptx sm_90
//! The absolute value of the least integer is itself: `ptxas` takes it that `abs.s32` and `abs.s64` give no negative number.
use warpwright::prelude::*;

#[kernel(block = 32)]
fn absolute(x: &Global<i32>, z: &Global<i64>, y: &mut Global<i64>) {
    let i = global_id().x;
    y[i * 3] = if x[i].wrapping_abs() < 0 { 1 } else { 2 };
    y[i * 3 + 1] = (x[i].wrapping_abs() % 7) as i64;
    y[i * 3 + 2] = if z[i].wrapping_abs() < 0 { z[i].wrapping_abs() } else { 2 };
}
