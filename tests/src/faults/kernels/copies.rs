//! Copies of the block, pipelines that the copy engine fills and empties, clusters.

use super::{Show, device, floats};
use warpwright::Result;
use warpwright::prelude::*;

/// Runs, copied ahead.
#[kernel(block = 64)]
pub fn run_sums(runs: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 128];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 3)]
    for k in 0..runs {
        load_run(&mut run, x, k * 128);
        sync_threads();
        sum += run[127 - t] + run[t];
        sync_threads();
    }
    y[t] = sum;
}

pub(super) fn run_sums_run(show: Show<'_>) -> Result<()> {
    let x = floats(500);
    let (there, mut y) = (device().upload(&x)?, device().zeros::<f32>(64)?);
    let launch = run_sums(4, &there, &mut y).grid(1);
    show(&launch);
    launch.launch(&device())?;
    let at = |i: usize| x.get(i).copied().unwrap_or(0.0);
    assert_eq!(y.download()?, (0..64).map(|t| (0..4).map(|k| at(k * 128 + 127 - t) + at(k * 128 + t)).sum()).collect::<Vec<f32>>());
    Ok(())
}

/// A tile at a time, without a pipeline.
#[kernel(block = 32)]
pub fn tile_sums(a: &Matrix<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; 32]; 4];
    let t = thread_idx().x;
    let mut sum = 0.0;
    for k in 0..a.rows().div_ceil(4) {
        load_tile(&mut tile, a, k * 4, 0);
        sync_threads();
        sum += tile[0][31 - t] + tile[1][t] * 2.0 + tile[2][31 - t] + tile[3][t];
        sync_threads();
    }
    y[t] = sum;
}

pub(super) fn tile_sums_run(show: Show<'_>) -> Result<()> {
    let x = floats(10 * 32);
    let (there, mut y) = (device().upload(&x)?, device().zeros::<f32>(32)?);
    let launch = tile_sums(device().matrix(&there, 10, 32)?, &mut y).grid(1);
    show(&launch);
    launch.launch(&device())?;
    let at = |r: usize, c: usize| x.get(r * 32 + c).copied().unwrap_or(0.0);
    let sum = |t: usize| (0..3).map(|k| at(k * 4, 31 - t) + at(k * 4 + 1, t) * 2.0 + at(k * 4 + 2, 31 - t) + at(k * 4 + 3, t)).sum();
    assert_eq!(y.download()?, (0..32).map(sum).collect::<Vec<f32>>());
    Ok(())
}

/// Strips, written by the threads and copied out.
#[kernel(block = 64)]
pub fn strips(x: &Global<f32>, c: &mut Matrix<f32>) {
    #[shared]
    let mut strip: [[f32; 16]; 4];
    let t = thread_idx().x;
    let row = block_idx().x * 4;
    for k in 0..c.columns().div_ceil(16) {
        strip[t / 16][t % 16] = x[row + t / 16] * (k * 16 + t % 16) as f32;
        sync_threads();
        store_tile(c, row, k * 16, &strip);
        sync_threads();
    }
}

pub(super) fn strips_run(show: Show<'_>) -> Result<()> {
    let x = floats(8);
    let (there, mut y) = (device().upload(&x)?, device().zeros::<f32>(8 * 40)?);
    let launch = strips(&there, device().matrix_mut(&mut y, 8, 40)?).grid(2);
    show(&launch);
    launch.launch(&device())?;
    assert_eq!(y.download()?, (0..320).map(|i| x[i / 40] * (i % 40) as f32).collect::<Vec<_>>());
    Ok(())
}

/// The blocks of a cluster read each other's sums.
#[kernel(block = 32, cluster = 2, targets = [sm_90])]
pub fn cluster_sums(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut part: [f32; 32];
    let t = thread_idx().x;
    part[t] = x[global_id().x];
    cluster_sync();
    let other = shared_of(&part, 1 - cluster_rank())[31 - t];
    y[global_id().x] = part[t] + other;
    cluster_sync();
}

pub(super) fn cluster_sums_run(show: Show<'_>) -> Result<()> {
    let x = floats(128);
    let (there, mut y) = (device().upload(&x)?, device().zeros::<f32>(128)?);
    let launch = cluster_sums(&there, &mut y).grid(4);
    show(&launch);
    launch.launch(&device())?;
    let other = |i: usize| x[((i / 32) ^ 1) * 32 + 31 - i % 32];
    assert_eq!(y.download()?, (0..128).map(|i| x[i] + other(i)).collect::<Vec<_>>());
    Ok(())
}
