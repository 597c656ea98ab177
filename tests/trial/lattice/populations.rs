//! The lattice: directions, weights, where a population goes.

use warpwright::prelude::*;

pub const DIRECTIONS: usize = 9;

pub const RIGHT: [f32; DIRECTIONS] = [0.0, 1.0, 0.0, -1.0, 0.0, 1.0, -1.0, -1.0, 1.0];
pub const UP: [f32; DIRECTIONS] = [0.0, 0.0, 1.0, 0.0, -1.0, 1.0, 1.0, -1.0, -1.0];
pub const WEIGHT: [f32; DIRECTIONS] =
    [4.0 / 9.0, 1.0 / 9.0, 1.0 / 9.0, 1.0 / 9.0, 1.0 / 9.0, 1.0 / 36.0, 1.0 / 36.0, 1.0 / 36.0, 1.0 / 36.0];

/// What the launch says of the fluid.
#[device]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Fluid {
    pub rate: f32,
}

/// The populations of a cell.
#[device]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Cell {
    pub f: [f32; DIRECTIONS],
}

#[device]
pub fn equilibrium(k: usize, density: f32, right: f32, up: f32) -> f32 {
    let along = RIGHT[k] * right + UP[k] * up;
    WEIGHT[k] * density * (1.0 + 3.0 * along + 4.5 * along * along - 1.5 * (right * right + up * up))
}

/// The cell that population `k` of cell `i` goes to, the grid closed to a ring.
#[device]
pub fn neighbour(i: usize, k: usize, width: usize, cells: usize) -> usize {
    let x = if RIGHT[k] > 0.5 {
        i + 1
    } else if RIGHT[k] < -0.5 {
        i + cells - 1
    } else {
        i + cells
    };
    let y = if UP[k] > 0.5 {
        x + width
    } else if UP[k] < -0.5 {
        x + cells - width
    } else {
        x
    };
    if y >= 2 * cells {
        y - 2 * cells
    } else if y >= cells {
        y - cells
    } else {
        y
    }
}
