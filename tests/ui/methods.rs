//! A method is marked by its `impl`.

use warpwright::prelude::*;

#[device]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Point {
    /// To the right.
    pub x: f32,
}

impl Point {
    #[device]
    pub fn doubled(self) -> f32 {
        self.x * 2.0
    }
}

fn main() {
    assert_eq!(Point { x: 1.0 }.doubled(), 2.0);
}
