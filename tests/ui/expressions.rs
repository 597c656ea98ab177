//! Expressions that are not in the kernel language.

use warpwright::prelude::*;

#[kernel(block = 64)]
fn expressions(n: u32, x: &Global<f32>, y: &mut Global<f32>) {
    let double = |v: f32| v * 2.0;
    y[0] = double(x[0]);
    unsafe {
        y[1] = 1.0;
    }
    let later = async { 1.0 };
    let range = 0..n;
    let text = "text";
    let letter = 'c';
    let early = x.get(0)?;
    let fixed = const { 4 };
    let address = &raw const n;
}

#[kernel(block = 64)]
fn loops(x: &Global<f32>, y: &mut Global<f32>) {
    for value in x.iter() {
        y[0] += value;
    }
    for i in 0.. {
        y[i] = 0.0;
    }
    for i in (0..8).step_by(0) {
        y[i] = 0.0;
    }
}

fn main() {}
