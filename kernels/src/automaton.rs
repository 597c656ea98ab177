//! Conway's game of life on a torus of bytes: neighbours by remainders, bytes by themselves, bound by the instructions that find them.

use warpwright::prelude::*;

/// One generation: a cell lives with three neighbours, and goes on living with two.
#[kernel(block = (32, 8))]
pub fn generation(width: usize, height: usize, now: &Global<u8>, next: &mut Global<u8>) {
    let (x, y) = (global_id().x, global_id().y);
    if x < width && y < height {
        let (left, right) = ((x + width - 1) % width, (x + 1) % width);
        let (above, below) = ((y + height - 1) % height, (y + 1) % height);
        let upper = now[above * width + left] + now[above * width + x] + now[above * width + right];
        let sides = now[y * width + left] + now[y * width + right];
        let lower = now[below * width + left] + now[below * width + x] + now[below * width + right];
        let neighbours = upper + sides + lower;
        let lives = neighbours == 3 || (neighbours == 2 && now[y * width + x] == 1);
        next[y * width + x] = lives as u8;
    }
}

/// A cell of the next generation.
pub fn reference(width: usize, height: usize, now: impl Fn(usize) -> u8, x: usize, y: usize) -> u8 {
    let cell = |dx: usize, dy: usize| now((y + dy) % height * width + (x + dx) % width);
    let (w, h) = (width - 1, height - 1);
    let neighbours = cell(w, h) + cell(0, h) + cell(1, h) + cell(w, 0) + cell(1, 0) + cell(w, 1) + cell(0, 1) + cell(1, 1);
    u8::from(neighbours == 3 || neighbours == 2 && cell(0, 0) == 1)
}
