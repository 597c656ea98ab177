// test lints
use warpwright::prelude::*;

// NVIDIA OpenCL best practices guide 1.0, section 3.2.1.4: `strideCopy`.
#[kernel(block = 256)]
pub fn stride_copy(stride: usize, out: &mut Global<f32>, inp: &Global<f32>) {
    let i = global_id().x * stride;
    if i < out.len() {
        out[i] = inp[i];
    }
}

// VSCSE 2009, lecture 5: a matrix walked by columns.
#[kernel(block = (32, 8))]
pub fn columns(width: usize, height: usize, inp: &Global<f32>, out: &mut Global<f32>) {
    let (row, column) = (global_id().x, global_id().y);
    if row < height && column < width {
        out[row * width + column] = 2.0 * inp[row * width + column];
    }
}

// Five sectors for four, at worst.
#[kernel(block = 256)]
pub fn offset_copy(offset: usize, out: &mut Global<f32>, inp: &Global<f32>) {
    let i = global_id().x + offset;
    if i < out.len() {
        out[i] = inp[i];
    }
}

// What half a warp reads alike is one sector, and what is left over for vectors runs element by element.
#[kernel(block = (16, 16))]
pub fn broadcast(n: usize, inp: &Global<f32>, out: &mut Global<f32>) {
    let (row, column) = (global_id().y, global_id().x);
    let mut sum = 0.0;
    for k in 0..n {
        sum += inp[row * n + k];
    }
    out[row * n + column] = sum;
}

#[kernel(block = 256, vectorize = 4)]
pub fn vectors(inp: &Global<f32>, out: &mut Global<f32>) {
    let i = global_id().x;
    if i < out.len() {
        out[i] = inp[i];
    }
}

// An array of structures: of each cell a thread uses a part at a time.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Cell {
    pub f: [f32; 9],
    pub solid: u32,
}

#[kernel(block = 128)]
pub fn densities(cells: &Global<Cell>, density: &mut Global<f32>) {
    let i = global_id().x;
    if i < density.len() {
        let cell = cells[i];
        let mut sum = 0.0;
        #[unroll]
        for k in 0..9 {
            sum += cell.f[k];
        }
        density[i] = sum;
    }
}

// The same by hand, and in blocks with rows.
#[kernel(block = (16, 16))]
pub fn grey(width: usize, pixels: &Global<f32>, grey: &mut Global<f32>) {
    let i = global_id().y * width + global_id().x;
    grey[i] = 0.3 * pixels[i * 12] + 0.6 * pixels[i * 12 + 1] + 0.1 * pixels[i * 12 + 2];
}

// Distances are in elements, however wide the access.
#[kernel(block = 128)]
pub fn rows(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut sum = 0.0;
    #[vectorize(4)]
    for k in 0..64 {
        sum += x[i * 64 + k];
    }
    y[i] = sum;
}

// A row of 16 bytes once, before what takes the time.
#[kernel(block = 256)]
pub fn seldom(n: usize, w: usize, x: &Global<u8>, y: &mut Global<f32>) {
    let t = thread_idx().x;
    let mut s = x[block_idx().x * 16 + t / 16 * w + t % 16] as f32;
    for k in 0..n {
        s = s * 0.5 + k as f32;
    }
    y[global_id().x] = s;
}
