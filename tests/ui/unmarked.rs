//! What kernels use and nobody marked for the device: one error for each mark that is missing.

use warpwright::Float;
use warpwright::prelude::*;

mod helpers {
    pub fn clamp01(a: f32) -> f32 {
        a.clamp(0.0, 1.0)
    }
}
use helpers::clamp01;

fn twice<T: Float>(a: T) -> T {
    a + a
}

struct Pair {
    a: f32,
    b: f32,
}

#[derive(Clone, Copy)]
enum Mode {
    Fast,
    Slow,
}

#[device]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Point {
    x: f32,
}

impl Point {
    fn new(x: f32) -> Point {
        Point { x }
    }

    fn norm(&self) -> f32 {
        self.x.abs()
    }
}

#[device]
fn calls_twice(a: f32) -> f32 {
    twice(a) + twice(1.0f32)
}

#[kernel(block = 256)]
fn functions(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = clamp01(x[i]) + clamp01(1.0) + twice(x[i]) + helpers::clamp01(2.0);
}

#[kernel(block = 256)]
fn through_another(x: &Global<f32>, y: &mut Global<f32>) {
    y[0] = calls_twice(x[0]);
}

#[kernel(block = 256)]
fn types(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let p = Pair { a: x[i], b: 1.0 };
    let q = Pair { a: p.b, ..p };
    y[i] = match Mode::Fast {
        Mode::Fast => q.a,
        Mode::Slow => q.b,
    };
}

#[kernel(block = 256)]
fn methods(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let p = Point::new(x[i]);
    y[i] = p.norm();
}

#[kernel(block = 256)]
fn by_value(p: Pair, y: &mut Global<f32>) {
    y[0] = p.a;
}

fn main() {}
