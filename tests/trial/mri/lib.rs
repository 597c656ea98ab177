//! The matrix Q of a magnetic resonance image that is not measured on a grid: sums over k-space, whose samples come through constant memory in chunks, as structures and
//! as arrays; and the potential of point charges, which is the same walk.

pub mod samples;

use samples::{Atom, CHUNK, Sample, phase};
use warpwright::prelude::*;

/// Adds what a chunk of k-space gives to each voxel.
#[kernel(block = 256, math = fast)]
pub fn q(
    count: usize,
    samples: &Constant<[Sample; CHUNK]>,
    x: &Global<f32>,
    y: &Global<f32>,
    z: &Global<f32>,
    real: &mut Global<f32>,
    imaginary: &mut Global<f32>,
) {
    let i = global_id().x;
    if i < real.len() {
        let (px, py, pz) = (x[i], y[i], z[i]);
        let (mut a, mut b) = (real[i], imaginary[i]);
        for k in 0..count {
            let sample = samples[k];
            let angle = phase(sample, px, py, pz);
            a += sample.magnitude * angle.cos();
            b += sample.magnitude * angle.sin();
        }
        real[i] = a;
        imaginary[i] = b;
    }
}

/// The magnitudes first: one thread a sample.
#[kernel(block = 256)]
pub fn magnitudes(real: &Global<f32>, imaginary: &Global<f32>, magnitude: &mut Global<f32>) {
    let i = global_id().x;
    if i < magnitude.len() {
        magnitude[i] = real[i] * real[i] + imaginary[i] * imaginary[i];
    }
}

/// The potential at the points of a slice, eight points a thread, from a chunk of atoms in constant memory.
#[kernel(block = (16, 8))]
pub fn potential(count: usize, spacing: f32, height: f32, atoms: &Constant<[Atom; CHUNK]>, grid: &mut Global<f32>) {
    let row = global_id().y;
    let width = 128 * grid_dim().x;
    let first = block_idx().x * 128 + thread_idx().x;
    let y = row as f32 * spacing;
    let mut sums = [0.0f32; 8];
    for k in 0..count {
        let atom = atoms[k];
        let (dy, dz) = (y - atom.y, height - atom.z);
        let away = dy * dy + dz * dz;
        #[unroll]
        for n in 0..8 {
            let dx = (first + 16 * n) as f32 * spacing - atom.x;
            sums[n] += atom.charge * (dx * dx + away).rsqrt();
        }
    }
    #[unroll]
    for n in 0..8 {
        grid[row * width + first + 16 * n] += sums[n];
    }
}

/// The same samples from global memory, where all threads of a block read one element at a time.
#[kernel(block = 128, math = fast)]
pub fn q_from_global(samples: &Global<Sample>, x: &Global<f32>, real: &mut Global<f32>) {
    let i = global_id().x;
    if i < real.len() {
        let (px, mut a) = (x[i], 0.0f32);
        for k in 0..samples.len() {
            let sample = samples[k];
            a += sample.magnitude * phase(sample, px, 0.0, 0.0).cos();
        }
        real[i] = a;
    }
}
