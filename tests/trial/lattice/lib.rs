//! A lattice Boltzmann step in two dimensions with nine directions: populations as a structure of arrays, and, to compare, as an array of structures; and the
//! electromagnetic wave of the same grid, in tiles.

pub mod populations;
pub mod wave;

use populations::{Cell, DIRECTIONS, Fluid, RIGHT, UP, equilibrium, neighbour};
use warpwright::prelude::*;

/// Population k of cell i at `k * cells + i`.
#[kernel(block = 128)]
pub fn step_of_arrays(width: usize, fluid: Fluid, from: &Global<f32>, to: &mut Global<f32>) {
    let i = global_id().x;
    let cells = from.len() / DIRECTIONS;
    if i < cells {
        let mut f = [0.0f32; DIRECTIONS];
        #[unroll]
        for k in 0..DIRECTIONS {
            f[k] = from[k * cells + i];
        }
        let (mut density, mut right, mut up) = (0.0f32, 0.0f32, 0.0f32);
        #[unroll]
        for k in 0..DIRECTIONS {
            density += f[k];
            right += f[k] * RIGHT[k];
            up += f[k] * UP[k];
        }
        let (right, up) = (right / density, up / density);
        #[unroll]
        for k in 0..DIRECTIONS {
            let wanted = equilibrium(k, density, right, up);
            let moved = neighbour(i, k, width, cells);
            to[k * cells + moved] = f[k] + fluid.rate * (wanted - f[k]);
        }
    }
}

/// The same with the populations of a cell beside each other: what a port from the CPU begins with.
#[kernel(block = 128)]
pub fn step_of_structs(width: usize, fluid: Fluid, from: &Global<Cell>, to: &mut Global<Cell>) {
    let i = global_id().x;
    let cells = from.len();
    if i < cells {
        let f = from[i].f;
        let (mut density, mut right, mut up) = (0.0f32, 0.0f32, 0.0f32);
        #[unroll]
        for k in 0..DIRECTIONS {
            density += f[k];
            right += f[k] * RIGHT[k];
            up += f[k] * UP[k];
        }
        let (right, up) = (right / density, up / density);
        #[unroll]
        for k in 0..DIRECTIONS {
            let wanted = equilibrium(k, density, right, up);
            let moved = neighbour(i, k, width, cells);
            to[moved].f[k] = f[k] + fluid.rate * (wanted - f[k]);
        }
    }
}

/// The same by hand, `i * 9 + k`.
#[kernel(block = 128)]
pub fn densities_by_hand(from: &Global<f32>, density: &mut Global<f32>) {
    let i = global_id().x;
    if i < density.len() {
        let mut sum = 0.0f32;
        #[unroll]
        for k in 0..DIRECTIONS {
            sum += from[i * DIRECTIONS + k];
        }
        density[i] = sum;
    }
}
