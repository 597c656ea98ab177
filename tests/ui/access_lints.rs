//! Lints about how warps touch memory and where they part: the mistakes of the source documents.
#![deny(deprecated)]

use warpwright::prelude::*;

#[kernel(block = 256)]
fn stride_copy(stride: usize, out: &mut Global<f32>, inp: &Global<f32>) {
    let i = global_id().x * stride;
    if i < out.len() {
        out[i] = inp[i];
    }
}

#[kernel(block = (16, 16), variants(T in [16]))]
fn aat<const T: usize>(n: usize, a: &Global<f32>, c: &mut Global<f32>) {
    #[shared]
    let mut rows: [[f32; T]; T];
    #[shared]
    let mut columns: [[f32; T]; T];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    rows[ty][tx] = a[global_id().y * T + tx];
    columns[tx][ty] = a[(block_idx().x * T + ty) * T + tx];
    sync_threads();
    let mut sum = 0.0;
    for k in 0..T {
        sum += rows[ty][k] * columns[k][tx];
    }
    c[global_id().y * n + global_id().x] = sum;
}

#[kernel(block = 256)]
fn reduce(x: &Global<f32>, sums: &mut Global<f32>) {
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

#[kernel(block = 128)]
fn mirrored(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut part: [f32; 128];
    let t = thread_idx().x;
    part[t] = x[global_id().x];
    y[global_id().x] = part[127 - t];
}

#[kernel(block = 128)]
fn guarded(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut part: [f32; 128];
    let (t, i) = (thread_idx().x, global_id().x);
    if i < x.len() {
        part[t] = x[i];
        sync_threads();
        y[i] = part[127 - t];
    }
}

#[kernel(block = 64)]
fn window(weights: &Constant<[f32; 64]>, y: &mut Global<f32>) {
    y[global_id().x] *= weights[thread_idx().x];
}

#[kernel(block = (16, 16))]
fn product(n: usize, a: &Global<f32>, b: &Global<f32>, c: &mut Global<f32>) {
    let (row, column) = (global_id().y, global_id().x);
    let mut sum = 0.0;
    for k in 0..n {
        sum += a[row * n + k] * b[k * n + column];
    }
    c[row * n + column] = sum;
}

#[kernel(block = 128)]
fn summed(x: &Global<f32>, sums: &mut Global<f32>) {
    let i = global_id().x;
    if i >= x.len() {
        return;
    }
    let sum = warp_sum(x[i]);
    if lane_id() == 0 {
        sums[i / 32] = sum;
    }
}

#[kernel(block = 128)]
fn histogram(x: &Global<u32>, counts: &mut Global<u32>) {
    #[shared]
    let mut bins: [u32; 16];
    let t = thread_idx().x;
    bins.atomic_add((x[global_id().x] % 16) as usize, 1);
    sync_threads();
    if t < 16 {
        counts.atomic_add(t, bins[t]);
    }
}

fn main() {}
