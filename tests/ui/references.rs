//! References to locals and slices of them.

use warpwright::prelude::*;

#[device]
fn by_reference(x: &f32, p: &mut [f32; 4]) -> f32 {
    p[0] + x
}

#[kernel(block = 64)]
fn references(a: f32, y: &mut Global<f32>) {
    let mut values = [0.0; 4];
    let r = &a;
    let _s = &mut values[1..3];
    y[0] = sum(&mut values, a);
    let &_copied = r;
    let ref _named = a;
    let _annotated: &f32 = r;
}

#[device]
fn sum(values: &mut [f32; 4], a: f32) -> f32 {
    values[0] + a
}

fn main() {}
