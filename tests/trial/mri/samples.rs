//! What lies in constant memory.

use warpwright::prelude::*;

/// Samples of a chunk: 40 KiB of the 64.
pub const CHUNK: usize = 2048;

pub const TURN: f32 = 2.0 * core::f32::consts::PI;

/// A sample of k-space.
#[device]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Sample {
    pub kx: f32,
    pub ky: f32,
    pub kz: f32,
    pub magnitude: f32,
}

/// A point charge.
#[device]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Atom {
    pub x: f32,
    pub y: f32,
    pub z: f32,
    pub charge: f32,
}

#[device]
pub fn phase(sample: Sample, x: f32, y: f32, z: f32) -> f32 {
    TURN * (sample.kx * x + sample.ky * y + sample.kz * z)
}
