//! Stencils on grids: many neighbours, each used once.

use warpwright::Float;
use warpwright::prelude::*;

/// Neighbours on a line, up to `R` away.
#[kernel(block = B, variants(R in [1, 2, 4, 8, 16], B in [128, 512], F in [f32, f64]))]
pub fn line<const R: usize, const B: usize, F: Float>(n: usize, w: &Constant<[f32; 33]>, x: &Global<F>, y: &mut Global<F>) {
    let i = global_id().x + R;
    if i + R < n {
        let mut sum = F::ZERO;
        #[unroll]
        for k in 0..2 * R + 1 {
            sum += x[i + k - R] * w[k] as F;
        }
        y[i] = sum;
    }
}

/// The 27 neighbours in space.
#[kernel(block = (32, 4), variants(BATCH in [false, true]))]
pub fn cube<const BATCH: bool>(nx: usize, ny: usize, nz: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let (i, j) = (global_id().x + 1, global_id().y + 1);
    if i + 1 < nx && j + 1 < ny {
        for k in 1..nz - 1 {
            let mut sum = 0.0f32;
            #[unroll]
            #[batch_loads(BATCH)]
            for n in 0..27 {
                sum += x[((k + n / 9 - 1) * ny + j + n / 3 % 3 - 1) * nx + i + n % 3 - 1];
            }
            y[(k * ny + j) * nx + i] = sum * 0.037;
        }
    }
}

/// Seven points, marching along z with the column in registers.
#[kernel(block = (32, 8), variants(R in [1, 2, 4]))]
pub fn column<const R: usize>(nx: usize, ny: usize, nz: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let (i, j) = (global_id().x + R, global_id().y + R);
    if i + R < nx && j + R < ny {
        let plane = nx * ny;
        let mut at = j * nx + i;
        let mut behind = [0.0f32; R];
        let mut ahead = [0.0f32; R];
        #[unroll]
        for r in 0..R {
            behind[r] = x[at + r * plane];
            ahead[r] = x[at + (R + 1 + r) * plane];
        }
        at += R * plane;
        let mut here = x[at];
        for _ in R..nz - R {
            let mut sum = 0.5 * here;
            #[unroll]
            for r in 0..R {
                sum += 0.1 * (x[at + r + 1] + x[at - r - 1] + x[at + (r + 1) * nx] + x[at - (r + 1) * nx] + behind[r] + ahead[r]);
            }
            y[at] = sum;
            #[unroll]
            for r in 0..R - 1 {
                behind[R - 1 - r] = behind[R - 2 - r];
            }
            behind[0] = here;
            here = ahead[0];
            #[unroll]
            for r in 0..R - 1 {
                ahead[r] = ahead[r + 1];
            }
            at += plane;
            ahead[R - 1] = x[at + R * plane];
        }
    }
}

/// A tile with its border in shared memory.
#[kernel(block = (16, 16), variants(PAD in [0, 1]))]
pub fn shared_border<const PAD: usize>(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared(pad = PAD)]
    let mut tile: [[f32; 18]; 18];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let (i, j) = (global_id().x, global_id().y);
    if i < n && j < n {
        tile[ty + 1][tx + 1] = x[j * n + i];
        if tx == 0 {
            tile[ty + 1][0] = if i > 0 { x[j * n + i - 1] } else { 0.0 };
        }
        if tx == 15 {
            tile[ty + 1][17] = if i + 1 < n { x[j * n + i + 1] } else { 0.0 };
        }
        if ty == 0 {
            tile[0][tx + 1] = if j > 0 { x[(j - 1) * n + i] } else { 0.0 };
        }
        if ty == 15 {
            tile[17][tx + 1] = if j + 1 < n { x[(j + 1) * n + i] } else { 0.0 };
        }
    }
    sync_threads();
    if i < n && j < n {
        y[j * n + i] = tile[ty + 1][tx + 1] * 0.6 + 0.1 * (tile[ty][tx + 1] + tile[ty + 2][tx + 1] + tile[ty + 1][tx] + tile[ty + 1][tx + 2]);
    }
}
