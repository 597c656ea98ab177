//! One kernel with many mistakes: all are reported together.

use warpwright::prelude::*;

#[kernel(blok = 256, index = 16)]
fn many(x: &[f32], y: &mut Global<f32>) -> f32 {
    #[unrol]
    for i in 0..4 {
        y[i] = x[i];
    }
    let f = |v| v;
    let list = vec![1.0];
    unsafe { y[0] }
}

fn main() {}
