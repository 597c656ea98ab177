//! The Mandelbrot set: arithmetic only, and as divergent as its border.

use crate::complex::{Complex, escape_time};
use warpwright::prelude::*;

/// Counts iterations for each pixel of a `width` × `height` picture whose top left corner is `corner`, `pixel` apart.
/// Not contracted: one different rounding near the border is another count.
#[kernel(block = (16, 16), contract = false)]
pub fn mandelbrot(width: usize, height: usize, corner: Complex, pixel: f32, limit: u32, counts: &mut Global<u32>) {
    let Dim3 { x, y, .. } = global_id();
    if x < width && y < height {
        let c = Complex { re: corner.re + pixel * x as f32, im: corner.im - pixel * y as f32 };
        counts[y * width + x] = escape_time(c, limit);
    }
}

/// Reference.
pub fn reference(width: usize, height: usize, corner: Complex, pixel: f32, limit: u32) -> Vec<u32> {
    let mut counts = Vec::with_capacity(width * height);
    for y in 0..height {
        for x in 0..width {
            let c = Complex { re: corner.re + pixel * x as f32, im: corner.im - pixel * y as f32 };
            counts.push(escape_time(c, limit));
        }
    }
    counts
}
