// test lints
use warpwright::prelude::*;

// VSCSE 2009, lecture 5: reduction with interleaved addressing.
#[kernel(block = 256)]
pub fn interleaved(x: &Global<f32>, sums: &mut Global<f32>) {
    #[shared]
    let mut partial: [f32; 256];
    let t = thread_idx().x;
    partial[t] = x[global_id().x];
    let mut stride = 1;
    while stride < 256 {
        sync_threads();
        if t % (2 * stride) == 0 {
            partial[t] += partial[t + stride];
        }
        stride *= 2;
    }
    if t == 0 {
        sums[block_idx().x] = partial[0];
    }
}

#[kernel(block = 256)]
pub fn by_thread(x: &Global<f32>, y: &mut Global<f32>) {
    let (i, t) = (global_id().x, thread_idx().x);
    let v = x[i];
    y[i] = if t % 2 == 0 { v.sin() * v.exp() + 1.0 } else { v.cos() / (v * v + 1.0).sqrt() };
}

// With contiguous addressing, whole warps retire.
#[kernel(block = 256)]
pub fn contiguous(x: &Global<f32>, sums: &mut Global<f32>) {
    #[shared]
    let mut partial: [f32; 256];
    let t = thread_idx().x;
    partial[t] = x[global_id().x];
    let mut stride = 128;
    while stride > 0 {
        sync_threads();
        if t < stride {
            partial[t] += partial[t + stride];
        }
        stride /= 2;
    }
    if t == 0 {
        sums[block_idx().x] = partial[0];
    }
}

#[kernel(block = 256)]
pub fn by_warp(x: &Global<f32>, y: &mut Global<f32>) {
    let (i, t) = (global_id().x, thread_idx().x);
    let v = x[i];
    y[i] = if t / 32 % 2 == 0 { v.sin() * v.exp() + 1.0 } else { v.cos() / (v * v + 1.0).sqrt() };
}

// At a boundary, and where data decides.
#[kernel(block = 256)]
pub fn at_a_boundary(x: &Global<f32>, y: &mut Global<f32>) {
    let (i, t) = (global_id().x, thread_idx().x);
    let v = x[i];
    y[i] = if i < x.len() - 1 { v.sin() * v.exp() + 1.0 } else { v.cos() / (v * v + 1.0).sqrt() };
}

#[kernel(block = 256)]
pub fn by_data(x: &Global<f32>, y: &mut Global<f32>) {
    let (i, t) = (global_id().x, thread_idx().x);
    let v = x[i];
    y[i] = if v > 0.0 { v.sin() * v.exp() + 1.0 } else { v.cos() / (v * v + 1.0).sqrt() };
}
