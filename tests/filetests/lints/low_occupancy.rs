// test lints
use warpwright::prelude::*;

// CUDA Fortran, 2012: most of the shared memory is taken, and each thread has one load in flight.
#[kernel(block = 64)]
pub fn braked(x: &Global<f64>, y: &mut Global<f64>) {
    #[shared]
    let mut room: [f64; 5632];
    let i = global_id().x;
    room[thread_idx().x] = x[i];
    y[i] = room[thread_idx().x];
}

// One load after the other, and a state that takes registers.
#[kernel(block = 256)]
pub fn walk(next: &Global<u32>, y: &mut Global<f32>) {
    let mut state = [1.0f32; 60];
    let mut at = global_id().x as u32;
    for _ in 0..1000 {
        at = next[at as usize];
        #[unroll]
        for n in 0..60 {
            state[n] = state[n] * at as f32 + n as f32;
        }
    }
    let mut sum = 0.0;
    #[unroll]
    for n in 0..60 {
        sum = sum * 2.0 + state[n];
    }
    y[global_id().x] = sum;
}

// As much shared memory, and threads enough to fill the multiprocessor.
#[kernel(block = 512)]
pub fn large_blocks(x: &Global<f64>, y: &mut Global<f64>) {
    #[shared]
    let mut room: [f64; 5632];
    let i = global_id().x;
    room[thread_idx().x] = x[i];
    y[i] = room[thread_idx().x];
}

// As many registers as the walk, and sums that do not wait for each other: high ILP at low occupancy.
#[kernel(block = 256)]
pub fn sums(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut sums = [0.0f32; 60];
    for j in 0..1000 {
        #[unroll]
        for n in 0..60 {
            sums[n] = sums[n] * 0.5 + x[j * 60 + n];
        }
    }
    #[unroll]
    for n in 0..60 {
        y[n * 4096 + i] = sums[n];
    }
}
