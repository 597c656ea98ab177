//! Exchanges within a warp and a block.

use super::{Show, device, floats, numbers};
use warpwright::Result;
use warpwright::prelude::*;
use warpwright::warp::{ballot, shuffle, shuffle_down};

/// The sum of each warp, by shuffles.
#[kernel(block = 64)]
pub fn warp_totals(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut v = 0.0;
    if i < x.len() {
        v = x[i];
    }
    v += shuffle_down(v, 16);
    v += shuffle_down(v, 8);
    v += shuffle_down(v, 4);
    v += shuffle_down(v, 2);
    v += shuffle_down(v, 1);
    if lane_id() == 0 {
        y[i / 32] = v;
    }
}

pub(super) fn warp_totals_run(show: Show<'_>) -> Result<()> {
    let x = floats(171);
    let (there, mut y) = (device().upload(&x)?, device().zeros::<f32>(6)?);
    let launch = warp_totals(&there, &mut y).cover(171);
    show(&launch);
    launch.launch(&device())?;
    assert_eq!(y.download()?, x.chunks(32).map(|chunk| chunk.iter().sum()).collect::<Vec<f32>>());
    Ok(())
}

/// The odd numbers of each warp, moved together.
#[kernel(block = 32)]
pub fn compacted(x: &Global<u32>, y: &mut Global<u32>, counts: &mut Global<u32>) {
    let lane = lane_id();
    let i = global_id().x;
    let keeps = x[i] % 2 == 1;
    let votes = ballot(keeps);
    let below = (votes & ((1u32 << lane) - 1)).count_ones() as usize;
    let all = shuffle(votes.count_ones(), 0);
    if keeps {
        y[block_idx().x * 32 + below] = x[i];
    }
    if lane == 0 {
        counts[block_idx().x] = all;
    }
}

pub(super) fn compacted_run(show: Show<'_>) -> Result<()> {
    let x = numbers(96);
    let (there, mut y, mut counts) = (device().upload(&x)?, device().zeros::<u32>(96)?, device().zeros::<u32>(3)?);
    let launch = compacted(&there, &mut y, &mut counts).grid(3);
    show(&launch);
    launch.launch(&device())?;
    let odd = |chunk: &[u32]| chunk.iter().filter(|x| *x % 2 == 1).count() as u32;
    assert_eq!(counts.download()?, x.chunks(32).map(odd).collect::<Vec<_>>());
    Ok(())
}

/// Lanes that exchange through shared memory.
#[kernel(block = 64)]
pub fn through_shared(x: &Global<u32>, y: &mut Global<u32>) {
    #[shared]
    let mut room: [u32; 64];
    let t = thread_idx().x;
    let i = global_id().x;
    room[t] = x[i];
    sync_warp();
    let other = room[t ^ 1];
    sync_warp();
    room[t] = other * 2;
    sync_warp();
    y[i] = room[t ^ 2];
}

pub(super) fn through_shared_run(show: Show<'_>) -> Result<()> {
    let x = numbers(128);
    let (there, mut y) = (device().upload(&x)?, device().zeros::<u32>(128)?);
    let launch = through_shared(&there, &mut y).grid(2);
    show(&launch);
    launch.launch(&device())?;
    assert_eq!(y.download()?, (0..128).map(|i: usize| x[i ^ 3] * 2).collect::<Vec<_>>());
    Ok(())
}

/// The scan of a block, and its total.
#[kernel(block = 64)]
pub fn block_scan(x: &Global<u32>, y: &mut Global<u32>, totals: &mut Global<u32>) {
    let i = global_id().x;
    let own = if i < x.len() { x[i] } else { 0 };
    let upto = block_inclusive_sum(own);
    let total = block_sum(own);
    if i < y.len() {
        y[i] = upto;
    }
    if thread_idx().x == 0 {
        totals[block_idx().x] = total;
    }
}

pub(super) fn block_scan_run(show: Show<'_>) -> Result<()> {
    let x: Vec<u32> = numbers(150).iter().map(|n| n % 100).collect();
    let (there, mut y, mut totals) = (device().upload(&x)?, device().zeros::<u32>(150)?, device().zeros::<u32>(3)?);
    let launch = block_scan(&there, &mut y, &mut totals).grid(3);
    show(&launch);
    launch.launch(&device())?;
    assert_eq!(totals.download()?, x.chunks(64).map(|chunk| chunk.iter().sum()).collect::<Vec<u32>>());
    Ok(())
}
