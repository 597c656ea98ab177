// test ptx sm_90
use warpwright::prelude::*;

/// The loop carries an index for every row of `b`; what it reads of `a` is one pointer and immediates.
#[kernel(block = 32)]
pub fn columns(n: usize, a: &Global<f32>, b: &Global<f32>, c: &mut Global<f32>) {
    let column = global_id().x;
    let mut sum = 0.0;
    #[unroll(2)]
    for k in 0..n {
        sum += a[k] * b[k * n + column];
    }
    c[column] = sum;
}
