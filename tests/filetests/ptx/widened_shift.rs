// test ptx sm_90
//! An integer is widened by the sign of its own type, whatever the wide type's is: `ptxas` shifts what `cvt.s64.u32` gives to the left as if its upper half were copies of bit 31.
use warpwright::prelude::*;

#[kernel(block = 32)]
fn widened(x: &Global<u32>, y: &mut Global<u64>) {
    let i = global_id().x;
    let a = x[i] as i64;
    y[i * 4] = (a << 8) as u64;
    y[i * 4 + 1] = a.rotate_left(24) as u64;
    y[i * 4 + 2] = (x[i] as i32 as u64) << 8;
    y[i * 4 + 3] = ((x[i] as u16 as i32) << 9) as i64 as u64;
}
