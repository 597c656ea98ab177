// test lints
use warpwright::prelude::*;

// NVIDIA OpenCL best practices guide 1.0: arrays indexed by data go to local memory.
#[kernel(block = 128)]
pub fn votes(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let mut bins = [0u32; 8];
    for k in 0..64 {
        bins[(x[i + k] % 8) as usize] += 1;
    }
    let mut most = 0;
    for k in 0..8 {
        most = most.max(bins[k]);
    }
    y[i] = most;
}

// A loop whose trips the launch decides cannot be unrolled.
#[kernel(block = 128)]
pub fn reversed(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut row = [0.0f32; 16];
    for k in 0..n {
        row[k] = x[i + k];
    }
    for k in 0..n {
        y[i + k] = row[n - 1 - k];
    }
}

// In registers: every index is a constant once the loop is unrolled.
#[kernel(block = 128)]
pub fn unrolled(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut row = [0.0f32; 8];
    #[unroll]
    for k in 0..8 {
        row[k] = x[i + k];
    }
    #[unroll]
    for k in 0..8 {
        y[i + k] = row[7 - k];
    }
}

// In registers as well: the assembler unrolls loops of constant trips by itself.
#[kernel(block = 128)]
pub fn small_loops(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut row = [0.0f32; 8];
    for k in 0..8 {
        row[k] = x[i + k];
    }
    for k in 0..8 {
        y[i + k] = row[7 - k];
    }
}

#[kernel(block = 128, allow(local_memory))]
pub fn meant(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let mut bins = [0u32; 8];
    bins[(x[i] % 8) as usize] = 1;
    y[i] = bins[(x[i + 1] % 8) as usize];
}

// Indexed by the thread's number: probably meant for the block, and declared before it is filled.
#[kernel(block = 256)]
pub fn forgotten(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut s: [f32; 8];
    s = [1.0; 8];
    s[i % 8] = x[i];
    y[i] = s[(i + 1) % 8];
}

// In a pattern, and a device function's parameter: each where it is declared.
#[device]
fn pick(mut row: [f32; 4], at: usize) -> f32 {
    row[at] += 1.0;
    row[3 - at]
}

#[kernel(block = 256)]
pub fn elsewhere(at: &Global<u32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let k = (at[i] % 4) as usize;
    let (mut left, scale) = ([0.5f32; 4], 2.0f32);
    left[k] = scale;
    y[i] = left[3 - k] + pick([1.0, 2.0, 3.0, 4.0], k);
}
