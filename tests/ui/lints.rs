//! Findings are warnings of `rustc` named after the lint, at the access or annotation; `allow` silences them, `deny` makes them errors.
#![deny(deprecated)]

use warpwright::prelude::*;

#[kernel(block = 256)]
fn one(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = (x[i] as f64 * 0.1f64) as f32;
}

#[kernel(block = 256, targets = [sm_89], variants(N in [1, 8, 64]))]
fn of_variants<const N: usize>(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let v = x[i];
    let mut sum = 0.0f32;
    #[unroll(1)]
    for _ in 0..N {
        sum = sum * v + 1.0;
    }
    y[i] = sum;
}

#[kernel(block = 256, deny(double_in_single))]
#[allow(deprecated)]
fn denied(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = (x[i] as f64 * 0.1f64) as f32;
}

#[kernel(block = 256, allow(double_in_single))]
fn allowed(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = (x[i] as f64 * 0.1f64) as f32;
}

#[allow(deprecated)]
#[warpwright::module]
mod silenced {
    use warpwright::prelude::*;

    #[kernel(block = 256)]
    pub fn one(x: &Global<f32>, y: &mut Global<f32>) {
        let i = global_id().x;
        y[i] = (x[i] as f64 * 0.1f64) as f32;
    }
}

fn main() {}
