//! Device code for the kernels of other crates: functions, generics, a struct with methods, an enum, constants.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, unreachable_pub)]

use warpwright::Num;
use warpwright::prelude::*;

/// A constant that kernels elsewhere may name.
pub const SCALE: f32 = 0.5;

/// A table of them.
pub const WEIGHTS: [u32; 3] = [1, 10, 100];

const PRIVATE: f32 = 2.0;

/// Names a constant of its own crate, which its callers do not see.
#[device]
pub fn doubled(x: f32) -> f32 {
    x * PRIVATE
}

/// `a·b + c` in any type of number.
#[device]
pub fn fused<T: Num>(a: T, b: T, c: T) -> T {
    a * b + c
}

/// Sums the first `N` of a buffer.
#[device]
pub fn sum_of<const N: usize>(x: &Global<u32>) -> u32 {
    let mut sum = 0;
    for i in 0..N {
        sum += x[i];
    }
    sum
}

/// A point in the plane.
#[device]
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Point {
    /// To the right.
    pub x: f32,
    /// Upwards.
    pub y: f32,
}

#[device]
impl Point {
    /// Where both axes cross.
    pub const ORIGIN: Point = Point { x: 0.0, y: 0.0 };

    /// A point.
    pub fn new(x: f32, y: f32) -> Point {
        Point { x, y }
    }

    /// Moves it.
    pub fn shift(&mut self, by: f32) {
        self.x += by;
        self.y += doubled(by);
    }

    /// The square of its distance from the origin.
    pub fn norm_squared(self) -> f32 {
        fused(self.x, self.x, self.y * self.y)
    }
}

/// What to do with a point.
#[device]
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(u32)]
pub enum Action {
    /// Nothing.
    Keep,
    /// Shift it by one.
    Shift = 3,
}

/// A module of device code, used by its path.
#[warpwright::module]
pub mod codes {
    use warpwright::prelude::*;

    const BASE: u32 = 7;

    /// An offset.
    #[device]
    pub fn code(i: u32) -> u32 {
        i % BASE
    }

    /// A kernel of a library.
    #[kernel(block = 32, allow(small_block))]
    pub fn fill(y: &mut Global<u32>) {
        let i = global_id().x;
        if i < y.len() {
            y[i] = code(i as u32);
        }
    }
}
