//! Figures that cannot be, and constants that cannot be computed.

use warpwright::prelude::*;

#[kernel(block = 1024, min_blocks = 4)]
fn too_many_threads(y: &mut Global<f32>) {
    y[global_id().x] = 1.0;
}

#[kernel(block = (32, 8), min_blocks = N, variants(N in [8, 9]))]
fn too_many_in_a_variant<const N: usize>(y: &mut Global<f32>) {
    y[global_id().x] = N as f32;
}

#[kernel(block = 256, min_blocks = 8)]
fn as_many_as_there_can_be(y: &mut Global<f32>) {
    y[global_id().x] = 1.0;
}

#[kernel(block = 256)]
fn divides(y: &mut Global<f32>) {
    y[0] = (1u32 / 0) as f32;
}

#[kernel(block = 256)]
fn shifts(y: &mut Global<u32>) {
    y[0] = 1u32 << 40;
}

#[kernel(block = 256)]
fn pipelined(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 256];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 3)]
    for k in 0..n {
        tile[t] = x[k * 256 + t] * 2.0;
        sync_threads();
        sum += tile[255 - t];
        sync_threads();
    }
    y[t] = sum;
}

#[kernel(block = 256)]
fn pipelined_in_halves(n: usize, x: &Global<bf16>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [bf16; 256];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 3)]
    for k in 0..n {
        tile[t] = x[k * 256 + t];
        sync_threads();
        sum += f32::from(tile[255 - t]);
        sync_threads();
    }
    y[t] = sum;
}

#[kernel(block = 1024)]
fn too_many_stages(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; 128]; 128];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 3)]
    for k in 0..n {
        for r in 0..16 {
            tile[r * 8 + t / 128][t % 128] = x[(k * 128 + r * 8 + t / 128) * 128 + t % 128];
        }
        sync_threads();
        sum += tile[t / 128][t % 128];
        sync_threads();
    }
    y[t] = sum;
}

fn main() {}
