// test opencl
// C has no constants for infinities and NaNs: NVIDIA's OpenCL takes its own `INFINITY` for none. A table that holds one holds the bits of all its elements.
use warpwright::prelude::*;

const LIMITS: [f32; 4] = [0.5, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
const WIDE: [[f64; 2]; 2] = [[1.5, f64::INFINITY], [-0.0, 3.0]];
const FINITE: [f32; 2] = [0.5, 3e38];

#[kernel(block = 32, contract = false)]
fn limits(k: &Global<u32>, y: &mut Global<f32>, z: &mut Global<f64>) {
    let i = global_id().x;
    let n = k[i] as usize;
    y[i] = LIMITS[n % 4] + FINITE[n % 2];
    z[i] = WIDE[n / 2 % 2][n % 2];
}
