// test errors
use warpwright::prelude::*;

#[kernel(blok = 256)]
pub fn refused(y: &mut Global<f32>) {
    let i = thread_idx().x;
    y[i] = i;
    y[i + 1] = unknown;
}
