// test ptx sm_90
// test opencl
//! The lesser and the greater of short integers are found in 32 bits: `ptxas` 12, and the compiler of NVIDIA's OpenCL, compare the upper half of a register, too, where `min.s16` is compared with one of its operands.
use warpwright::prelude::*;

#[kernel(block = 32)]
fn extremes(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let a = x[i] as i16;
    if a.min(1) == 1 {
        y[i * 2] = 5;
    }
    y[i * 2 + 1] = (x[i] as u8).max(7) as u32;
}
