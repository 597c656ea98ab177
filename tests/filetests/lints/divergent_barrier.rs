// test lints
use warpwright::prelude::*;

#[kernel(block = 128)]
pub fn guarded(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 128];
    let (t, i) = (thread_idx().x, global_id().x);
    if i < n {
        tile[t] = x[i];
        sync_threads();
        y[i] = tile[127 - t];
    }
}

#[kernel(block = 128)]
pub fn until_zero(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let mut left = x[i];
    while left > 0 {
        sync_threads();
        left /= 2;
    }
    y[i] = left;
}

// The same for the whole block.
#[kernel(block = 128)]
pub fn by_parameter(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 128];
    let (t, i) = (thread_idx().x, global_id().x);
    tile[t] = x[i];
    if n > 1 && block_idx().x < n {
        sync_threads();
    }
    y[i] = tile[t];
}

// Threads that have returned are not waited for.
#[kernel(block = 128)]
pub fn after_a_return(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 128];
    let (t, i) = (thread_idx().x, global_id().x);
    if i >= n {
        return;
    }
    tile[t] = x[i];
    sync_threads();
    y[i] = tile[t];
}
