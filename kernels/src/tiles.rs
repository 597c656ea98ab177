//! C = A·B by tiles of 64 × 64 in shared memory and of 4 × 4 in registers, the textbook's way between one result a thread and a library; and
//! forces between all bodies, a tile of bodies at a time. (Nyland, Harris and Prins, "Fast N-Body Simulation with CUDA", GPU Gems 3.)

use warpwright::prelude::*;

/// Side of a block's tile of C.
pub const SIDE: usize = 64;
/// Columns of A, and rows of B, at a time.
pub const DEPTH: usize = 16;
/// Side of a thread's tile.
pub const OWN: usize = 4;
/// Threads along a side of a block.
pub const ACROSS: usize = SIDE / OWN;

/// C = A·B for row-major square matrices whose side is a multiple of [`SIDE`].
#[kernel(block = (ACROSS, ACROSS), allow(bank_conflict, shared_traffic))]
pub fn multiply(n: usize, a: &Global<f32>, b: &Global<f32>, c: &mut Global<f32>) {
    #[shared(pad = 4)]
    let mut left: [[f32; SIDE]; DEPTH];
    #[shared]
    let mut right: [[f32; SIDE]; DEPTH];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let t = ty * ACROSS + tx;
    let (top, start) = (block_idx().y * SIDE, block_idx().x * SIDE);
    let mut sums = [[0.0f32; OWN]; OWN];
    for tile in 0..n / DEPTH {
        #[unroll]
        for part in 0..OWN {
            let row = part * ACROSS + t / DEPTH;
            left[t % DEPTH][row] = a[(top + row) * n + tile * DEPTH + t % DEPTH];
            let k = part * OWN + t / SIDE;
            right[k][t % SIDE] = b[(tile * DEPTH + k) * n + start + t % SIDE];
        }
        sync_threads();
        #[unroll]
        for k in 0..DEPTH {
            let mut down = [0.0f32; OWN];
            let mut across = [0.0f32; OWN];
            #[unroll]
            for i in 0..OWN {
                down[i] = left[k][ty * OWN + i];
                across[i] = right[k][i * ACROSS + tx];
            }
            #[unroll]
            for i in 0..OWN {
                #[unroll]
                for j in 0..OWN {
                    sums[i][j] += down[i] * across[j];
                }
            }
        }
        sync_threads();
    }
    #[unroll]
    for i in 0..OWN {
        #[unroll]
        for j in 0..OWN {
            c[(top + ty * OWN + i) * n + start + j * ACROSS + tx] = sums[i][j];
        }
    }
}

/// Bodies of a tile, and threads of its block.
pub const BODIES: usize = 256;

/// forces[4·i …] ← the sum over all bodies of what pulls body i, and the potential. `bodies` holds place and mass, four numbers each; their number is
/// a multiple of [`BODIES`].
#[kernel(block = BODIES)]
pub fn forces(n: usize, bodies: &Global<f32>, forces: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; 4]; BODIES];
    let t = thread_idx().x;
    let i = global_id().x;
    let own = bodies.load::<4>(4 * i);
    let mut force = [0.0f32; 4];
    for first in (0..n).step_by(BODIES) {
        tile[t] = bodies.load::<4>(4 * (first + t));
        sync_threads();
        #[unroll(8)]
        for k in 0..BODIES {
            let other = tile[k];
            let (dx, dy, dz) = (other[0] - own[0], other[1] - own[1], other[2] - own[2]);
            let near = native_rsqrt(dx * dx + dy * dy + dz * dz + 0.01);
            let pull = other[3] * near * near * near;
            force[0] += dx * pull;
            force[1] += dy * pull;
            force[2] += dz * pull;
            force[3] += other[3] * near;
        }
        sync_threads();
    }
    forces.store::<4>(4 * i, force);
}
