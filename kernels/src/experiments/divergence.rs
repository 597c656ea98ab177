//! Divergence, VSCSE 2009, lecture 5: a branch on the thread's number sends the threads of a warp two ways, one after the other; the same branch by warps
//! sends each warp one way. Both kernels do the same work: half of the threads go each way. The first should take about twice the time of the second.

use warpwright::prelude::*;

/// One way: a congruential generator, `steps` times.
#[device]
pub fn one_way(seed: u32, steps: usize) -> u32 {
    let mut v = seed;
    for _ in 0..steps {
        v = v.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    }
    v
}

/// The other way, as long: shifts and exclusive ors.
#[device]
pub fn other_way(seed: u32, steps: usize) -> u32 {
    let mut v = seed;
    for _ in 0..steps {
        v ^= v << 13;
        v ^= v >> 17;
    }
    v
}

/// y ← one way of `i` for threads of even number, the other way for the others: every warp goes both.
#[kernel(block = 256, allow(divergent_branch))]
pub fn split_by_thread(steps: usize, y: &mut Global<u32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = if thread_idx().x.is_multiple_of(2) { one_way(i as u32, steps) } else { other_way(i as u32, steps) };
    }
}

/// The same, but warps of even number go one way, the others the other.
#[kernel(block = 256)]
pub fn split_by_warp(steps: usize, y: &mut Global<u32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = if warp_id().is_multiple_of(2) { one_way(i as u32, steps) } else { other_way(i as u32, steps) };
    }
}

/// Reference of both: `width` threads in a row go the same way, 1 or 32.
pub fn reference(steps: usize, width: usize, n: usize) -> Vec<u32> {
    let result = |i: usize| {
        let mut v = i as u32;
        for _ in 0..steps {
            v = match i / width % 2 {
                0 => (u64::from(v) * 1_664_525 + 1_013_904_223) as u32,
                _ => {
                    let w = v ^ (v << 13);
                    w ^ (w >> 17)
                }
            };
        }
        v
    };
    (0..n).map(result).collect()
}
