//! Shared memory that no device has, or that is declared in a way it cannot be.

use warpwright::prelude::*;

#[kernel(block = 64)]
fn too_large(y: &mut Global<f32>) {
    #[shared]
    let mut small: [f32; 64];
    #[shared]
    let mut tile: [[f32; 256]; 256];
    tile[0][0] = small[0];
    y[0] = tile[0][0];
}

#[kernel(block = 64)]
fn too_large_for_one_target(y: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; 128]; 200];
    tile[0][0] = y[0];
    y[0] = tile[0][0];
}

#[kernel(block = N, variants(N in [256, 512]))]
fn too_large_in_a_variant<const N: usize>(y: &mut Global<f64>) {
    #[shared]
    let mut tile: [[f64; N]; 64];
    tile[0][0] = 1.0;
    y[0] = tile[0][0];
}

#[kernel(block = 64)]
fn initialised(y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 64] = [0.0; 64];
    y[0] = tile[0];
}

fn main() {}
