//! Annotations inside a body: not supported yet, misspelt, in the wrong place.

use warpwright::prelude::*;

#[kernel(block = 64)]
fn loops(y: &mut Global<f32>) {
    #[unroll]
    for i in 0..4 {
        y[i] = 0.0;
    }
    #[unroll(2)]
    #[ilp(4)]
    #[batch_loads(assume_disjoint)]
    #[prefetch]
    #[vectorize(4, assume_aligned)]
    for i in 0..4 {
        y[i] = 1.0;
    }
    #[unrol]
    while y[0] < 1.0 {
        y[0] += 1.0;
    }
}

#[kernel(block = 64)]
fn lets(y: &mut Global<f32>) {
    #[shared(pad = 1)]
    let mut padded: [[f32; 32]; 32];
    #[shared(swizzle)]
    let mut swizzled: [[f32; 32]; 32];
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

fn main() {}
