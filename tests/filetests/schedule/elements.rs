// test rust
//! Several elements per thread: vectors, and a version for threads some of whose elements are beyond the end.
use warpwright::prelude::*;

#[kernel(block = 64, ilp = 2, vectorize = 4, batch_loads)]
fn elements(a: f32, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = a * x[i] + y[i];
    }
}
