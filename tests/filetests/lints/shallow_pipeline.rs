// test lints sm_80 sm_90
use warpwright::prelude::*;

// One slot of 512 bytes in each of a few blocks.
#[kernel(block = 64)]
pub fn two_stages(rows: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 128];
    #[shared]
    let mut table: [f32; 8192];
    let t = thread_idx().x;
    for k in 0..128 {
        table[t + k * 64] = x[t];
    }
    let mut sum = 0.0;
    #[pipeline(stages = 2)]
    for row in 0..rows {
        #[unroll]
        for k in 0..2 {
            tile[t + k * 64] = x[(block_idx().x * rows + row) * 128 + t + k * 64];
        }
        sync_threads();
        #[unroll]
        for k in 0..2 {
            sum += tile[t + k * 64] * table[t + k * 64];
        }
        sync_threads();
    }
    y[global_id().x] = sum;
}

// Two rings, padded: the room behind rows is not copied.
#[kernel(block = 64, targets = [sm_90], variants(S in [2, 3, 16]))]
pub fn two_tiles<const S: usize>(rows: usize, x: &Global<f32>, w: &Global<f32>, y: &mut Global<f32>) {
    #[shared(pad = 4)]
    let mut a: [[f32; 16]; 4];
    #[shared]
    let mut b: [f32; 64];
    #[shared]
    let mut table: [f32; 32768];
    let t = thread_idx().x;
    for k in 0..512 {
        table[t + k * 64] = x[t];
    }
    let mut sum = 0.0;
    #[pipeline(stages = S)]
    for row in 0..rows {
        let at = (block_idx().x * rows + row) * 64 + t;
        a[t / 16][t % 16] = x[at];
        b[t] = w[at];
        sync_threads();
        sum += a[t % 4][t / 4] * b[t] + table[t];
        sync_threads();
    }
    y[global_id().x] = sum;
}

// The same with as many stages as it takes.
#[kernel(block = 64, targets = [sm_80, sm_90])]
pub fn enough(rows: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 128];
    #[shared]
    let mut table: [f32; 8192];
    let t = thread_idx().x;
    for k in 0..128 {
        table[t + k * 64] = x[t];
    }
    let mut sum = 0.0;
    #[pipeline(stages = 8)]
    for row in 0..rows {
        #[unroll]
        for k in 0..2 {
            tile[t + k * 64] = x[(block_idx().x * rows + row) * 128 + t + k * 64];
        }
        sync_threads();
        #[unroll]
        for k in 0..2 {
            sum += tile[t + k * 64] * table[t + k * 64];
        }
        sync_threads();
    }
    y[global_id().x] = sum;
}

// Arithmetic takes longer than the copies.
#[kernel(block = 64)]
pub fn computes(rows: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 64];
    #[shared]
    let mut table: [f32; 8192];
    let t = thread_idx().x;
    for k in 0..128 {
        table[t + k * 64] = x[t];
    }
    let mut sum = 0.0;
    #[pipeline(stages = 2)]
    for row in 0..rows {
        tile[t] = x[(block_idx().x * rows + row) * 64 + t];
        sync_threads();
        let mut v = tile[63 - t];
        for _ in 0..2000 {
            v = v * 0.5 + table[t];
        }
        sum += v;
        sync_threads();
    }
    y[global_id().x] = sum;
}

// A product of matrices: each element that is copied is used many times.
#[kernel(block = (16, 16))]
pub fn product(n: usize, a: &Global<f32>, b: &Global<f32>, c: &mut Global<f32>) {
    #[shared]
    let mut left: [[f32; 16]; 64];
    #[shared]
    let mut right: [[f32; 64]; 16];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let mut sums = [[0.0f32; 4]; 4];
    #[pipeline(stages = 2)]
    for tile in 0..n / 16 {
        #[unroll]
        for k in 0..4 {
            left[ty + 16 * k][tx] = a[(block_idx().y * 64 + ty + 16 * k) * n + tile * 16 + tx];
            right[ty][tx + 16 * k] = b[(tile * 16 + ty) * n + block_idx().x * 64 + tx + 16 * k];
        }
        sync_threads();
        #[unroll]
        for k in 0..16 {
            #[unroll]
            for i in 0..4 {
                #[unroll]
                for j in 0..4 {
                    sums[i][j] += left[ty + 16 * i][k] * right[k][tx + 16 * j];
                }
            }
        }
        sync_threads();
    }
    #[unroll]
    for i in 0..4 {
        #[unroll]
        for j in 0..4 {
            c[(block_idx().y * 64 + ty + 16 * i) * n + block_idx().x * 64 + tx + 16 * j] = sums[i][j];
        }
    }
}
