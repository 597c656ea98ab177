// test rust
//! A quotient of what is the same for all elements, under a condition of each element's own: each has one of its own, since another's may not have run.
use warpwright::prelude::*;

#[kernel(block = 64, contract = false, ilp = 2)]
fn quotients(m: &Global<f32>, g: &Global<i64>, y: &mut Global<i64>) {
    let i = global_id().x;
    let a = g[0];
    let x = m[i];
    y[i] = match x < 2.0 {
        true => 0i64,
        false => 3i64 % ((a & 15) + 1),
    };
}
