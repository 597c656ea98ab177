//! Matrices that tensor copies (`by = tma`) cannot take.

#![allow(unsafe_code, reason = "buffers that no machine has room for are given by an address")]

use warpwright::prelude::*;

#[kernel(block = 64, index = 64, targets = [sm_90])]
pub fn summed(m: &Matrix<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; 16]; 4];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2, by = tma)]
    for i in 0..m.rows() / 4 {
        load_tile(&mut tile, m, i * 4, 0);
        sync_threads();
        sum += tile[t / 16][t % 16];
        sync_threads();
    }
    y[t] = sum;
}

#[kernel(block = 64, index = 64, targets = [sm_90])]
pub fn summed_of_all(all: &MatrixBatch<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; 16]; 4];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2, by = tma)]
    for i in 0..all.rows() / 4 {
        load_tile(&mut tile, &all[block_idx().x], i * 4, 0);
        sync_threads();
        sum += tile[t / 16][t % 16];
        sync_threads();
    }
    y[t] = sum;
}

#[kernel(block = 64, targets = [sm_90])]
pub fn doubled(a: &Matrix<f32>, b: &mut Matrix<f32>) {
    #[shared]
    let mut tile: [[f32; 16]; 4];
    #[shared]
    let mut twice: [[f32; 16]; 4];
    let t = thread_idx().x;
    #[pipeline(stages = 2, by = tma)]
    for k in 0..b.rows() / 4 {
        load_tile(&mut tile, a, k * 4, 0);
        sync_threads();
        twice[t / 16][t % 16] = 2.0 * tile[t / 16][t % 16];
        sync_threads();
        store_tile(b, k * 4, 0, &twice);
        sync_threads();
    }
}

/// A buffer of so many elements, which nothing reads.
fn of_length(device: &Device, len: usize) -> warpwright::Result<Buffer<f32>> {
    // SAFETY: every launch with it is refused.
    unsafe { Buffer::from_raw_parts(device, 0x1000, len, Box::new(())) }
}

super::examples! {
    /// Rows that are too far apart
    fn far_rows(device) {
        let (x, mut y) = (device.zeros::<f32>(64)?, device.zeros::<f32>(64)?);
        summed(device.matrix(&x, 1, 16)?.pitch(1 << 38)?, &mut y).grid(1).launch(device)
    }

    /// Matrices that are too far apart
    fn far_matrices(device) {
        let (x, mut y) = (of_length(device, (1 << 38) + 64)?, device.zeros::<f32>(64)?);
        summed_of_all(device.matrix(&x, 4, 16)?.batch(2, 1 << 38)?, &mut y).grid(2).launch(device)
    }

    /// Matrices at odd places
    fn odd_matrices(device) {
        let (x, mut y) = (device.zeros::<f32>(200)?, device.zeros::<f32>(64)?);
        summed_of_all(device.matrix(&x, 4, 16)?.batch(2, 66)?, &mut y).grid(2).launch(device)
    }

    /// Rows that end within what is stored at once
    fn odd_stores(device) {
        let (x, mut y) = (device.zeros::<f32>(80)?, device.zeros::<f32>(80)?);
        let (a, b) = (device.matrix(&x, 4, 18)?.pitch(20)?, device.matrix_mut(&mut y, 4, 18)?.pitch(20)?);
        doubled(a, b).grid(1).launch(device)
    }

    /// More matrices than tensor copies count
    fn many_matrices(device) {
        let (x, mut y) = (device.zeros::<f32>(64)?, device.zeros::<f32>(64)?);
        summed_of_all(device.matrix(&x, 4, 16)?.batch(1 << 31, 0)?, &mut y).grid(1).launch(device)
    }

    /// More rows than tensor copies count
    fn many_rows(device) {
        let (x, mut y) = (of_length(device, 1 << 35)?, device.zeros::<f32>(64)?);
        summed(device.matrix(&x, 1 << 31, 16)?, &mut y).grid(1).launch(device)
    }

    /// A matrix of more elements than can be counted
    fn uncounted(device) {
        let x = device.zeros::<f32>(64)?;
        device.matrix(&x, usize::MAX, 16).map(drop)
    }
}
