//! Pictures: bytes in, windows, a transcendental function here and there.

use warpwright::prelude::*;

/// A window of `2R + 1` squared, weights in constant memory.
#[kernel(block = (16, 16), variants(R in [1, 2, 3]))]
pub fn convolution<const R: usize>(w: usize, h: usize, weights: &Constant<[f32; 49]>, x: &Global<u8>, y: &mut Global<u8>) {
    let (i, j) = (global_id().x, global_id().y);
    if i >= R && j >= R && i + R < w && j + R < h {
        let mut sum = 0.0f32;
        #[unroll]
        for dy in 0..2 * R + 1 {
            #[unroll]
            for dx in 0..2 * R + 1 {
                sum += weights[dy * (2 * R + 1) + dx] * x[(j + dy - R) * w + i + dx - R] as f32;
            }
        }
        y[j * w + i] = sum as u8;
    }
}

/// Weights by distance and by difference.
#[kernel(block = (32, 8), math = fast, variants(R in [1, 2]))]
pub fn bilateral<const R: usize>(w: usize, h: usize, near: f32, like: f32, x: &Global<f32>, y: &mut Global<f32>) {
    let (i, j) = (global_id().x, global_id().y);
    if i >= R && j >= R && i + R < w && j + R < h {
        let here = x[j * w + i];
        let (mut sum, mut total) = (0.0f32, 0.0f32);
        for dy in 0..2 * R + 1 {
            #[unroll]
            for dx in 0..2 * R + 1 {
                let there = x[(j + dy - R) * w + i + dx - R];
                let (a, b) = (dx as f32 - R as f32, dy as f32 - R as f32);
                let weight = (-(a * a + b * b) * near - (there - here) * (there - here) * like).exp();
                sum += weight * there;
                total += weight;
            }
        }
        y[j * w + i] = sum / total;
    }
}

/// Pixels of four bytes to grey, several a thread.
#[kernel(block = 128, ilp = ILP, variants(ILP in [1, 2, 4, 8]))]
pub fn grey<const ILP: usize>(x: &Global<u32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        let p = x[i];
        y[i] = 0.299 * (p & 255) as f32 + 0.587 * (p >> 8 & 255) as f32 + 0.114 * (p >> 16 & 255) as f32;
    }
}
