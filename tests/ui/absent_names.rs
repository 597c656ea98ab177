//! Names that are nowhere, and of which only `rustc` knows what was meant: it says so once.

use warpwright::prelude::*;

#[device]
fn helper(a: f32) -> f32 {
    a + 1.0
}

#[kernel(block = 256)]
fn misspelt(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = helpr(x[i]);
}

#[kernel(block = 256)]
fn missing(p: Prams, y: &mut Global<f32>) {
    y[0] = SCALE + p.x;
}

fn main() {}
