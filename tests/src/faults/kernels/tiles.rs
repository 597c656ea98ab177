//! Shared memory, and vectors.

use super::{Show, device, floats, numbers};
use warpwright::Result;
use warpwright::prelude::*;

/// Four numbers at a time.
#[kernel(block = 32)]
pub fn quads(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x * 4;
    if i < x.len() {
        let [a, b, c, d] = x.load::<4>(i);
        y.store::<4>(i, [d, c, b, a]);
    }
}

pub(super) fn quads_run(show: Show<'_>) -> Result<()> {
    let x = floats(200);
    let (there, mut y) = (device().upload(&x)?, device().zeros::<f32>(200)?);
    let launch = quads(&there, &mut y).cover(50);
    show(&launch);
    launch.launch(&device())?;
    assert_eq!(y.download()?, (0..200).map(|i| x[i / 4 * 4 + 3 - i % 4]).collect::<Vec<_>>());
    Ok(())
}

/// The sum of three neighbours, with one element beside the block on both sides.
#[kernel(block = 64)]
pub fn neighbours(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 66];
    let t = thread_idx().x;
    let i = global_id().x;
    tile[t + 1] = if i < x.len() { x[i] } else { 0.0 };
    if t == 0 {
        tile[0] = if i > 0 { x[i - 1] } else { 0.0 };
        tile[65] = if i + 64 < x.len() { x[i + 64] } else { 0.0 };
    }
    sync_threads();
    if i < y.len() {
        y[i] = tile[t] + tile[t + 1] + tile[t + 2];
    }
}

pub(super) fn neighbours_run(show: Show<'_>) -> Result<()> {
    // One that ends within a block, and one whose last block is whole: each sees mistakes that the other does not.
    for n in [150, 128] {
        let x = floats(n);
        let (there, mut y) = (device().upload(&x)?, device().zeros::<f32>(n)?);
        let launch = neighbours(&there, &mut y).cover(n);
        show(&launch);
        launch.launch(&device())?;
        let at = |i: usize| x.get(i).copied().unwrap_or(0.0);
        assert_eq!(y.download()?, (0..n).map(|i| at(i.wrapping_sub(1)) + at(i) + at(i + 1)).collect::<Vec<_>>());
    }
    Ok(())
}

/// Tiles, transposed.
#[kernel(block = (8, 8))]
pub fn turned(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared(pad = 1)]
    let mut tile: [[f32; 8]; 8];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let (column, row) = (block_idx().x * 8, block_idx().y * 8);
    if column + tx < n && row + ty < n {
        tile[ty][tx] = x[(row + ty) * n + column + tx];
    }
    sync_threads();
    if row + tx < n && column + ty < n {
        y[(column + ty) * n + row + tx] = tile[tx][ty];
    }
}

pub(super) fn turned_run(show: Show<'_>) -> Result<()> {
    let x: Vec<f32> = (0..361).map(|i| i as f32).collect();
    let (there, mut y) = (device().upload(&x)?, device().zeros::<f32>(361)?);
    let launch = turned(19, &there, &mut y).grid((3, 3));
    show(&launch);
    launch.launch(&device())?;
    assert_eq!(y.download()?, (0..361).map(|i| x[i % 19 * 19 + i / 19]).collect::<Vec<_>>());
    Ok(())
}

/// A histogram by atomics, in shared memory first.
#[kernel(block = 64)]
pub fn bins(x: &Global<u32>, counts: &mut Global<u32>) {
    #[shared]
    let mut own: [u32; 16];
    let t = thread_idx().x;
    if t < 16 {
        own[t] = 0;
    }
    sync_threads();
    for i in (global_id().x..x.len()).step_by(128) {
        own.atomic_add(x[i] as usize % 16, 1);
    }
    sync_threads();
    if t < 16 {
        counts.atomic_add(t, own[t]);
    }
}

pub(super) fn bins_run(show: Show<'_>) -> Result<()> {
    let x = numbers(333);
    let (there, mut counts) = (device().upload(&x)?, device().zeros::<u32>(16)?);
    let launch = bins(&there, &mut counts).grid(2);
    show(&launch);
    launch.launch(&device())?;
    let count = |bin: u32| x.iter().filter(|x| *x % 16 == bin).count() as u32;
    assert_eq!(counts.download()?, (0..16).map(count).collect::<Vec<_>>());
    Ok(())
}

/// Two buffers that take turns: one is read while the other is filled.
#[kernel(block = 64)]
pub fn two_buffers(rounds: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut slots: [[f32; 64]; 2];
    let t = thread_idx().x;
    let mut sum = 0.0;
    slots[0][t] = x[t];
    sync_threads();
    for k in 0..rounds {
        if k + 1 < rounds {
            slots[(k + 1) % 2][t] = x[(k + 1) * 64 + t];
        }
        sum += slots[k % 2][63 - t];
        sync_threads();
    }
    y[t] = sum;
}

pub(super) fn two_buffers_run(show: Show<'_>) -> Result<()> {
    let x = floats(320);
    let (there, mut y) = (device().upload(&x)?, device().zeros::<f32>(64)?);
    let launch = two_buffers(5, &there, &mut y).grid(1);
    show(&launch);
    launch.launch(&device())?;
    assert_eq!(y.download()?, (0..64).map(|t| (0..5).map(|k| x[k * 64 + 63 - t]).sum()).collect::<Vec<f32>>());
    Ok(())
}

/// Rows of shared memory whose number the launch says.
#[kernel(block = 64)]
pub fn rows_of_launch(x: &Global<u32>, y: &mut Global<u32>) {
    #[shared(dynamic)]
    let mut rows: [[u32; 64]];
    let t = thread_idx().x;
    for r in 0..rows.len() {
        rows[r][t] = x[r * 64 + t];
    }
    sync_threads();
    let mut most = 0;
    for r in 0..rows.len() {
        most = most.max(rows[r][63 - t]);
    }
    y[t] = most;
}

pub(super) fn rows_of_launch_run(show: Show<'_>) -> Result<()> {
    let x = numbers(192);
    let (there, mut y) = (device().upload(&x)?, device().zeros::<u32>(64)?);
    let launch = rows_of_launch(&there, &mut y).grid(1).shared_bytes(768);
    show(&launch);
    launch.launch(&device())?;
    assert_eq!(y.download()?, (0..64).map(|t| (0..3).map(|r| x[r * 64 + 63 - t]).max().unwrap_or(0)).collect::<Vec<_>>());
    Ok(())
}
