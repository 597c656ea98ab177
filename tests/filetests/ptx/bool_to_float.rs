// test ptx sm_90
//! A `bool` becomes a float by a choice of two floats, not by a conversion of 1 and 0: `ptxas` takes a 16-bit float that is converted from `selp.b16 1, 0` for the
//! integer where the condition is from another block.
use warpwright::prelude::*;

#[kernel(block = 32)]
fn floats(x: &Global<bool>, n: &Global<u32>, y: &mut Global<f16>, z: &mut Global<bf16>) {
    let i = global_id().x;
    let (half, brain) = (x[i] as u8 as f16, x[i] as u32 as bf16);
    let mut turns = 0;
    while turns < n[i] {
        turns += 1;
        z[i] = bf16::ONE;
    }
    y[i] = half;
    z[i] = brain;
}
