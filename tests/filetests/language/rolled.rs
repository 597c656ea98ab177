// test ir built
// test opencl
// test ptx sm_90
use warpwright::prelude::*;

/// Loops that stay rolled, and the assembler is told so.
#[kernel(block = 32)]
pub fn rolled(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut sum = 0.0;
    #[unroll(1)]
    for k in 0..8 {
        sum += x[i * 8 + k];
    }
    #[unroll(1)]
    while sum > 1.0 {
        sum *= 0.5;
    }
    #[unroll(1)]
    loop {
        sum += x[i];
        y[i] = sum;
        if sum > 2.0 {
            break;
        }
    }
}
