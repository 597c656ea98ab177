//! Atomics with an order and a scope, atomic loads and stores, sequentially consistent fences.

use crate::bench::{Bench, cases, words};
use std::sync::atomic::Ordering;
use warpwright::prelude::*;

cases!(orders_and_scopes, loads_and_stores, in_shared_memory, handed_on, last_block_adds, fences_of_one_order);

#[kernel(block = 64)]
fn ordering(x: &Global<u32>, y: &mut Global<u32>, z: &mut Global<i64>) {
    let v = x[global_id().x];
    y.atomic_add_ordered(0, v, Ordering::Relaxed, ThreadScope::Device);
    y.atomic_sub_ordered(1, v, Ordering::Acquire, ThreadScope::Device);
    y.atomic_min_ordered(2, v, Ordering::Release, ThreadScope::Device);
    y.atomic_max_ordered(3, v, Ordering::AcqRel, ThreadScope::Device);
    y.atomic_and_ordered(4, v | 0xff, Ordering::SeqCst, ThreadScope::Device);
    // Only one block comes to these.
    let own = 8 + block_idx().x * 4;
    y.atomic_or_ordered(own, v & 0x0f0f, Ordering::AcqRel, ThreadScope::Block);
    y.atomic_xor_ordered(own + 1, v, Ordering::Relaxed, ThreadScope::Block);
    let seen = y.atomic_add_ordered(own + 2, 1, Ordering::AcqRel, ThreadScope::Block);
    if y.atomic_cas_ordered(own + 3, 0, 7, Ordering::SeqCst, ThreadScope::Block) == 0 {
        z.atomic_exchange_ordered(2 + block_idx().x, 5, Ordering::Release, ThreadScope::Device);
    }
    z.atomic_add_ordered(0, seen as i64, Ordering::Release, ThreadScope::Device);
    z.atomic_max_ordered(1, v as i64, Ordering::SeqCst, ThreadScope::Device);
}

fn orders_and_scopes(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let x = b.device.upload(&words(128))?;
    let mut y = b.device.upload(&[1000u32, 1000, 1000, 1000, 0xfff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])?;
    let mut z = b.device.zeros::<i64>(4)?;
    b.go(ordering(&x, &mut y, &mut z).cover(128))?;
    b.keep(&y)?;
    let found = b.keep(&z)?;
    b.expect("each block counts for itself", &found[..1], [2 * (63 * 64 / 2)]);
    Ok(())
}

#[kernel(block = 32)]
fn loaded(x: &mut Global<f32>, w: &mut Global<u64>, s: &mut Global<i32>, y: &mut Global<f64>) {
    let i = global_id().x;
    let a = x.atomic_load(i, Ordering::Relaxed, ThreadScope::Device);
    let b = w.atomic_load(i, Ordering::Acquire, ThreadScope::Device);
    let c = s.atomic_load(i, Ordering::SeqCst, ThreadScope::Device);
    x.atomic_store(i, a * 2.0, Ordering::Release, ThreadScope::Device);
    w.atomic_store(i, b + 1, Ordering::SeqCst, ThreadScope::Device);
    s.atomic_store(i, -c, Ordering::Relaxed, ThreadScope::Device);
    y.atomic_store(i, a as f64 + b as f64 + c as f64, Ordering::Release, ThreadScope::Block);
}

fn loads_and_stores(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let n = 64u32;
    let mut x = b.device.upload(&(0..n).map(|i| i as f32 * 0.5).collect::<Vec<_>>())?;
    let mut w = b.device.upload(&(0..n).map(|i| u64::from(i) << 33).collect::<Vec<_>>())?;
    let mut s = b.device.upload(&(0..n).map(|i| i as i32 - 20).collect::<Vec<_>>())?;
    let mut y = b.device.zeros::<f64>(n as usize)?;
    b.go(loaded(&mut x, &mut w, &mut s, &mut y).cover(n as usize))?;
    let (fx, fw, fs, fy) = (b.keep(&x)?, b.keep(&w)?, b.keep(&s)?, b.keep(&y)?);
    b.expect("floats", &fx, (0..n).map(|i| i as f32));
    b.expect("words", &fw, (0..n).map(|i| (u64::from(i) << 33) + 1));
    b.expect("signed", &fs, (0..n).map(|i| 20 - i as i32));
    b.expect("sums", &fy, (0..n).map(|i| f64::from(i) * 0.5 + (u64::from(i) << 33) as f64 + f64::from(i as i32 - 20)));
    Ok(())
}

#[kernel(block = 96)]
fn shared_orders(x: &Global<u32>, y: &mut Global<u32>) {
    #[shared]
    let mut t: [u32; 4];
    let i = thread_idx().x;
    if i < 4 {
        t[i] = 0;
    }
    sync_threads();
    t.atomic_add_ordered(0, x[i], Ordering::AcqRel, ThreadScope::Block);
    t.atomic_max_ordered(1, x[i], Ordering::Relaxed, ThreadScope::Device);
    if i == 5 {
        t.atomic_store(2, 9, Ordering::Release, ThreadScope::Block);
    }
    sync_threads();
    y[i] = t.atomic_load(0, Ordering::Acquire, ThreadScope::Block) ^ t[1] ^ t.atomic_load(2, Ordering::Relaxed, ThreadScope::Block);
}

fn in_shared_memory(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(shared_orders, &words(96), 1).map(drop)
}

/// Each block waits for the one before it, by its ticket, and goes on from its result.
#[kernel(block = 64)]
fn relay(x: &Global<u32>, sums: &mut Global<u32>, flags: &mut Global<u32>, tickets: &mut Global<u32>) {
    #[shared]
    let mut chosen: [usize; 1];
    if thread_idx().x == 0 {
        chosen[0] = tickets.atomic_add(0, 1) as usize;
    }
    sync_threads();
    let tile = chosen[0];
    let own = block_sum(x[tile * 64 + thread_idx().x]);
    if thread_idx().x == 0 {
        let mut before = 0;
        if tile > 0 {
            while flags.atomic_load(tile - 1, Ordering::Acquire, ThreadScope::Device) == 0 {}
            before = sums[tile - 1];
        }
        sums[tile] = before + own;
        flags.atomic_store(tile, 1, Ordering::Release, ThreadScope::Device);
    }
}

fn handed_on(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let xs = words(640);
    let x = b.device.upload(&xs)?;
    // The host twin runs the blocks one after the other, OpenCL devices that run a block after the other, too: tickets are in their order.
    let (mut sums, mut flags, mut tickets) = (b.device.zeros::<u32>(10)?, b.device.zeros::<u32>(10)?, b.device.zeros::<u32>(1)?);
    b.go(relay(&x, &mut sums, &mut flags, &mut tickets).grid(10))?;
    let found = b.keep(&sums)?;
    let mut sum = 0u32;
    b.expect(
        "sums",
        &found,
        xs.chunks(64).map(|c| {
            sum = c.iter().fold(sum, |sum, v| sum.wrapping_add(*v));
            sum
        }),
    );
    Ok(())
}

/// The last block to take a ticket adds what all have written.
#[kernel(block = 64)]
fn last_adds(x: &Global<u32>, sums: &mut Global<u32>, count: &mut Global<u32>, y: &mut Global<u32>) {
    #[shared]
    let mut is_last: [bool; 1];
    let (t, blocks) = (thread_idx().x, grid_dim().x);
    let total = block_sum(x[global_id().x]);
    if t == 0 {
        sums[block_idx().x] = total;
        let ticket = count.atomic_add_ordered(0, 1, Ordering::AcqRel, ThreadScope::Device);
        is_last[0] = ticket + 1 == blocks as u32;
    }
    sync_threads();
    if is_last[0] {
        let all = block_sum(if t < blocks { sums[t] } else { 0 });
        if t == 0 {
            y[0] = all;
        }
    }
}

fn last_block_adds(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let xs = words(64 * 20);
    let x = b.device.upload(&xs)?;
    let (mut sums, mut count, mut y) = (b.device.zeros::<u32>(20)?, b.device.zeros::<u32>(1)?, b.device.zeros::<u32>(1)?);
    b.go(last_adds(&x, &mut sums, &mut count, &mut y).grid(20))?;
    let found = b.keep(&y)?;
    b.expect("sum", &found, [xs.iter().fold(0u32, |sum, v| sum.wrapping_add(*v))]);
    Ok(())
}

#[kernel(block = 32)]
fn strong_fences(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    y[i] = x[i];
    fence_block_seq_cst();
    y[i] += 1;
    fence_device_seq_cst();
    y[i] *= 2;
    fence_system_seq_cst();
    y[i] ^= 5;
}

fn fences_of_one_order(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let xs = words(64);
    let found = b.map(strong_fences, &xs, 1)?;
    b.expect("fenced", &found, xs.iter().map(|v| v.wrapping_add(1).wrapping_mul(2) ^ 5));
    Ok(())
}
