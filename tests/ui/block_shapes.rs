//! Blocks that waste lanes or block slots are warned of at the block, once for all variants and targets.
#![deny(deprecated)]

use warpwright::prelude::*;

#[kernel(block = 100)]
fn partial(y: &mut Global<f32>) {
    y[global_id().x] = 1.0;
}

#[kernel(block = (12, 12), targets = [sm_80, sm_89])]
fn tile(y: &mut Global<f32>) {
    y[thread_idx().y * 12 + thread_idx().x] = 1.0;
}

#[kernel(block = 32)]
fn small(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = x[i];
}

#[kernel(block = B, variants(B in [32, 64, 48]))]
fn some<const B: usize>(y: &mut Global<f32>) {
    y[global_id().x] = 1.0;
}

#[kernel(block = 32, deny(small_block))]
fn denied(y: &mut Global<f32>) {
    y[global_id().x] = 1.0;
}

#[kernel(block = 16, allow(partial_warp, small_block))]
fn allowed(y: &mut Global<f32>) {
    y[global_id().x] = 1.0;
}

#[kernel(block = 64)]
fn fine(y: &mut Global<f32>) {
    y[global_id().x] = 1.0;
}

fn main() {}
