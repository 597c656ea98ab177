//! `pad` and `swizzle` where there are no rows for them, with values they do not take, and together.

use warpwright::prelude::*;

#[kernel(block = 64)]
fn arguments(y: &mut Global<f32>) {
    #[shared(pad)]
    let mut a: [[f32; 32]; 32];
    #[shared(pad = 1, pad = 2)]
    let mut b: [[f32; 32]; 32];
    #[shared(dynamic, pad = 1)]
    let mut c: [f32];
    #[shared(dynamic, swizzle)]
    let mut d: [f32];
    #[shared(swizle)]
    let mut e: [[f32; 32]; 32];
    #[pad(1)]
    let f = [0.0; 32];
    #[swizzle]
    for i in 0..4 {
        y[i] = f[i];
    }
}

#[kernel(block = 64)]
fn shapes(y: &mut Global<f32>) {
    #[shared(pad = 1)]
    let mut flat: [f32; 64];
    #[shared(swizzle)]
    let mut scalar: f32;
    #[shared(swizzle)]
    let mut odd: [[f32; 33]; 32];
    #[shared(swizzle)]
    let mut pairs: [[[f32; 3]; 12]; 12];
    #[shared(pad = 2, swizzle)]
    let mut both: [[f32; 32]; 32];
    y[0] = flat[0] + scalar + odd[0][0] + pairs[0][0][0] + both[0][0];
}

#[kernel(block = 64)]
fn nothing(y: &mut Global<f32>) {
    #[shared(pad = 0, swizzle = false)]
    let mut flat: [f32; 64];
    flat[0] = 1.0;
    y[0] = flat[0];
}

#[warpwright::module]
mod several {
    use warpwright::prelude::*;

    #[derive(Clone, Copy)]
    #[repr(C)]
    pub struct Pair {
        pub a: f32,
        pub b: f32,
    }

    #[kernel(block = 64, variants(N in [1, 2], B in [true]))]
    pub fn values<const N: usize, const B: bool>(y: &mut Global<f32>) {
        #[shared(pad = B)]
        let mut a: [[f32; 32]; 32];
        #[shared(swizzle = N)]
        let mut b: [[f32; 32]; 32];
        #[shared(pad = N * 64)]
        let mut c: [[f32; 32]; 32];
        #[shared(pad = -1)]
        let mut d: [[f32; 32]; 32];
        #[shared(swizzle = N == 2)]
        let mut e: [[Pair; 8]; 8];
        y[0] = a[0][0] + b[0][0] + c[0][0] + d[0][0] + e[0][0].a;
    }
}

#[deny(deprecated)]
#[kernel(block = 64)]
fn soft(y: &mut Global<f32>) {
    #[shared(swizzle, best_effort)]
    let mut odd: [[f32; 33]; 32];
    odd[0][0] = 1.0;
    y[0] = odd[0][0];
}

fn main() {}
