// test lints
use warpwright::prelude::*;

// VSCSE 2009, lecture 5: a tile takes two barriers.
#[kernel(block = 128)]
pub fn without_the_second(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 128];
    let t = thread_idx().x;
    let mut sum = 0.0;
    for first in (0..n).step_by(128) {
        tile[t] = x[first + t];
        sync_threads();
        for k in 0..128 {
            sum += tile[k];
        }
    }
    y[global_id().x] = sum;
}

#[kernel(block = 128)]
pub fn without_the_first(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 128];
    let t = thread_idx().x;
    let mut sum = 0.0;
    for first in (0..n).step_by(128) {
        tile[t] = x[first + t];
        for k in 0..128 {
            sum += tile[k];
        }
        sync_threads();
    }
    y[global_id().x] = sum;
}

#[kernel(block = 128)]
pub fn neighbours(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut part: [f32; 128];
    let (t, i) = (thread_idx().x, global_id().x);
    part[t] = x[i];
    y[i] = part[t ^ 1];
}

#[kernel(block = 128)]
pub fn with_both(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 128];
    let t = thread_idx().x;
    let mut sum = 0.0;
    for first in (0..n).step_by(128) {
        tile[t] = x[first + t];
        sync_threads();
        for k in 0..128 {
            sum += tile[k];
        }
        sync_threads();
    }
    y[global_id().x] = sum;
}

// Within a warp its own barrier is enough.
#[kernel(block = 128)]
pub fn neighbours_in_order(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut part: [f32; 128];
    let (t, i) = (thread_idx().x, global_id().x);
    part[t] = x[i];
    sync_warp();
    y[i] = part[t ^ 1];
}
