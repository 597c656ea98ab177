//! One step of a two-dimensional electromagnetic wave (transverse magnetic mode), with the field's tile and its halo in shared memory.

use warpwright::prelude::*;

pub const TILE: usize = 16;

/// How the field of a place goes on.
#[device]
pub fn curl(left: f32, right: f32, below: f32, above: f32) -> f32 {
    (right - left) - (above - below)
}

/// The electric field from the magnetic one, in tiles of 16 × 16 with a halo.
#[kernel(block = (TILE, TILE))]
pub fn electric(width: usize, rate: f32, hx: &Global<f32>, hy: &Global<f32>, ez: &mut Global<f32>) {
    #[shared]
    let mut mx: [[f32; TILE]; TILE + 1];
    #[shared(pad = 1)]
    let mut my: [[f32; TILE + 1]; TILE];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let (x, y) = (global_id().x, global_id().y);
    let at = (y + 1) * width + x + 1;
    mx[ty + 1][tx] = hx[at];
    my[ty][tx + 1] = hy[at];
    if ty == 0 {
        mx[0][tx] = hx[at - width];
    }
    if tx == 0 {
        my[ty][0] = hy[at - 1];
    }
    sync_threads();
    ez[at] += rate * curl(my[ty][tx], my[ty][tx + 1], mx[ty][tx], mx[ty + 1][tx]);
}

/// The magnetic fields from the electric one, without tiles: neighbours overlap, and the cache serves them.
#[kernel(block = (32, 8))]
pub fn magnetic(width: usize, rate: f32, ez: &Global<f32>, hx: &mut Global<f32>, hy: &mut Global<f32>) {
    let (x, y) = (global_id().x, global_id().y);
    let at = y * width + x;
    if x + 1 < width && at + width < ez.len() {
        let here = ez[at];
        hx[at] -= rate * (ez[at + width] - here);
        hy[at] += rate * (ez[at + 1] - here);
    }
}
