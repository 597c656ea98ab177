// test lints
use warpwright::prelude::*;

#[kernel(block = 128)]
pub fn quads(x: &Global<[f32; 4]>, y: &mut Global<[f32; 4]>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = x[i];
    }
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Particle {
    pub x: f32,
    pub y: f32,
    pub z: f32,
    pub mass: f32,
}

// Through a variable, and with arithmetic.
#[kernel(block = 128)]
pub fn moved(by: f32, particles: &mut Global<Particle>) {
    let i = global_id().x;
    if i < particles.len() {
        let mut p = particles[i];
        p.x += by;
        p.y += by;
        p.z += by;
        p.mass *= 0.5;
        particles[i] = p;
    }
}

#[kernel(block = 128)]
pub fn by_hand(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x * 4;
    if i < y.len() {
        y.store::<4>(i, x.load::<4>(i));
    }
}

// Three do not begin where a vector may.
#[kernel(block = 128)]
pub fn triples(x: &Global<[f32; 3]>, y: &mut Global<[f32; 3]>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = x[i];
    }
}

// A width of its own for each part.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Sample {
    pub at: f64,
    pub value: f32,
    pub kind: u16,
    pub flags: [u8; 2],
}

#[kernel(block = 128)]
pub fn samples(x: &Global<Sample>, y: &mut Global<Sample>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = x[i];
    }
}

// The same, where only two parts are used, which are one access.
#[kernel(block = 128)]
pub fn flags(x: &Global<Sample>, y: &mut Global<u32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = x[i].flags[0] as u32 + x[i].flags[1] as u32;
    }
}

#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub struct Vec3 {
    pub x: f32,
    pub y: f32,
    pub z: f32,
}

// Three with padding are one access.
#[kernel(block = 128)]
pub fn aligned(x: &Global<Vec3>, y: &mut Global<Vec3>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = x[i];
    }
}

// Every thread reads one element at a time: the pieces are broadcasts, and arithmetic takes the time.
#[kernel(block = 128)]
pub fn forces(all: &Global<Particle>, x: &Global<f32>, force: &mut Global<f32>) {
    let i = global_id().x;
    if i < force.len() {
        let (at, mut sum) = (x[i], 0.0f32);
        for k in 0..all.len() {
            let p = all[k];
            let d = (p.x - at) * (p.x - at) + p.y * p.y + p.z * p.z + 0.01;
            sum += p.mass * d.rsqrt();
        }
        force[i] = sum;
    }
}
