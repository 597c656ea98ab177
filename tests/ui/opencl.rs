//! What OpenCL devices cannot do is refused where they are a target, and only there.

use warpwright::prelude::*;

#[device]
fn mean(v: f32) -> f32 {
    warp_sum(v) / 32.0
}

#[kernel(block = 128, targets = [opencl, sm_90])]
fn boundary(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < x.len() {
        y[i] = warp_sum(x[i]);
    }
}

#[kernel(block = 128, targets = [opencl])]
fn through_a_function(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if x[i] > 0.0 {
        y[i] = mean(x[i]);
    }
}

#[kernel(block = 128, targets = [opencl], variants(BY in [1, 32]))]
fn rows<const BY: usize>(rows: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let row = global_id().x / BY;
    if row < rows {
        y[row] = warp_max(x[row]);
    }
}

#[kernel(block = 128, targets = [sm_90])]
fn elsewhere(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < x.len() {
        y[i] = warp_sum(x[i]);
    }
}

#[kernel(block = 128, targets = [OpenCL])]
fn misspelt(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

#[kernel(block = 128, targets = [opencl, opencl])]
fn twice(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

#[kernel(block = 128, targets = [opencl], require(registers <= 64))]
fn no_figures(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

fn main() {}
