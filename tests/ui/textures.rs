//! Textures of what is no texel, and what a texture has no method for.

use warpwright::prelude::*;

#[kernel(block = 64)]
fn textures(_a: &Texture2d<f64>, b: &Texture2d<u8>, c: &Texture2d<f32>, y: &mut Global<f32>) {
    y[0] = b.sample(0.5, 0.5) + c.fetch(1.0, 2) + c.load(3) + c[0];
}

#[kernel(block = 64)]
fn assigned(t: &Texture2d<f32>, u: &Texture2d<f32>, y: &mut Global<f32>) {
    let v = t;
    t = u;
    y[0] = v.fetch(0, 0) + t.fetch(0);
}

fn main() {}
