// test lints
use warpwright::prelude::*;

// CUDA Fortran, 2012: most of the shared memory is taken, so that few warps are resident, and loads come one after the other.
#[kernel(block = 64)]
pub fn both(y: &mut Global<f64>, z: &mut Global<f64>) {
    #[shared]
    let mut room: [f64; 5632];
    let (t, i) = (thread_idx().x, global_id().x);
    room[t] = 2.0;
    y[i] = y[i] * room[t];
    z[i] = z[i] * room[t];
}

#[kernel(block = 64, targets = [sm_90])]
pub fn three(x: &mut Global<f32>, y: &mut Global<f32>, z: &mut Global<f32>) {
    #[shared]
    let mut room: [f64; 5632];
    let (t, i) = (thread_idx().x, global_id().x);
    room[t] = 2.0;
    x[i] += 1.0;
    y[i] += room[t] as f32;
    z[i] += 1.0;
}

// The same with many warps, which hide it.
#[kernel(block = 256)]
pub fn hidden(y: &mut Global<f64>, z: &mut Global<f64>) {
    let i = global_id().x;
    y[i] = y[i] * 2.0;
    z[i] = z[i] * 3.0;
}

// Read-only buffers are loaded before any store.
#[kernel(block = 64)]
pub fn read_only(x: &Global<f64>, w: &Global<f64>, y: &mut Global<f64>, z: &mut Global<f64>) {
    #[shared]
    let mut room: [f64; 5632];
    let (t, i) = (thread_idx().x, global_id().x);
    room[t] = 2.0;
    y[i] = x[i] * room[t];
    z[i] = w[i] * room[t];
}

// Both loads first.
#[kernel(block = 64)]
pub fn loads_first(y: &mut Global<f64>, z: &mut Global<f64>) {
    #[shared]
    let mut room: [f64; 5632];
    let (t, i) = (thread_idx().x, global_id().x);
    room[t] = 2.0;
    let (a, b) = (y[i], z[i]);
    y[i] = a * room[t];
    z[i] = b * room[t];
}

// The second load may need what the first store leaves.
#[kernel(block = 64)]
pub fn needed(y: &mut Global<f64>) {
    #[shared]
    let mut room: [f64; 5632];
    let (t, i) = (thread_idx().x, global_id().x);
    room[t] = 2.0;
    y[i] = y[i] * room[t];
    y[i ^ 1] = y[i ^ 1] * room[t];
}
