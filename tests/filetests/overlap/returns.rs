// test ptx sm_90
// test ptx sm_80
//! A return before all accesses: it is behind the wait, for a kernel's end is to come behind that of the kernels before.
use warpwright::prelude::*;

#[kernel(block = 64, overlap)]
pub fn copied(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i >= n {
        return;
    }
    y[i] = x[i];
}
