//! Annotations inside a body: misspelt, of impossible value, at odds with each other, in the wrong place.

use warpwright::prelude::*;

#[kernel(block = 64)]
fn loops(y: &mut Global<f32>) {
    #[unroll(0)]
    for i in 0..4 {
        y[i] = 0.0;
    }
    #[unroll(4096)]
    #[ilp]
    #[batch_loads(2)]
    #[prefetch(asume_disjoint)]
    #[vectorize(3, assume_aligned)]
    for i in 0..4 {
        y[i] = 1.0;
    }
    #[ilp(200)]
    #[ilp(4)]
    #[unroll(assume_disjoint)]
    #[prefetch = true]
    for i in 0..4 {
        y[i] = 2.0;
    }
    #[unrol]
    while y[0] < 1.0 {
        y[0] += 1.0;
    }
    #[ilp(4)]
    while y[0] < 2.0 {
        y[0] += 1.0;
    }
    #[prefetch]
    loop {
        break;
    }
}

#[kernel(block = 64, variants(N in [1, 2, 4], B in [false, true]))]
fn values<const N: usize, const B: bool>(y: &mut Global<f32>) {
    #[unroll(1)]
    #[ilp(N)]
    for i in 0..4 {
        y[i] = 0.0;
    }
    #[ilp(B)]
    for i in 0..4 {
        y[i] = 0.0;
    }
    #[prefetch(N)]
    for i in 0..4 {
        y[i] = 0.0;
    }
    #[vectorize(N * 8)]
    for i in 0..4 {
        y[i] = 0.0;
    }
    #[unroll(N)]
    while y[0] < 1.0 {
        y[0] += 1.0;
    }
}

#[kernel(block = 64)]
fn lets(y: &mut Global<f32>) {
    #[shared(dynamc)]
    let mut misspelt: [f32];
    #[shard]
    let mut unknown: [f32; 4];
    #[ilp(2)]
    let misplaced = 1.0;
    y[0] = misplaced;
}

#[kernel(block = 64)]
fn elsewhere(y: &mut Global<f32>) {
    #[shared]
    for i in 0..4 {
        y[i] = 0.0;
    }
    #[cfg(debug_assertions)]
    y.store::<2>(0, [0.0, 1.0]);
}

#[kernel(block = 64)]
#[ilp(4)]
fn on_a_kernel(y: &mut Global<f32>) {
    y[0] = on_a_function(1.0);
}

#[device]
#[unroll(4)]
fn on_a_function(x: f32) -> f32 {
    x
}

fn main() {}
