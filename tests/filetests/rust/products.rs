//! A product is multiply-adds in Rust, also for a target with tensor cores, whose instructions have no Rust.
// test rust sm_90
use warpwright::prelude::*;

#[kernel(block = 32)]
pub fn product(a: &Matrix<bf16>, c: &mut Matrix<f32>) {
    #[shared]
    let mut left: [[bf16; 16]; 16];
    load_tile(&mut left, a, 0, 0);
    sync_threads();
    let mut sums = Accumulator::<f32, 16, 16>::zero();
    multiply_add(&left, transposed(&left), &mut sums);
    for e in 0..sums.len() {
        let (r, n) = sums.position(e);
        c[(r, n)] = sums[e];
    }
}
