// test lints
use warpwright::prelude::*;
use warpwright::warp::{any, ballot, shuffle_down};

#[kernel(block = 128)]
pub fn halves(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut v = x[i];
    if lane_id() < 16 {
        v += shuffle_down(v, 8);
    }
    y[i] = v;
}

#[kernel(block = 128)]
pub fn until_zero(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let mut left = x[i];
    while left > 0 {
        y[i] = warp_max(left);
        left /= 2;
    }
}

#[kernel(block = 128)]
pub fn sums(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i >= n {
        return;
    }
    let sum = warp_sum(x[i]);
    if lane_id() == 0 {
        y[i / 32] = sum;
    }
}

#[kernel(block = 128)]
pub fn sums_of_blocks(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i >= n {
        return;
    }
    let sum = block_sum(x[i]);
    if thread_idx().x == 0 {
        y[block_idx().x] = sum;
    }
}

// Whole warps; and who asks none that has returned.
#[kernel(block = 128)]
pub fn rows(rows: usize, columns: usize, x: &Global<f32>, y: &mut Global<f32>, votes: &mut Global<u32>) {
    let (row, lane) = (global_id().x / 32, lane_id());
    if row >= rows {
        return;
    }
    let mut sum = 0.0;
    for k in 0..columns / 32 {
        sum += x[row * columns + k * 32 + lane];
    }
    let total = warp_sum(sum);
    if lane == 0 {
        y[row] = total;
    }
    let mut left = lane;
    while any(left > 3) {
        votes[row] = ballot(left > 3);
        left /= 2;
    }
}
