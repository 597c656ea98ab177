// test ptx sm_90
//! An `f64` becomes a short float by one rounding: an `f16` by one instruction, a `bf16` by one to odd, which the next cannot tell from the number itself.
use warpwright::prelude::*;

#[kernel(block = 32)]
fn rounded(d: &Global<f64>, h: &mut Global<f16>, b: &mut Global<bf16>) {
    let i = global_id().x;
    h[i] = f16::from_f64(d[i]);
    b[i] = bf16::from_f64(d[i]);
}
