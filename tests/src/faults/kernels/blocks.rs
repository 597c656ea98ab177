//! Blocks that tell each other what they did.

use super::{Show, device, floats, numbers};
use std::sync::atomic::Ordering;
use warpwright::Result;
use warpwright::prelude::*;

/// The last block adds what all have left.
#[kernel(block = 64)]
pub fn last_block(x: &Global<f32>, sums: &mut Global<f32>, count: &mut Global<u32>, y: &mut Global<f32>) {
    #[shared]
    let mut last: [u32; 1];
    let t = thread_idx().x;
    let i = global_id().x;
    let mut own = 0.0;
    if i < x.len() {
        own = x[i];
    }
    let total = block_sum(own);
    if t == 0 {
        sums[block_idx().x] = total;
        fence_device();
        let ticket = count.atomic_add(0, 1);
        fence_device();
        last[0] = (ticket + 1 == grid_dim().x as u32) as u32;
    }
    sync_threads();
    if last[0] == 1 {
        let mut rest = 0.0;
        if t < grid_dim().x {
            rest = sums[t];
        }
        let all = block_sum(rest);
        if t == 0 {
            y[0] = all;
        }
    }
}

pub(super) fn last_block_run(show: Show<'_>) -> Result<()> {
    let x = floats(300);
    let (there, mut sums) = (device().upload(&x)?, device().zeros::<f32>(5)?);
    let (mut count, mut y) = (device().zeros::<u32>(1)?, device().zeros::<f32>(1)?);
    let launch = last_block(&there, &mut sums, &mut count, &mut y).grid(5);
    show(&launch);
    launch.launch(&device())?;
    assert_eq!(y.download()?, [x.iter().sum::<f32>()]);
    Ok(())
}

/// Each block hands a number to the next one.
#[kernel(block = 32)]
pub fn message(data: &mut Global<u32>, flags: &mut Global<u32>) {
    let b = block_idx().x;
    if thread_idx().x == 0 {
        let mut before = 1;
        if b > 0 {
            while flags.atomic_load(b - 1, Ordering::Acquire, ThreadScope::Device) == 0 {}
            before = data[b - 1];
        }
        data[b] = before * 3;
        flags.atomic_store(b, 1, Ordering::Release, ThreadScope::Device);
    }
}

pub(super) fn message_run(show: Show<'_>) -> Result<()> {
    let (mut data, mut flags) = (device().zeros::<u32>(4)?, device().zeros::<u32>(4)?);
    let launch = message(&mut data, &mut flags).grid(4);
    show(&launch);
    launch.launch(&device())?;
    assert_eq!(data.download()?, [3, 9, 27, 81]);
    Ok(())
}

/// A running sum over tiles, by what the tiles before have published.
#[kernel(block = 32)]
pub fn look_back(x: &Global<u32>, y: &mut Global<u32>, upto: &mut Global<u32>, flags: &mut Global<u32>, tickets: &mut Global<u32>) {
    #[shared]
    let mut tile: [u32; 1];
    #[shared]
    let mut before: [u32; 1];
    let t = thread_idx().x;
    if t == 0 {
        tile[0] = tickets.atomic_add(0, 1);
    }
    sync_threads();
    let at = tile[0] as usize;
    let i = at * 32 + t;
    let own = block_inclusive_sum(x[i]);
    if t == 31 {
        let mut sum = 0;
        if at > 0 {
            while flags.atomic_or(at - 1, 0) == 0 {}
            fence_device();
            sum = upto[at - 1];
        }
        upto[at] = sum + own;
        before[0] = sum;
        fence_device();
        flags.atomic_exchange(at, 1);
    }
    sync_threads();
    y[i] = before[0] + own;
}

pub(super) fn look_back_run(show: Show<'_>) -> Result<()> {
    let x: Vec<u32> = numbers(96).iter().map(|n| n % 1000).collect();
    let (there, mut y) = (device().upload(&x)?, device().zeros::<u32>(96)?);
    let (mut upto, mut flags, mut tickets) = (device().zeros::<u32>(3)?, device().zeros::<u32>(3)?, device().zeros::<u32>(1)?);
    let launch = look_back(&there, &mut y, &mut upto, &mut flags, &mut tickets).grid(3);
    show(&launch);
    launch.launch(&device())?;
    let expected: Vec<u32> = x.iter().scan(0, |sum, x| Some(*(*sum += x, &*sum).1)).collect();
    assert_eq!(y.download()?, expected);
    Ok(())
}

/// Slots from a counter, and who has them.
#[kernel(block = 32)]
pub fn tickets(x: &Global<u32>, count: &mut Global<u32>, y: &mut Global<u32>, most: &mut Global<u32>) {
    let i = global_id().x;
    if i < x.len() {
        let slot = count.atomic_add(0, 1) as usize;
        y[slot] = x[i];
        most.atomic_max(0, x[i]);
    }
}

pub(super) fn tickets_run(show: Show<'_>) -> Result<()> {
    let x = numbers(75);
    let (there, mut count) = (device().upload(&x)?, device().zeros::<u32>(1)?);
    let (mut y, mut most) = (device().zeros::<u32>(75)?, device().zeros::<u32>(1)?);
    let launch = tickets(&there, &mut count, &mut y, &mut most).cover(75);
    show(&launch);
    launch.launch(&device())?;
    let (mut found, mut expected) = (y.download()?, x);
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(most.download()?, expected[74..]);
    assert_eq!(found, expected);
    Ok(())
}

/// What a lock guards.
#[kernel(block = 32)]
pub fn locked(lock: &mut Global<u32>, counts: &mut Global<u32>) {
    if thread_idx().x == 0 {
        while lock.atomic_exchange_ordered(0, 1, Ordering::Acquire, ThreadScope::Device) == 1 {}
        counts[0] += block_idx().x as u32 + 1;
        lock.atomic_store(0, 0, Ordering::Release, ThreadScope::Device);
    }
}

pub(super) fn locked_run(show: Show<'_>) -> Result<()> {
    let (mut lock, mut counts) = (device().zeros::<u32>(1)?, device().zeros::<u32>(1)?);
    let launch = locked(&mut lock, &mut counts).grid(4);
    show(&launch);
    launch.launch(&device())?;
    assert_eq!(counts.download()?, [10]);
    Ok(())
}
