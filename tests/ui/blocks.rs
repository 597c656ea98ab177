//! Blocks that no device can hold: as literals, through constants, and in declared variants.

use warpwright::prelude::*;

#[kernel(block = 0)]
fn none() {}

#[kernel(block = 2048)]
fn too_long() {}

#[kernel(block = (64, 32))]
fn too_many() {}

#[kernel(block = (1, 1, 128))]
fn too_deep() {}

#[kernel(block = (1, 2, 3, 4))]
fn dimensions() {}

#[warpwright::module]
mod computed {
    use warpwright::prelude::*;

    const SIDE: usize = 64;

    #[kernel(block = (SIDE, SIDE))]
    pub fn square(y: &mut Global<f32>) {
        y[0] = 1.0;
    }
}

#[kernel(block = B * 8, variants(B in [64, 128, 256]))]
fn variants<const B: usize>() {}

fn main() {}
