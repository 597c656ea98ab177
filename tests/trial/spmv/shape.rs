//! What the rows' kernels share.

use warpwright::prelude::*;

pub const LANES: usize = 32;

/// What a row is multiplied by, and what is added.
#[device]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Scale {
    pub factor: f64,
    pub added: f64,
}

#[device]
pub fn row_of(thread: usize) -> usize {
    thread / LANES
}

#[device]
pub fn scaled(sum: f64, scale: Scale) -> f64 {
    sum * scale.factor + scale.added
}
