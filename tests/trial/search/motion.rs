//! Sums of absolute differences of a block of 16 × 16 pixels with a window of the frame before.

use warpwright::prelude::*;

pub const SIDE: usize = 16;

#[device]
pub fn apart(a: u8, b: u8) -> u32 {
    (a as i32 - b as i32).unsigned_abs()
}

/// A block of threads for a block of pixels; each thread a place of the search window of 16 × 16.
#[kernel(block = (16, 16))]
pub fn motion(width: usize, now: &Global<u8>, before: &Global<u8>, sums: &mut Global<u32>) {
    #[shared]
    let mut pixels: [[u32; SIDE]; SIDE];
    #[shared]
    let mut window: [[u32; 2 * SIDE + 1]; 2 * SIDE];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let corner = block_idx().y * SIDE * width + block_idx().x * SIDE;
    pixels[ty][tx] = now[corner + ty * width + tx] as u32;
    #[unroll]
    for half in 0..4 {
        let (x, y) = (tx + SIDE * (half % 2), ty + SIDE * (half / 2));
        window[y][x] = before[corner + y * width + x] as u32;
    }
    sync_threads();
    let mut sum = 0;
    for y in 0..SIDE {
        #[unroll]
        for x in 0..SIDE {
            sum += apart(pixels[y][x] as u8, window[ty + y][tx + x] as u8);
        }
    }
    sums[(block_idx().y * grid_dim().x + block_idx().x) * SIDE * SIDE + ty * SIDE + tx] = sum;
}
