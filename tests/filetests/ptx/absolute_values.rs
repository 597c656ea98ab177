// test ptx sm_90
//! The absolute value of the least integer is itself: `ptxas` takes it that `abs.s32` and `abs.s64` give no negative number. And 12.9 leaves `neg.s32` out of the greatest of three (`VIMNMX3`).
use warpwright::prelude::*;

#[kernel(block = 32)]
fn absolute(x: &Global<i32>, z: &Global<i64>, y: &mut Global<i64>) {
    let i = global_id().x;
    y[i * 4] = if x[i].wrapping_abs() < 0 { 1 } else { 2 };
    y[i * 4 + 1] = (x[i].wrapping_abs() % 7) as i64;
    y[i * 4 + 2] = if z[i].wrapping_abs() < 0 { z[i].wrapping_abs() } else { 2 };
    y[i * 4 + 3] = x[i].max(-x[i + 1]).max(x[i + 2]) as i64;
}
