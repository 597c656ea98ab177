//! What `best_effort` lets pass is a warning at the annotation, which `#[allow(deprecated)]` silences.
#![deny(deprecated)]

use warpwright::prelude::*;

#[kernel(block = 64, ilp = 4, best_effort)]
fn soft(y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = 1.0;
    sync_threads();
    y[i] += y[i ^ 1];
}

#[kernel(block = 64, ilp(N, best_effort), variants(N in [1, 2, 4]))]
fn of_some_variants<const N: usize>(y: &mut Global<f32>) {
    y[block_idx().x] = 1.0;
}

#[kernel(block = 64, ilp = 4, best_effort)]
#[allow(deprecated)]
fn silenced(y: &mut Global<f32>) {
    y[block_idx().x] = 1.0;
}

#[kernel(block = 64, ilp = 4, best_effort, allow(best_effort))]
fn allowed(y: &mut Global<f32>) {
    y[block_idx().x] = 1.0;
}

#[kernel(block = 64, ilp = 4, best_effort, deny(best_effort))]
#[allow(deprecated)]
fn denied(y: &mut Global<f32>) {
    y[block_idx().x] = 1.0;
}

#[warpwright::module]
mod several {
    use warpwright::prelude::*;

    #[kernel(block = 64, ilp = 4, best_effort)]
    pub fn soft(y: &mut Global<f32>) {
        y[0] = 1.0;
    }

    #[kernel(block = 64, ilp = 4, best_effort)]
    #[allow(deprecated)]
    pub fn silenced(y: &mut Global<f32>) {
        y[0] = 1.0;
    }
}

fn main() {}
