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

// Three are no vector.
#[kernel(block = 128)]
pub fn triples(x: &Global<[f32; 3]>, y: &mut Global<[f32; 3]>) {
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
