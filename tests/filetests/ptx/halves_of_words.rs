// test ptx sm_90
// test ptx sm_75
//! Floats of 16 bits that `ptxas` makes halves of words of: rounded ones whose bits are asked for are rounded in a word (12.9 leaves out a mask of what it has put there itself), and of two
//! that are no constants one is selected as a word (11.8 to 13.5 write the one selected over the other).
use warpwright::prelude::*;

#[kernel(block = 32)]
fn halves(x: &Global<f32>, n: i32, y: &mut Global<[f16; 2]>, z: &mut Global<[bf16; 2]>) {
    let i = global_id().x;
    let (a, b, d) = (x[i] as f16, x[i + 32] as f16, x[i + 64] as f16);
    y[i * 3] = [a.abs(), f16::ONE];
    y[i * 3 + 1] = [a + b, (if n > 5 { b } else { -b }) + d];
    y[i * 3 + 2] = [d, if n > 5 { d } else { f16::ZERO }];
    z[i] = [bf16::from_bits((x[i] as bf16).to_bits() & 0x7ff0), x[i] as bf16];
}
