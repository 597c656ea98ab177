//! Forces between many bodies: a long chain of arithmetic on a few values.

use warpwright::Float;
use warpwright::prelude::*;

/// Accelerations from positions and masses, all from global memory.
#[kernel(block = B, math = fast, variants(B in [64, 256], ILP in [1, 2, 4, 8]))]
pub fn direct<const B: usize, const ILP: usize>(n: usize, p: &Global<f32>, out: &mut Global<f32>) {
    let i = global_id().x;
    if i < n {
        let (x, y, z) = (p[4 * i], p[4 * i + 1], p[4 * i + 2]);
        let (mut ax, mut ay, mut az) = (0.0f32, 0.0f32, 0.0f32);
        #[ilp(ILP)]
        for j in 0..n {
            let (dx, dy, dz) = (p[4 * j] - x, p[4 * j + 1] - y, p[4 * j + 2] - z);
            let r = (dx * dx + dy * dy + dz * dz + 0.01).rsqrt();
            let s = p[4 * j + 3] * r * r * r;
            ax += dx * s;
            ay += dy * s;
            az += dz * s;
        }
        out[3 * i] = ax;
        out[3 * i + 1] = ay;
        out[3 * i + 2] = az;
    }
}

/// The same with tiles of bodies in shared memory, in single and double precision.
#[kernel(block = 128, variants(F in [f32, f64], UNROLL in [1, 2, 4, 8]))]
pub fn tiled<F: Float, const UNROLL: usize>(n: usize, p: &Global<F>, out: &mut Global<F>) {
    #[shared]
    let mut tile: [[F; 4]; 128];
    let (i, t) = (global_id().x, thread_idx().x);
    let (x, y, z) = (p[4 * i], p[4 * i + 1], p[4 * i + 2]);
    let (mut ax, mut ay, mut az) = (F::ZERO, F::ZERO, F::ZERO);
    for k in 0..n / 128 {
        #[unroll]
        for c in 0..4 {
            tile[t][c] = p[4 * (k * 128 + t) + c];
        }
        sync_threads();
        #[unroll(UNROLL)]
        for j in 0..128 {
            let (dx, dy, dz) = (tile[j][0] - x, tile[j][1] - y, tile[j][2] - z);
            let r = dx * dx + dy * dy + dz * dz + F::ONE;
            let s = tile[j][3] / (r * r.sqrt());
            ax += dx * s;
            ay += dy * s;
            az += dz * s;
        }
        sync_threads();
    }
    out[3 * i] = ax;
    out[3 * i + 1] = ay;
    out[3 * i + 2] = az;
}
