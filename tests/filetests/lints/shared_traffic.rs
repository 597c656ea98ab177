// test lints sm_90
//! Products whose factors both come from shared memory: one result a thread waits for it, 8 × 8 do not. A stencil waits, too, and has nothing to multiply.
use warpwright::prelude::*;

#[kernel(block = (16, 16))]
pub fn one_result(n: usize, a: &Global<f32>, b: &Global<f32>, c: &mut Global<f32>) {
    #[shared]
    let mut a_tile: [[f32; 16]; 16];
    #[shared]
    let mut b_tile: [[f32; 16]; 16];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let mut sum = 0.0;
    for tile in 0..n / 16 {
        a_tile[ty][tx] = a[global_id().y * n + tile * 16 + tx];
        b_tile[ty][tx] = b[(tile * 16 + ty) * n + global_id().x];
        sync_threads();
        #[unroll]
        for k in 0..16usize {
            sum += a_tile[ty][k] * b_tile[k][tx];
        }
        sync_threads();
    }
    c[global_id().y * n + global_id().x] = sum;
}

#[kernel(block = 256)]
pub fn dot_of_tile(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut left: [f32; 256];
    #[shared]
    let mut right: [f32; 512];
    let t = thread_idx().x;
    left[t] = x[t];
    right[t] = x[256 + t];
    right[256 + t] = x[512 + t];
    sync_threads();
    let mut sum = 0.0;
    for _ in 0..n {
        #[ilp(4)]
        for k in 0..256usize {
            sum += left[k] * right[t + k];
        }
    }
    y[global_id().x] = sum;
}

#[kernel(block = (16, 16))]
pub fn many_results(n: usize, a: &Global<f32>, b: &Global<f32>, c: &mut Global<f32>) {
    #[shared(pad = 4)]
    let mut a_tile: [[f32; 128]; 8];
    #[shared]
    let mut b_tile: [[f32; 128]; 8];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let t = ty * 16 + tx;
    let (top, left) = (block_idx().y * 128, block_idx().x * 128);
    let mut sum = [[0.0f32; 8]; 8];
    for tile in 0..n / 8 {
        let q = a.load::<4>((top + t / 2) * n + tile * 8 + t % 2 * 4);
        #[unroll]
        for j in 0..4usize {
            a_tile[t % 2 * 4 + j][t / 2] = q[j];
        }
        b_tile[t / 32].store::<4>(t % 32 * 4, b.load::<4>((tile * 8 + t / 32) * n + left + t % 32 * 4));
        sync_threads();
        #[unroll]
        for k in 0..8usize {
            #[unroll]
            for i in 0..2usize {
                let down = a_tile[k].load::<4>(i * 64 + ty * 4);
                #[unroll]
                for j in 0..2usize {
                    let over = b_tile[k].load::<4>(j * 64 + tx * 4);
                    #[unroll]
                    for e in 0..16usize {
                        sum[i * 4 + e / 4][j * 4 + e % 4] += down[e / 4] * over[e % 4];
                    }
                }
            }
        }
        sync_threads();
    }
    #[unroll]
    for i in 0..8usize {
        #[unroll]
        for j in 0..2usize {
            let row = [sum[i][j * 4], sum[i][j * 4 + 1], sum[i][j * 4 + 2], sum[i][j * 4 + 3]];
            c.store::<4>((top + i / 4 * 64 + ty * 4 + i % 4) * n + left + j * 64 + tx * 4, row);
        }
    }
}

#[kernel(block = 256)]
pub fn stencil(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut row: [f32; 264];
    let t = thread_idx().x;
    row[t] = x[global_id().x];
    if t < 8 {
        row[256 + t] = x[global_id().x + 256];
    }
    sync_threads();
    let mut sum = 0.0;
    for _ in 0..n {
        #[unroll]
        for k in 0..8usize {
            sum += row[t + k];
        }
    }
    y[global_id().x] = sum;
}
