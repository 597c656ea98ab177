//! A seven-point stencil on a 3-D grid; the border is copied.

use warpwright::prelude::*;

/// One step: out = centre·c0 + (sum of the six neighbours)·c1 inside, out = input on the border. x is the fastest axis.
#[kernel(block = (8, 4, 4))]
pub fn stencil3d(nx: usize, ny: usize, nz: usize, c0: f32, c1: f32, input: &Global<f32>, out: &mut Global<f32>) {
    let Dim3 { x, y, z } = global_id();
    if x >= nx || y >= ny || z >= nz {
        return;
    }
    let at = (z * ny + y) * nx + x;
    let border = x == 0 || y == 0 || z == 0 || x == nx - 1 || y == ny - 1 || z == nz - 1;
    out[at] = if border {
        input[at]
    } else {
        let sides = input[at - 1] + input[at + 1];
        let rows = input[at - nx] + input[at + nx];
        let planes = input[at - nx * ny] + input[at + nx * ny];
        c0 * input[at] + c1 * (sides + rows + planes)
    };
}

/// Reference, in the kernel's order of operations without contraction.
pub fn reference(extent: (usize, usize, usize), c0: f32, c1: f32, input: &[f32]) -> Vec<f32> {
    let (nx, ny, nz) = extent;
    let mut out = input.to_vec();
    for z in 1..nz - 1 {
        for y in 1..ny - 1 {
            for x in 1..nx - 1 {
                let at = (z * ny + y) * nx + x;
                let sides = input[at - 1] + input[at + 1];
                let rows = input[at - nx] + input[at + nx];
                let planes = input[at - nx * ny] + input[at + nx * ny];
                out[at] = c0 * input[at] + c1 * (sides + rows + planes);
            }
        }
    }
    out
}
