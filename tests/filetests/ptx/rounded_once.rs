// test ptx sm_90
//! What is rounded once everywhere: `rsqrt` of an `f32` is one instruction, and an `f64` becomes a short float without being an `f32` between.
use warpwright::prelude::*;

#[kernel(block = 32)]
fn rounded(x: &Global<f32>, d: &Global<f64>, y: &mut Global<f32>, h: &mut Global<f16>, b: &mut Global<bf16>) {
    let i = global_id().x;
    y[i] = x[i].rsqrt();
    h[i] = f16::from_f64(d[i]);
    b[i] = bf16::from_f64(d[i]);
}
