//! Names from outside that the device does not know.

use warpwright::prelude::*;

struct Hosted {
    x: f32,
}

const TEXT: &str = "text";

#[kernel(block = 64)]
fn builds(y: &mut Global<f32>) {
    let hosted = Hosted { x: 1.0 };
    y[0] = hosted.x;
}

#[kernel(block = 64)]
fn reads(y: &mut Global<u32>) {
    y[0] = TEXT.len() as u32;
}

fn main() {}
