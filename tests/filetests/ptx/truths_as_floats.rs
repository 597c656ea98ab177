// test ptx sm_90
//! What is made of truths becomes a float by its bits after two reversals: `ptxas` takes it for the number 1 where it is converted, in kernels with divisions of 64 bits. What is loaded or shifted does not.
use warpwright::prelude::*;

#[kernel(block = 32)]
fn truths(x: &Global<u32>, y: &mut Global<f32>, z: &mut Global<f64>) {
    let i = global_id().x;
    y[i] = f16::from_bits((x[i] > 3) as u16).to_f32();
    y[i + 32] = f16::from_bits(x[i] as u16).to_f32();
    y[i + 64] = f16::from_bits(if x[i] > 3 { 0x3c00 } else { 0 }).to_f32();
    let mut any = 0u32;
    for k in 0..4 {
        any |= (x[i + k] == 7) as u32;
    }
    z[i] = f32::from_bits(any) as f64;
    y[i + 96] = (if x[i] > 9 { f16::from_bits(1) } else { f16::ZERO }).to_f32();
    z[i + 32] = f32::from_bits(x[i] << 16) as f64;
}
