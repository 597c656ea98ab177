// test ir legal
// test opencl
// test ptx sm_90
// test rust
use warpwright::prelude::*;

/// c ← a·aᵀ, both n×n with n a multiple of 16.
#[kernel(block = (16, 16))]
pub fn tile(a: &Global<f32>, c: &mut Global<f32>, n: usize) {
    #[shared]
    let mut rows: [[f32; 16]; 16];
    #[shared]
    let mut columns: [[f32; 16]; 16];
    let (x, y) = (thread_idx().x, thread_idx().y);
    let mut sum = 0.0;
    for step in 0..n / 16 {
        rows[y][x] = a[(block_idx().y * 16 + y) * n + step * 16 + x];
        columns[x][y] = a[(block_idx().x * 16 + y) * n + step * 16 + x];
        sync_threads();
        for k in 0..16 {
            sum += rows[y][k] * columns[k][x];
        }
        sync_threads();
    }
    c[(block_idx().y * 16 + y) * n + block_idx().x * 16 + x] = sum;
}
